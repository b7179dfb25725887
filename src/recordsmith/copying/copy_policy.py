"""How a copy is made: which records are chosen, and where their bytes come from."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from recordsmith.copying.choosing import Choice
from recordsmith.copying.copy_inputs import CopyInputs
from recordsmith.copying.copy_options import CopyOptions
from recordsmith.copying.copy_plan import CopyPlan
from recordsmith.copying.copy_work import CopyWork
from recordsmith.copying.record_numbers import ChosenRecords
from recordsmith.errors import RecordsmithError
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.formats.source import Chunk
from recordsmith.making.sources.tfrecord_files import TFRecordsSource
from recordsmith.run.policy import OrderedSplit, Policy, TextFile
from recordsmith.run.shards import shuffling
from recordsmith.run.splits.class_counts import count_classes
from recordsmith.run.splits.split_order import build_order
from recordsmith.run.staging.encoded_chunk import EncodedChunk
from recordsmith.run.staging.record_files import RecordFiles
from recordsmith.run.staging.staging import Staging
from recordsmith.schema import Schema
from recordsmith.storage.ranged.opening import is_ranged

__all__ = ["CopyPolicy", "refuse_input"]


class CopyPolicy(Policy):
    """The policy of `copy_dataset`.

    Args:
        inputs: the files.
        plan: what is done to each record.
        options: which records are chosen, and what is written.
        asked: the options of `copy_dataset` that the plan was made from.
        chosen: the only records that are copied; None copies all.
    """

    def __init__(
        self,
        inputs: CopyInputs,
        plan: CopyPlan,
        options: CopyOptions,
        asked: dict[str, Any],
        chosen: ChosenRecords | None = None,
    ) -> None:
        source = TFRecordsSource(inputs.layout, None, Schema({}), None)
        super().__init__(
            source=source,
            plan={
                "copy": asked,
                "options": options.to_json(),
                "source": source.describe(),
                "schema": None if plan.schema is None else plan.schema.to_json(),
            },
            schema=plan.writing,
            described=plan.schema,
            label=plan.label,
            provenance=plan.provenance,
            dropped_because="do not meet the condition" if chosen is None else "are not selected",
        )
        self._inputs = inputs
        self._plan = plan
        self._options = options
        self._counts: dict[str, int] = {}
        self._in_place = self._input_files(source)
        self._split_of = dict(zip(inputs.files, map(inputs.splits.index, inputs.split_of), strict=False))
        self._work = CopyWork(
            plan, in_place=self._in_place, cast=options.cast, strict=options.on_error == "stop", chosen=chosen
        )

    def _input_files(self, source: TFRecordsSource) -> RecordFiles | None:
        """Return the input, if records can be read from it when they are written, which saves staging them."""
        size = source.size_bytes  # None: some file can only be read from its start
        if size is None or self._plan.writing is not None:
            return None
        if self._options.shuffle and size > shuffling.BUCKETS_ABOVE_BYTES:
            return None
        return RecordFiles([SourceFile.at(path) for path in self._inputs.files], source.identities())

    def encoder(self) -> Callable[[Chunk], EncodedChunk]:
        """Return what copies the records of a chunk."""
        return self._work.encode

    def split_of(self, chunk: Chunk) -> int:
        """Return the place of the split that a chunk's file belongs to, where splits are kept."""
        return self._split_of.get(chunk.origin() or "", 0)

    def records(self, staging: Staging) -> RecordFiles:
        """Return the input, or the staged records if they were changed or are to be shuffled."""
        return self._in_place or staging.records()

    def order(self, staging: Staging) -> dict[str, OrderedSplit]:
        """Choose the records of each split, and shuffle them if that is asked for."""
        options, plan = self._options, self._plan
        choice, names = self._choose(staging)
        ordered = {}
        for code, name in enumerate(names):
            chosen = choice.rows_of(code)
            order = build_order(
                staging,
                name,
                chosen,
                expected_rows=int(np.count_nonzero(choice.codes == code)),
                shuffle_seed=options.seed if options.shuffle else None,
            )
            label = None if plan.schema is None or plan.label is None else plan.schema[plan.label]
            ordered[name] = OrderedSplit(order, {} if label is None else count_classes(staging, label, chosen))
        return ordered

    def _choose(self, staging: Staging) -> tuple[Choice, list[str]]:
        options = self._options
        choice = Choice(staging, self.records(staging))
        counts = self._counts = {"duplicates": 0, "not_sampled": 0, "unassigned": 0}
        names = ["train"]
        if self._inputs.split_of:
            names = list(self._inputs.splits)
            choice.keep_splits()
        if options.dedupe:
            counts["duplicates"] = choice.drop_duplicates()
        if options.sample is not None:
            counts["not_sampled"] += choice.sample(options.sample, options.seed)
        if options.take is not None:
            counts["not_sampled"] += choice.take(options.take)
        if options.split is not None:
            names = list(options.split.names)
            grouped = self._plan.group is not None
            counts["unassigned"] = choice.split(
                options.split, options.seed, grouped=grouped, stratified=options.stratify
            )
        if options.single:
            names = ["all"]
            if len(self._inputs.found_splits) > 1:
                listed = ", ".join(self._inputs.found_splits)
                self.warnings.append(f"The records of several splits are in one file now: {listed}.")
        return choice, names

    def texts(self) -> dict[str, TextFile]:
        """Return the files of the input's dataset that are copied with it."""
        self.warnings.extend(self._inputs.left_out)
        return self._inputs.texts

    def outcome(self, staging: Staging) -> dict[str, Any]:  # noqa: ARG002 - the counts are known from choosing
        """Return the counts of records that were left out, and whether the others were changed."""
        return {**self._counts, "left_out": list(self._plan.left_out), "verbatim": self._plan.writing is None}

    def is_final(self, error: Exception, staging: Staging) -> bool:  # noqa: ARG002 - wherever it was
        """Say whether resuming would end in the same error: what is wrong with the data or the options stays wrong."""
        return isinstance(error, RecordsmithError)


def refuse_input(inputs: CopyInputs, out: str, *, is_file: bool) -> None:
    """Raise if the output would replace the input."""
    real_out = os.path.realpath(out)
    for file in inputs.files:
        real = file if is_ranged(file) else os.path.realpath(file)
        if real == real_out or (not is_file and os.path.dirname(real) == real_out):
            raise RecordsmithError(
                "The output is the same file or folder as the input.",
                path=out,
                advice="Choose another output. The input is never changed.",
            )

"""One run of a copy: reading, choosing, writing, checking, publishing, on the machinery by which datasets are made.

Everything that decides about the bytes is in the plan, so that a run that was killed goes on from what is on disk.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import asdict
from itertools import islice
from typing import Any

import numpy as np

from recordsmith.copying.choosing import Choice
from recordsmith.copying.copied_dataset import CopiedDataset
from recordsmith.copying.copy_inputs import CopyInputs
from recordsmith.copying.copy_options import CopyOptions
from recordsmith.copying.copy_plan import CopyPlan
from recordsmith.copying.copy_work import CopyWork
from recordsmith.copying.frame_shards import FrameShardWriter
from recordsmith.copying.input_places import InputPlaces
from recordsmith.dataset.class_weights import class_weights
from recordsmith.dataset.manifest import MANIFEST_NAME, load_manifest, manifest_text
from recordsmith.errors import RecordsmithError, advise
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.making.chunk_work import version
from recordsmith.making.sources.tfrecord_files import TFRecordsSource
from recordsmith.run import shuffling
from recordsmith.run.descriptions import description_files
from recordsmith.run.full_disk import explained
from recordsmith.run.made_split import MadeSplit
from recordsmith.run.ordering import SplitOrder, build_order
from recordsmith.run.progress import OnProgress, Progress
from recordsmith.run.publishing import REJECTED_NAME, publish, refuse_existing
from recordsmith.run.reject_reasons import commonest_reasons
from recordsmith.run.shard_writing import Shard, ShardWriter, plan_shards, write_shards
from recordsmith.run.splits.splitting import SplitPlan
from recordsmith.run.staging import Staging, differences
from recordsmith.schema import Label, Schema
from recordsmith.storage.json_descriptions import JsonObject
from recordsmith.storage.publication import Publication, complete, unfinished_run
from recordsmith.wording.numbers import count_text
from recordsmith.workers.threads import in_order, thread_pool

__all__ = ["Copier"]


class Copier:
    """One run."""

    def __init__(
        self,
        inputs: CopyInputs,
        plan: CopyPlan,
        options: CopyOptions,
        described: dict[str, Any],
        on_progress: OnProgress | None,
    ) -> None:
        self._inputs = inputs
        self._plan = plan
        self._options = options
        self._report: Callable[[Progress], None] = on_progress or (lambda _: None)
        self._source = TFRecordsSource(inputs.layout, None, Schema({}), None)
        self._identity = {
            "copy": described,
            "options": options.to_json(),
            "source": self._source.describe(),
            "schema": None if plan.schema is None else plan.schema.to_json(),
        }
        self._in_place = self._input_places()
        self._work = CopyWork(
            plan,
            {file: inputs.splits.index(split) for file, split in zip(inputs.files, inputs.split_of, strict=False)},
            in_place=self._in_place,
            cast=options.cast,
            strict=options.on_error == "stop",
        )
        self._warnings: list[str] = []
        self._writing = False  # everything is chosen: what goes wrong now is the disk's doing

    def _input_places(self) -> InputPlaces | None:
        """Say whether records can be read from their own files when they are written, which saves staging them."""
        size = self._source.size_bytes  # None: some file can only be read from its start
        if size is None or self._plan.writing is not None or self._plan.group is not None:
            return None
        if self._options.shuffle and size > shuffling.WORTH_DEALING:
            return None
        return InputPlaces([SourceFile.at(path) for path in self._inputs.files], self._source.identities())

    def run(self, *, overwrite: bool, resume: bool) -> CopiedDataset:
        """Copy, and return what came of it."""
        out = self._options.out
        publication = Publication(out, is_file=self._options.single)
        complete(out, is_file=self._options.single)
        if resume and not self._options.single and not publication.is_resumable:
            made = self._already_copied()
            if made is not None:
                return made
        self._refuse_input()
        existed = os.path.isdir(publication.folder)
        if resume and publication.is_resumable:
            staging = Staging.go_on(publication, self._identity)
        else:
            if not overwrite:
                self._refuse_existing()
            staging = Staging.start(publication, self._identity)
        try:
            with explained(out, resumable=not self._options.single):
                if not staging.complete:
                    self._read(staging)
                return self._finish(staging)
        except BaseException as error:
            # What is wrong with the data or the options stays wrong: there is nothing to resume. Nor is there with one
            # file, which is soon made again.
            if self._options.single or (isinstance(error, RecordsmithError) and not self._writing):
                if not publication.is_committed:
                    publication.remove()
                if not existed:
                    with contextlib.suppress(OSError):
                        os.rmdir(publication.folder)  # unless there is something in it
            raise
        finally:
            staging.close()

    def _already_copied(self) -> CopiedDataset | None:
        out = self._options.out
        path = os.path.join(out, MANIFEST_NAME)
        if not os.path.exists(path):
            return None
        Staging.clear_away(out)
        plan = load_manifest(path).plan
        if plan is None or differences(plan, self._identity):
            refuse_existing(out)
        return CopiedDataset.of_folder(out)

    def _refuse_input(self) -> None:
        out = os.path.realpath(self._options.out)
        for file in self._inputs.files:
            real = os.path.realpath(file)
            if real == out or (not self._options.single and os.path.dirname(real) == out):
                raise RecordsmithError(
                    "The output is where the input is.",
                    path=self._options.out,
                    advice="Copy to another place: the input stays as it is.",
                )

    def _refuse_existing(self) -> None:
        if not self._options.single:
            if Staging.exists(self._options.out):
                raise unfinished_run(self._options.out)
            refuse_existing(self._options.out)
        elif os.path.exists(self._options.out):
            raise RecordsmithError(
                "There is a file of this name already.",
                path=self._options.out,
                advice=advise("Choose another name, or give {overwrite} to replace it.", overwrite=True),
            )

    # --- reading ---

    def _read(self, staging: Staging) -> None:
        chunks = islice(self._source.chunks(), staging.chunks, None)
        size = self._source.size_bytes
        workers = self._options.workers
        with thread_pool(workers) as pool:
            for encoded in in_order(pool, self._work.encode, chunks, ahead=workers + 1):
                staging.append(encoded)
                done = staging.counts["source_bytes" if size is not None else "source_rows"]
                self._report(
                    Progress(
                        "reading",
                        done,
                        size if size is not None else self._source.row_count,
                        "bytes" if size is not None else "rows",
                        staging.rows,
                        staging.bytes or staging.counts["source_bytes"],
                        staging.counts["rejects"],
                    )
                )
        if staging.rows == 0:
            counts = staging.counts
            reasons = commonest_reasons(staging.path(REJECTED_NAME), most=3)
            raise RecordsmithError(
                "There is no record to write.",
                found="; ".join(
                    [
                        f"{count_text(counts['source_rows'], 'record')} in the input",
                        *([f"{counts['dropped']} do not meet the condition"] if counts["dropped"] else []),
                        *map(str, reasons),
                    ]
                ),
            )
        staging.finish_chunks()

    # --- from staged records to files ---

    def _finish(self, staging: Staging) -> CopiedDataset:
        options = self._options
        choice, names, counts = self._choose(staging)
        orders = {
            name: build_order(
                staging,
                name,
                choice.rows_of(code),
                expected_rows=int(np.count_nonzero(choice.codes == code)),
                shuffle_seed=options.seed if options.shuffle else None,
            )
            for code, name in enumerate(names)
        }
        for name, order in orders.items():
            if order.rows == 0:
                self._warnings.append(f"The split {name!r} is empty.")
        writer = self._writer(staging)
        shards = {name: self._shards(order) for name, order in orders.items()}
        done = staging.shards_done()
        left = [order for name, order in orders.items() if any(shard.file not in done for shard in shards[name])]
        writer.deal_out(left, workers=options.workers)
        entries = self._write(staging, writer, [shard for split in shards.values() for shard in split])
        splits: dict[str, dict[str, Any]] = {}
        for code, name in enumerate(names):
            mine = [entries[shard.file] for shard in shards[name]]
            classes = self._count_classes(staging, choice, code)
            splits[name] = {
                "records": orders[name].rows,
                "bytes": sum(entry["bytes"] for entry in mine),
                **({"classes": classes} if classes else {}),
                "shards": mine,
            }
        return self._publish(staging, splits, counts)

    def _choose(self, staging: Staging) -> tuple[Choice, list[str], dict[str, int]]:
        options = self._options
        self._say("ordering", staging)
        choice = Choice(staging, self._in_place)
        counts = {"duplicates": 0, "not_sampled": 0, "unassigned": 0}
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
                self._warnings.append(f"The records of several splits are in one file now: {listed}.")
        return choice, names, counts

    def _writer(self, staging: Staging) -> ShardWriter:
        compression, ignored = self._options.compression, self._plan.provenance
        if self._plan.writing is None:
            return FrameShardWriter(staging, compression=compression, ignored=ignored, in_place=self._in_place)
        return ShardWriter(staging, self._plan.writing, (), compression=compression, ignored=ignored)

    def _shards(self, order: SplitOrder) -> list[Shard]:
        options = self._options
        if options.single:
            return [Shard(os.path.basename(options.out), order, 0, order.rows)]
        return plan_shards(
            order,
            options.name,
            shards=options.shards,
            shard_bytes=options.shard_bytes,
            compression=options.compression,
        )

    def _write(self, staging: Staging, writer: ShardWriter, shards: list[Shard]) -> dict[str, dict[str, Any]]:
        def say(phase: str, done: int, total: int) -> None:
            self._say(phase, staging, done, total)

        self._writing = True
        return write_shards(writer, shards, staging.shards_done(), workers=self._options.workers, say=say)

    def _count_classes(self, staging: Staging, choice: Choice, code: int) -> dict[str, int]:
        schema, label = self._plan.schema, self._plan.label
        if label is None or schema is None:
            return {}
        feature = schema[label]
        counts = np.zeros(len(staging.classes) + 1, np.int64)
        first = 0
        for keys in staging.key_blocks():
            chosen = choice.rows_of(code)(first, first + len(keys))
            counts += np.bincount(keys["class"] + 1, weights=chosen, minlength=len(counts)).astype(np.int64)
            first += len(keys)
        assert isinstance(feature, Label)  # noqa: S101 - for the type checker: only such a one is counted
        by_name = dict.fromkeys(feature.names, 0)
        for value, count in zip(staging.classes, counts[1:].tolist(), strict=True):
            name = feature.names[value] if 0 <= value < feature.size else str(value)
            by_name[name] = by_name.get(name, 0) + count
        return by_name

    # --- giving it to the world ---

    def _outcome(self, staging: Staging, counts: dict[str, int]) -> dict[str, Any]:
        return {
            **staging.counts,
            **counts,
            "source_bytes": self._source.size_bytes,
            "left_out": list(self._plan.left_out),
            "reasons": [asdict(reason) for reason in commonest_reasons(staging.path(REJECTED_NAME))],
            "verbatim": self._plan.writing is None,
            "warnings": self._warnings,
        }

    def _publish(self, staging: Staging, splits: dict[str, dict[str, Any]], counts: dict[str, int]) -> CopiedDataset:
        options = self._options
        if options.single:
            return self._publish_file(staging, splits["all"], counts)
        texts = {name: carried.text for name, carried in self._inputs.texts.items()}
        self._warnings.extend(self._inputs.left_out)
        schema = self._plan.schema
        if schema is not None:
            described, without_tfds = description_files(
                options.name, schema, splits, "", compression=options.compression
            )
            texts.update(described)
            if without_tfds is not None:
                self._warnings.append(without_tfds)
        rejected = staging.counts["rejects"] > 0 and options.on_error == "quarantine"
        training = SplitPlan(dict.fromkeys(splits, 1.0)).training
        weights = class_weights(splits[training].get("classes", {}))
        manifest = manifest_text(
            options.name,
            schema,
            splits,
            **({"class_weights": {"feature": self._plan.label, "weights": weights}} if weights else {}),
            **({"provenance": list(self._plan.provenance)} if self._plan.provenance else {}),
            made={
                "by": f"recordsmith {version()}",
                "plan": self._identity,
                "outcome": self._outcome(staging, counts),
                "files": sorted([*texts, *([REJECTED_NAME] if rejected else [])]),
            },
        )
        shards = [shard["file"] for split in splits.values() for shard in split["shards"]]
        modes = {name: carried.mode for name, carried in self._inputs.texts.items()}
        publish(staging, options.out, manifest, shards=shards, texts=texts, rejected=rejected, modes=modes)
        return CopiedDataset.of_folder(options.out)

    def _publish_file(self, staging: Staging, split: dict[str, Any], counts: dict[str, int]) -> CopiedDataset:
        outcome = JsonObject(self._outcome(staging, counts), "outcome")
        staging.publication.commit([os.path.basename(self._options.out)])
        return CopiedDataset.of_outcome(
            self._options.out, {"": MadeSplit(split["records"], split["bytes"], 1, split.get("classes", {}))}, outcome
        )

    def _say(self, phase: Any, staging: Staging, done: int = 0, total: int | None = None) -> None:
        total = staging.rows if total is None else total
        self._report(Progress(phase, done, total, "rows", staging.rows, staging.bytes, staging.counts["rejects"]))

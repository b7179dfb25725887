"""Reading the records of an export and writing them to files: here, or on the machines of a cluster."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from recordsmith.copying.absent_values import without_defaults
from recordsmith.copying.copy_inputs import CopyInputs
from recordsmith.copying.copy_plan import CopyPlan
from recordsmith.copying.frames import Frames, frames_of, rejected_error
from recordsmith.exporting.export_files import ExportFiles
from recordsmith.exporting.exported_dataset import ExportedDataset
from recordsmith.formats.exported.form import ExportedForm
from recordsmith.formats.source import Chunk, Reject
from recordsmith.making.sources.tfrecord_files import TFRecordsSource
from recordsmith.run.engines.engine import Engine
from recordsmith.run.progress import OnProgress, Progress
from recordsmith.schema import Schema
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.workers.threads import in_order, thread_pool

__all__ = ["ExportSplit", "Exporter", "by_machines"]

_MOST_REASONS = 5


@dataclass(frozen=True)
class ExportSplit:
    """Writes the records of one split into a folder that no other attempt has.

    Attributes:
        exporter: how records are read.
        form: the format and the schema.
        shard_bytes: how large a file may become before the next is begun.
        folder: where attempts are.
    """

    exporter: Exporter
    form: ExportedForm
    shard_bytes: int | None
    folder: str = ""

    def __call__(self, named: tuple[str, str | None]) -> ExportedDataset:
        """Write the files of one name, with the records of a split, or with all."""
        name, split = named
        own = os.path.join(self.folder, secrets.token_hex(8))
        files = ExportFiles(self.form, own, shard_bytes=self.shard_bytes, is_folder=True, overwrite=False)
        names = {os.path.join(own, os.path.basename(name)): split}
        return self.exporter.of_split(split).run(files, names, workers=1, report=lambda _progress: None)


class Exporter:
    """Reads records, and writes them to files.

    Args:
        inputs: the records.
        plan: which of them, and which features.
        schema: what is written.
        strict: a record that does not fit is an error.
    """

    def __init__(self, inputs: CopyInputs, plan: CopyPlan, schema: Schema, *, strict: bool) -> None:
        self.schema = schema
        self._inputs = inputs
        self._plan = plan
        self._strict = strict
        self._source = TFRecordsSource(inputs.layout, None, Schema({}), None)
        self._rejects: list[Reject] = []
        self._unmatched = self._source_rows = 0

    @property
    def left_out(self) -> tuple[str, ...]:
        """The features that are not exported."""
        return self._plan.left_out

    @property
    def folders(self) -> list[str]:
        """Where the local files are."""
        return sorted({os.path.dirname(file) for file in self._inputs.files if not is_ranged(file)})

    def of_split(self, split: str | None) -> Exporter:
        """Return the same for the files of one split; None keeps all."""
        splits = self._inputs.split_of
        if split is None or not splits:
            return self
        own = tuple(file for file, name in zip(self._inputs.files, splits, strict=True) if name == split)
        inputs = replace(self._inputs, files=own, split_of=(split,) * len(own))
        return Exporter(inputs, self._plan, self.schema, strict=self._strict)

    def run(
        self, out: ExportFiles, names: Mapping[str, str | None], *, workers: int, report: OnProgress
    ) -> ExportedDataset:
        """Write the files, which are given with their splits."""
        reading = without_defaults(self.schema)
        by_split = {split: name for name, split in names.items()}
        split_of = dict(zip(self._inputs.files, self._inputs.split_of, strict=True)) if self._inputs.split_of else {}
        only = next(iter(names)) if len(names) == 1 else ""
        done = 0
        with out as files, thread_pool(workers) as pool:
            for name, split in names.items():
                files.begin(name, split)

            def read(chunk: Chunk) -> tuple[Frames, dict[str, Any], int, int, int]:
                return *self._read(chunk, reading), chunk.source_bytes

            for frames, columns, whole, unmatched, size in in_order(
                pool, read, self._source.chunks(), ahead=workers + 1
            ):
                self._source_rows += whole
                self._unmatched += unmatched
                self._refuse(frames)
                if frames.rows:
                    with frames.placed():
                        files.write(only or by_split[split_of[frames.path]], columns, frames.rows)
                done += size
                total, rows = self._source.size_bytes, sum(files.rows.values())
                unit: Literal["bytes", "rows"] = "rows" if total is None else "bytes"
                report(Progress("writing", rows if total is None else done, total, unit, rows, 0, 0))
        return ExportedDataset(
            files.kind,
            dict(files.rows),
            sum(os.path.getsize(path) for path in files.rows),
            source_rows=self._source_rows,
            rejects=len(self._rejects),
            reasons=tuple(f"{reject.source}: {reject.reason}" for reject in self._rejects[:_MOST_REASONS]),
            unmatched=self._unmatched,
            left_out=self._plan.left_out,
        )

    def _read(self, chunk: Chunk, reading: Schema) -> tuple[Frames, dict[str, Any], int, int]:
        """Return the records of a chunk that meet the condition, how many there were, and how many do not meet it."""
        frames = frames_of(chunk)
        whole = frames.rows + len(frames.rejects)
        frames, unmatched = frames.meeting(self._plan.where, self._plan.where_schema)
        frames, columns = frames.fitting(reading)
        return frames, columns, whole, unmatched

    def _refuse(self, frames: Frames) -> None:
        if self._strict and frames.rejects:
            raise rejected_error(frames.rejects[0])
        self._rejects.extend(frames.rejects)


def by_machines(
    machines: Engine,
    work: ExportSplit,
    files: ExportFiles,
    names: Mapping[str, str | None],
    report: OnProgress,
) -> ExportedDataset:
    """Have the records of each split written by another machine, and give the files their names here."""
    done = 0
    parts = []
    with files:
        for name in names:
            files.next_path(name)
        work = replace(work, folder=files.attempts)
        machines.begin(files.attempts, work.exporter.folders)
        for name, part in zip(names, machines.in_order(work, names.items()), strict=True):
            files.adopt(name, part.files)
            parts.append(part)
            done += part.rows
            report(Progress("writing", done, None, "rows", done, 0, 0))
    return ExportedDataset(
        files.kind,
        dict(files.rows),
        sum(os.path.getsize(path) for path in files.rows),
        source_rows=sum(part.source_rows for part in parts),
        rejects=sum(part.rejects for part in parts),
        reasons=tuple(reason for part in parts for reason in part.reasons)[:_MOST_REASONS],
        unmatched=sum(part.unmatched for part in parts),
        left_out=work.exporter.left_out,
    )

"""rs.export: TFRecords into Parquet, CSV, JSON lines or WebDataset, with all that is needed to come back."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

from recordsmith.copying.absent_values import without_defaults
from recordsmith.copying.copy_inputs import CopyInputs, find_inputs
from recordsmith.copying.copy_plan import Changes, CopyPlan, plan_copy
from recordsmith.copying.frames import Frames, frames_of, rejected_error
from recordsmith.dataset.inference import infer_from_files
from recordsmith.display.tables import note, table
from recordsmith.errors import RecordsmithError, advise, did_you_mean, list_names
from recordsmith.exporting.export_files import WRITERS, ExportFiles
from recordsmith.exporting.lerobot_export import export_episodes
from recordsmith.formats.exported.form import ExportedForm
from recordsmith.formats.source import Chunk, Reject
from recordsmith.making.sources.tfrecord_files import TFRecordsSource
from recordsmith.run.engines.engine import Engine
from recordsmith.run.engines.execution import EngineName, Execution
from recordsmith.run.option_checks import checked_workers
from recordsmith.run.progress import OnProgress, Progress
from recordsmith.run.publishing.destination import open_destination, staged_path
from recordsmith.schema import Schema
from recordsmith.storage.byte_sizes import parse_size
from recordsmith.storage.publication import complete
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.wording.markup import element
from recordsmith.wording.numbers import bytes_text, count_text
from recordsmith.wording.visible_text import clipped
from recordsmith.workers.progress_display import ShowProgress, making_progress
from recordsmith.workers.threads import in_order, thread_pool

__all__ = ["ExportedDataset", "export"]

PathLike = str | os.PathLike[str]

_MOST_REASONS = 5


@dataclass(frozen=True)
class ExportedDataset:
    """The result of `rs.export`.

    Attributes:
        kind: "parquet", "csv", "jsonl" or "webdataset".
        files: the number of rows of each file.
        bytes: the size of all files.
        source_rows: the number of records in the input, damaged ones included.
        rejects: damaged records, and those that do not fit the schema.
        reasons: why the first of them were rejected.
        unmatched: records that do not meet the condition.
        left_out: features that are not exported.

    >>> ExportedDataset("csv", {"data.csv": 10}, 1234, source_rows=10).rows
    10
    """

    kind: str
    files: dict[str, int]
    bytes: int
    source_rows: int = 0
    rejects: int = 0
    reasons: tuple[str, ...] = ()
    unmatched: int = 0
    left_out: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether every record that was asked for was exported."""
        return self.rejects == 0

    @property
    def rows(self) -> int:
        """How many records were exported."""
        return sum(self.files.values())

    def _repr_html_(self) -> str:
        return element(
            "div",
            table(["file", "records"], [[path, f"{rows:,}"] for path, rows in islice(self.files.items(), 100)]),
            note(f"{bytes_text(self.bytes)}, {count_text(self.rejects, 'record')} rejected"),
            [note(clipped(reason, 600)) for reason in self.reasons],
        )


def export(  # noqa: PLR0913 - each is a setting of its own, and all but two have a default
    paths: PathLike | Iterable[PathLike],
    out: PathLike,
    *,
    to: str | None = None,
    split: str | None = None,
    where: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    schema: Schema | None = None,
    merge_splits: bool = False,
    shard_size: int | str | None = None,
    extension_types: bool = False,
    on_error: Literal["stop", "skip"] = "stop",
    workers: int | None = None,
    overwrite: bool = False,
    staging: PathLike | None = None,
    allow_race: bool = False,
    engine: EngineName = "local",
    address: str | None = None,
    progress: ShowProgress = "auto",
    on_progress: OnProgress | None = None,
) -> ExportedDataset:
    """Write TFRecords as Parquet, CSV, JSON lines, WebDataset or LeRobot.

    The schema is exported too, so that `rs.make` restores every record: in the metadata of a Parquet file, as
    NAME.schema.json next to a CSV or JSON lines file, or as the first member of a tar file.

    Args:
        paths: files, folders or globs; several are joined in this order.
        out: the file to write; or a folder, for one file for each split. Or the URL of one.
        to: "parquet", "csv", "jsonl" or "webdataset"; None: detected from the name of the file. "lerobot" writes the
            episodes of robots (`steps/...`) as a folder of LeRobot v3.0, with the images in its Parquet files.
        split: export only this split.
        where: export only records that meet a condition, such as "label == 'cat' and len(tokens) > 10".
        features: export only these features, in this order.
        drop: features to leave out.
        schema: what is in a record; None: the schema next to the files, or one inferred from all records.
        merge_splits: write the records of all splits into one file.
        shard_size: start a new file at this size: data-00000.tar, data-00001.tar; None writes one file.
        extension_types: in Parquet, write tensors of one shape as Arrow's `fixed_shape_tensor` instead of nested lists;
            pyarrow and polars then know their shape. Hugging Face's datasets cannot read such files.
        on_error: what to do with damaged records and with those that do not fit: "stop" raises an error, "skip" leaves
            them out and counts them.
        workers: the number of threads, or of tasks at a time with "ray".
        overwrite: replace existing files.
        staging: for a URL, the local folder in which the files are written before they are uploaded; None: one in the
            cache folder.
        allow_race: for a URL, also write to a store that has no conditional writes, in which two runs could overwrite
            each other's output.
        engine: who writes the files: "local", this machine, or "ray", a Ray cluster whose machines see the input and
            the output folder. A task writes the records of one split. The files are the same.
        address: the address of the Ray cluster, or "auto"; None uses the cluster that this program is connected
            to, or RAY_ADDRESS, or starts Ray on this machine.
        progress: True shows a bar on a terminal and in a notebook, and elsewhere writes a line every few seconds;
            "auto" shows only the bar; False shows nothing.
        on_progress: a function that is called with a `Progress` from time to time, instead of showing a bar.

    >>> import recordsmith as rs, tempfile, pathlib
    >>> folder = tempfile.mkdtemp()
    >>> made = rs.make([{"n": 1, "name": "one"}, {"n": 2, "name": "two"}], f"{folder}/data", shuffle=False)
    >>> rs.export(f"{folder}/data", f"{folder}/data.csv").rows
    2
    >>> print(pathlib.Path(f"{folder}/data.csv").read_text(), end="")
    "n","name"
    1,"one"
    2,"two"
    >>> rs.make(f"{folder}/data.csv", f"{folder}/again", shuffle=False).rows
    2
    >>> rs.open(f"{folder}/again").schema == rs.open(f"{folder}/data").schema
    True
    """
    place, out = out, staged_path(os.fsdecode(out), staging)
    if on_error not in ("stop", "skip"):
        raise RecordsmithError("on_error must be 'stop' or 'skip'.", found=repr(on_error))
    if to == "lerobot":
        other = {"where": where, "features": features, "drop": drop, "shard_size": shard_size, "staging": staging}
        other |= {"engine": engine if engine != "local" else None, "extension_types": extension_types}
        refused = [name for name, value in other.items() if value]
        if refused or is_ranged(os.fsdecode(place)):
            raise RecordsmithError(
                "A LeRobot dataset can only be written whole, and to a local folder.",
                found=list_names(refused) if refused else os.fsdecode(place),
                advice="Make the dataset with rs.copy first, and upload the folder afterwards.",
            )
        shown = progress if on_progress is None else False
        return _to_lerobot(paths, out, split, schema, overwrite=overwrite, shown=shown, on_progress=on_progress)
    kind, is_folder = _kind(out, to)
    if extension_types and kind != "parquet":
        raise RecordsmithError("Only Parquet files have Arrow's extension types.", found=f"extension_types for {kind}")
    execution = Execution.checked("", engine=engine, address=address, workers=workers)
    inputs = find_inputs(paths, split=split, keep_splits=is_folder and not merge_splits)
    if not is_folder and not merge_splits and len(inputs.found_splits) > 1:
        raise RecordsmithError(
            "The dataset has several splits, but a single file cannot say which record is in which split.",
            path=out,
            found=list_names(inputs.found_splits),
            advice=advise(
                "Choose one with {split}, or give a folder and a format to write a file for each split, or write "
                "all of them "
                "to one file with {merge_splits}.",
                split="train",
                merge_splits=True,
            ),
        )
    only = inputs.found_splits[0] if len(inputs.found_splits) == 1 else None
    known = schema if schema is not None else inputs.schema
    if known is None:
        known = infer_from_files(inputs.files)[0]
        if not known:
            raise RecordsmithError("There are no features to export.", path=inputs.files[0])
    changes = Changes(None if features is None else tuple(features), tuple(drop))
    plan = plan_copy(
        known, changes, declared=True, all_declared=True, describe=True, where=where, stratify=None, group=None
    )
    written = plan.schema if plan.schema is not None else known
    with (
        making_progress(shown=progress if on_progress is None else False) as bar,
        open_destination(
            place, staging=staging, is_file=not is_folder, overwrite=overwrite, allow_race=allow_race
        ) as destination,
    ):
        complete(out, is_file=not is_folder)
        shard_bytes = None if shard_size is None else parse_size(shard_size)
        form = replace(WRITERS[kind].form(written), extension_types=extension_types)
        files = ExportFiles(form, out, shard_bytes=shard_bytes, is_folder=is_folder, overwrite=overwrite)
        names: dict[str, str | None] = {out: only}
        if is_folder:
            suffix = WRITERS[kind].suffixes[0]
            names = {os.path.join(out, f"{name or 'all'}{suffix}"): name for name in inputs.splits or (None,)}
        exporter = _Exporter(inputs, plan, written, strict=on_error == "stop")
        with execution.open() as machines:
            if machines.is_remote:
                work = _ExportSplit(exporter, form, shard_bytes)
                exported = _by_machines(machines, work, files, names, on_progress or bar)
            else:
                exported = exporter.run(files, names, workers=checked_workers(workers), report=on_progress or bar)
        destination.publish(on_progress or bar)
        return replace(exported, files={destination.shown(path): rows for path, rows in exported.files.items()})


def _to_lerobot(
    paths: PathLike | Iterable[PathLike],
    out: str,
    split: str | None,
    schema: Schema | None,
    *,
    overwrite: bool,
    shown: ShowProgress,
    on_progress: OnProgress | None,
) -> ExportedDataset:
    """Write episodes as a folder of LeRobot."""
    inputs = find_inputs(paths, split=split, keep_splits=True)
    known = schema if schema is not None else inputs.schema
    names = inputs.split_of or ("train",) * len(inputs.files)
    splits = {
        name: tuple(file for file, its in zip(inputs.files, names, strict=True) if its == name)
        for name in dict.fromkeys(names)
    }
    with making_progress(shown=shown) as bar:
        report = on_progress or bar
        episodes, size, left_out = export_episodes(
            splits,
            known if known is not None else infer_from_files(inputs.files)[0],
            out,
            overwrite=overwrite,
            report=lambda done, total: report(Progress("writing", done, total, "rows", done, 0, 0)),
        )
    return ExportedDataset("lerobot", {out: episodes}, size, source_rows=episodes, left_out=left_out)


def _by_machines(
    machines: Engine,
    work: _ExportSplit,
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


@dataclass(frozen=True)
class _ExportSplit:
    """Writes the records of one split into a folder that no other attempt has.

    Attributes:
        exporter: how records are read.
        form: the format and the schema.
        shard_bytes: how large a file may become before the next is begun.
        folder: where attempts are.
    """

    exporter: _Exporter
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


class _Exporter:
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

    def of_split(self, split: str | None) -> _Exporter:
        """Return the same for the files of one split; None keeps all."""
        splits = self._inputs.split_of
        if split is None or not splits:
            return self
        own = tuple(file for file, name in zip(self._inputs.files, splits, strict=True) if name == split)
        inputs = replace(self._inputs, files=own, split_of=(split,) * len(own))
        return _Exporter(inputs, self._plan, self.schema, strict=self._strict)

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


def _kind(out: str, asked: str | None) -> tuple[str, bool]:
    """Return the kind of files to write, and whether they go to a folder."""
    if asked is not None and asked not in WRITERS:
        raise RecordsmithError(
            f"Unknown export format {asked!r}.{did_you_mean(asked, WRITERS)}", expected=list_names(WRITERS)
        )
    named = next((kind for kind, writer in WRITERS.items() if out.lower().endswith(writer.suffixes)), None)
    if named is not None and not os.path.isdir(out):
        if asked not in (None, named):
            raise RecordsmithError(
                "The file name does not match the format.", path=out, found=asked, expected=f"{named}, by its name"
            )
        return named, False
    if asked is None:
        endings = ", ".join(suffix for writer in WRITERS.values() for suffix in writer.suffixes)
        raise RecordsmithError(
            "The export format cannot be detected from this name.",
            path=out,
            expected=f"a name that ends in {endings}",
            advice=advise("Change the name. For a folder, choose the format with {to}.", to="parquet"),
        )
    return asked, True

"""export_dataset: TFRecords into Parquet, CSV, JSON lines or WebDataset, with all that is needed to come back."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from recordsmith.atomic_file import write_atomically
from recordsmith.copying.absent_values import without_defaults
from recordsmith.copying.copy_inputs import CopyInputs, find_inputs
from recordsmith.copying.copy_plan import Changes, plan_copy
from recordsmith.copying.export_writers import KINDS, ExportWriter, form_of, writer_for
from recordsmith.copying.frames import Frames, frames_of
from recordsmith.dataset.inference import infer_from_files
from recordsmith.errors import PipelineError, RecordsmithError, did_you_mean, list_names
from recordsmith.making.progress import OnProgress, Progress
from recordsmith.making.source import Chunk, Reject
from recordsmith.making.sources.exported_form import SIDECAR, ExportedForm
from recordsmith.making.sources.tfrecord_files import TFRecordsSource
from recordsmith.parallel import default_workers, in_order, thread_pool
from recordsmith.schema import Schema

__all__ = ["ExportedDataset", "export_dataset"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class ExportedDataset:
    """What came of an export.

    Attributes:
        kind: "parquet", "csv", "jsonl" or "webdataset".
        files: the rows of each file that was written.
        bytes: how large the files are.
        source_rows: the records that were read, with those that could not be.
        rejects: damaged records, and those that do not fit the schema.
        reasons: why the first of them were refused.
        unmatched: records that the condition leaves out.
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


def export_dataset(  # noqa: PLR0913 - each is a setting of its own, and all but two have a default
    paths: PathLike | Iterable[PathLike],
    out: PathLike,
    *,
    kind: str | None = None,
    split: str | None = None,
    where: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    schema: Schema | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    workers: int | None = None,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> ExportedDataset:
    """Write TFRecords as Parquet, CSV, JSON lines or WebDataset.

    The schema goes along, so that `make` brings everything back: in the metadata of a Parquet file, beside a CSV or
    JSON lines file as NAME.schema.json, as the first member of a tar file.

    Args:
        paths: files, folders or globs, which are put one behind the other.
        out: the file to write; or a folder, which gets a file for each split.
        kind: "parquet", "csv", "jsonl" or "webdataset"; None: told from the name of the file.
        split: export this split only.
        where: a condition such as "label == 'cat' and len(tokens) > 10", for the records to export.
        features: the only features to export, in this order.
        drop: features to leave out.
        schema: what is in a record; None: the schema beside the files, or one inferred from all records.
        on_error: what becomes of damaged records and of those that do not fit: "stop", or "skip" (counted).
        workers: how many threads decode records.
        overwrite: replace files that are there.
        on_progress: called from time to time with a `Progress`.

    >>> import recordsmith as rs, tempfile, pathlib
    >>> folder = tempfile.mkdtemp()
    >>> made = rs.make([{"n": 1, "name": "one"}, {"n": 2, "name": "two"}], f"{folder}/data", shuffle=False)
    >>> export_dataset(f"{folder}/data", f"{folder}/data.csv").rows
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
    out = os.path.abspath(os.fspath(out))
    if on_error not in ("stop", "skip"):
        raise RecordsmithError("on_error is 'stop' or 'skip'.", found=repr(on_error))
    kind, is_folder = _kind(out, kind)
    inputs = find_inputs(paths, split=split, keep_splits=is_folder)
    if not is_folder:
        _refuse_several_splits(paths, split, out)
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
    exporter = _Exporter(inputs, form_of(kind, written), out if is_folder else None, out, on_error, on_progress)
    return exporter.run(plan, without_defaults(written), overwrite=overwrite, workers=workers or default_workers())


class _Exporter:
    """One run."""

    def __init__(
        self,
        inputs: CopyInputs,
        form: ExportedForm,
        folder: str | None,
        out: str,
        on_error: str,
        on_progress: OnProgress | None,
    ) -> None:
        self._inputs = inputs
        self._form = form
        self._strict = on_error == "stop"
        self._report = on_progress or (lambda _: None)
        self._source = TFRecordsSource(inputs.layout, None, Schema({}), None)
        splits = dict(zip(inputs.files, inputs.split_of, strict=True)) if inputs.split_of else {}
        suffix = KINDS[form.kind][0]
        self._file_of = {
            file: out if folder is None else os.path.join(folder, f"{splits.get(file, 'all')}{suffix}")
            for file in inputs.files
        }
        self._rows = dict.fromkeys(self._file_of.values(), 0)
        self._rejects: list[Reject] = []
        self._unmatched = self._source_rows = 0

    def run(self, plan: Any, reading: Schema, *, overwrite: bool, workers: int) -> ExportedDataset:
        self._refuse_existing(overwrite=overwrite)
        for path in self._rows:
            os.makedirs(os.path.dirname(path), exist_ok=True)

        def read(chunk: Chunk) -> tuple[Frames, dict[str, Any], int, int, int]:
            frames = frames_of(chunk)
            whole, unmatched = frames.rows + len(frames.rejects), 0
            if plan.where is not None:
                frames, columns = frames.fitting(plan.where_schema)
                try:
                    mask = plan.where.mask(columns, frames.rows)
                except PipelineError as error:
                    if error.row is not None:
                        error.path, error.record, error.row = frames.path, frames.numbers[error.row], None
                    raise
                frames, unmatched = frames.chosen(mask), int(len(mask) - mask.sum())
            frames, columns = frames.fitting(reading)
            return frames, columns, whole, unmatched, chunk.source_bytes

        done = 0
        with self._files() as writers, thread_pool(workers) as pool:
            for frames, columns, whole, unmatched, size in in_order(
                pool, read, self._source.chunks(), ahead=workers + 1
            ):
                self._source_rows += whole
                self._unmatched += unmatched
                self._refuse(frames)
                path = self._file_of[frames.path]
                self._write(writers[path], frames, columns)
                self._rows[path] += frames.rows
                done += size
                total = self._source.size_bytes
                rows = sum(self._rows.values())
                self._report(
                    Progress(
                        "writing", rows if total is None else done, total, "bytes" if total else "rows", rows, 0, 0
                    )
                )
        return ExportedDataset(
            self._form.kind,
            self._rows,
            sum(os.path.getsize(path) for path in self._rows),
            source_rows=self._source_rows,
            rejects=len(self._rejects),
            reasons=tuple(f"{reject.source}: {reject.reason}" for reject in self._rejects[:5]),
            unmatched=self._unmatched,
            left_out=plan.left_out,
        )

    def _write(self, writer: ExportWriter, frames: Frames, columns: dict[str, Any]) -> None:
        if not frames.rows:
            return
        try:
            writer.write(columns, frames.rows)
        except RecordsmithError as error:
            if error.row is not None:
                error.path, error.record, error.row = frames.path, frames.numbers[error.row], None
            raise

    @contextlib.contextmanager
    def _files(self) -> Iterator[dict[str, ExportWriter]]:
        """Give writers, whose files get their names only when all are whole."""
        with contextlib.ExitStack() as stack:
            writers: dict[str, ExportWriter] = {}
            beside = [path for path in self._rows if self._form.kind in ("csv", "jsonl")]
            temporary = {path: stack.enter_context(write_atomically(path)) for path in self._rows}
            sidecars = [stack.enter_context(write_atomically(path + SIDECAR)) for path in beside]
            for sidecar in sidecars:
                with open(sidecar, "w", encoding="utf-8", newline="") as file:
                    file.write(self._form.to_text())
            try:
                for path, name in temporary.items():
                    writers[path] = writer_for(self._form, name, path)
                yield writers
            except BaseException:
                for writer in writers.values():
                    with contextlib.suppress(Exception):  # what failed first is what counts
                        writer.close()
                raise
            for writer in writers.values():
                writer.close()

    def _refuse(self, frames: Frames) -> None:
        if self._strict and frames.rejects:
            first = frames.rejects[0]
            raise RecordsmithError(
                first.reason,
                path=first.source,
                feature=first.feature,
                advice="Leave such records out, with a count of them, by on_error='skip' (--on-error skip); damaged "
                "files can be mended with `recordsmith repair`.",
            )
        self._rejects.extend(frames.rejects)

    def _refuse_existing(self, *, overwrite: bool) -> None:
        for path in self._rows:
            for there in (path, path + SIDECAR):
                if os.path.exists(there) and not overwrite:
                    raise RecordsmithError(
                        "There is a file of this name already.",
                        path=there,
                        advice="Choose another name, or give overwrite=True (--overwrite) to replace it.",
                    )


def _kind(out: str, asked: str | None) -> tuple[str, bool]:
    """Return the kind of files to write, and whether they go to a folder."""
    if asked is not None and asked not in KINDS:
        raise RecordsmithError(
            f"There is no export to {asked!r}.{did_you_mean(asked, KINDS)}", expected=list_names(KINDS)
        )
    told = next((kind for kind, suffixes in KINDS.items() if out.lower().endswith(suffixes)), None)
    if told is not None and not os.path.isdir(out):
        if asked not in (None, told):
            raise RecordsmithError(
                "The name of the file and its kind disagree.", path=out, found=asked, expected=f"{told}, by its name"
            )
        return told, False
    if asked is None:
        endings = ", ".join(suffix for suffixes in KINDS.values() for suffix in suffixes)
        raise RecordsmithError(
            "It cannot be told what kind of file to write.",
            path=out,
            expected=f"a name that ends in {endings}; or a folder, and a kind",
            advice="Name the kind for a folder: --to parquet (in Python, kind='parquet').",
        )
    return asked, True


def _refuse_several_splits(paths: PathLike | Iterable[PathLike], split: str | None, out: str) -> None:
    if split is not None or not isinstance(paths, (str, os.PathLike)):
        return
    splits = find_inputs(paths, split=None, keep_splits=True).splits
    if len(splits) > 1:
        raise RecordsmithError(
            "The dataset has several splits, and one file would not tell them apart.",
            path=out,
            found=list_names(splits),
            advice="Name one (--split train), or give a folder and a kind: it gets a file for each.",
        )

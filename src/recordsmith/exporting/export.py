"""rs.export: TFRecords into Parquet, CSV, JSON lines or WebDataset, with all that is needed to come back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from recordsmith.copying.copy_inputs import find_inputs
from recordsmith.copying.copy_plan import Changes, plan_copy
from recordsmith.dataset.inference import infer_from_files
from recordsmith.errors import RecordsmithError, advise, did_you_mean, list_names
from recordsmith.exporting.export_files import WRITERS, ExportFiles
from recordsmith.exporting.exported_dataset import ExportedDataset
from recordsmith.exporting.exporter import Exporter, ExportSplit, by_machines
from recordsmith.exporting.lerobot_export import export_episodes
from recordsmith.run.engines.execution import EngineName, Execution
from recordsmith.run.option_checks import checked_workers
from recordsmith.run.progress import OnProgress, Progress
from recordsmith.run.publishing.destination import open_destination, staged_path
from recordsmith.schema import Schema
from recordsmith.storage.byte_sizes import parse_size
from recordsmith.storage.publication import complete
from recordsmith.storage.ranged.opening import is_ranged
from recordsmith.workers.progress_display import ShowProgress, making_progress

__all__ = ["export"]

PathLike = str | os.PathLike[str]


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
                "all of them to one file with {merge_splits}.",
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
        exporter = Exporter(inputs, plan, written, strict=on_error == "stop")
        with execution.open() as machines:
            if machines.is_remote:
                work = ExportSplit(exporter, form, shard_bytes)
                exported = by_machines(machines, work, files, names, on_progress or bar)
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


def _kind(out: str, asked: str | None) -> tuple[str, bool]:
    """Return the kind of files to write, and whether they go to a folder."""
    known = [*WRITERS, "lerobot"]
    if asked is not None and asked not in WRITERS:
        raise RecordsmithError(
            f"Unknown export format {asked!r}.{did_you_mean(asked, known)}", expected=list_names(known)
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

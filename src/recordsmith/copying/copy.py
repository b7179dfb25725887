"""rs.copy: TFRecords into other TFRecords, with their bytes as they are wherever nothing about them changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from recordsmith.copying.copied_dataset import CopiedDataset
from recordsmith.copying.copy_inputs import CopyInputs, find_inputs
from recordsmith.copying.copy_options import CopyOptions
from recordsmith.copying.copy_plan import Changes, CopyPlan, plan_copy
from recordsmith.copying.copy_policy import CopyPolicy, refuse_input
from recordsmith.copying.record_numbers import Numbers, choose_records
from recordsmith.dataset.descriptions.metadata import Metadata
from recordsmith.dataset.inference import infer_from_files, schema_from_census, take_census
from recordsmith.errors import RecordsmithError, SchemaError, advise, list_names
from recordsmith.records.compression import writing_compression
from recordsmith.run.carrying_out import carry_out
from recordsmith.run.engines.execution import EngineName, Execution
from recordsmith.run.engines.part import DonePart
from recordsmith.run.option_checks import (
    check_name,
    check_on_error,
    check_seed,
    check_shards,
    checked_workers,
    default_name,
)
from recordsmith.run.progress import OnProgress
from recordsmith.run.publishing.destination import open_destination, staged_path
from recordsmith.run.splits.splitting import parse_splits
from recordsmith.schema import Schema
from recordsmith.storage.byte_sizes import parse_size
from recordsmith.workers.progress_display import ShowProgress, making_progress

__all__ = ["copy"]

PathLike = str | os.PathLike[str]

_FILES = {".gz": "gzip", ".gzip": "gzip", ".zlib": "zlib", "": None}


def copy(  # noqa: PLR0913 - each is a setting of its own, and all but two have a default
    paths: PathLike | Iterable[PathLike],
    out: PathLike,
    *,
    from_split: str | None = None,
    where: str | None = None,
    records: Numbers | None = None,
    dedupe: bool = False,
    sample: float | None = None,
    take: int | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    rename: Mapping[str, str] | None = None,
    schema: Schema | None = None,
    infer_schema: bool = False,
    cast: bool = False,
    split: str | Mapping[str, float | int | str] | None = None,
    stratify: str | bool | None = None,
    group: str | None = None,
    merge_splits: bool = False,
    shuffle: bool = False,
    seed: int = 0,
    shards: int | None = None,
    shard_size: int | str = "128MB",
    compression: str | None = "keep",
    name: str | None = None,
    on_error: Literal["stop", "skip", "quarantine"] = "stop",
    workers: int | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    part: str | None = None,
    finish: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    staging: PathLike | None = None,
    allow_race: bool = False,
    metadata: Mapping[str, Any] | None = None,
    progress: ShowProgress = "auto",
    on_progress: OnProgress | None = None,
) -> CopiedDataset:
    """Copy TFRecords: reshard, merge, split, filter, sample, shuffle, convert or compress them.

    If no option changes the content of the records, their bytes are copied unchanged. The input is never changed. The
    files get their names only when all of them are complete and verified.

    Args:
        paths: files, folders or globs; several are joined in this order.
        out: the folder to write to; or one file, with a name such as "all.tfrecord.gz". Or the URL of one.
        from_split: copy only this split of the input.
        where: copy only records that meet a condition, such as "label == 'cat' and len(tokens) > 10".
        records: copy only the records with these numbers, counted from 0 over all files as `rs.open(paths)` counts
            them, or those in a file with one number per line, such as the viewer writes. They stay in the order of the
            input.
        dedupe: leave out records that repeat an earlier record byte for byte.
        sample: copy a random sample: a share of each split such as 0.1, or a number of records such as 500.
        take: copy the first n records of each split.
        features: keep only these features, in this order.
        drop: features to leave out.
        rename: a mapping of old names of features to new ones.
        schema: the features of the copy: values are cast, and images encoded again, where necessary.
        infer_schema: infer the schema of the copy from its records, if the input has no description.
        cast: allow changes that lose information: casts, and images that are resized or encoded again.
        split: divide the records, as in "train=0.8,test=0.2"; None keeps the existing splits.
        stratify: the feature whose classes have the same shares in every split; True means the label.
        group: records with the same value of this feature are always in the same split.
        merge_splits: ignore the splits of the input: divide all records with `split`, or write them as one split.
        shuffle: put the records of each split into a random order, over all files.
        seed: the random seed of splits, samples and order.
        shards: the number of files per split; None means that it depends on `shard_size`.
        shard_size: the intended size of a file.
        compression: None or "none", "gzip", "zlib", or "keep" for that of the input.
        name: the start of the file names; None uses the name of the folder.
        on_error: what to do with damaged records and with those that do not fit: "stop" raises an error, "skip" leaves
            them out and counts them, "quarantine" also writes them to rejected.jsonl, with the reason.
        workers: the number of threads. The files do not depend on it.
        engine: "local" uses this machine, "ray" a Ray cluster. The files do not depend on it. With "ray", the input and
            the output (or `staging`) must be in folders that all machines see, or at URLs.
        address: the address of the Ray cluster, or "auto"; None uses the cluster that this program is connected to, or
            starts Ray on this machine.
        part: do only one part of the work, such as "3/8", as one job of a job array. All parts write to the same
            output folder or URL. The result says which parts are missing.
        finish: order, write, verify and publish the copy after all parts are done.
        overwrite: replace existing files.
        resume: continue a run that was interrupted.
        staging: for an output at a URL, the local folder in which the files are written before they are uploaded; None:
            one in the cache folder. If this is a URL too, finished work is kept there: other machines can share it, and
            the run can be resumed anywhere. With "ray" or `part`, None is a folder at the output.
        allow_race: for a URL, also write to a store that has no conditional writes, in which two runs could overwrite
            each other's output.
        metadata: the metadata of the copy: "description", "license", "citation", "homepage", "version" and
            "supervised_keys". What is not given here is taken from the input.
        progress: True shows a bar on a terminal and in a notebook, and elsewhere writes a line every few seconds;
            "auto" shows only the bar; False shows nothing.
        on_progress: a function that is called with a `Progress` from time to time, instead of showing a bar.

    >>> import recordsmith as rs, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with rs.RecordWriter(f"{folder}/data.tfrecord") as writer:
    ...     for n in range(10):
    ...         writer.write_example({"n": n})
    >>> copied = rs.copy(f"{folder}/data.tfrecord", f"{folder}/small.tfrecord", where="n >= 4", take=3)
    >>> copied.rows, copied.unmatched, copied.not_sampled
    (3, 4, 3)
    >>> [row["n"].item() for row in rs.open(f"{folder}/small.tfrecord")]
    [4, 5, 6]
    """
    place, out = out, staged_path(os.fsdecode(out), staging)
    single = _names_a_file(out)
    execution = Execution.checked(
        os.fsdecode(place),
        is_file=single,
        engine=engine,
        address=address,
        workers=workers,
        part=part,
        finish=finish,
    )
    _check(sample=sample, take=take, on_error=on_error, seed=seed, shards=shards)
    if single:
        _check_single(out, split=split, shards=shards, infer_schema=infer_schema)
    if name is not None:
        check_name(name)
    divided = None if split is None else parse_splits(split)
    if divided is None and (stratify or group is not None):
        raise RecordsmithError(
            advise("{stratify} and {group} need {split}.", stratify=..., group=..., split=...),
            advice=advise("Add for example {split}.", split="train=0.8,test=0.2"),
        )
    inputs = find_inputs(paths, split=from_split, keep_splits=divided is None and not single and not merge_splits)
    if not merge_splits and divided is not None and len(inputs.found_splits) > 1:
        raise RecordsmithError(
            advise("{split} divides the records, but the input already has splits.", split=...),
            found=f"the splits {list_names(inputs.found_splits)}",
            advice=advise(
                "Leave {split} out to keep them, or combine the splits with {merge_splits}.",
                split=...,
                merge_splits=True,
            ),
        )
    changes = Changes(None if features is None else tuple(features), tuple(drop), dict(rename or {}), schema, cast=cast)
    known, unclear = inputs.schema, dict[str, SchemaError]()
    if known is None and (changes.any or infer_schema):
        known = _inferred(inputs, damaged=on_error != "stop")
    elif known is None and (where is not None or stratify or group is not None):
        known, unclear = _inferred_in_part(inputs, damaged=on_error != "stop")
    for feature, problem in unclear.items():
        if feature in (group, stratify) or feature in (where or ""):
            raise problem
    plan = plan_copy(
        known,
        changes,
        declared=inputs.schema is not None,
        all_declared=inputs.all_declared,
        describe=infer_schema,
        where=where,
        stratify=stratify,
        group=group,
        provenance=inputs.provenance,
    )
    chosen = None if records is None else choose_records(records, inputs.files)
    options = CopyOptions(
        out=out,
        single=single,
        name=default_name(out) if name is None else name,
        split=divided,
        stratify=bool(stratify),
        seed=seed,
        shuffle=shuffle,
        sample=sample,
        take=take,
        dedupe=dedupe,
        shards=shards,
        shard_bytes=parse_size(shard_size),
        compression=_compression(compression, inputs, out if single else None),
        cast=cast,
        on_error=on_error,
        workers=checked_workers(workers),
        metadata=_metadata(metadata, inputs, plan, dict(rename or {})),
    )
    asked = {
        "from_split": from_split,
        "where": where,
        **({} if chosen is None else {"records": chosen.describe()}),
        "features": features if features is None else list(features),
        "drop": list(drop),
        "rename": dict(rename or {}),
        "stratify": stratify,
        "group": group,
        "merge_splits": merge_splits,
    }
    refuse_input(inputs, out, is_file=single)
    with (
        making_progress(shown=progress if on_progress is None else False) as bar,
        open_destination(
            place,
            staging=staging,
            is_file=single,
            overwrite=overwrite,
            resume=resume,
            allow_race=allow_race,
            execution=execution,
        ) as destination,
    ):
        policy, report = CopyPolicy(inputs, plan, options, asked, chosen), on_progress or bar
        output = replace(options.output(), path=destination.path, store=destination.store)
        finished = carry_out(policy, output, execution, report, overwrite=overwrite, resume=resume)
        if isinstance(finished, DonePart):
            return CopiedDataset(destination.place, {}, part=finished)
        if not single or finished is None:
            copied = CopiedDataset.of_folder(output.path)
        else:
            copied = CopiedDataset.of_file(out, finished)
        destination.publish(report)
        return replace(copied, path=destination.place)


def _metadata(
    given: Mapping[str, Any] | None, inputs: CopyInputs, plan: CopyPlan, rename: Mapping[str, str]
) -> Metadata:
    """Return what is said about the copy: what was given, and what still holds of the input."""
    asked, features = Metadata.checked(given), tuple(plan.schema or ())
    if plan.schema is not None:
        asked.check_features(features)
    return asked.over(inputs.metadata.renamed(lambda name: rename.get(name, name), features))


def _names_a_file(out: str) -> bool:
    if os.path.isdir(out):
        return False
    return _ending(out) is not None


def _ending(out: str) -> str | None:
    """Return the ending of compression that a TFRecord file's name has; None if it is no such name."""
    lowered = os.path.basename(out).lower()
    for ending in _FILES:
        if lowered.removesuffix(ending).endswith((".tfrecord", ".tfrecords", ".tfrec")) and lowered.endswith(ending):
            return ending
    return None


def _compression(given: str | None, inputs: CopyInputs, file: str | None) -> str | None:
    if file is not None:
        ending = _ending(file) or ""
        if given != "keep":
            asked = writing_compression(given)
            if ending and asked != _FILES[ending]:
                raise RecordsmithError(
                    "The file name does not match the compression.",
                    path=file,
                    found=f"compression {asked}",
                    expected=_FILES[ending],
                )
            return None if asked == "none" else asked
        return _FILES[ending]
    if given == "keep":
        return inputs.compression()
    checked = writing_compression(given)
    return None if checked == "none" else checked


def _inferred(inputs: CopyInputs, *, damaged: bool) -> Schema:
    if not damaged:
        return infer_from_files(inputs.files)[0]
    return schema_from_census(take_census(inputs.files, stop_at_damage=True), inputs.files)


def _inferred_in_part(inputs: CopyInputs, *, damaged: bool) -> tuple[Schema, dict[str, SchemaError]]:
    """Infer a schema of the features that have one type throughout, and say what is wrong with the others.

    Records whose bytes stay as they are may hold anything beside what is asked about.
    """
    census = take_census(inputs.files, stop_at_damage=damaged)
    unclear: dict[str, SchemaError] = {}
    while True:
        try:
            return schema_from_census(census, inputs.files), unclear
        except SchemaError as error:
            if error.feature is None or error.feature in unclear:
                raise
            unclear[error.feature] = error
            kept = tuple(facts for facts in census.features if facts.key != error.feature)
            census = replace(census, features=kept)


def _check(
    *,
    sample: float | None,
    take: int | None,
    on_error: str,
    seed: int,
    shards: int | None,
) -> None:
    if sample is not None and take is not None:
        raise RecordsmithError(advise("{sample} and {take} cannot be used together.", sample=..., take=...))
    if sample is not None and (isinstance(sample, bool) or not _is_amount(sample)):
        raise RecordsmithError(
            advise("{sample} must be a share between 0 and 1, or a number of records.", sample=...),
            found=repr(sample),
            expected="a share such as 0.1, or a number such as 500",
        )
    if take is not None and (isinstance(take, bool) or not isinstance(take, int) or take < 1):
        raise RecordsmithError("take must be a number of records, an integer of at least 1.", found=repr(take))
    check_on_error(on_error)
    check_seed(seed)
    if shards is not None:
        check_shards(shards)


def _is_amount(sample: object) -> bool:
    if isinstance(sample, float):
        return 0 < sample <= 1
    return isinstance(sample, int) and sample >= 1


def _check_single(out: str, *, split: object, shards: int | None, infer_schema: bool) -> None:
    for given, option in (
        (split is not None, "split"),
        (shards not in (None, 1), "shards"),
        (infer_schema, "infer_schema"),
    ):
        if given:
            raise RecordsmithError(
                advise(f"{{{option}}} cannot be used when the output is a single file.", **{option: ...}),
                path=out,
                advice="Choose a folder as the output: a name without the suffix .tfrecord.",
            )

"""rs.make: from a source to a dataset that was checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, load_manifest
from recordsmith.dataset.descriptions.metadata import Metadata
from recordsmith.errors import RecordsmithError, list_names
from recordsmith.formats.arrow.memory_tables import is_table
from recordsmith.formats.source import Source
from recordsmith.making.made_dataset import MadeDataset
from recordsmith.making.making_policy import MakingPolicy
from recordsmith.making.options import MakeOptions
from recordsmith.making.preprocessing.preprocessor import Preprocessor
from recordsmith.run.carrying_out import carry_out
from recordsmith.run.engines.execution import EngineName, Execution
from recordsmith.run.engines.part import DonePart
from recordsmith.run.option_checks import default_name
from recordsmith.run.policy import OnError
from recordsmith.run.progress import OnProgress
from recordsmith.run.publishing.destination import open_destination, staged_path
from recordsmith.run.run import refuse_output
from recordsmith.schema import Packed, Schema, Sparse
from recordsmith.storage.publication import complete
from recordsmith.workers.progress_display import ShowProgress, making_progress

__all__ = ["make"]

PathLike = str | os.PathLike[str]
Row = dict[str, Any]


def make(  # noqa: PLR0913 - each is a setting of its own, and all but two have a default
    source: Source | PathLike | Mapping[str, Any] | Iterable[Mapping[str, Any]] | Callable[[], Iterable[Row]] | Any,
    out: PathLike,
    *,
    schema: Schema | None = None,
    label: str | None = None,
    text: str | Iterable[str] = (),
    images: str | Iterable[str] = (),
    name: str | None = None,
    split: str | Mapping[str, float | int | str] | None = None,
    stratify: str | bool | None = None,
    group: str | Callable[[Row], Any] | None = None,
    merge_splits: bool = False,
    drop_unlabelled: bool = False,
    seed: int = 0,
    shuffle: bool = True,
    balance: Any = None,
    map: Callable[[Row], Any] | None = None,  # noqa: A002 - the name that everyone knows it by
    preprocess: Preprocessor | Sequence[Preprocessor] = (),
    shards: int | None = None,
    shard_size: int | str = "128MB",
    compression: str | None = None,
    cast: bool = False,
    on_error: OnError = "quarantine",
    max_rejects: float = 0.2,
    workers: int | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    part: str | None = None,
    finish: bool = False,
    overwrite: bool = False,
    resume: bool = False,
    staging: PathLike | None = None,
    allow_race: bool = False,
    description: str = "",
    metadata: Mapping[str, Any] | None = None,
    progress: ShowProgress = "auto",
    on_progress: OnProgress | None = None,
) -> MadeDataset:
    """Make a dataset from a source: split, shuffle, write TFRecord shards with a manifest, and verify them.

    Args:
        source: one of `rs.sources`, a path (or a list of them) whose kind can be detected, a table (a DataFrame, an
            Arrow table, a dataset of Hugging Face), a mapping of arrays or of tables by split, an iterable of rows, or
            a function that returns an iterator of rows.
        out: the folder to write to, or its URL, such as "s3://bucket/pets".
        schema: the features of a record; None uses the schema of the source.
        label: the column with the class or the target; for a source of `rs.sources`, give it there.
        text: columns to store as text, even if their values look like numbers; likewise.
        images: columns with images, or with the paths of images; likewise.
        name: the start of the file names; None uses the name of the folder.
        split: shares such as "train=0.8,test=0.2", or a mapping. Numbers of rows are allowed too, and one of them may
            be "rest". None keeps the splits of the source (a dataset with splits, folders or files named train and
            test).
        stratify: the feature whose classes have the same shares in every split; True means the label.
        group: rows with the same value in this column (a patient, a user) are always in the same split; the column
            need not be stored. Or a function that returns such a value for a row; its code must be the same when a
            run is resumed.
        merge_splits: ignore the splits of the source, and divide all of its rows with `split`.
        drop_unlabelled: leave out rows without a label, and count them.
        seed: the random seed of splits, order and balance.
        shuffle: write the training split in a random order; the others keep the order of the source.
        balance: how to balance the classes of the training split: "oversample", "undersample", a mapping of
            classes to counts, or a sampler of imbalanced-learn.
        map: your own function, which takes a row and returns a row, several rows, or None to leave the row out. It
            runs in worker processes.
        preprocess: one or several objects of `rs.preprocessing` (vocabulary, tokenizer, TF-IDF). They are fitted on the
            training split, and transform all splits.
        shards: the number of files per split; None means that it depends on `shard_size`.
        shard_size: the intended size of a file.
        compression: None, "gzip" or "zlib".
        cast: allow casts that lose information, such as 1.5 to 1.
        on_error: what to do with a row that does not fit: "quarantine" leaves it out and writes it to rejected.jsonl,
            "skip" leaves it out and counts it, "stop" raises an error.
        max_rejects: the maximum share of rejected rows. The run stops if there are more.
        workers: the number of threads, or of processes for `map`. The files do not depend on it.
        engine: "local" uses this machine, "ray" a Ray cluster. The files do not depend on it. With "ray", the source
            and the output (or `staging`) must be in folders that all machines see, or at URLs.
        address: the address of the Ray cluster, or "auto"; None uses the cluster that this program is connected to, or
            starts Ray on this machine.
        part: do only one part of the work, such as "3/8", as one job of a job array. All parts write to the same
            output folder or URL. The result says which parts are missing.
        finish: order, write, verify and publish the dataset after all parts are done.
        overwrite: replace an existing dataset.
        resume: continue a run that was interrupted.
        staging: for an output at a URL, the local folder in which the files are written before they are uploaded; None:
            one in the cache folder. If this is a URL too, finished work is kept there: other machines can share it, and
            the run can be resumed anywhere. With "ray" or `part`, None is a folder at the output.
        allow_race: for a URL, also write to a store that has no conditional writes, in which two runs could overwrite
            each other's output.
        description: a sentence about the dataset, for its description files.
        metadata: other metadata: "license", "citation", "homepage", "version" (three numbers), and
            "supervised_keys" (the names of the input and the target). It is kept in recordsmith.json and in TFDS'
            dataset_info.json.
        progress: True shows a bar on a terminal and in a notebook, and elsewhere writes a line every few seconds;
            "auto" shows only the bar; False shows nothing.
        on_progress: a function that is called with a `Progress` from time to time, instead of showing a bar.

    >>> import recordsmith as rs, tempfile
    >>> folder = tempfile.mkdtemp() + "/numbers"
    >>> made = rs.make([{"n": n} for n in range(10)], folder, split="train=0.8,test=0.2")
    >>> {name: split.rows for name, split in made.splits.items()}
    {'train': 8, 'test': 2}
    >>> sorted(row["n"].item() for row in rs.open(folder))
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    execution = Execution.checked(
        os.fsdecode(out), engine=engine, address=address, workers=workers, part=part, finish=finish
    )
    options = MakeOptions.checked(
        name=default_name(staged_path(os.fsdecode(out))) if name is None else name,
        split=split,
        stratify=stratify,
        group=group,
        seed=seed,
        shuffle=shuffle,
        balance=balance,
        function=map,
        preprocess=preprocess,
        shards=shards,
        shard_bytes=shard_size,
        compression=compression,
        cast=cast,
        on_error=on_error,
        max_rejects=max_rejects,
        drop_unlabelled=drop_unlabelled,
        workers=workers,
        metadata=Metadata.checked(metadata, description),
    )
    with (
        open_destination(
            out,
            staging=staging,
            overwrite=overwrite,
            resume=resume,
            allow_race=allow_race,
            execution=execution,
        ) as destination,
        making_progress(shown=progress if on_progress is None else False) as bar,
    ):
        path = destination.path
        # What is whole and checked needs its source no more, which may be gone, or may be what is being replaced.
        if not (complete(path) and resume and _is_made(path)):
            if not overwrite and not resume and not execution.in_parts:
                refuse_output(path)
            asked = {"label": label, "text": text, "images": images}
            asked = {option: value for option, value in asked.items() if value not in (None, (), [])}
            given = _as_source(source, None if map is not None else schema, asked)
            if drop_unlabelled:
                given.drop_unlabelled()
            if not merge_splits:
                options = options.keeping(given.splits, divided=split is not None)
            policy = MakingPolicy(given, schema, options)
            options.metadata.check_features(policy.final_features)
            output = replace(options.output(path), store=destination.store)
            done = carry_out(policy, output, execution, on_progress or bar, overwrite=overwrite, resume=resume)
            if isinstance(done, DonePart):
                return MadeDataset(destination.place, options.name, {}, part=done)
        made = MadeDataset.of_folder(path)
        destination.publish(on_progress or bar)
        rejected = None if made.rejected_path is None else destination.shown(made.rejected_path)
        return replace(made, folder=destination.place, rejected_path=rejected)


def _as_source(source: Any, schema: Schema | None, asked: dict[str, Any]) -> Source:
    """Return the source that was given, with what was said about its columns."""
    from recordsmith.making import sources
    from recordsmith.making.sources.detect import options_checked, source_for

    if isinstance(source, Source):
        if asked:
            raise RecordsmithError(
                f"{list_names(asked)} cannot be used with a source of rs.sources, which has its own options.",
                advice=f"Write rs.sources.{source.kind}(..., {next(iter(asked))}=...).",
            )
        return source
    if isinstance(source, (str, os.PathLike)) or _are_paths(source):
        return source_for(source, **asked)
    if is_table(source):
        return sources.arrow(source, schema=schema, **asked)
    if isinstance(source, Mapping):
        return sources.arrays(source, **options_checked("arrays", asked))
    if isinstance(source, Iterable) or callable(source):
        declared = {name: feature for name, feature in (schema or {}).items() if isinstance(feature, (Packed, Sparse))}
        return sources.rows(source, declared=declared, **options_checked("rows", asked))
    raise RecordsmithError(
        "This cannot be used as a source.",
        found=type(source).__name__,
        expected="a path, one of rs.sources, a table, a mapping of arrays, or rows as mappings",
        advice="Pass the result of its collect()." if callable(getattr(source, "collect", None)) else None,
    )


def _are_paths(source: Any) -> bool:
    return isinstance(source, list) and bool(source) and all(isinstance(one, (str, os.PathLike)) for one in source)


def _is_made(out: str) -> bool:
    manifest = os.path.join(out, MANIFEST_NAME)
    return os.path.isfile(manifest) and load_manifest(manifest).plan is not None

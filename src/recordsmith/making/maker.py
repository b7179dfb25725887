"""rs.make: from a source to a dataset that was checked.

reading     chunks of the source are loaded, mapped and encoded by workers, and staged in order
ordering    every row gets its split; the training split is balanced; training rows are shuffled
fitting     vocabularies and the like learn from the training split
writing     shards are put together from the staged records
checking    and read back
publishing  everything moves into place, the manifest last

Each step is a function of the ones before it and of the options, so a run that was killed continues from what is on
disk and ends with the same bytes.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from recordsmith.dataset.class_weights import class_weights
from recordsmith.dataset.manifest import MANIFEST_NAME, load_manifest, manifest_text
from recordsmith.errors import EncodeError, RecordsmithError, SchemaError, advise, did_you_mean, list_names
from recordsmith.formats.source import Chunk, Source
from recordsmith.making import chunk_work
from recordsmith.making.balance.balancing import check_balance
from recordsmith.making.chunk_encoding import Recipe
from recordsmith.making.labels.class_names import named_labels
from recordsmith.making.labels.label_names import check_label_names
from recordsmith.making.labels.label_translation import Translations, label_translations
from recordsmith.making.made_dataset import MadeDataset
from recordsmith.making.options import MakeOptions, OnError
from recordsmith.making.preprocessing.preprocessor import Preprocessor
from recordsmith.making.split_ordering import SplitOrdering
from recordsmith.run.descriptions import description_files
from recordsmith.run.encoded_chunk import EncodedChunk
from recordsmith.run.full_disk import explained
from recordsmith.run.memory import release_memory
from recordsmith.run.option_checks import default_name
from recordsmith.run.progress import OnProgress, Progress
from recordsmith.run.publishing import REJECTED_NAME, publish, refuse_existing
from recordsmith.run.reject_reasons import commonest_reasons
from recordsmith.run.shard_writing import Shard, ShardWriter, plan_shards, write_shards
from recordsmith.run.staging import Staging, differences
from recordsmith.schema import Label, Packed, Schema, Sparse
from recordsmith.schema.presence import with_required
from recordsmith.storage.atomic_file import local_output
from recordsmith.storage.publication import Publication, complete, unfinished_run
from recordsmith.wording.numbers import count_text
from recordsmith.workers.progress_display import making_progress

__all__ = ["make"]

PathLike = str | os.PathLike[str]
Row = dict[str, Any]

_LOOKED_AT_CHUNKS = 16  # that are kept at hand, where chunks carry their data
_FEWEST_REJECTS = 10  # fewer are never too many, whatever their share


def make(  # noqa: PLR0913 - each is a setting of its own, and all but two have a default
    source: Source | PathLike | Mapping[str, Any] | Iterable[Mapping[str, Any]] | Callable[[], Iterable[Row]],
    out: PathLike,
    *,
    schema: Schema | None = None,
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
    overwrite: bool = False,
    resume: bool = False,
    description: str = "",
    progress: bool = True,
    on_progress: OnProgress | None = None,
) -> MadeDataset:
    """Turn a source into a dataset: TFRecord shards, split and shuffled, with a manifest, checked before it says done.

    Args:
        source: one of `rs.sources`, a path from which its kind can be told, a mapping of arrays, rows as mappings, or
            a function that returns an iterator of rows.
        out: the folder to write to.
        schema: what the records hold; None takes what the source says of itself.
        name: how the files begin; None takes the folder's name.
        split: "train=0.8,test=0.2", or a mapping; counts of rows work too, and one of them may be "rest". None keeps
            the splits that the source has (a dataset with splits, folders or files named train and test).
        stratify: the feature whose classes have the same shares in every split; True means the label.
        group: the column whose equal values (a patient, a user) never are in two splits, which need not be stored; or
            a function of a row that returns such a value. A run is only resumed with the same code in it.
        merge_splits: take the rows of all splits of the source together, to divide them anew with `split`.
        drop_unlabelled: leave out rows without a label, and count them.
        seed: decides about splits, order and balance.
        shuffle: write the training split in a random order; the others keep the order of the source.
        balance: what is done about rare classes, in the training split only: "oversample", "undersample", a mapping of
            classes to counts, or a sampler of imbalanced-learn.
        map: a function of your own, from a row to a row, to several rows, or to None to leave the row out. It runs in
            worker processes.
        preprocess: what is fitted on the training split and then transforms all splits, from `rs.preprocessing`: a
            vocabulary, a tokenizer or TF-IDF; or several of them.
        shards: how many files a split has; None goes by their size.
        shard_size: how large a file should be.
        compression: None, "gzip" or "zlib".
        cast: allow casts that lose information.
        on_error: what becomes of a row that does not fit: "quarantine" (left out, and written to rejected.jsonl),
            "skip" (left out and counted), or "stop".
        max_rejects: the maximum share of rejected rows; if more are rejected, it stops.
        workers: how many threads, or processes for `map`, work at a time. The files do not depend on it.
        overwrite: replace a dataset that is there.
        resume: go on with a run that did not end.
        description: a sentence about the dataset, for its description files.
        progress: show a bar on a terminal; elsewhere nothing is shown.
        on_progress: called from time to time with a `Progress`, instead of a bar.

    >>> import recordsmith as rs, tempfile
    >>> folder = tempfile.mkdtemp() + "/numbers"
    >>> made = rs.make([{"n": n} for n in range(10)], folder, split="train=0.8,test=0.2")
    >>> {name: split.rows for name, split in made.splits.items()}
    {'train': 8, 'test': 2}
    >>> sorted(row["n"].item() for row in rs.open(folder))
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    out = local_output(out)
    options = MakeOptions.checked(
        name=default_name(out) if name is None else name,
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
        description=description,
    )
    if complete(out) and resume and _is_made(out):
        # What is whole and checked needs its source no more, which may be gone, or may be what is being replaced.
        return MadeDataset.of_folder(out)
    if not overwrite and not resume:
        _refuse(out)
    given = _as_source(source, schema)
    if drop_unlabelled:
        given.drop_unlabelled()
    if not merge_splits:
        options = options.keeping(given.splits, divided=split is not None)
    with making_progress(shown=progress and on_progress is None) as bar:
        maker = _Maker(given, out, schema, options, on_progress or bar)
        return maker.run(overwrite=overwrite, resume=resume)


class TooManyRejectsError(RecordsmithError, ValueError):
    """More rows were refused than are allowed; with a larger share allowed, the run can be resumed."""


class _Maker:
    """One run."""

    def __init__(
        self, source: Source, out: str, schema: Schema | None, options: MakeOptions, on_progress: OnProgress | None
    ) -> None:
        self._source = source
        self._out = out
        self._options = options
        self._report = on_progress or (lambda _: None)
        self._looked_at: list[Chunk] = []  # chunks that were taken from the source to have a look at them
        self._chunks: Iterator[Chunk] = iter(())
        self._mapped_names: list[str] = []  # that the map function returns
        self._schema = self._find_schema(schema)
        self._label = self._find_label()
        self._stratum = self._find_stratum()
        self._warnings = [*source.warnings]
        if schema is None and not source.declared:
            self._warnings += check_label_names(source, self._schema)
        if options.drop_unlabelled and self._label is not None:
            self._schema = with_required(self._schema, [self._label])
        self._recipe = Recipe(
            schema=self._schema,
            function=options.function,
            label=self._label,
            stratum=self._stratum,
            labels=self._source_labels(),
            group=options.group,
            translations=self._label_translations(schema),
            ignored=tuple(name for name in source.provenance if name in self._schema),
            cast=options.cast,
            strict=options.on_error == "stop",
            drop_unlabelled=options.drop_unlabelled,
        )
        self._plan = options.identity(source.describe(), self._schema)
        self._writing = False  # everything is ordered and fitted: what goes wrong now is the disk's doing

    def run(self, *, overwrite: bool, resume: bool) -> MadeDataset:
        if resume and not Staging.exists(self._out) and os.path.exists(os.path.join(self._out, MANIFEST_NAME)):
            Staging.clear_away(self._out)
            return self._already_made()
        schema = self._schema
        for preprocessor in self._options.preprocess:
            schema = preprocessor.schema(schema)  # refuses what does not fit before any work is done
        if self._options.balance is not None and self._label is not None:
            check_balance(self._options.balance, self._schema[self._label], self._label)
        self._check_group()
        existed = os.path.isdir(self._out)
        staging = self._open_staging(overwrite=overwrite, resume=resume)
        try:
            with explained(self._out, resumable=True):
                if not staging.complete:
                    self._read(staging)
                self._finish(staging)
        except OSError:
            raise
        except Exception as error:
            if self._is_pointless(staging, error):
                staging.publication.remove()
                if not existed:
                    with contextlib.suppress(OSError):  # somebody else put something into it
                        os.rmdir(self._out)
            raise
        finally:
            staging.close()
        return MadeDataset.of_folder(self._out)

    def _is_pointless(self, staging: Staging, error: Exception) -> bool:
        """Say whether a run that ended by an error has nothing to resume: it would end in the same way."""
        if self._writing or isinstance(error, TooManyRejectsError):
            return False
        stopped_at_row = isinstance(error, EncodeError) and self._options.on_error == "stop"
        return staging.rows == 0 or stopped_at_row or (staging.complete and isinstance(error, RecordsmithError))

    # --- before ---

    def _find_schema(self, given: Schema | None) -> Schema:
        """Return the schema: the one given, the source's, or what the map function makes of its first rows."""
        function = self._options.function
        if function is None:
            return given if given is not None else self._source.schema()
        mapped = chunk_work.first_mapped_rows(
            self._look_at_chunks(), function, self._source_labels(), needed=given is None
        )
        self._mapped_names = list(dict.fromkeys(name for row in mapped.rows for name in row))
        if given is None:
            if not mapped.rows:
                raise chunk_work.why_no_row(mapped) from None if mapped.raised is None else mapped.raised[0]
            return chunk_work.schema_after_map(mapped.rows, self._source.schema())
        for row in mapped.rows:
            unknown = [name for name in row if name not in given and name != self._options.group]
            if unknown:
                raise SchemaError(
                    f"The map function returns names that the schema does not have: {list_names(map(str, unknown))}."
                    f"{did_you_mean(str(unknown[0]), given)}",
                    found=f"a row with {list_names(map(str, row))}",
                    expected=list_names(given),
                    advice="Return the features of the schema alone, or leave the schema out: it is then inferred from "
                    "what the function returns.",
                )
        return given

    def _source_labels(self) -> dict[str, Label]:
        """Return the labels that functions get by name."""
        if self._options.function is None and not callable(self._options.group):
            return {}
        return named_labels(self._source.schema())

    def _look_at_chunks(self) -> Iterator[Chunk]:
        """Give the first chunks, which stay at hand: some sources can be read only once."""
        self._chunks = self._source.chunks()
        limit = _LOOKED_AT_CHUNKS if self._source.sequential else None
        for chunk in islice(self._chunks, limit):
            self._looked_at.append(chunk)
            yield chunk

    def _all_chunks(self) -> Iterator[Chunk]:
        looked_at, self._looked_at = self._looked_at, []
        yield from looked_at
        yield from self._chunks if looked_at else self._source.chunks()

    def _check_group(self) -> None:
        """Refuse a group that no row has, before any work is done."""
        group, function = self._options.group, self._options.function
        if group is None or callable(group):
            return
        names = list(self._source.schema()) if function is None else self._mapped_names
        if function is None and group not in names:  # a source may load more than it stores
            first = next(self._look_at_chunks(), None)
            names = [] if first is None else list(first.load().columns)
        if group not in names and (names or function is None):
            raise SchemaError(
                f"There is no column {group!r} to group by.{did_you_mean(group, names)}", expected=list_names(names)
            )

    def _label_translations(self, schema: Schema | None) -> Translations:
        # Rows of the caller's own are in the schema's terms already, and looking at them would use them up.
        # What a function returns is in the schema's terms too: it gets classes by name.
        if schema is None or self._source.kind == "rows" or self._options.function is not None:
            return {}
        if not any(isinstance(feature, Label) for feature in schema.values()):
            return {}
        return label_translations(self._source.schema(), schema)

    def _find_label(self) -> str | None:
        """Return the feature whose classes are counted and balanced: the obvious one, or what is stratified by."""
        asked = self._options.stratify
        labels = [name for name, feature in self._schema.items() if isinstance(feature, Label)]
        found = self._source.label if self._source.label in self._schema else labels[0] if len(labels) == 1 else None
        if found is None and isinstance(asked, str) and asked in self._schema:
            return asked
        options = self._options
        if found is None and (asked is True or options.balance is not None or options.drop_unlabelled):
            raise SchemaError(
                "It is not clear which feature is the label.",
                found=f"the features {list_names(self._schema)}",
                advice=advise("Name it with {label} of the source, or declare it as Label in a schema.", label=...),
            )
        return found

    def _find_stratum(self) -> str | None:
        asked = self._options.stratify
        if not asked:
            return None
        if asked is True:
            return self._label
        if asked not in self._schema:
            raise SchemaError(
                f"There is no feature {asked!r} to stratify by.{did_you_mean(asked, self._schema)}",
                expected=list_names(self._schema),
            )
        return asked

    def _open_staging(self, *, overwrite: bool, resume: bool) -> Staging:
        publication = Publication(self._out)
        if resume and publication.is_resumable:
            return Staging.go_on(publication, self._plan)
        if not overwrite:
            _refuse(self._out)
        return Staging.start(publication, self._plan)

    def _already_made(self) -> MadeDataset:
        plan = load_manifest(os.path.join(self._out, MANIFEST_NAME)).plan
        if plan is None:
            refuse_existing(self._out)
        changed = differences(plan or {}, self._plan)
        if changed:
            raise RecordsmithError(
                "The dataset is there already, made with other options.",
                path=self._out,
                found="; ".join(changed),
                advice=advise("Choose another folder, or give {overwrite} to replace it.", overwrite=True),
            )
        return MadeDataset.of_folder(self._out)

    # --- reading ---

    def _read(self, staging: Staging) -> None:
        codes: deque[int] = deque()  # of the chunks that are on their way, which come back in order
        chunks = self._noting_splits(islice(self._all_chunks(), staging.chunks, None), codes)
        size = self._source.size_bytes
        for encoded in chunk_work.encode_chunks(self._recipe, chunks, self._options.workers):
            encoded.split = codes.popleft()
            staging.append(encoded)
            self._check_rejects(staging, encoded)
            done = staging.counts["source_bytes"] if size is not None else staging.counts["source_rows"]
            self._report(
                Progress(
                    "reading",
                    done,
                    size if size is not None else self._source.row_count,
                    "bytes" if size is not None else "rows",
                    staging.rows,
                    staging.bytes,
                    staging.counts["rejects"],
                )
            )
        self._check_rejects(staging, None)
        if staging.rows == 0:
            reasons = commonest_reasons(staging.path("rejected.jsonl"), most=3)
            raise RecordsmithError(
                "There is no row to write.",
                path=str(self._source.describe().get("path", "")) or None,
                found="; ".join(
                    [f"{count_text(staging.counts['source_rows'], 'row')} in the source", *map(str, reasons)]
                ),
            )
        staging.finish_chunks()
        release_memory()

    def _noting_splits(self, chunks: Iterable[Chunk], codes: deque[int]) -> Iterator[Chunk]:
        """Give the chunks, and note the place of the split of each, if splits are kept."""
        plan = self._options.split
        for chunk in chunks:
            split = self._source.split_of(chunk) if plan.kept else None
            codes.append(0 if split is None else plan.names.index(split))
            yield chunk

    def _check_rejects(self, staging: Staging, encoded: EncodedChunk | None) -> None:
        rejects, rows = staging.counts["rejects"], staging.counts["source_rows"]
        if rejects <= self._options.max_rejects * rows:
            return
        if rejects <= _FEWEST_REJECTS and self._options.max_rejects > 0:
            return
        if encoded is not None and rows < 1000:
            return  # the first rows may be worse than the rest
        reasons = commonest_reasons(staging.path("rejected.jsonl"), most=3)
        raise TooManyRejectsError(
            f"{rejects} of {rows} rows were refused, more than the allowed share of {self._options.max_rejects:g}.",
            path=staging.path("rejected.jsonl"),
            found="; ".join(map(str, reasons)),
            advice=advise(
                "Correct the source or the schema. To continue anyway, give {resume} and a larger {max_rejects}.",
                resume=True,
                max_rejects=...,
            ),
        )

    # --- from staged records to a dataset ---

    def _finish(self, staging: Staging) -> None:
        options = self._options
        self._say("ordering", staging)
        ordering = SplitOrdering(staging, self._schema, options, self._label)
        orders = ordering.orders()
        self._warnings.extend(ordering.warnings)
        writer = ShardWriter(
            staging, self._schema, options.preprocess, compression=options.compression, ignored=self._recipe.ignored
        )
        shards = {
            name: plan_shards(
                order,
                options.name,
                shards=options.shards,
                shard_bytes=options.shard_bytes,
                compression=options.compression,
            )
            for name, (order, _) in orders.items()
        }
        done = staging.shards_done()
        left = {name for name, split in shards.items() if any(shard.file not in done for shard in split)}
        if options.preprocess:
            left.add(options.split.training)  # which is read for fitting
        writer.deal_out((order for name, (order, _) in orders.items() if name in left), workers=options.workers)
        release_memory()
        if options.preprocess:
            self._say("fitting", staging)
            writer.fit(orders[options.split.training][0])
        entries = self._write(staging, writer, [shard for split in shards.values() for shard in split])
        splits: dict[str, dict[str, Any]] = {}
        for name, (order, classes) in orders.items():
            mine = [entries[shard.file] for shard in shards[name]]
            splits[name] = {
                "records": order.rows,
                "bytes": sum(entry["bytes"] for entry in mine),
                **({"classes": classes} if classes else {}),
                "shards": mine,
            }
        self._publish(staging, writer, splits, ordering.unassigned)

    # --- shards ---

    def _write(self, staging: Staging, writer: ShardWriter, shards: list[Shard]) -> dict[str, dict[str, Any]]:
        self._writing = True

        def say(phase: str, done: int, total: int) -> None:
            self._say(phase, staging, done, total)

        return write_shards(writer, shards, staging.shards_done(), workers=self._options.workers, say=say)

    def _publish(
        self, staging: Staging, writer: ShardWriter, splits: dict[str, dict[str, Any]], unassigned: int
    ) -> None:
        options = self._options
        training = splits[options.split.training]
        weights = class_weights(training.get("classes", {}))
        texts, without_tfds = description_files(
            options.name, writer.final_schema, splits, options.description, compression=options.compression
        )
        if without_tfds is not None:
            self._warnings.append(without_tfds)
        if staging.counts["unlabelled"] and not options.drop_unlabelled:
            self._warnings.append(
                f"{count_text(staging.counts['unlabelled'], 'row')} without a {self._label!r}, such as "
                f"{', '.join(staging.unlabelled_places)}. PyTorch and JAX cannot be given batches with such rows: "
                "filter them out, or make the dataset with the option drop-unlabelled, which leaves them out."
            )
        for preprocessor in options.preprocess:
            texts.update(preprocessor.artifacts())
        rejected = staging.counts["rejects"] > 0 and options.on_error == "quarantine"
        outcome = {
            **staging.counts,
            "source_bytes": self._source.size_bytes,
            "unassigned": unassigned,
            "splits_kept": options.split.kept,
            "unlabelled": staging.counts["unlabelled"] + self._source.unlabelled if options.drop_unlabelled else 0,
            "left_out": staging.left_out,
            "reasons": [asdict(reason) for reason in commonest_reasons(staging.path("rejected.jsonl"))],
            "warnings": self._warnings,
        }
        manifest = manifest_text(
            options.name,
            writer.final_schema,
            splits,
            **({"class_weights": {"feature": self._label, "weights": weights}} if weights else {}),
            **({"provenance": list(self._recipe.ignored)} if self._recipe.ignored else {}),
            made={
                "by": f"recordsmith {chunk_work.version()}",
                "plan": self._plan,
                "outcome": outcome,
                "files": sorted([*texts, *([REJECTED_NAME] if rejected else [])]),
            },
        )
        shards = [shard["file"] for split in splits.values() for shard in split["shards"]]
        publish(staging, self._out, manifest, shards=shards, texts=texts, rejected=rejected)

    def _say(self, phase: Any, staging: Staging, done: int = 0, total: int | None = None) -> None:
        total = staging.rows if total is None else total
        self._report(Progress(phase, done, total, "rows", staging.rows, staging.bytes, staging.counts["rejects"]))


def _as_source(source: Any, schema: Schema | None) -> Source:
    if isinstance(source, Source):
        return source
    from recordsmith.making import sources
    from recordsmith.making.sources.detect import source_for

    if isinstance(source, (str, os.PathLike)):
        return source_for(source)
    if isinstance(source, Mapping):
        return sources.arrays(source)
    if isinstance(source, Iterable) or callable(source):
        declared = {name: feature for name, feature in (schema or {}).items() if isinstance(feature, (Packed, Sparse))}
        return sources.rows(source, declared=declared)
    raise RecordsmithError(
        "A dataset cannot be made from this.",
        found=type(source).__name__,
        expected="a path, one of rs.sources, a mapping of arrays, or rows as mappings",
    )


def _is_made(out: str) -> bool:
    manifest = os.path.join(out, MANIFEST_NAME)
    return os.path.isfile(manifest) and load_manifest(manifest).plan is not None


def _refuse(out: str) -> None:
    if Staging.exists(out):
        raise unfinished_run(out)
    refuse_existing(out)

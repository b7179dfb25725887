"""How `rs.make` turns a source into records: schema, label, encoding, splits and preprocessors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from recordsmith.errors import EncodeError, RecordsmithError, SchemaError, advise, did_you_mean, list_names
from recordsmith.formats.source import Chunk, Source
from recordsmith.making import mapping
from recordsmith.making.balance.balancing import check_balance
from recordsmith.making.chunk_encoding import ChunkEncoder, Recipe
from recordsmith.making.labels.class_names import named_labels
from recordsmith.making.labels.label_names import check_label_names
from recordsmith.making.labels.label_translation import Translations, label_translations
from recordsmith.making.options import MakeOptions
from recordsmith.making.split_ordering import SplitOrdering
from recordsmith.run.policy import OrderedSplit, Policy, TextFile
from recordsmith.run.staging.encoded_chunk import EncodedChunk
from recordsmith.run.staging.staging import Staging
from recordsmith.schema import Label, Schema
from recordsmith.schema.presence import with_required
from recordsmith.wording.numbers import count_text

__all__ = ["MakingPolicy"]

_FIRST_CHUNKS = 16  # that are kept in memory, where chunks carry their data


class MakingPolicy(Policy):
    """The policy of `rs.make`."""

    def __init__(self, source: Source, schema: Schema | None, options: MakeOptions) -> None:
        self._source = source
        self._options = options
        self._first_chunks: list[Chunk] = []  # taken from the source to look at them
        self._other_chunks: Iterator[Chunk] = iter(())
        self._mapped_names: list[str] = []  # that the map function returns
        self._unassigned = 0
        self._schema = self._find_schema(schema)
        self._label = self._find_label()
        warnings = [*source.warnings]
        if schema is None and not source.declared:
            warnings += check_label_names(source, self._schema)
        if options.drop_unlabelled and self._label is not None:
            self._schema = with_required(self._schema, [self._label])
        self._recipe = Recipe(
            schema=self._schema,
            function=options.function,
            label=self._label,
            stratum=self._find_stratum(),
            labels=self._source_labels(),
            group=options.group,
            translations=self._label_translations(schema),
            ignored=tuple(name for name in source.provenance if name in self._schema),
            cast=options.cast,
            strict=options.on_error == "stop",
            drop_unlabelled=options.drop_unlabelled,
        )
        super().__init__(
            source=source,
            plan=options.identity(source.describe(), self._schema),
            schema=self._schema,
            described=self._schema,
            label=self._label,
            provenance=self._recipe.ignored,
            changes=options.preprocess,
            warnings=warnings,
            dropped_because="dropped by the map function",
            is_python=options.function is not None,
            functions=tuple(given for given in (options.function, options.group) if callable(given)),
        )
        self._check()

    def chunks(self) -> Iterator[Chunk]:
        """Give all chunks, also those that were looked at."""
        first, self._first_chunks = self._first_chunks, []
        yield from first
        yield from self._other_chunks if first else self._source.chunks()

    def encoder(self) -> Callable[[Chunk], EncodedChunk]:
        """Return what encodes a chunk by the recipe."""
        return ChunkEncoder(self._recipe).encode

    def split_of(self, chunk: Chunk) -> int:
        """Return the place of the split that a chunk's rows stay in, where splits are kept."""
        plan = self._options.split
        split = self._source.split_of(chunk) if plan.kept else None
        return 0 if split is None else plan.names.index(split)

    def order(self, staging: Staging) -> dict[str, OrderedSplit]:
        """Divide the rows into splits, balance the training split, and shuffle it."""
        ordering = SplitOrdering(staging, self._schema, self._options, self._label)
        orders = ordering.orders()
        self._unassigned = ordering.unassigned
        self.warnings.extend(ordering.warnings)
        return orders

    def texts(self) -> dict[str, TextFile]:
        """Return what the changes have learned."""
        learned = (preprocessor.artifacts() for preprocessor in self._options.preprocess)
        return {name: TextFile(text) for artifacts in learned for name, text in artifacts.items()}

    def outcome(self, staging: Staging) -> dict[str, Any]:
        """Return the counts of rows that were left out."""
        unlabelled, dropped = staging.counts["unlabelled"], self._options.drop_unlabelled
        if unlabelled and not dropped:
            self.warnings.append(
                f"{count_text(unlabelled, 'row')} without a {self._label!r}, such as "
                f"{', '.join(staging.unlabelled_places)}. PyTorch and JAX cannot load batches with these rows: "
                "filter them out, or make the dataset with drop_unlabelled=True (--drop-unlabelled)."
            )
        return {
            "unassigned": self._unassigned,
            "splits_kept": self._options.split.kept,
            "unlabelled": unlabelled + self._source.unlabelled if dropped else 0,
            "left_out": staging.left_out,
        }

    def is_final(self, error: Exception, staging: Staging) -> bool:
        """Say whether resuming would end in the same error: there is no row, a row stopped it, or rows do not fit."""
        stopped_at_row = isinstance(error, EncodeError) and self._options.on_error == "stop"
        return staging.rows == 0 or stopped_at_row or (staging.complete and isinstance(error, RecordsmithError))

    # --- before anything is read ---

    def _check(self) -> None:
        """Raise for what cannot work, before any work is done."""
        schema = self._schema
        for preprocessor in self._options.preprocess:
            schema = preprocessor.schema(schema)
        if self._options.balance is not None and self._label is not None:
            check_balance(self._options.balance, self._schema[self._label], self._label)
        self._check_group()

    def _find_schema(self, given: Schema | None) -> Schema:
        """Return the schema: the one given, the source's, or what the map function makes of its first rows."""
        function = self._options.function
        if function is None:
            return given if given is not None else self._source.schema()
        mapped = mapping.first_mapped_rows(
            self._look_at_chunks(), function, self._source_labels(), needed=given is None
        )
        self._mapped_names = list(dict.fromkeys(name for row in mapped.rows for name in row))
        if given is None:
            if not mapped.rows:
                raise mapping.why_no_row(mapped) from None if mapped.raised is None else mapped.raised[0]
            return mapping.schema_after_map(mapped.rows, self._source.schema())
        for row in mapped.rows:
            unknown = [name for name in row if name not in given and name != self._options.group]
            if unknown:
                raise SchemaError(
                    f"The map function returns names that the schema does not have: {list_names(map(str, unknown))}."
                    f"{did_you_mean(str(unknown[0]), given)}",
                    found=f"a row with {list_names(map(str, row))}",
                    expected=list_names(given),
                    advice="Return only features of the schema, or leave out the schema to infer it from "
                    "what the function returns.",
                )
        return given

    def _source_labels(self) -> dict[str, Label]:
        """Return the labels that functions get by name."""
        if self._options.function is None and not callable(self._options.group):
            return {}
        return named_labels(self._source.schema())

    def _look_at_chunks(self) -> Iterator[Chunk]:
        """Give the first chunks, which are kept: some sources can be read only once."""
        self._other_chunks = self._source.chunks()
        limit = _FIRST_CHUNKS if self._source.sequential else None
        for chunk in islice(self._other_chunks, limit):
            self._first_chunks.append(chunk)
            yield chunk

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

"""Copying a chunk of records: they are read, filtered by the condition, and changed if that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recordsmith.columns import ByteColumn, PackedColumn
from recordsmith.copying.copy_plan import CopyPlan
from recordsmith.copying.frames import Frames, frames_of, rejected_error
from recordsmith.copying.record_numbers import ChosenRecords
from recordsmith.errors import EncodeError, RecordsmithError
from recordsmith.formats.source import Chunk, Loaded, Reject
from recordsmith.images import ImageError, Preparation, read_header
from recordsmith.keyed_random import Uint64s
from recordsmith.making.chunk_encoding import ChunkEncoder, Recipe
from recordsmith.making.labels.label_translation import label_translations
from recordsmith.run.staging.encoded_chunk import EncodedChunk
from recordsmith.run.staging.record_facts import RecordFacts, group_key, has_no_value
from recordsmith.run.staging.record_files import RecordFiles
from recordsmith.schema import Label, Schema, Text

__all__ = ["CopyWork"]

_LOSSLESS = ("png", "bmp")


class CopyWork:
    """Copies chunks by one plan. Several threads may use one.

    Args:
        plan: what is done to each record.
        in_place: where records are read again from their own files, instead of being staged.
        cast: casts and images may lose information.
        strict: the first record that cannot be copied is an error and not a reject.
        chosen: the only records that are copied; None copies all.
    """

    def __init__(
        self,
        plan: CopyPlan,
        *,
        in_place: RecordFiles | None,
        cast: bool,
        strict: bool,
        chosen: ChosenRecords | None = None,
    ) -> None:
        self._plan = plan
        self._in_place = in_place
        self._chosen = chosen
        self._decoding = Schema({**(plan.group_schema or {}), **(plan.reading or {})})
        schema = plan.writing if plan.writing is not None else plan.schema or Schema({})
        translations = label_translations(_renamed(plan), schema) if plan.writing is not None else {}
        group = plan.renamed.get(plan.group, plan.group) if plan.group is not None else None
        self._schema = schema
        self._cast = cast
        self._strict = strict
        self._facts = RecordFacts(schema, plan.label, plan.stratum, plan.provenance)
        self._encoder = ChunkEncoder(
            Recipe(
                schema,
                label=plan.label,
                stratum=plan.stratum,
                group=group,
                translations=translations,
                ignored=plan.provenance,
                cast=cast,
                strict=strict,
            )
        )

    def encode(self, chunk: Chunk) -> EncodedChunk:
        """Copy the records of a chunk, in one way or the other."""
        frames, others = (frames_of(chunk), 0) if self._chosen is None else self._chosen.frames_of(chunk)
        source_rows = others + frames.rows + len(frames.rejects)
        frames, dropped = frames.meeting(self._plan.where, self._plan.where_schema)
        encoded = self._verbatim(frames) if self._plan.writing is None else self._encoder.encode(self._changed(frames))
        if self._strict and encoded.rejects:
            raise rejected_error(encoded.rejects[0])
        encoded.source_rows, encoded.source_bytes, encoded.dropped = source_rows, chunk.source_bytes, others + dropped
        encoded.left_out = ()  # the plan knows them better
        return encoded

    def _verbatim(self, frames: Frames) -> EncodedChunk:
        plan = self._plan
        if plan.check is not None:
            frames, _ = frames.fitting(plan.check)
        needed = {name: None for name in (plan.label, plan.stratum) if name is not None}
        if needed:
            frames, _ = frames.fitting(self._schema.select(needed))
        frames, groups = self._grouped(frames)
        encoded = self._facts.chunk_of(frames.data, frames.offsets, groups, frames.rejects)
        if self._in_place is not None:
            assert frames.starts is not None  # noqa: S101 - for the type checker: such files are read in place
            encoded.places = self._in_place.places(frames.path, frames.starts)
            encoded.frames = frames.data[:0]
        return encoded

    def _grouped(self, frames: Frames) -> tuple[Frames, Uint64s | None]:
        plan = self._plan
        if plan.group is None or plan.group_schema is None:
            return frames, None
        frames, columns = frames.fitting(plan.group_schema)
        feature, column = plan.group_schema[plan.group], columns[plan.group]
        values = [feature.row(column, row) for row in range(frames.rows)]
        there = np.array([not has_no_value(value) for value in values], np.bool_)
        for row in np.flatnonzero(~there).tolist():
            reason = f"The record's {plan.group!r}, by which records are grouped, is missing."
            frames.rejects.append(Reject(frames.of(row), frames.numbers[row], plan.group, reason))
        keys = [group_key(value) for value, kept in zip(values, there.tolist(), strict=True) if kept]
        return frames.chosen(there), np.array(keys, np.uint64)

    def _changed(self, frames: Frames) -> Chunk:
        """Decode what is encoded again, with new names and with images as the schema wants them."""
        plan = self._plan
        frames, columns = frames.fitting(self._decoding)
        for name, preparation in plan.images.items():
            columns[name] = _prepared(columns[name], preparation, frames, name, cast=self._cast)
        bad = {row for name in plan.images for row, value in enumerate(columns[name]) if value is _BAD}
        if bad:
            there = np.array([row not in bad for row in range(frames.rows)], np.bool_)
            images = {
                name: [one for one, stays in zip(columns[name], there.tolist(), strict=True) if stays]
                for name in plan.images
            }
            frames = frames.chosen(there)
            columns = {**frames.decoded(self._decoding), **images}
        renamed: dict[str, Any] = {}
        for name, column in columns.items():
            new, feature = plan.renamed.get(name, name), self._decoding[name]
            if isinstance(feature, Label) and new in self._schema and isinstance(self._schema[new], Text):
                renamed[new] = _class_names(feature, column)
            else:
                renamed[new] = list(column) if isinstance(column, PackedColumn) else column
        return _ReadChunk(Loaded(renamed, frames.rows, frames, frames.rejects))


@dataclass(slots=True)
class _ReadChunk(Chunk):
    """Rows that were read already."""

    loaded: Loaded

    def load(self) -> Loaded:
        return self.loaded


_BAD: Any = object()


def _prepared(
    column: ByteColumn, preparation: Preparation, frames: Frames, name: str, *, cast: bool
) -> list[bytes | None]:
    """Return images as a schema wants them; those that cannot become so are marked and refused."""
    found: list[bytes | None] = []
    for row, data in enumerate(column.to_list()):
        if data is None:
            found.append(None)
            continue
        try:
            found.append(_one_image(data, preparation, cast=cast))
        except (ImageError, EncodeError) as error:
            reason = error.problem if isinstance(error, RecordsmithError) else str(error)
            frames.rejects.append(Reject(frames.of(row), frames.numbers[row], name, reason))
            found.append(_BAD)
    return found


def _one_image(data: bytes, preparation: Preparation, *, cast: bool) -> bytes:
    header = read_header(data)
    if header is not None and not cast and not preparation.keeps(header):
        same_size = preparation.size in (None, (header.height, header.width))
        same_channels = preparation.channels in (None, header.channels)
        if not (same_size and same_channels and preparation.encoding in _LOSSLESS):
            raise EncodeError(
                f"The {header.title} would lose information if it were encoded again, which needs cast=True."
            )
    return preparation.prepare(data)


def _class_names(feature: Label, column: Any) -> list[str | None]:
    """Return the names of classes, where a label becomes a text; a number that is no class is its own name."""
    numbers = np.ma.getdata(column).tolist()
    absent = np.ma.getmaskarray(column).tolist()
    return [
        None if gone else feature.names[number] if 0 <= number < feature.size else str(number)
        for number, gone in zip(numbers, absent, strict=True)
    ]


def _renamed(plan: CopyPlan) -> Schema:
    reading = plan.reading or Schema({})
    return Schema({plan.renamed.get(name, name): feature for name, feature in reading.items()})

"""What is remembered of each record: digests of its content, its classes and its group."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.columns import ByteColumn
from recordsmith.errors import RecordsmithError
from recordsmith.formats.source import Reject
from recordsmith.keyed_random import Uint64s
from recordsmith.run.staging.encoded_chunk import Classes, EncodedChunk
from recordsmith.schema import Schema
from recordsmith.schema.input.conversion import is_missing
from recordsmith.schema.native import compile_plan

__all__ = ["RecordFacts", "group_key", "has_no_value"]


@dataclass(frozen=True)
class RecordFacts:
    """Finds what is remembered of records.

    Attributes:
        schema: what the records hold.
        label: the feature whose classes are counted.
        stratum: the feature whose classes are to have the same shares in every split.
        ignored: features that do not count when records are compared for being identical.
    """

    schema: Schema
    label: str | None
    stratum: str | None
    ignored: tuple[str, ...]

    def chunk_of(self, frames: Any, offsets: Uint64s, groups: Uint64s | None, rejects: list[Reject]) -> EncodedChunk:
        """Return records with what is remembered of them; the counts of source rows are left to the caller."""
        classes = self._classes(self.label, frames, offsets)
        same = self.stratum == self.label
        return EncodedChunk(
            frames=frames,
            offsets=offsets,
            digests=_core.digest_frames(frames, offsets, list(self.ignored)),
            contents=self._contents(frames, offsets),
            classes=classes,
            strata=classes if same else self._classes(self.stratum, frames, offsets),
            groups=groups,
            rejects=rejects,
        )

    def _contents(self, frames: Any, offsets: Uint64s) -> Uint64s:
        """Return the digests by which records are the same whatever their label is."""
        ignored = {*self.ignored, *(() if self.label is None else (self.label,))}
        if ignored >= set(self.schema):  # there is nothing but the label
            ignored = set(self.ignored)
        return _core.digest_frames(frames, offsets, sorted(ignored))

    def _classes(self, name: str | None, frames: Any, offsets: Uint64s) -> Classes:
        rows = len(offsets) - 1
        if name is None or name not in self.schema or rows == 0:
            return Classes.none(rows)
        schema = self.schema.select([name])
        column = schema.assemble(_core.decode_frames(compile_plan(schema), frames, offsets))[name]
        if isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype.kind in "biuf":
            data = np.ma.getdata(column)
            there = ~np.ma.getmaskarray(column) & (data == data)  # noqa: PLR0124 - NaN is no class
            values, codes = np.unique(data[there], return_inverse=True)
            classes = Classes.none(rows)
            classes.values = values.tolist()
            classes.code_of[there] = codes
            return classes
        if not isinstance(column, ByteColumn):
            raise RecordsmithError(
                f"The feature {name!r} cannot be a class: a class is one number or one string.",
                feature=name,
                found=repr(self.schema[name]),
            )
        known: dict[str, int] = {}
        strings = (v.decode(errors="backslashreplace") if isinstance(v, bytes) else v for v in column.to_list())
        code_of = [-1 if v is None else known.setdefault(v, len(known)) for v in strings]
        return Classes(list(known), np.array(code_of, np.int32))


def has_no_value(value: Any) -> bool:
    """Say whether a row has no group or no label: no value, or NaN, as tables store missing values.

    >>> has_no_value(float("nan")), has_no_value(0)
    (True, False)
    """
    return is_missing(value) or (isinstance(value, (float, np.floating)) and value != value)  # noqa: PLR0124


def group_key(value: Any) -> int:
    """Return the 64-bit number of a group.

    >>> group_key(7), group_key("7") == group_key(b"7")
    (7, True)
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value) & (2**64 - 1)
    text = value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")

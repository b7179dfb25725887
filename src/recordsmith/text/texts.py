"""Reads texts of any form one by one, as UTF-8 bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.errors import PipelineError, did_you_mean, list_names

__all__ = ["in_pieces", "rows_of", "texts_of"]

Text = TypeVar("Text", bytes, bytes | None)

_ROWS_AT_ONCE = 1024  # rows that a dataset reads at once; only one feature of them is kept
_PIECE_BYTES = 1 << 18  # of text; cut into words it takes some ten times as much
_PIECE_ROWS = 1 << 13


def texts_of(source: Any, feature: str | None = None) -> Iterator[bytes]:
    """Give every text of a source as bytes; absent ones are passed over.

    Args:
        source: texts, or batches of texts; with `feature`, a dataset, a mapping of columns, or rows or batches that are
            mappings.
        feature: the name of the texts.

    >>> list(texts_of(["a", b"b", None, ["c", "d"]]))
    [b'a', b'b', b'c', b'd']
    >>> list(texts_of([{"text": "a", "n": 1}, {"text": "b", "n": 2}], "text"))
    [b'a', b'b']
    """
    if feature is not None:
        source = _columns_of(source, feature)
    elif isinstance(source, (str, bytes)):
        raise _single_text(source)
    elif hasattr(source, "batch") or isinstance(source, Mapping):
        raise PipelineError(
            "The name of the text feature is missing.", advice='Pass it, as in Vocabulary.fit(ds, "text").'
        )
    return _flat(source)


def rows_of(texts: Any) -> list[bytes | None]:
    r"""Return a column of texts as a list of bytes, with None where a row is absent.

    >>> rows_of(ByteColumn(b"catdog", [0, 3, 3, 6], text=True, present=[True, False, True]))
    [b'cat', None, b'dog']
    >>> rows_of(["é", b"x"])
    [b'\xc3\xa9', b'x']
    """
    if isinstance(texts, ByteColumn):
        return _rows_of_column(texts)
    if isinstance(texts, (str, bytes)):
        raise _single_text(texts)
    if hasattr(texts, "to_pylist"):  # Arrow
        texts = texts.to_pylist()
    return [_as_bytes(text, row) for row, text in enumerate(texts)]


def in_pieces(texts: Iterable[Text]) -> Iterator[list[Text]]:
    """Give texts in lists of bounded size. Where one ends depends on the texts alone, and not on how they came.

    >>> [len(piece) for piece in in_pieces([b"x" * 100_000] * 7)]
    [3, 3, 1]
    """
    piece: list[Text] = []
    size = 0
    for text in texts:
        piece.append(text)
        size += len(text) if text else 0
        if size >= _PIECE_BYTES or len(piece) == _PIECE_ROWS:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _rows_of_column(column: ByteColumn) -> list[bytes | None]:
    start, stop = int(column.offsets[0]), int(column.offsets[-1])
    raw = column.data[start:stop].tobytes()  # slices of bytes are made several times faster than slices of an array
    rows: list[bytes | None] = [raw[begin:end] for begin, end in pairwise((column.offsets - start).tolist())]
    if column.present is not None:
        for row in np.flatnonzero(~column.present).tolist():
            rows[row] = None
    return rows


def _columns_of(source: Any, feature: str) -> Iterator[Any]:
    """Give what a source holds under a name: single texts, or columns of them."""
    if hasattr(source, "batch"):
        source = source.batch(_ROWS_AT_ONCE)
    elif isinstance(source, Mapping):
        source = [source]
    for entry in source:
        if not isinstance(entry, Mapping):
            raise PipelineError(
                f"The feature {feature!r} cannot be found, because the entries have no names.",
                found=type(entry).__name__,
                expected="a dataset, a mapping of columns, or rows or batches that are mappings",
                advice="If these are the texts themselves, omit the feature's name.",
            )
        if feature not in entry:
            raise PipelineError(
                f"There is no feature {feature!r}.{did_you_mean(feature, map(str, entry))}",
                expected=list_names(map(str, entry)),
            )
        yield entry[feature]


def _flat(entries: Iterable[Any]) -> Iterator[bytes]:
    if isinstance(entries, ByteColumn):
        yield from (text for text in rows_of(entries) if text is not None)
        return
    if isinstance(entries, Ragged):  # several strings a row
        yield from _flat(entries.values[int(entries.offsets[0]) : int(entries.offsets[-1])])
        return
    if hasattr(entries, "to_pylist"):  # Arrow
        entries = entries.to_pylist()
    for row, entry in enumerate(entries):
        if isinstance(entry, str):
            try:
                yield entry.encode()
            except UnicodeEncodeError:
                raise _not_utf8(entry, row) from None
        elif isinstance(entry, bytes):
            yield entry
        elif isinstance(entry, (ByteColumn, Ragged, list, tuple, np.ndarray)) or hasattr(entry, "to_pylist"):
            yield from _flat(entry)
        elif entry is not None:
            raise _not_text(entry, row)


def _as_bytes(text: object, row: int) -> bytes | None:
    if isinstance(text, str):
        try:
            return text.encode()
        except UnicodeEncodeError:
            raise _not_utf8(text, row) from None
    if text is None or isinstance(text, bytes):
        return text
    raise _not_text(text, row)


def _not_text(found: object, row: int) -> PipelineError:
    return PipelineError(
        "A value is not a text.",
        row=row,
        found=f"{found!r} ({type(found).__name__})",
        expected="str, or bytes in UTF-8",
    )


def _not_utf8(text: str, row: int) -> PipelineError:
    return PipelineError(
        "A text has a lone surrogate (half a character), which UTF-8 cannot encode.",
        row=row,
        found=ascii(text),
        advice='Repair it first, for example with text.encode(errors="replace").',
    )


def _single_text(text: str | bytes) -> PipelineError:
    return PipelineError(
        "A single text was given where several are expected.",
        found=text,
        advice="Put it in a list, or use encode_one for a single text.",
    )

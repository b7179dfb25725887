"""Encoding the chunks of a source on threads, or in processes where the user's own function has to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import version as installed_version
from typing import Any

from recordsmith.errors import EncodeError, RecordsmithError, list_names
from recordsmith.formats.source import Chunk
from recordsmith.making.chunk_encoding import ChunkEncoder, MappedRows, Recipe, mapped_rows
from recordsmith.run.encoded_chunk import EncodedChunk
from recordsmith.schema import Feature, Label, Schema
from recordsmith.workers.processes import process_pool
from recordsmith.workers.threads import in_order, thread_pool

__all__ = ["encode_chunks", "first_mapped_rows", "schema_after_map", "version", "why_no_row"]

_ROWS_TO_LOOK_AT = 100

_encoder: ChunkEncoder | None = None  # of a worker process


def encode_chunks(recipe: Recipe, chunks: Iterable[Chunk], workers: int) -> Iterator[EncodedChunk]:
    """Encode chunks by a recipe, several at a time, and give them in order."""
    if recipe.function is None or workers == 1:
        with thread_pool(workers) as threads:
            yield from in_order(threads, ChunkEncoder(recipe).encode, chunks, ahead=workers + 1)
        return
    with process_pool(workers, partial(_remember, recipe)) as processes:
        yield from in_order(processes, _encode, chunks, ahead=workers + 1)


def first_mapped_rows(
    chunks: Iterable[Chunk], function: Callable[[dict[str, Any]], Any], labels: Mapping[str, Label], *, needed: bool
) -> MappedRows:
    """Return what the user's function makes of the first rows.

    Args:
        chunks: the source's.
        function: the user's.
        labels: what it gets by name.
        needed: go on until there are rows; else have a look at the first ones, whatever comes of them.
    """
    found = MappedRows()
    for chunk in chunks:
        mapped = mapped_rows(chunk, function, labels, _ROWS_TO_LOOK_AT - len(found.rows))
        found.rows.extend(mapped.rows)
        found.raised = found.raised or mapped.raised
        found.looked_at += mapped.looked_at
        found.failed += mapped.failed
        nothing = found.looked_at >= _ROWS_TO_LOOK_AT and (not needed or found.failed == found.looked_at)
        if len(found.rows) >= _ROWS_TO_LOOK_AT or nothing:
            break
    return found


def why_no_row(mapped: MappedRows) -> RecordsmithError:
    """Return the error for a function that gave no row."""
    if mapped.raised is None:
        return RecordsmithError(
            "The map function gave no row.",
            found=f"None for each of {mapped.looked_at} rows",
            advice="Look at the function, or give a schema.",
        )
    error, place, names = mapped.raised
    return RecordsmithError(
        f"The map function raised {type(error).__name__}: {error}",
        path=place,
        found=f"a row with {list_names(names)}",
        advice="Correct the function. Nothing has been written.",
    )


def schema_after_map(mapped: list[dict[str, Any]], before: Schema) -> Schema:
    """Infer a schema from what the user's function makes of the first rows."""
    from recordsmith.making.sources import rows

    inferred: Schema = rows(mapped).schema()
    return Schema({name: _kept(name, feature, before, mapped) for name, feature in inferred.items()})


def _kept(name: str, feature: Feature, before: Schema, rows: list[dict[str, Any]]) -> Feature:
    """Return the source's own feature where the values still fit it: a label stays a label, with its names."""
    if name not in before:
        return feature
    try:
        for row in rows:
            before[name].value_to_canonical(row.get(name))
    except EncodeError:
        return feature
    return before[name]


def version() -> str:
    """Return recordsmith's version.

    >>> version().count(".")
    2
    """
    return installed_version("recordsmith")


def _remember(recipe: Recipe) -> None:
    global _encoder  # noqa: PLW0603 - one for the life of a worker process
    _encoder = ChunkEncoder(recipe)


def _encode(chunk: Chunk) -> EncodedChunk:
    if _encoder is None:
        raise RuntimeError("a worker process was not prepared")
    return _encoder.encode(chunk)

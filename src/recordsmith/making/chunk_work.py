"""Encoding the chunks of a source on threads, or in processes where the user's own function has to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import version as installed_version
from typing import Any

from recordsmith.errors import EncodeError, RecordsmithError
from recordsmith.making.chunk_encoding import ChunkEncoder, EncodedChunk, Recipe, mapped_rows
from recordsmith.making.source import Chunk, Source
from recordsmith.parallel import in_order, thread_pool
from recordsmith.process_pool import process_pool
from recordsmith.schema import Feature, Schema

__all__ = ["encode_chunks", "schema_after_map", "version"]

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


def schema_after_map(source: Source, function: Callable[[dict[str, Any]], Any]) -> Schema:
    """Infer a schema from what the user's function makes of the first rows."""
    from recordsmith.making.sources import rows

    found: list[dict[str, Any]] = []
    for chunk in source.chunks():
        found.extend(mapped_rows(chunk, function, _ROWS_TO_LOOK_AT - len(found)))
        if len(found) >= _ROWS_TO_LOOK_AT:
            break
    if not found:
        raise RecordsmithError("The map function gave no row.", advice="Give a schema, or look at the function.")
    inferred: Schema = rows(found).schema()
    before = source.schema()
    return Schema({name: _kept(name, feature, before, found) for name, feature in inferred.items()})


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

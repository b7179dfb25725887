"""Encoding the chunks of a source on threads, or in processes where the user's own function has to run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from recordsmith.formats.source import Chunk
from recordsmith.making.chunk_encoding import ChunkEncoder, Recipe
from recordsmith.run.encoded_chunk import EncodedChunk
from recordsmith.workers.processes import process_pool
from recordsmith.workers.threads import in_order, thread_pool

__all__ = ["encode_chunks"]

_encoder: ChunkEncoder | None = None  # of a worker process


def encode_chunks(recipe: Recipe, chunks: Iterable[Chunk], workers: int) -> Iterator[EncodedChunk]:
    """Encode chunks by a recipe, several at a time, and give them in order."""
    if recipe.function is None or workers == 1:
        with thread_pool(workers) as threads:
            yield from in_order(threads, ChunkEncoder(recipe).encode, chunks, ahead=workers + 1)
        return
    with process_pool(workers, partial(_remember, recipe)) as processes:
        yield from in_order(processes, _encode, chunks, ahead=workers + 1)


def _remember(recipe: Recipe) -> None:
    global _encoder  # noqa: PLW0603 - one for the life of a worker process
    _encoder = ChunkEncoder(recipe)


def _encode(chunk: Chunk) -> EncodedChunk:
    if _encoder is None:
        raise RuntimeError("a worker process was not prepared")
    return _encoder.encode(chunk)

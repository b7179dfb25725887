"""What runs on the machines of a Ray cluster."""

from __future__ import annotations

import os
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from recordsmith.errors import RecordsmithError
from recordsmith.formats.source import Chunk
from recordsmith.run.engines.engine import NumberedChunk
from recordsmith.run.memory import release_memory
from recordsmith.run.staging.encoded_chunk import EncodedChunk
from recordsmith.run.staging.pieces import Piece, PieceWriter
from recordsmith.storage.atomic_file import is_url
from recordsmith.storage.objects import open_folder, split_url, without_secrets
from recordsmith.workers.error_transport import with_picklable_errors

__all__ = ["Surroundings", "WritePiece", "call"]

_LOOKS = 20
_SECONDS_BETWEEN_LOOKS = 0.5

_latest: tuple[str, Any] | None = None  # the work that this process has done last: unpacking it may take long
_seen: deque[str] = deque(maxlen=64)  # URLs that this process has found: a store is asked only once


@dataclass(frozen=True)
class Surroundings:
    """What a machine must have in common with the one that the run was started on.

    Attributes:
        version: that of recordsmith.
        folder: the current folder, from which relative paths are meant.
        plan: the file with the plan of the run, in the staging folder or at a URL; "" if no folder is used.
        source: files and folders of the source.
    """

    version: str
    folder: str
    plan: str = ""
    source: tuple[str, ...] = ()

    @classmethod
    def here(cls, plan: str = "", source: Sequence[str] = ()) -> Surroundings:
        """Return what this machine has."""
        return cls(version("recordsmith"), os.path.abspath(""), plan, tuple(map(os.path.abspath, source)))

    def check(self) -> None:
        """Raise if this machine has something else."""
        if version("recordsmith") != self.version:
            raise RecordsmithError(
                "A machine of the Ray cluster has another version of recordsmith.",
                found=f"{version('recordsmith')} on {socket.gethostname()}",
                expected=self.version,
            )
        unseen = next((path for path in (self.plan, *self.source) if path and not _appears(path)), None)
        if unseen is not None:
            what = "staging folder" if unseen == self.plan else "source"
            raise RecordsmithError(
                f"A machine of the Ray cluster cannot access the {what}.",
                path=without_secrets(os.path.dirname(unseen)) if unseen == self.plan else unseen,
                found=f"nothing there on {socket.gethostname()}",
                advice="Use a folder in a file system that all machines have, under the same path, or object storage.",
            )
        if os.path.isdir(self.folder):
            os.chdir(self.folder)


def _appears(path: str) -> bool:
    """Say whether there is a file; network file systems may take some seconds to notice a new one."""
    for _ in range(_LOOKS):
        if _exists(path):
            return True
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return False


def _exists(path: str) -> bool:
    if not is_url(path):
        return os.path.exists(path)
    folder, name = split_url(path)
    if path not in _seen:
        try:
            open_folder(folder).head(name)
        except FileNotFoundError:
            return False
        _seen.append(path)
    return True


@dataclass(frozen=True)
class WritePiece:
    """Encodes a group of chunks, one after the other, and writes them as one piece.

    Attributes:
        begin: begins a piece with a certain chunk.
        encode: encodes a chunk.
    """

    begin: Callable[[int], PieceWriter]
    encode: Callable[[Chunk], EncodedChunk]

    def __call__(self, chunks: Sequence[NumberedChunk]) -> Piece:
        """Write a piece, of which nothing is left if that fails."""
        writer = self.begin(chunks[0].number)
        try:
            for chunk in chunks:
                encoded = self.encode(chunk.chunk)
                encoded.split = chunk.split
                writer.add(encoded)
            piece = writer.close()
        except BaseException:
            writer.discard()
            raise
        assert piece is not None  # noqa: S101 - for the type checker: there is a chunk in it
        return piece


def call(key: str, work: Sequence[Any], item: Any, surroundings: Surroundings) -> Any:
    """Do the work on one item.

    Args:
        key: a name of the work.
        work: a list of the reference to it, which Ray does not unpack by itself.
        item: the item.
        surroundings: what this machine must have.
    """
    return with_picklable_errors(_call, key, work, item, surroundings)


def _call(key: str, work: Sequence[Any], item: Any, surroundings: Surroundings) -> Any:
    import ray

    global _latest  # noqa: PLW0603 - one for the life of a worker process
    surroundings.check()
    if _latest is None or _latest[0] != key:
        _latest = None
        release_memory()  # of the step before
        _latest = key, ray.get(work[0])
    try:
        return _latest[1](item)
    except OSError as error:
        error.add_note(f"It was raised on the machine {socket.gethostname()}.")
        raise

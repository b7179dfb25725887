"""Pieces of staged records: several consecutive chunks of the source, in files of their own.

    00000012.records          the records of chunk 12 and the ones after it, framed like any TFRecord file
    00000012.keys             one fixed-size entry for each of them: offset, length, content digest, class, group
    00000012.rejected.jsonl   the rows that were rejected, if there are any
    00000012.json             which chunks these are, how many records, the classes, and digests of the other files

A piece counts once its description (.json) has its name, which it gets last. Pieces do not depend on each other: they
may be written in any order, and a missing or damaged one is made again from its chunks. The dataset is the same however
many chunks are in a piece.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.errors import RecordsmithError
from recordsmith.records.index import FRAMING_BYTES
from recordsmith.run.staging.encoded_chunk import Classes, EncodedChunk
from recordsmith.storage.atomic_file import put_in_place
from recordsmith.storage.json_descriptions import JsonObject

__all__ = ["COUNTS", "KEY", "Piece", "PieceWriter", "find_pieces", "key_entries", "write_description"]

KEY = np.dtype(
    [
        ("offset", "<u8"),
        ("length", "<u4"),
        ("class", "<i4"),  # of the label
        ("digest", "<u8"),
        ("group", "<u8"),
        ("content", "<u8"),  # the digest of all but the label
        ("stratum", "<i4"),  # the class that is to have the same share in every split
        ("split", "<u4"),  # the place of the split that it came from, where splits are kept
    ]
)
COUNTS = ("source_rows", "source_bytes", "rejects", "dropped", "unlabelled")

# A piece ends when it is this large, or this old: a killed run loses no more than that.
_PIECE_BYTES = 64 << 20
_PIECE_ROWS = 1 << 17
_PIECE_SECONDS = 5.0
_SHOWN_PLACES = 3
_DESCRIPTION = ".json"


@dataclass(frozen=True)
class Piece:
    """The description of a piece.

    Attributes:
        path: where its files are, without their endings.
        first: its first chunk.
        last: the chunk after its last one.
        rows: how many records it has.
        size: how many bytes they have with their framing; 0 where they are read from the input's own files.
        counts: source rows, source bytes, rejects, dropped and unlabelled rows.
        digests: of the keys and of the rejected rows.
        classes: the distinct classes of the label, which the keys number.
        strata: the same for the feature to stratify by.
        left_out: columns that the schema does not have.
        unlabelled_places: where some of the unlabelled rows come from.
    """

    path: str
    first: int
    last: int
    rows: int
    size: int
    counts: dict[str, int]
    digests: list[str]
    classes: list[Any] = field(default_factory=list)
    strata: list[Any] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    unlabelled_places: list[str] = field(default_factory=list)

    @property
    def records(self) -> str:
        """The file of the records."""
        return f"{self.path}.records"

    def keys(self) -> npt.NDArray[Any]:
        """Read the keys."""
        return np.fromfile(f"{self.path}.keys", KEY)

    def rejected(self) -> bytes:
        """Read the rejected rows."""
        if not self.counts["rejects"]:
            return b""
        with open(f"{self.path}.rejected.jsonl", "rb") as file:
            return file.read()

    @classmethod
    def load(cls, path: str) -> Piece | None:
        """Read a description; None if it or what it describes is damaged."""
        try:
            with open(path + _DESCRIPTION, "rb") as file:
                document = JsonObject.of(json.loads(file.read()), "description of a piece", path)
            document.require("first", "last", "rows", "size", "counts", "digests")
            piece = cls(
                path,
                document.count("first") or 0,
                document.count("last") or 0,
                document.count("rows") or 0,
                document.count("size") or 0,
                dict.fromkeys(COUNTS, 0) | document.object("counts").tallies(),
                list(document.texts("digests")),
                document.plain_values("classes"),
                document.plain_values("strata"),
                list(document.texts("left_out")),
                list(document.texts("unlabelled_places")),
            )
            return piece if piece._is_whole() else None
        except (OSError, ValueError, RecursionError, RecordsmithError):  # damaged records raise too
            return None

    def _is_whole(self) -> bool:
        keys, rejected = self.keys(), self.rejected()
        if len(keys) != self.rows or [_digest(keys), _digest(rejected)] != self.digests:
            return False
        if os.path.getsize(self.records) != self.size:
            return False
        return not self.size or _core.verify_files([self.records], ["none"], os.cpu_count() or 1) == self.rows


class PieceWriter:
    """Writes one piece. What was added is on the disk, and counts, after `close`.

    Args:
        folder: where the pieces are.
        first: the number of the first chunk.
    """

    def __init__(self, folder: str, first: int) -> None:
        self._path = os.path.join(folder, f"{first:08}")
        self._first = first
        self._chunks: list[EncodedChunk] = []  # without their records, which are in the file
        self._rows = self._bytes = 0
        self._begun = time.monotonic()
        self._file = open(f"{self._path}.records", "wb", buffering=0)  # noqa: SIM115 - closed by close and discard

    @property
    def next(self) -> int:
        """The chunk that can be added next."""
        return self._first + len(self._chunks)

    @property
    def is_full(self) -> bool:
        """Whether another piece should be begun."""
        return (
            self._bytes >= _PIECE_BYTES or self._rows >= _PIECE_ROWS or time.monotonic() - self._begun >= _PIECE_SECONDS
        )

    def add(self, chunk: EncodedChunk) -> None:
        """Add the next chunk."""
        write_all(self._file, chunk.frames)
        self._chunks.append(replace(chunk, frames=chunk.frames[:0], bytes=len(chunk.frames)))
        self._rows += chunk.rows
        self._bytes += len(chunk.frames)

    def close(self) -> Piece | None:
        """Make the piece count, without a chunk of which only a part was written; None if there is no whole chunk."""
        chunks = self._chunks
        if not chunks:
            self.discard()
            return None
        size = sum(chunk.bytes for chunk in chunks)
        with self._file as file:
            file.truncate(size)
        classes: list[Any] = []
        strata: list[Any] = []
        starts = np.cumsum([0, *(chunk.bytes for chunk in chunks)]).tolist()
        keys = np.concatenate(
            [key_entries(chunk, start, classes, strata) for chunk, start in zip(chunks, starts, strict=False)]
        )
        rejected = b"".join(_lines(chunk) for chunk in chunks)
        with open(f"{self._path}.keys", "wb", buffering=0) as file:
            write_all(file, keys.view(np.uint8) if len(keys) else b"")
        if rejected:
            with open(f"{self._path}.rejected.jsonl", "wb", buffering=0) as file:
                write_all(file, rejected)
        piece = Piece(
            self._path,
            self._first,
            self.next,
            len(keys),
            size,
            {name: sum(chunk.counts[name] for chunk in chunks) for name in COUNTS},
            [_digest(keys), _digest(rejected)],
            classes,
            strata,
            list(dict.fromkeys(name for chunk in chunks for name in chunk.left_out)),
            [place for chunk in chunks for place in chunk.unlabelled_places][:_SHOWN_PLACES],
        )
        description = asdict(piece)
        del description["path"]
        write_description(self._path + _DESCRIPTION, description)
        return piece

    def discard(self) -> None:
        """Remove what was written, as far as that is possible."""
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            os.remove(self._file.name)


def find_pieces(folder: str) -> list[Piece]:
    """Return the whole pieces in a folder by their first chunk, and remove all other files."""
    pieces: list[Piece] = []
    names = sorted(os.listdir(folder))
    for name in names:
        stem = name.removesuffix(_DESCRIPTION)
        if stem != name and stem.isdecimal():
            piece = Piece.load(os.path.join(folder, stem))
            if piece is not None and piece.first == int(stem) and piece.first >= (pieces[-1].last if pieces else 0):
                pieces.append(piece)
    kept = {os.path.basename(piece.path) for piece in pieces}
    for name in names:
        if name.split(".")[0] not in kept:
            os.remove(os.path.join(folder, name))
    return pieces


def key_entries(chunk: EncodedChunk, start: int, classes: list[Any], strata: list[Any]) -> npt.NDArray[Any]:
    """Return the keys of a chunk whose records begin at an offset; classes that are new are added to the lists."""
    keys = np.zeros(chunk.rows, KEY)
    keys["offset"] = chunk.offsets[:-1] + np.uint64(start) if chunk.places is None else chunk.places
    keys["length"] = np.diff(chunk.offsets) - np.uint64(FRAMING_BYTES)
    keys["digest"] = chunk.digests
    keys["content"] = chunk.contents
    keys["split"] = chunk.split
    keys["class"] = class_codes(chunk.classes, classes)
    keys["stratum"] = class_codes(chunk.strata, strata)
    if chunk.groups is not None:
        keys["group"] = chunk.groups
    return keys


def class_codes(given: Classes, known: list[Any]) -> npt.NDArray[np.int32]:
    """Return the numbers of classes among all that are known; those that are new are added.

    >>> known = ["cat"]
    >>> class_codes(Classes(["dog", "cat"], np.array([0, 1, -1], np.int32)), known).tolist(), known
    ([1, 0, -1], ['cat', 'dog'])
    """
    numbers = {value: number for number, value in enumerate(known)}
    for value in given.values:
        if value not in numbers:
            numbers[value] = len(known)
            known.append(value)
    codes = np.array([numbers[value] for value in given.values] + [-1], np.int32)
    return codes[given.code_of]  # -1 takes the last entry, which is -1


def write_description(path: str, document: dict[str, Any]) -> None:
    """Write a small JSON file that has its name once it is whole. It is not synced: what it describes is verified."""
    with open(f"{path}.partial", "wb", buffering=0) as file:
        write_all(file, json.dumps(document, ensure_ascii=False).encode())
    put_in_place(f"{path}.partial", path, sync=False)


def write_all(file: BinaryIO | Any, data: Any) -> None:
    """Write all of some bytes to a file without a buffer."""
    view = memoryview(data).cast("B") if len(data) else memoryview(b"")
    while view:
        view = view[file.write(view) :]


def _digest(data: Iterable[Any] | bytes | npt.NDArray[Any]) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()  # type: ignore[arg-type] # arrays are buffers


def _lines(chunk: EncodedChunk) -> bytes:
    lines = "".join(json.dumps(reject.to_json(), ensure_ascii=False) + "\n" for reject in chunk.rejects)
    return lines.encode(errors="backslashreplace")

"""Pieces of staged records: several consecutive chunks of the source, in files of their own.

    00000012-5f0c91ab.records          the records of chunks 12 to 15, framed like any TFRecord file
    00000012-5f0c91ab.keys             one fixed-size entry for each of them: offset, length, content digest, class...
    00000012-5f0c91ab.rejected.jsonl   the rows that were rejected, if there are any
    00000012-00000016.json             which chunks these are, how many records, the classes, and the other files

A piece counts once its description (.json) has its name, which it gets last. Pieces do not depend on each other: they
may be written in any order, and a missing or damaged one is made again from its chunks. The dataset is the same however
many chunks are in a piece.

Several processes, on several machines, may write pieces into one folder. Each attempt has files of its own (the second
number in their names is random), and the description of some chunks exists once: whoever is first gives it its name,
and another attempt removes its files and takes those of the first, which are the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.errors import RecordsmithError, advise
from recordsmith.run.staging.encoded_chunk import EncodedChunk
from recordsmith.run.staging.keys import KEY, key_entries
from recordsmith.run.staging.staged_files import StagedFile, write_all
from recordsmith.storage.atomic_file import put_in_place
from recordsmith.storage.json_descriptions import JsonObject
from recordsmith.storage.objects import open_folder, split_url

__all__ = [
    "COUNTS",
    "Piece",
    "PieceWriter",
    "description_name",
    "description_names",
    "descriptions",
    "remove_others",
    "without_overlap",
    "write_description",
]

COUNTS = ("source_rows", "source_bytes", "rejects", "dropped", "unlabelled")

# A piece ends when it is this large, or this old: a killed run loses no more than that.
_PIECE_BYTES = 64 << 20
_PIECE_ROWS = 1 << 17
_PIECE_SECONDS = 5.0
_SHOWN_PLACES = 3
_NO_FRAMES = np.empty(0, np.uint8)  # a slice would keep the memory of the whole array
_LONGEST_REJECTED = 1 << 30  # bytes
_DESCRIPTION = ".json"
_DESCRIPTION_NAME = re.compile(r"[0-9]{8,}-[0-9]{8,}\.json")
_ATTEMPT_NAME = re.compile(r"[0-9]{8,}-[0-9a-f]{8}")


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
        etags: the versions of its files, by their endings, if they are in object storage.
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
    etags: dict[str, str] = field(default_factory=dict)

    @property
    def records(self) -> str:
        """The file of the records."""
        return f"{self.path}.records"

    @property
    def file(self) -> StagedFile:
        """The file of the records, as it was described."""
        return StagedFile(self.records, self.size, self.etags.get("records", ""))

    def keys(self) -> npt.NDArray[Any]:
        """Read the keys."""
        return StagedFile(f"{self.path}.keys", self.rows * KEY.itemsize, self.etags.get("keys", "")).array(KEY)

    def verified_keys(self) -> npt.NDArray[Any]:
        """Read the keys, which must be those that were described."""
        keys = self.keys()
        if len(keys) != self.rows or _digest(keys) != self.digests[0]:
            raise RecordsmithError(
                "A staged file is damaged.",
                path=f"{self.path}.keys",
                advice=advise("Continue with {resume}: damaged files are found and made again.", resume=True),
            )
        return keys

    def rejected(self) -> bytes:
        """Read the rejected rows."""
        if not self.counts["rejects"]:
            return b""
        if self.etags:
            folder, name = split_url(f"{self.path}.rejected.jsonl")
            return open_folder(folder).read(name, longest=_LONGEST_REJECTED, etag=self.etags["rejected.jsonl"])[0]
        with open(f"{self.path}.rejected.jsonl", "rb") as file:
            return file.read()

    @classmethod
    def load(cls, description: str) -> Piece | None:
        """Read a description; None if it or what it describes is damaged."""
        piece = cls.described(description)
        try:
            return piece if piece is not None and piece.is_whole(thorough=True) else None
        except (OSError, ValueError, RecordsmithError):  # damaged records raise too
            return None

    @classmethod
    def described(cls, description: str) -> Piece | None:
        """Read a description without reading the records, whose checksums are verified when they are used."""
        try:
            with open(description, "rb") as file:
                piece = cls.parsed(file.read(), description)
            is_whole = piece is not None and not piece.etags and piece.is_whole(thorough=False)
        except (OSError, ValueError, RecordsmithError):
            return None
        return piece if is_whole else None

    @classmethod
    def parsed(cls, text: bytes, description: str) -> Self | None:
        """Read the text of a description, which has this path or URL; None if it is damaged."""
        try:
            document = JsonObject.of(json.loads(text), "description of a piece", description)
            document.require("files", "first", "last", "rows", "size", "counts", "digests")
            files = document.text("files")
            piece = cls(
                os.path.join(os.path.dirname(description), files),
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
                document.object("etags").all_texts(),
            )
        except (ValueError, RecursionError, RecordsmithError):
            return None
        named = os.path.basename(description) == description_name(piece.first, piece.last)
        return piece if named and _ATTEMPT_NAME.fullmatch(files) else None

    def to_json(self) -> dict[str, Any]:
        """Return the description, JSON-ready."""
        document = {"files": os.path.basename(self.path), **asdict(self)}
        del document["path"]
        return document

    def is_whole(self, *, thorough: bool) -> bool:
        """Say whether its files are those that were described; `thorough` reads the records, too."""
        keys, rejected = self.keys(), self.rejected()
        if len(keys) != self.rows or [_digest(keys), _digest(rejected)] != self.digests:
            return False
        if not self.etags and os.path.getsize(self.records) != self.size:
            return False
        if not thorough or not self.size:
            return True
        return _core.verify_files([self.file.opened()], ["none"], os.cpu_count() or 1) == self.rows


class PieceWriter:
    """Writes one piece. What was added is on the disk, and counts, after `close`.

    Args:
        folder: where the pieces are.
        first: the number of the first chunk.
    """

    def __init__(self, folder: str, first: int) -> None:
        self._folder = folder
        self._path = os.path.join(folder, f"{first:08}-{secrets.token_hex(4)}")
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
        self._chunks.append(replace(chunk, frames=_NO_FRAMES, bytes=len(chunk.frames)))
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
        return self._described(piece)

    def _described(self, piece: Piece) -> Piece:
        """Give the piece its description, unless there is one already; return the piece that counts."""
        name = os.path.join(self._folder, description_name(piece.first, piece.last))
        if _describe_first(name, f"{self._path}.partial", piece.to_json()):
            return piece
        other = Piece.described(name)
        if other is not None:
            self.discard()
            return other
        write_description(name, piece.to_json())  # the other one is damaged
        return piece

    def discard(self) -> None:
        """Remove what was written, as far as that is possible."""
        with contextlib.suppress(OSError):
            self._file.close()
        for ending in ("records", "keys", "rejected.jsonl"):
            with contextlib.suppress(OSError):
                os.remove(f"{self._path}.{ending}")


def descriptions(folder: str) -> list[str]:
    """Return the descriptions of pieces in a folder, those of many chunks before others that begin with the same."""
    return [os.path.join(folder, name) for name in description_names(os.listdir(folder))]


def description_names(given: Iterable[str]) -> list[str]:
    """Return which of some names are those of descriptions, in the same order."""
    names = [name for name in given if _DESCRIPTION_NAME.fullmatch(name)]
    chunks = {name: tuple(map(int, name.removesuffix(_DESCRIPTION).split("-"))) for name in names}
    names.sort(key=lambda name: (chunks[name][0], -chunks[name][1]))
    return names


def without_overlap(pieces: Iterable[Piece | None]) -> list[Piece]:
    """Return pieces that have no chunk in common: each that begins after the ones before it; None is left out."""
    chosen: list[Piece] = []
    for piece in pieces:
        if piece is not None and piece.first >= (chosen[-1].last if chosen else 0) and piece.last > piece.first:
            chosen.append(piece)
    return chosen


def remove_others(folder: str, pieces: Sequence[Piece]) -> None:
    """Remove all files of a folder that do not belong to some pieces."""
    kept = {
        *(os.path.basename(piece.path) for piece in pieces),
        *(description_name(piece.first, piece.last).removesuffix(_DESCRIPTION) for piece in pieces),
    }
    for name in os.listdir(folder):
        if name.split(".")[0] not in kept:
            os.remove(os.path.join(folder, name))


def write_description(path: str, document: dict[str, Any]) -> None:
    """Write a small JSON file that has its name once it is whole. It is not synced: what it describes is verified."""
    with open(f"{path}.partial", "wb", buffering=0) as file:
        write_all(file, json.dumps(document, ensure_ascii=False).encode())
    put_in_place(f"{path}.partial", path, sync=False)


def _describe_first(path: str, temporary: str, document: dict[str, Any]) -> bool:
    """Write a small JSON file unless there is one; False if there is."""
    with open(temporary, "wb", buffering=0) as file:
        write_all(file, json.dumps(document, ensure_ascii=False).encode())
    try:
        os.link(temporary, path)
    except FileExistsError:
        os.remove(temporary)
        return False
    except OSError:  # of a file system without links: whoever is last has the name, and both are right
        put_in_place(temporary, path, sync=False)
        return True
    os.remove(temporary)
    return True


def description_name(first: int, last: int) -> str:
    """Return the name of the description of some chunks.

    >>> description_name(12, 16)
    '00000012-00000016.json'
    """
    return f"{first:08}-{last:08}{_DESCRIPTION}"


def _digest(data: Iterable[Any] | bytes | npt.NDArray[Any]) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()  # type: ignore[arg-type] # arrays are buffers


def _lines(chunk: EncodedChunk) -> bytes:
    lines = "".join(json.dumps(reject.to_json(), ensure_ascii=False) + "\n" for reject in chunk.rejects)
    return lines.encode(errors="backslashreplace")

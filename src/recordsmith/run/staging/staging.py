"""The staging folder: everything that a run has finished so far, so that a killed one can be resumed.

It is the folder of `recordsmith.storage.publication`, which explains the lock, shards/ and how they are published.

    plan.json         what is made from what; a run with another plan cannot be continued here
    pieces/DIGEST/    the encoded records (recordsmith.run.staging.pieces)
    chunks.json       how many chunks the source has, once all of them were counted
    attempts/DIGEST/  shards that are being written
    shards/           finished shards under their final names
    written/          the description of each finished shard
    parts/            which jobs of a job array have done their share (recordsmith.run.engines.part)

Whatever is whole counts, in any order; the rest is made again. Files that are made from the pieces before shards are
written (keys, rejected.jsonl, orders) are always made again.

Processes of several machines may write here. DIGEST is that of the plan: a process that is late, of a run that was
dropped in the meantime, finds its folder gone. The jobs of a job array share the lock, and each has a folder of its own
for what it makes from the pieces.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from recordsmith.errors import RecordsmithError, SchemaError, advise
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.run.staging.encoded_chunk import Classes, EncodedChunk
from recordsmith.run.staging.keys import KEY, class_codes, key_entries
from recordsmith.run.staging.pieces import (
    COUNTS,
    Piece,
    PieceWriter,
    descriptions,
    remove_others,
    without_overlap,
    write_description,
)
from recordsmith.run.staging.plan_differences import check_plan
from recordsmith.run.staging.record_files import RecordFiles
from recordsmith.run.staging.shard_places import CHECKED, FolderShards, ShardPlaces, written_shard
from recordsmith.run.staging.staged_files import write_all
from recordsmith.storage.atomic_file import write_text_atomically
from recordsmith.storage.json_descriptions import JsonObject, read_json_object
from recordsmith.storage.publication import Publication

__all__ = ["REJECTED_NAME", "Each", "Staging", "one_by_one"]

T = TypeVar("T")
R = TypeVar("R")

REJECTED_NAME = "rejected.jsonl"
_FORMAT = "recordsmith-run"
_VERSION = 4
_FOLDERS = ("shards", "written", "parts")
_BLOCK_ROWS = 1 << 18
_SHOWN_PLACES = 3


class Each(Protocol):
    """Does the same work on several items, wherever that is, and gives each with its result, in any order."""

    def __call__(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Do it."""


def one_by_one(work: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
    """Do the same work on several items, one after the other.

    >>> list(one_by_one(str.upper, ["a", "b"]))
    [('a', 'A'), ('b', 'B')]
    """
    return ((item, work(item)) for item in items)


class Staging:
    """What a run has finished so far, on disk.

    Args:
        publication: the folder, its lock, and the switch to the new files.
        plan: everything that decides about the bytes written.
        own: the name of a folder inside, for what is made from the pieces; None if no other process is at work.

    Attributes:
        publication: the folder, its lock, and the switch to the new files.
        rows: how many records are staged.
        bytes: how long they are with their framing.
        counts: source rows, source bytes, rejected, dropped and unlabelled rows.
        complete: all chunks of the source are staged. Only then the following are known:
        classes: the distinct classes, in the order in which they were met.
        strata: the same for the feature to stratify by.
        left_out: columns that the schema does not have.
        unlabelled_places: where some of the unlabelled rows come from.
        is_in_store: what other machines need is in object storage, and so are finished shards.
    """

    is_in_store = False

    def __init__(self, publication: Publication, plan: dict[str, Any], own: str | None = None) -> None:
        self.publication = publication
        digest = hashlib.blake2b(json.dumps(plan, sort_keys=True).encode(), digest_size=8).hexdigest()
        self.pieces = publication.path("pieces", digest)
        self.attempts = publication.path("attempts", digest)
        self.rows = 0
        self.bytes = 0
        self.counts = dict.fromkeys(COUNTS, 0)
        self.complete = False
        self.chunks: int | None = None
        self.classes: list[Any] = []
        self.strata: list[Any] = []
        self.left_out: list[str] = []
        self.unlabelled_places: list[str] = []
        self._plan = plan
        self._own = own
        self._pieces: list[Piece] = []
        self._added: list[str] = []  # files of records that no chunk has
        self._writer: PieceWriter | None = None

    # --- opening and ending ---

    @classmethod
    def exists(cls, out: str) -> bool:
        """Say whether there is an unfinished run in an output folder."""
        return Publication(out).is_resumable

    @classmethod
    def clear_away(cls, out: str) -> None:
        """Remove what a finished run left because it was killed while it tidied up."""
        publication = Publication(out)
        if os.path.isdir(publication.hidden) and not publication.is_resumable:
            publication.lock()
            publication.discard()

    @classmethod
    def start(cls, publication: Publication, plan: dict[str, Any]) -> Staging:
        """Begin a new run, dropping an unfinished one."""
        staging = cls(publication, plan)
        publication.lock()
        with staging._closed_on_failure():
            publication.clear()
            staging._create()
        return staging

    @classmethod
    def resume(
        cls, publication: Publication, plan: dict[str, Any], each: Each = one_by_one, *, thorough: bool = True
    ) -> Staging:
        """Continue an unfinished run, if it had the same plan.

        Args:
            publication: the folder.
            plan: the plan of the run.
            each: looks at the pieces.
            thorough: read all staged records. Otherwise damaged ones are found when they are used.
        """
        staging = cls(publication, plan)
        publication.lock()
        with staging._closed_on_failure():
            staging._check_plan(plan)
            staging._make_folders()
            staging._find_pieces(each, thorough=thorough)
            remove_others(staging.pieces, staging._pieces)
            staging._remove_attempts()
        return staging

    @classmethod
    def join(cls, publication: Publication, plan: dict[str, Any], own: str) -> Staging:
        """Begin or continue a run beside other processes that do the same; nothing of theirs is removed."""
        staging = cls(publication, plan, own)
        publication.lock(shared=True)
        try:
            if not publication.is_resumable:
                staging._create()
            staging._check_plan(plan)
            staging._make_folders()
            os.makedirs(staging.path())
            staging.look_again()
        except BaseException:
            publication.close()
            raise
        return staging

    def _create(self) -> None:
        self._make_folders()
        document = {"format": _FORMAT, "version": _VERSION, "plan": self._plan}
        write_text_atomically(self.publication.path("plan.json"), json.dumps(document, indent=1))

    def _make_folders(self) -> None:
        for folder in (*map(self.publication.path, _FOLDERS), self.pieces, self.attempts):
            os.makedirs(folder, exist_ok=True)

    def _check_plan(self, plan: dict[str, Any]) -> None:
        try:
            document = read_json_object(self.publication.path("plan.json"), "plan of the unfinished run")
        except SchemaError:
            document = JsonObject({}, "plan of the unfinished run")
        if document.entries.get("format") != _FORMAT or document.entries.get("version") != _VERSION:
            raise RecordsmithError(
                "The unfinished run was started by another version of recordsmith.",
                path=self.publication.hidden,
                advice=advise("Start over with {overwrite}.", overwrite=True),
            )
        advice = (
            advise("Resume with the same options, or start over with {overwrite}.", overwrite=True)
            if self._own is None
            else f"Give the same options to all parts. To start over, remove {self.publication.hidden}."
        )
        check_plan(dict(document.object("plan").entries), plan, self.publication.hidden, advice)

    def look_again(self) -> None:
        """Find what other processes have finished in the meantime."""
        self._end_piece()
        self._find_pieces(one_by_one, thorough=False)

    def _find_pieces(self, each: Each, *, thorough: bool) -> None:
        self._pieces = self._load_pieces(each, thorough=thorough)
        self.rows, self.bytes, self.counts = 0, 0, dict.fromkeys(COUNTS, 0)
        for piece in self._pieces:
            self._count(piece.rows, piece.size, piece.counts)
        self.chunks = self._noted_chunks()
        if self.chunks is not None and sum(piece.last - piece.first for piece in self._pieces) == self.chunks:
            self._gather()

    def _load_pieces(self, each: Each, *, thorough: bool) -> list[Piece]:
        found = descriptions(self.pieces)
        loaded = dict(each(Piece.load if thorough else Piece.described, found))
        return without_overlap(loaded[path] for path in found)

    def _noted_chunks(self) -> int | None:
        with contextlib.suppress(RecordsmithError, FileNotFoundError):
            return read_json_object(self.publication.path("chunks.json"), "number of chunks").count("chunks")
        return None

    def _remove_attempts(self) -> None:
        """Remove what killed processes were at."""
        for name in os.listdir(self.attempts):
            os.remove(os.path.join(self.attempts, name))
        for name in os.listdir(self.publication.hidden):
            if name.startswith("part-"):
                shutil.rmtree(self.publication.path(name))

    def close(self) -> None:
        """End the use of the folder; what is staged stays."""
        try:
            with contextlib.suppress(OSError):  # of a full disk: the last chunks are made again then
                self._end_piece()
            if self._own is not None:
                shutil.rmtree(self.path(), ignore_errors=True)
        finally:
            self.publication.close()

    def remove(self) -> None:
        """Remove the folder."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.discard()
        self.publication.remove()

    def path(self, *names: str) -> str:
        """Return a path for what is made from the pieces."""
        own = () if self._own is None else (self._own,)
        return self.publication.path(*own, *names)

    def begin_bucket_folder(self, split: str) -> str:
        """Return a new folder for the buckets of a split."""
        folder = self.path(f"buckets-{split}")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return folder

    # --- chunks ---

    def has(self, chunk: int) -> bool:
        """Say whether a chunk is staged, in a piece that is whole."""
        before = bisect_right(self._pieces, chunk, key=lambda piece: piece.first)
        return before > 0 and chunk < self._pieces[before - 1].last

    @property
    def piece_writer(self) -> Callable[[int], PieceWriter]:
        """What begins a piece with a certain chunk; it can be sent to other machines."""
        return partial(PieceWriter, self.pieces)

    def append(self, number: int, chunk: EncodedChunk) -> None:
        """Add an encoded chunk, by its number in the source."""
        if self._writer is not None and self._writer.next != number:
            self._end_piece()
        if self._writer is None:
            self._writer = self.piece_writer(number)
        self._writer.add(chunk)
        self._count(chunk.rows, len(chunk.frames), chunk.counts)
        if self._writer.is_full:
            self._end_piece()

    def adopt(self, piece: Piece) -> None:
        """Add a piece that another process has written."""
        self._pieces.append(piece)
        self._pieces.sort(key=lambda piece: piece.first)
        self._count(piece.rows, piece.size, piece.counts)

    def note_chunks(self, chunks: int) -> None:
        """Note how many chunks the source has."""
        write_text_atomically(self.publication.path("chunks.json"), json.dumps({"chunks": chunks}))
        self.chunks = chunks

    def note_part(self, number: int, count: int) -> None:
        """Note that one of several processes has done its share."""
        write_text_atomically(self.publication.path("parts", f"{number}-of-{count}"), "")

    def parts_noted(self) -> list[str]:
        """Return the notes of processes that have done their share."""
        return sorted(os.listdir(self.publication.path("parts")))

    def finish_chunks(self, chunks: int) -> None:
        """Note that all chunks are staged, and how many there are."""
        self._end_piece()
        self.note_chunks(chunks)
        self._gather()

    def add_made_rows(self, chunk: EncodedChunk) -> None:
        """Add rows that were made from the others after all chunks were staged. A resumed run makes them again."""
        with open(self.path("made.records"), "wb", buffering=0) as file:
            write_all(file, chunk.frames)
        keys = key_entries(chunk, self.bytes, self.classes, self.strata)
        with open(self.path("keys"), "ab", buffering=0) as file:
            write_all(file, keys.view(np.uint8) if len(keys) else b"")
        self._added = [self.path("made.records")]
        self._count(chunk.rows, len(chunk.frames), chunk.counts)

    def key_blocks(self) -> Iterator[Any]:
        """Give the keys of all records in order, in blocks."""
        with open(self.path("keys"), "rb") as file:
            left = self.rows
            while left:
                block = np.fromfile(file, KEY, min(left, _BLOCK_ROWS))
                left -= len(block)
                yield block

    def records(self) -> RecordFiles:
        """Return the staged records, in whose order the offsets of the keys are counted."""
        paths = [*(piece.records for piece in self._pieces if piece.size), *self._added]
        return RecordFiles([SourceFile.at(path) for path in paths])

    def rejected(self) -> str:
        """Put all rejected rows so far into one file, and return its path."""
        self._end_piece()
        with open(self.path(REJECTED_NAME), "wb") as file:
            file.writelines(piece.rejected() for piece in self._pieces)
        return self.path(REJECTED_NAME)

    # --- shards ---

    @property
    def shard_places(self) -> ShardPlaces:
        """Where shards are written; it can be sent to other machines."""
        return FolderShards(self.attempts, self.publication.path("shards"))

    def shards_done(self, each: Each = one_by_one, *, thorough: bool = True) -> dict[str, dict[str, Any]]:
        """Return the finished shards by name, if their files exist and are not damaged.

        Args:
            each: looks at the shards.
            thorough: compare their digests. Otherwise those that were read back count if they have their size.
        """
        found = [
            self.publication.path("written", name) for name in sorted(os.listdir(self.publication.path("written")))
        ]
        shards = self.publication.path("shards")
        looked_at = each(partial(written_shard, shards, thorough=thorough), found)
        return {entry["file"]: entry for _, entry in looked_at if entry is not None}

    def remove_other_shards(self, done: Iterable[str]) -> None:
        """Remove what is left of shards that are not finished."""
        kept = set(done)
        for name in os.listdir(self.publication.path("shards")):
            if name not in kept:
                os.remove(self.publication.path("shards", name))

    def adopt_shard(self, entry: dict[str, Any], attempt: str) -> None:
        """Give a finished shard, which this or another process has written, its final name, and note it."""
        os.replace(attempt, self.publication.path("shards", entry["file"]))
        self._note_shard(entry)

    def note_checked(self, entry: dict[str, Any]) -> None:
        """Note that a shard was read back."""
        self._note_shard({**entry, CHECKED: True})

    def _note_shard(self, entry: dict[str, Any]) -> None:
        path = self.publication.path("written", f"{entry['file']}.json")
        if self._own is None:
            write_description(path, entry)
        else:  # another process may do the same
            write_text_atomically(path, json.dumps(entry, ensure_ascii=False))

    # --- inside ---

    @contextlib.contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        """Release the lock if the block fails; nothing is left of a run that did not get as far as having a plan."""
        try:
            yield
        except BaseException:
            self.publication.discard()
            raise

    def _count(self, rows: int, size: int, counts: dict[str, int]) -> None:
        self.rows += rows
        self.bytes += size
        self.counts = {name: count + counts[name] for name, count in self.counts.items()}

    def _end_piece(self) -> None:
        writer, self._writer = self._writer, None
        piece = None if writer is None else writer.close()
        if piece is not None:
            self._pieces.append(piece)
            self._pieces.sort(key=lambda piece: piece.first)

    def _gather(self) -> None:
        """Put the keys of all pieces into one file, with offsets and classes that are counted over all of them."""
        base = 0
        self.classes, self.strata, self.left_out, self.unlabelled_places = [], [], [], []
        with open(self.path("keys"), "wb", buffering=0) as file:
            for piece, keys in zip(self._pieces, self._all_keys(), strict=True):
                keys["offset"] += np.uint64(base)
                keys["class"] = class_codes(Classes(piece.classes, keys["class"]), self.classes)
                keys["stratum"] = class_codes(Classes(piece.strata, keys["stratum"]), self.strata)
                write_all(file, keys.view(np.uint8) if len(keys) else b"")
                base += piece.size
                self.left_out.extend(name for name in piece.left_out if name not in self.left_out)
                self.unlabelled_places = [*self.unlabelled_places, *piece.unlabelled_places][:_SHOWN_PLACES]
        self.complete = True

    def _all_keys(self) -> Iterable[Any]:
        """Give the keys of each piece."""
        return (piece.keys() for piece in self._pieces)

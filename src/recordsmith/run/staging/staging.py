"""The staging folder: everything that a run has finished so far, so that a killed one can be resumed.

It is the folder of `recordsmith.storage.publication`, which explains the lock, shards/ and how they are published.

    plan.json       what is made from what; a run with another plan cannot be continued here
    pieces/         the encoded records (recordsmith.run.staging.pieces)
    chunks.json     how many chunks the source has, once all of them were read
    shards/         finished shards under their final names
    written/        the description of each finished shard

Whatever is whole counts, in any order; the rest is made again. Files that are made from the pieces before shards are
written (keys, rejected.jsonl, orders) are always made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import numpy as np

from recordsmith.errors import RecordsmithError, SchemaError, advise
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.records.described_splits import check_file_name
from recordsmith.run.staging.encoded_chunk import Classes, EncodedChunk
from recordsmith.run.staging.pieces import (
    COUNTS,
    KEY,
    Piece,
    PieceWriter,
    class_codes,
    find_pieces,
    key_entries,
    write_all,
    write_description,
)
from recordsmith.run.staging.plan_differences import differences
from recordsmith.run.staging.record_files import RecordFiles
from recordsmith.storage.atomic_file import write_text_atomically
from recordsmith.storage.json_descriptions import JsonObject, read_json_object
from recordsmith.storage.publication import Publication

__all__ = ["KEY", "REJECTED_NAME", "Staging"]

REJECTED_NAME = "rejected.jsonl"
_FORMAT = "recordsmith-run"
_VERSION = 3
_BLOCK_ROWS = 1 << 18
_SHOWN_PLACES = 3


class Staging:
    """What a run has finished so far, on disk.

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
    """

    def __init__(self, publication: Publication) -> None:
        self.publication = publication
        self.rows = 0
        self.bytes = 0
        self.counts = dict.fromkeys(COUNTS, 0)
        self.complete = False
        self.classes: list[Any] = []
        self.strata: list[Any] = []
        self.left_out: list[str] = []
        self.unlabelled_places: list[str] = []
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
        staging = cls(publication)
        publication.lock()
        with staging._closed_on_failure():
            publication.clear()
            for folder in ("shards", "pieces", "written"):
                os.mkdir(staging.path(folder))
            document = {"format": _FORMAT, "version": _VERSION, "plan": plan}
            write_text_atomically(staging.path("plan.json"), json.dumps(document, indent=1))
        return staging

    @classmethod
    def resume(cls, publication: Publication, plan: dict[str, Any]) -> Staging:
        """Continue an unfinished run, if it had the same plan."""
        staging = cls(publication)
        publication.lock()
        with staging._closed_on_failure():
            staging._check_plan(plan)
            staging._find_pieces()
        return staging

    def _check_plan(self, plan: dict[str, Any]) -> None:
        try:
            document = read_json_object(self.path("plan.json"), "plan of the unfinished run")
        except SchemaError:
            document = JsonObject({}, "plan of the unfinished run")
        if document.entries.get("format") != _FORMAT or document.entries.get("version") != _VERSION:
            raise RecordsmithError(
                "The unfinished run was begun by another version of recordsmith.",
                path=self.publication.hidden,
                advice=advise("Start over with {overwrite}.", overwrite=True),
            )
        changed = differences(dict(document.object("plan").entries), plan)
        if changed:
            raise RecordsmithError(
                "The unfinished run was begun with other options, and its files would not fit.",
                path=self.publication.hidden,
                found="; ".join(changed),
                advice=advise("Resume with the same options, or start over with {overwrite}.", overwrite=True),
            )

    def _find_pieces(self) -> None:
        for folder in ("shards", "pieces", "written"):
            os.makedirs(self.path(folder), exist_ok=True)
        self._pieces = find_pieces(self.path("pieces"))
        for piece in self._pieces:
            self._count(piece.rows, piece.size, piece.counts)
        chunks: int | None = None
        with contextlib.suppress(RecordsmithError, FileNotFoundError):
            chunks = read_json_object(self.path("chunks.json"), "number of chunks").count("chunks")
        if chunks is not None and sum(piece.last - piece.first for piece in self._pieces) == chunks:
            self._gather()

    def close(self) -> None:
        """End the use of the folder; what is staged stays."""
        try:
            with contextlib.suppress(OSError):  # of a full disk: the last chunks are made again then
                self._end_piece()
        finally:
            self.publication.close()

    def remove(self) -> None:
        """Remove the folder."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.discard()
        self.publication.remove()

    def path(self, *names: str) -> str:
        """Return a path inside the folder."""
        return self.publication.path(*names)

    # --- chunks ---

    def has(self, chunk: int) -> bool:
        """Say whether a chunk is staged, in a piece that is whole."""
        before = bisect_right(self._pieces, chunk, key=lambda piece: piece.first)
        return before > 0 and chunk < self._pieces[before - 1].last

    def append(self, number: int, chunk: EncodedChunk) -> None:
        """Add an encoded chunk, by its number in the source."""
        if self._writer is not None and self._writer.next != number:
            self._end_piece()
        if self._writer is None:
            self._writer = PieceWriter(self.path("pieces"), number)
        self._writer.add(chunk)
        self._count(chunk.rows, len(chunk.frames), chunk.counts)
        if self._writer.is_full:
            self._end_piece()

    def finish_chunks(self, chunks: int) -> None:
        """Note that all chunks are staged, and how many there are."""
        self._end_piece()
        write_description(self.path("chunks.json"), {"chunks": chunks})
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

    def shards_done(self) -> dict[str, dict[str, Any]]:
        """Return the finished shards by name, if their files exist and are not damaged; remove everything else."""
        done: dict[str, dict[str, Any]] = {}
        for described in os.listdir(self.path("written")):
            with contextlib.suppress(RecordsmithError, OSError):
                entry = read_json_object(self.path("written", described), "description of a shard")
                name = check_file_name(entry.text("file"))
                with open(self.path("shards", name), "rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() == entry.text("sha256"):
                        done[name] = {**entry.entries, "records": entry.count("records"), "bytes": entry.count("bytes")}
        for name in os.listdir(self.path("shards")):
            if name not in done:
                os.remove(self.path("shards", name))
        return done

    def note_shard(self, entry: dict[str, Any]) -> None:
        """Note a finished shard, which has its final name already."""
        write_description(self.path("written", f"{entry['file']}.json"), entry)

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
        with open(self.path("keys"), "wb", buffering=0) as file:
            for piece in self._pieces:
                keys = piece.keys()
                keys["offset"] += np.uint64(base)
                keys["class"] = class_codes(Classes(piece.classes, keys["class"]), self.classes)
                keys["stratum"] = class_codes(Classes(piece.strata, keys["stratum"]), self.strata)
                write_all(file, keys.view(np.uint8) if len(keys) else b"")
                base += piece.size
                self.left_out.extend(name for name in piece.left_out if name not in self.left_out)
                self.unlabelled_places = [*self.unlabelled_places, *piece.unlabelled_places][:_SHOWN_PLACES]
        self.complete = True

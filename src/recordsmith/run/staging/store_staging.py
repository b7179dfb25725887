"""A staging folder that machines have in common only in object storage (see `run_in_store` for what is there).

What one process needs for itself (keys, orders, buckets of one machine) is in a local folder, as always.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Self

from recordsmith.errors import RecordsmithError, advise
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.run.staging.encoded_chunk import EncodedChunk
from recordsmith.run.staging.pieces import Piece, PieceWriter, description_name
from recordsmith.run.staging.plan_differences import check_plan
from recordsmith.run.staging.record_files import RecordFiles
from recordsmith.run.staging.run_in_store import BegunRun, RunInStore
from recordsmith.run.staging.shard_places import ETAG, ShardPlaces, StoreShards, described_shard
from recordsmith.run.staging.staged_files import StagedFile, upload_file
from recordsmith.run.staging.staging import Each, Staging, one_by_one
from recordsmith.run.staging.store_pieces import StorePieceWriter, find_pieces, is_sound
from recordsmith.storage.json_descriptions import JsonObject, parse_json
from recordsmith.storage.objects import child_url, open_folder, without_secrets
from recordsmith.storage.objects.interruptible import interruptible_in_order
from recordsmith.storage.publication import Publication

__all__ = ["StoreStaging"]

_AT_ONCE = 16
_LONGEST = 1 << 20  # bytes of a note or the description of a shard
_DAMAGED = "damaged"


class StoreStaging(Staging):
    """What the processes of a run have finished so far, in object storage.

    Args:
        publication: a local folder, for what this process needs.
        run: the remote folders.
        begun: the run.
    """

    is_in_store = True

    def __init__(self, publication: Publication, run: RunInStore, begun: BegunRun) -> None:
        super().__init__(publication, begun.plan)
        self._run = run
        self._url = child_url(run.staging, begun.version)
        self._folder = open_folder(self._url)
        self._output = child_url(run.output, begun.version)
        self._shared_added: StagedFile | None = None
        self.pieces = child_url(self._url, "pieces")

    @classmethod
    def opened(cls, publication: Publication, run: RunInStore, plan: dict[str, Any], each: Each, *, part: bool) -> Self:
        """Begin a run, or continue the unfinished one, if it has the same plan; nothing of others is removed."""
        begun = run.begun() or run.begin(plan)
        start_over = (
            f"Give the same options to all parts. To start over, remove {without_secrets(run.staging)}."
            if part
            else advise("Resume with the same options, or start over with {overwrite}.", overwrite=True)
        )
        check_plan(begun.plan, plan, without_secrets(run.staging), start_over)
        staging = cls(publication, run, begun)
        publication.lock()
        with staging._closed_on_failure():
            os.makedirs(publication.path("shards"), exist_ok=True)
            staging._find_pieces(each, thorough=staging._is_noted(_DAMAGED))
        return staging

    def _load_pieces(self, each: Each, *, thorough: bool) -> list[Piece]:
        pieces = find_pieces(self.pieces)
        if not thorough:
            return pieces
        damaged = [piece for piece, is_whole in each(is_sound, pieces) if not is_whole]
        open_folder(self.pieces).delete(description_name(piece.first, piece.last) for piece in damaged)
        self._folder.delete([_DAMAGED])
        return [piece for piece in pieces if piece not in damaged]

    def look_again(self) -> None:
        """Find what other processes have finished in the meantime."""
        self._end_piece()
        self._find_pieces(one_by_one, thorough=False)

    def note_damage(self, error: BaseException) -> None:
        """If an error is about staged bytes, note that all of them are to be read when the run is resumed."""
        if isinstance(error, RecordsmithError) and (error.path or "").startswith(without_secrets(self._url)):
            with contextlib.suppress(RecordsmithError, OSError):
                self._note(_DAMAGED, "")

    def close(self) -> None:
        """End the use of the local folder; what is uploaded stays."""
        with contextlib.suppress(RecordsmithError):  # of the network: the last chunks are made again then
            super().close()

    def remove(self) -> None:
        """Remove the run, and what was uploaded."""
        super().remove()
        self._run.give_up()

    # --- chunks ---

    @property
    def piece_writer(self) -> Callable[[int], PieceWriter]:
        """What begins a piece with a certain chunk; it can be sent to other machines."""
        return partial(StorePieceWriter, self.pieces)

    def note_chunks(self, chunks: int) -> None:
        """Note how many chunks the source has."""
        self._note("chunks.json", json.dumps({"chunks": chunks}))
        self.chunks = chunks

    def _noted_chunks(self) -> int | None:
        return self._read("chunks.json", "number of chunks").count("chunks") if self._is_noted("chunks.json") else None

    def note_part(self, number: int, count: int) -> None:
        """Note that one of several processes has done its share."""
        self._note(f"parts/{number}-of-{count}", "")

    def parts_noted(self) -> list[str]:
        """Return the notes of processes that have done their share."""
        return sorted(facts.key.rpartition("/")[2] for facts in self._folder.walk("parts"))

    def add_made_rows(self, chunk: EncodedChunk) -> None:
        """Add rows that were made from the others after all chunks were staged. A resumed run makes them again."""
        super().add_made_rows(chunk)
        self._shared_added = self.share(self._added[0])

    def records(self) -> RecordFiles:
        """Return the staged records, in whose order the offsets of the keys are counted."""
        files = [piece.file for piece in self._pieces if piece.size]
        files += [] if self._shared_added is None else [self._shared_added]
        found = [SourceFile(file.path, file.size, 0) for file in files]
        return RecordFiles(found, etags={file.path: file.etag for file in files})

    def _all_keys(self) -> Iterable[Any]:
        return interruptible_in_order(Piece.verified_keys, self._pieces, at_once=_AT_ONCE)

    # --- what one process computes for others ---

    def share(self, path: str) -> StagedFile:
        """Upload a local file, for other machines."""
        return upload_file(path, child_url(self._url, f"shared/{os.path.basename(path)}-{secrets.token_hex(4)}"))

    def begin_bucket_folder(self, split: str) -> str:
        """Return a new remote folder for the buckets of a split."""
        return child_url(self._url, f"shared/buckets-{split}-{secrets.token_hex(4)}")

    # --- shards ---

    @property
    def shard_places(self) -> ShardPlaces:
        """Where shards are written; it can be sent to other machines."""
        return StoreShards(self._output)

    def shards_done(self, each: Each = one_by_one, *, thorough: bool = True) -> dict[str, dict[str, Any]]:
        """Return the finished shards by name, if they are the objects that were uploaded."""
        del each, thorough
        listed = {facts.key: facts for facts in open_folder(self._output).walk()}
        names = [facts.key for facts in self._folder.walk("written")]
        found: dict[str, dict[str, Any]] = {}
        for entry in interruptible_in_order(self._described, names, at_once=_AT_ONCE):
            facts = None if entry is None else listed.get(entry["file"])
            if entry and facts and (facts.size, facts.etag) == (entry["bytes"], entry[ETAG]):
                found[entry["file"]] = entry
        return found

    def remove_other_shards(self, done: Iterable[str]) -> None:
        """Leave them: they are replaced when they are written again, and other processes may be at it."""

    def adopt_shard(self, entry: dict[str, Any], attempt: str) -> None:
        """Note a finished shard, which this or another process has uploaded."""
        del attempt
        self._note_shard(entry)

    def _note_shard(self, entry: dict[str, Any]) -> None:
        self._note(f"written/{entry['file']}.json", json.dumps(entry, ensure_ascii=False))

    def _described(self, key: str) -> dict[str, Any] | None:
        with contextlib.suppress(RecordsmithError, FileNotFoundError):
            entry = self._read(key, "description of a shard")
            return {**described_shard(entry), ETAG: entry.text(ETAG)}
        return None

    # --- notes ---

    def _note(self, key: str, text: str) -> None:
        self._folder.put(key, text.encode())

    def _is_noted(self, key: str) -> bool:
        try:
            return self._folder.head(key) is not None
        except FileNotFoundError:
            return False

    def _read(self, key: str, what: str) -> JsonObject:
        shown = self._folder.shown(key)
        return JsonObject.of(parse_json(self._folder.read(key, longest=_LONGEST)[0], what, shown), what, shown)

"""Pieces in object storage: the same files as in a folder (see `pieces`), uploaded by whoever has made them.

A piece counts once its description exists, which is created only if there is none: of two attempts one counts, and the
other removes its files. The description has the ETag of each file, so one listing says which pieces are whole.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from recordsmith.errors import RecordsmithError
from recordsmith.run.staging.pieces import Piece, PieceWriter, description_name, description_names, without_overlap
from recordsmith.run.staging.scratch import scratch_folder
from recordsmith.storage.objects import ConditionFailedError, ObjectFacts, ObjectFolder, child_url, open_folder
from recordsmith.storage.objects.interruptible import interruptible_in_order

__all__ = ["StorePieceWriter", "find_pieces", "is_sound"]

_AT_ONCE = 16
_LONGEST = 64 << 20  # bytes of a description
_ENDINGS = ("records", "keys", "rejected.jsonl")


class StorePieceWriter(PieceWriter):
    """Writes one piece to files of this process, and uploads them when it is closed.

    Args:
        url: the remote folder of the pieces.
        first: the number of the first chunk.
    """

    def __init__(self, url: str, first: int) -> None:
        super().__init__(scratch_folder(), first)
        self._remote = open_folder(url)

    def _described(self, piece: Piece) -> Piece:
        """Upload the files, and describe them unless another attempt was first; return the piece that counts."""
        folder, stem = self._remote, os.path.basename(piece.path)
        stored = replace(piece, path=child_url(folder.url, stem), etags=self._uploaded(stem))
        name = description_name(piece.first, piece.last)
        text = json.dumps(stored.to_json(), ensure_ascii=False).encode()
        try:
            folder.put(name, text, create=True)
        except ConditionFailedError:
            with contextlib.suppress(FileNotFoundError):
                other = _read(folder, name)
                if other is not None and _is_there(folder, other):
                    folder.delete([f"{stem}.{ending}" for ending in stored.etags])
                    return other
            folder.put(name, text)  # the other one is damaged
        finally:
            self.discard()
        return stored

    def _uploaded(self, stem: str) -> dict[str, str]:
        etags = {}
        for ending in _ENDINGS:
            path = f"{self._path}.{ending}"
            if ending == "keys" or (os.path.exists(path) and os.path.getsize(path)):
                etags[ending] = self._remote.upload(f"{stem}.{ending}", path) or ""
        return etags


def find_pieces(url: str) -> list[Piece]:
    """Return the pieces in a remote folder that are whole, and have no chunk in common."""
    folder = open_folder(url)
    listed = {facts.key: facts for facts in folder.walk()}
    names = description_names(listed)
    found = interruptible_in_order(partial(_read_if_any, folder), names, at_once=_AT_ONCE)
    return without_overlap(piece for piece in found if piece is not None and _is_listed(piece, listed))


def is_sound(piece: Piece) -> bool:
    """Read a piece as a whole, and say whether it is as it was described."""
    try:
        return piece.is_whole(thorough=True)
    except (OSError, ValueError, RecordsmithError):
        return False


def _read(folder: ObjectFolder, name: str) -> Piece | None:
    """Read a description; None if it is damaged."""
    piece = Piece.parsed(folder.read(name, longest=_LONGEST)[0], child_url(folder.url, name))
    return piece if piece is not None and "keys" in piece.etags else None


def _read_if_any(folder: ObjectFolder, name: str) -> Piece | None:
    try:
        return _read(folder, name)
    except FileNotFoundError:  # another process has removed it
        return None


def _is_there(folder: ObjectFolder, piece: Piece) -> bool:
    stem = os.path.basename(piece.path)
    return _is_listed(piece, {name: folder.head(name) for name in (f"{stem}.{ending}" for ending in piece.etags)})


def _is_listed(piece: Piece, listed: Mapping[str, ObjectFacts]) -> bool:
    """Say whether the files of a piece are those that were described."""
    stem = os.path.basename(piece.path)
    found = {ending: listed.get(f"{stem}.{ending}") for ending in piece.etags}
    same = all(facts is not None and facts.etag == piece.etags[ending] for ending, facts in found.items())
    records = found.get("records")
    return same and (records.size if records is not None else 0) == piece.size

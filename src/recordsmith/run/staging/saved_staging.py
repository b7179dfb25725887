"""A copy of a run's staging folder in object storage, so that the run can be resumed on another machine.

While a run works, everything that it finishes (pieces, shards, and at the end the dataset) is also uploaded to a remote
folder, every few seconds. What is whole counts, in any order (see `staging`), so a copy that is a few seconds old is as
good as a run that was killed a few seconds ago. The note of an upload is not copied: the other machine begins a version
of its own, and never writes to that of a run that may still be alive.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

from recordsmith.errors import RecordsmithError
from recordsmith.storage.atomic_file import write_atomically
from recordsmith.storage.objects import ObjectFolder
from recordsmith.storage.publication import FOLDER

__all__ = ["SavedStaging"]

_SECONDS = 5.0  # as long as a piece is being written (recordsmith.run.staging.pieces)
_UNKNOWN = (-1, -1)
_KEPT = ("pieces", "written", "shards")


class SavedStaging:
    """The remote copy of a local folder.

    Args:
        folder: the remote folder.
        home: the local one, in which outputs are made.

    Attributes:
        failure: why the copy could not be brought up to date the last time.
    """

    def __init__(self, folder: ObjectFolder, home: str) -> None:
        self._folder = folder
        self._home = home
        self._known: dict[str, tuple[int, int]] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.failure: Exception | None = None

    def exists(self) -> bool:
        """Say whether there is anything to continue with."""
        return next(iter(self._folder.walk()), None) is not None

    def fetch(self) -> None:
        """Download the copy."""
        for facts in self._folder.walk():
            parts = facts.key.split("/")
            if any(part in ("", ".", "..") for part in parts):
                raise RecordsmithError("A saved file has a name that is not allowed.", path=self._folder.shown())
            path = os.path.join(self._home, *parts)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with write_atomically(path) as temporary, open(temporary, "wb") as file:
                file.writelines(self._folder.stream(facts.key, facts=facts))
            self._known[facts.key] = _state(path)

    def begin(self) -> None:
        """Bring the copy up to date from now on, again and again."""
        for facts in self._folder.walk():
            self._known.setdefault(facts.key, _UNKNOWN)
        self._thread = threading.Thread(target=self._work, name="recordsmith-saving", daemon=True)
        self._thread.start()

    def end(self, *, keep: bool) -> None:
        """Stop that, if it was begun; keep the copy, up to date, or remove it."""
        if self._thread is None:
            return
        self._stop.set()
        self._thread.join()
        if keep:
            self._stop.clear()
            self._save_once()
        else:
            self.remove()

    def remove(self) -> None:
        """Remove the copy; what makes it resumable goes first, so that no half of it is taken for a run."""
        keys = [facts.key for facts in self._folder.walk()]
        self._folder.delete([key for key in keys if key.endswith("/plan.json")])
        self._folder.delete(keys)

    def _work(self) -> None:
        while not self._stop.wait(_SECONDS):
            self._save_once()

    def _save_once(self) -> None:
        try:
            self._save()
            self.failure = None
        except (RecordsmithError, OSError) as error:  # the run goes on without it; see `failure`
            self.failure = error

    def _save(self) -> None:
        now = dict(self._files())
        for key, state in sorted(now.items(), key=lambda item: (item[0].endswith(".json"), item[0])):
            if self._known.get(key) != state and not self._stop.is_set():
                with contextlib.suppress(FileNotFoundError):  # it was moved in the meantime
                    self._folder.upload(key, os.path.join(self._home, *key.split("/")))
                    self._known[key] = state
        gone = [key for key in self._known if key not in now]
        self._folder.delete(gone)
        for key in gone:
            del self._known[key]

    def _files(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Give the files that a later run can use, with what changes when they do."""
        for place, folders, names in os.walk(self._home):
            inside = place.rpartition(FOLDER)[2] if FOLDER in place else None
            if inside == "":
                folders[:] = [name for name in folders if name in _KEPT]
            for name in names:
                path = os.path.join(place, name)
                used = name in ("plan.json", "chunks.json") if inside == "" else not name.startswith(".")
                if used and name != "upload.json":
                    with contextlib.suppress(FileNotFoundError):
                        yield os.path.relpath(path, self._home).replace(os.sep, "/"), _state(path)


def _state(path: str) -> tuple[int, int]:
    facts = os.stat(path)
    return facts.st_size, facts.st_mtime_ns

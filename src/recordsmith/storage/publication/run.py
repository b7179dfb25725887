"""The folder of one run, its lock, and the final replacement of files."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import shutil
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from recordsmith.errors import RecordsmithError, advise
from recordsmith.storage.atomic_file import put_in_place, sync_folder, write_text_atomically
from recordsmith.storage.file_lock import lock_file
from recordsmith.storage.publication.switch import (
    COMMIT,
    FOLDER,
    FORMAT,
    LOCK,
    LONGEST_COMMIT,
    NEW_FILES,
    VERSION,
    Switch,
    hidden_name,
    is_plain,
    read_switch,
    refuse_links,
)

__all__ = ["INDEX_FOLDER", "Publication", "complete", "unfinished_run"]

INDEX_FOLDER = ".recordsmith"  # where `recordsmith.records.index` keeps the index of NAME, as NAME.index
_PLAN = "plan.json"  # of a run that can be resumed
_ATTEMPTS = 3
_LOG = logging.getLogger("recordsmith")
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)  # of file systems that have none


def complete(out: str, *, is_file: bool = False) -> bool:
    """Finish a switch that was interrupted after its commit point; False if there is none."""
    publication = Publication(out, is_file=is_file)
    if not publication.is_committed:
        return False
    publication.lock()
    publication.discard()
    _LOG.info("%s: finished the replacement of its files, which had been interrupted", out)
    return True


class Publication:
    """The folder of one run, and the switch at its end; use it in a with statement.

    Entering it takes the lock, finishes a switch that was interrupted, and clears away what a killed run left. If the
    block raises, nothing is left of what was written. `commit` publishes it.

    Args:
        out: the folder, or the file, that is written.
        is_file: it is a file.
        overwrite: drop a run that can be resumed, instead of refusing to.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with Publication(folder) as publication:
    ...     for name in ("a", "b"):
    ...         write_text_atomically(publication.new_file(name), "whole")
    ...     publication.commit(["a", "b"])
    >>> sorted(os.listdir(folder))
    ['a', 'b']
    """

    def __init__(self, out: str, *, is_file: bool = False, overwrite: bool = False) -> None:
        out = os.path.abspath(out)
        self.folder = os.path.dirname(out) if is_file else out
        self.hidden = os.path.join(self.folder, hidden_name(os.path.basename(out)) if is_file else FOLDER)
        self._overwrite = overwrite
        self._descriptor: int | None = None
        self._process = os.getpid()

    def path(self, *names: str) -> str:
        """Return a path inside the run's folder."""
        return os.path.join(self.hidden, *names)

    def new_file(self, name: str) -> str:
        """Return where to write a new file that will be published under this name."""
        return self.path(NEW_FILES, name)

    def new_names(self) -> list[str]:
        """Return the names of the new files, sorted."""
        return sorted(name for name in os.listdir(self.path(NEW_FILES)) if not name.startswith("."))

    @property
    def is_resumable(self) -> bool:
        """Whether a run that did not end left what it needs to be resumed."""
        return os.path.exists(self.path(_PLAN))

    @property
    def is_committed(self) -> bool:
        """Whether the commit point was passed, and the switch is not finished."""
        return os.path.lexists(self.path(COMMIT))

    # --- the lock ---

    def lock(self, *, shared: bool = False) -> None:
        """Take the lock, once a switch that was interrupted is finished; several processes may share it."""
        refuse_links(self.hidden)
        while self._descriptor is None:
            os.makedirs(self.hidden, exist_ok=True)
            sync_folder(self.folder)
            with contextlib.suppress(FileNotFoundError):  # whoever had the lock has removed the folder meanwhile
                self._descriptor = _locked(self.path(LOCK), self.hidden, shared=shared)
            if self._descriptor is not None and self.is_committed:
                if shared:
                    self.close()
                    raise _in_use(self.hidden)
                try:
                    self._finish()  # which gives the lock back
                except BaseException:
                    self.close()
                    raise

    def close(self) -> None:
        """Give the lock back; what is in the folder stays."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def clear(self) -> None:
        """Remove all but the lock; what makes a run resumable goes first, so that no half of one is taken for it."""
        for name in sorted(os.listdir(self.hidden), key=lambda name: name != _PLAN):
            if name != LOCK:
                _remove(self.path(name))

    def remove(self) -> None:
        """Remove the folder, and give the lock back. What cannot be removed means nothing: the next run removes it."""
        try:
            with contextlib.suppress(OSError):
                self.clear()
                # The lock goes last: whoever waits for it must not find a folder that is being emptied.
                shutil.rmtree(self.hidden)
        finally:
            self.close()

    # --- a run that is not resumed ---

    def __enter__(self) -> Self:
        os.makedirs(self.folder, exist_ok=True)
        self.lock()
        if self.is_resumable and not self._overwrite:
            self.close()
            raise unfinished_run(self.hidden)
        try:
            self.clear()
            os.mkdir(self.path(NEW_FILES))
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = self.folder
        self.discard()

    def discard(self) -> None:
        """Give up what was not committed. What was committed stays, to be finished by the next run."""
        if self._descriptor is None or os.getpid() != self._process:  # a forked child's copy is its parent's
            return
        if self.is_committed or self.is_resumable:
            self.close()
        else:
            self.remove()

    def __del__(self) -> None:
        if getattr(self, "_descriptor", None) is not None:
            self.discard()

    # --- the switch ---

    def commit(self, new: Sequence[str], old: Iterable[str] = ()) -> None:
        """Publish the new files, the one that describes the others last, and remove old ones.

        An exception leaves everything as it was, or, with a note that says so, the new files in force.
        """
        gone = [name for name in dict.fromkeys(old) if name not in new and is_plain(name)]
        for name in new:
            if not is_plain(name):
                raise RecordsmithError("A file cannot have this name.", path=self.folder, found=repr(name)[:80])
            if os.path.isdir(os.path.join(self.folder, name)):
                raise RecordsmithError(
                    "A folder exists under the name of a file to be written.",
                    path=os.path.join(self.folder, name),
                    advice="Rename the folder, or choose another output.",
                )
        sync_folder(self.path(NEW_FILES))
        if len(new) == 1 and not gone:
            put_in_place(self.new_file(new[0]), os.path.join(self.folder, new[0]))
            self.remove()
            return
        sizes = {name: os.path.getsize(self.new_file(name)) for name in new}
        text = json.dumps({"format": FORMAT, "version": VERSION, "new": sizes, "old": gone}, indent=1)
        if len(text) > LONGEST_COMMIT:
            raise RecordsmithError(
                "There are too many files for one folder.",
                path=self.folder,
                found=f"{len(new)} files",
                advice="Write fewer, larger files: see shards and shard_size (--shards, --shard-size).",
            )
        try:
            write_text_atomically(self.path(COMMIT), text)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path(COMMIT))  # it may have its name, and only the folder could not be synced
            raise
        self._finish()

    def _finish(self) -> None:
        """Move the new files to their places, and remove the old ones: all of it, or what is left of it."""
        try:
            switch = read_switch(self.folder, self.hidden, wait=False) or Switch(self.folder)
            for name in (*switch.new, *switch.old):
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    os.remove(os.path.join(self.folder, INDEX_FOLDER, f"{name}.index"))  # of the file that goes
            for name, size in switch.new.items():
                staged, final = self.new_file(name), os.path.join(self.folder, name)
                if os.path.lexists(staged):
                    os.replace(staged, final)
                elif not os.path.isfile(final) or os.path.getsize(final) != size:
                    raise RecordsmithError(
                        "A finished file is missing: it is neither in the output folder nor in the folder of the run.",
                        path=final,
                        expected=f"a file of {size} bytes",
                        advice=advise(
                            f"Remove {self.hidden}, then make the dataset again with {{overwrite}}.", overwrite=True
                        ),
                    )
            for name in switch.old:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(os.path.join(self.folder, name))
            sync_folder(self.folder)
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path(_PLAN))
            os.remove(self.path(COMMIT))  # the run is over; what is left of its folder means nothing
        except OSError as error:
            error.add_note(
                "The new files are complete and are used from now on. The next run on this folder finishes moving them."
            )
            raise
        self.remove()


def unfinished_run(place: str) -> RecordsmithError:
    """Return the error about a run that can be resumed.

    >>> unfinished_run("data").problem
    'The output folder contains an unfinished run.'
    """
    return RecordsmithError(
        "The output folder contains an unfinished run.",
        path=place,
        advice=advise("Continue it with {resume}, or start over with {overwrite}.", resume=True, overwrite=True),
    )


def _locked(path: str, place: str, *, shared: bool = False) -> int | None:
    """Open the lock and take it; None if it was removed in the meantime."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        for attempt in range(_ATTEMPTS):
            try:
                lock_file(descriptor, shared=shared)
                break
            except BlockingIOError:
                if attempt == _ATTEMPTS - 1:
                    raise _in_use(place) from None
                time.sleep(0.02)  # a reader may have it for a moment
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise
                break
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _in_use(place: str) -> RecordsmithError:
    return RecordsmithError(
        "Another run is writing to this output.",
        path=place,
        advice="Wait until it has finished, or stop it. The splits of one dataset must be written one after the other.",
    )


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.remove(path)

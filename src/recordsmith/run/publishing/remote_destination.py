"""What all kinds of destinations have in common: a local path to write to, which is published at the end."""

from __future__ import annotations

import abc
import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME
from recordsmith.errors import RecordsmithError, advise, list_names
from recordsmith.run.progress import OnProgress, Progress
from recordsmith.run.staging.run_in_store import RunInStore
from recordsmith.storage.objects import PUBLISHED_NAME, Published, open_folder, split_url, without_secrets

__all__ = ["Destination", "RemoteDestination", "counted", "last_name"]

_OUT = "out"


class Destination:
    """A local output: what is written there is published already.

    Attributes:
        path: where to write.
        place: how messages and results show it.
        store: the remote folders of a run whose machines share nothing else.
    """

    store: RunInStore | None = None

    def __init__(self, path: str, place: str) -> None:
        self.path = path
        self.place = place

    def publish(self, on_progress: OnProgress | None = None) -> None:
        """Put in force what was written to `path`."""

    def shown(self, path: str) -> str:
        """Return how a path at `path`, or in it, is shown."""
        return path


class RemoteDestination(Destination, abc.ABC):
    """A URL.

    Args:
        url: where the results go.
        home: the staging folder.
        overwrite: what is there may be replaced.
        allow_race: also write to a store that has no conditional writes.
    """

    def __init__(self, url: str, home: str, *, overwrite: bool, allow_race: bool) -> None:
        super().__init__(os.path.join(home, _OUT, last_name(url)), without_secrets(url))
        self._url = url
        self._home = home
        self._overwrite = overwrite
        self._allow_race = allow_race
        self._process = os.getpid()

    @property
    def is_ours(self) -> bool:
        """Whether this process began it: a forked child's copy is its parent's."""
        return os.getpid() == self._process

    def shown(self, path: str) -> str:
        """Return how a path in the staging folder is shown: as the URL that it stands for."""
        return path.replace(self.path, self.place, 1)

    @abc.abstractmethod
    def begin(self) -> None:
        """Look at what is there, and refuse what would be replaced."""

    def end(self, error: BaseException | None) -> None:  # noqa: ARG002 - for those that can be resumed
        """Remove the staging folder: what was written first, then the note of the upload that explains it."""
        shutil.rmtree(os.path.join(self._home, _OUT), ignore_errors=True)
        shutil.rmtree(self._home, ignore_errors=True)

    def _clear(self) -> None:
        shutil.rmtree(os.path.join(self._home, _OUT), ignore_errors=True)
        os.makedirs(os.path.join(self._home, _OUT))

    def _exists(self, found: Sequence[str]) -> RecordsmithError:
        return RecordsmithError(
            "The remote output already contains files.",
            path=self.place,
            found=list_names(found),
            advice=advise("Choose another output, or give {overwrite} to replace it.", overwrite=True),
        )

    def _refuse_existing(self, in_force: Published | None) -> None:
        """Raise if there is anything in the remote folder."""
        if in_force is not None:
            raise self._exists([PUBLISHED_NAME])
        with contextlib.suppress(FileNotFoundError):  # a file system has folders, and this one does not exist
            found = [facts.key for facts in open_folder(self._url).contents()[0]]
            if found:
                raise self._exists(found)

    def _fetch_manifest(self, in_force: Published) -> None:
        data, _ = open_folder(in_force.url(self._url)).read(MANIFEST_NAME, longest=1 << 30)
        os.makedirs(self.path, exist_ok=True)
        Path(self.path, MANIFEST_NAME).write_bytes(data)


def last_name(url: str) -> str:
    """Return the last name in a URL, for a bucket its own.

    >>> last_name("s3://bucket/pets"), last_name("s3://bucket")
    ('pets', 'bucket')
    """
    return split_url(url)[1] or url.partition("://")[2].strip("/") or "data"


def counted(report: OnProgress | None, total: int) -> Callable[[int], None]:
    """Return a function to be called with the bytes that were just sent."""
    done = 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        if report is not None:
            report(Progress("uploading", done, total, "bytes", 0, done, 0))

    return advance

"""A run whose machines share nothing but object storage: where everything is that more than one of them needs.

    STAGING/run.json              the plan, and the version of the output that is being written
    STAGING/version-0f3a.../      what belongs to this run
        pieces/                   encoded records (recordsmith.run.staging.store_pieces)
        chunks.json               how many chunks the source has, once all of them were counted
        parts/1-of-8              the jobs of a job array that have done their share
        shared/                   what one machine has computed for the others: orders, buckets
        written/NAME.json         the description of each finished shard
    OUTPUT/version-0f3a.../NAME   finished shards, uploaded by those who write them; nobody reads them yet

STAGING is a folder for this output in the place that was given, or `.recordsmith-making` in the output.

Only run.json and the descriptions of pieces are created under a condition: whoever is first has the name. There is no
lock. Nothing is removed that a process at work could need before the dataset is published, and that happens by one
conditional write (see `recordsmith.storage.objects.versions`). run.json goes last: it says that something is left.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any, NamedTuple

from recordsmith.errors import RecordsmithError, SchemaError, advise
from recordsmith.storage.json_descriptions import JsonObject, parse_json
from recordsmith.storage.objects import (
    ConditionFailedError,
    ObjectFolder,
    child_url,
    open_folder,
    read_published,
    without_secrets,
)
from recordsmith.storage.objects.folder_upload import obeys_conditions, remove_version
from recordsmith.storage.objects.versions import is_version, new_version

__all__ = ["BegunRun", "RunInStore"]

_DOCUMENT = "run.json"
_FORMAT = "recordsmith-run-in-store"
_VERSION = 1
_LONGEST = 128 << 20  # bytes of run.json


class BegunRun(NamedTuple):
    """What run.json says.

    Attributes:
        version: the version of the output that is written.
        plan: everything that decides about the bytes written.
    """

    version: str
    plan: dict[str, Any]


@dataclass(frozen=True)
class RunInStore:
    """The remote folders of a run.

    Attributes:
        staging: the URL of what the machines share.
        output: the URL of the dataset.
    """

    staging: str
    output: str

    @property
    def document(self) -> str:
        """The URL of run.json."""
        return child_url(self.staging, _DOCUMENT)

    @property
    def is_one_bucket(self) -> bool:
        """Whether what holds for the staging folder also holds for the output: they are in one bucket."""
        return self.staging.split("/")[:3] == self.output.split("/")[:3]

    def begun(self) -> BegunRun | None:
        """Return the run that is unfinished there; None if there is none."""
        try:
            data, _ = self._folder.read(_DOCUMENT, longest=_LONGEST)
        except FileNotFoundError:
            return None
        try:
            what = "plan of the unfinished run"
            document = JsonObject.of(parse_json(data, what, self._folder.shown(_DOCUMENT)), what)
            version, plan = document.text("upload"), dict(document.object("plan").entries)
            is_ours = document.text("format") == _FORMAT and document.count("version") == _VERSION
        except SchemaError:
            is_ours = False
        if not is_ours or not is_version(version):
            raise RecordsmithError(
                "The unfinished run was started by another version of recordsmith.",
                path=self._folder.shown(_DOCUMENT),
                advice=f"Remove {self._folder.shown()} to start over.",
            )
        return BegunRun(version, plan)

    def begin(self, plan: dict[str, Any]) -> BegunRun:
        """Begin a run, or return the one that another process has begun meanwhile."""
        self._check_conditions()
        begun = BegunRun(new_version(), plan)
        document = {"format": _FORMAT, "version": _VERSION, "upload": begun.version, "plan": plan}
        try:
            self._folder.put(_DOCUMENT, json.dumps(document, indent=1).encode(), create=True)
        except ConditionFailedError:
            return self.begun() or self.begin(plan)
        return begun

    def give_up(self) -> None:
        """Remove an unfinished run, and what it has uploaded."""
        begun, now = self.begun(), read_published(open_folder(self.output))
        if begun is not None and (now is None or now.folder != begun.version):
            remove_version(open_folder(self.output), begun.version)
        self.clear()

    def clear(self) -> None:
        """Remove all that the machines shared."""
        folder = self._folder
        folder.abort_uploads("")
        folder.delete(key for key in [facts.key for facts in folder.walk()] if key != _DOCUMENT)
        folder.delete([_DOCUMENT])

    @property
    def _folder(self) -> ObjectFolder:
        return open_folder(self.staging)

    def _check_conditions(self) -> None:
        probe = f"conditional-write-{secrets.token_hex(4)}"
        if not obeys_conditions(self._folder, probe):
            raise RecordsmithError(
                "This remote storage has no conditional writes, so several machines cannot work together through it.",
                path=without_secrets(self.staging),
                expected="a store that can create an object only if there is none, such as S3, Google Cloud or Azure",
                advice=advise(
                    "For one machine or a Ray cluster, give a folder as {staging} that all see.", staging=...
                ),
            )

"""A run whose machines share nothing but object storage, on any engine, as a whole or in parts.

Each process works in a local folder of its own, and keeps what others need in the store; see
`run.staging.run_in_store`. At the end the local folder has the manifest and the other small files of the dataset; the
shards are at the output already. Both are put in force together (`run.publishing.store_destination`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME
from recordsmith.formats.source import local_paths
from recordsmith.run.engines.part import DonePart, Part
from recordsmith.run.full_disk import explained
from recordsmith.run.part_run import PartRun, nothing_to_finish
from recordsmith.run.run import Finished
from recordsmith.run.staging.run_in_store import RunInStore
from recordsmith.run.staging.store_staging import StoreStaging
from recordsmith.storage.publication import Publication

__all__ = ["StoreRun"]

Outcome = TypeVar("Outcome")


class StoreRun(PartRun):
    """One run of a policy, in object storage."""

    def execute(self, *, overwrite: bool, resume: bool) -> Finished | None:
        """Do it; None if it was finished before."""
        if self._is_published():
            return None
        if overwrite and not resume:
            self._store.give_up()
        staging = self._opened(part=False)

        def rest() -> Finished:
            if not staging.complete:
                self._read(staging)
            return self._finish(staging, thorough=False)

        try:
            return self._done(staging, rest)
        except BaseException as error:
            if not staging.publication.is_committed and self._is_pointless(staging, error):
                staging.remove()
            raise

    def execute_part(self, part: Part, *, overwrite: bool) -> DonePart:
        """Do one part of the work, beside others. What is finished stays, whatever happens."""
        del overwrite
        if self._is_published():
            return DonePart(str(part), is_published=True)
        staging = self._opened(part=True)
        return self._done(staging, lambda: self._do_part(staging, part))

    def execute_finish(self, *, overwrite: bool) -> Finished | None:
        """Do what is left when all parts are done; None if it was finished before."""
        del overwrite
        if self._is_published():
            return None
        if self._store.begun() is None:
            raise nothing_to_finish(self._output.path)
        staging = self._opened(part=True)
        return self._done(staging, lambda: self._finish_parts(staging))

    @property
    def _store(self) -> RunInStore:
        if self._output.store is None:
            raise RuntimeError("this run has no remote folders")
        return self._output.store

    def _is_published(self) -> bool:
        """Say whether the output is finished, which the destination has noticed; raise if it is something else."""
        if not os.path.exists(os.path.join(self._output.path, MANIFEST_NAME)):
            return False
        self._check_finished()
        return True

    def _opened(self, *, part: bool) -> StoreStaging:
        publication = Publication(self._output.path)
        staging = StoreStaging.opened(publication, self._store, self._policy.plan, self._engine.each, part=part)
        self._engine.begin(self._store.document, local_paths(self._policy.plan["source"]))
        return staging

    def _done(self, staging: StoreStaging, work: Callable[[], Outcome]) -> Outcome:
        try:
            with explained(self._output.path, resumable=True):
                return work()
        except BaseException as error:
            staging.note_damage(error)
            raise
        finally:
            staging.close()

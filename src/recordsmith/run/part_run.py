"""A run that is done by the jobs of a job array, one part each, and finished by another; see `run.engines.part`."""

from __future__ import annotations

import os
import re
import secrets
from collections import Counter
from dataclasses import replace

from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME
from recordsmith.errors import RecordsmithError, advise
from recordsmith.run.engines.part import DonePart, Part, Shares, parts_text
from recordsmith.run.full_disk import explained
from recordsmith.run.publishing.publishing import refuse_existing
from recordsmith.run.run import Finished, Run
from recordsmith.run.staging.staging import Staging
from recordsmith.storage.publication import Publication, complete

__all__ = ["PartRun", "nothing_to_finish"]

_NOTE = re.compile(r"[0-9]+-of-([0-9]{1,6})")


class PartRun(Run):
    """One run of a policy, in parts."""

    def execute_part(self, part: Part, *, overwrite: bool) -> DonePart:
        """Do one part of the work, beside others. What is finished stays, whatever happens."""
        output = self._output
        complete(output.path)
        publication = Publication(output.path)
        if not publication.is_resumable and os.path.exists(os.path.join(output.path, MANIFEST_NAME)) and not overwrite:
            self._check_finished()
            return DonePart(str(part), is_published=True)
        if not publication.is_resumable and not overwrite:
            refuse_existing(output.path)
        own = f"part-{part.number}-of-{part.count}-{secrets.token_hex(4)}"
        staging = Staging.join(publication, self._policy.plan, own)
        try:
            with explained(output.path, resumable=True):
                return self._do_part(staging, part)
        finally:
            staging.close()

    def _do_part(self, staging: Staging, part: Part) -> DonePart:
        work, before = self._staging_work(), Counter(staging.counts)
        shares = Shares(part.count, work)
        missing = (chunk for chunk in shares.chunks(self._all_chunks(), part) if not staging.has(chunk.number))
        for _ in self._engine.stage(staging, work, missing):
            self._check_rejects(staging, at_end=False)
            self._say_read(staging)
        mine = Counter(staging.counts)
        mine.subtract(before)
        staging.note_chunks(self._chunks)
        staging.note_part(part.number, part.count)
        staging.look_again()
        done = DonePart(str(part), mine["source_rows"], mine["rejects"], shares.missing(staging.has))
        if not staging.complete or staging.rows == 0 or self._policy.changes:
            return done  # what is fitted on the training split is fitted once, by the job that finishes
        ordered, writer = self._ordered(staging)
        shards = [shard for split in ordered.values() for shard in self._shards(split.order)]
        written = self._write(staging, writer, part.share(shards), staging.shards_done(thorough=False), note=True)
        return replace(done, shards=len(written), all_shards=len(shards))

    def execute_finish(self, *, overwrite: bool) -> Finished | None:
        """Do what is left when all parts are done; None if it was finished before."""
        output = self._output
        complete(output.path)
        publication = Publication(output.path)
        if not publication.is_resumable and os.path.exists(os.path.join(output.path, MANIFEST_NAME)) and not overwrite:
            self._check_finished()
            return None
        if not publication.is_resumable:
            raise nothing_to_finish(output.path)
        staging = Staging.resume(publication, self._policy.plan, self._engine.each, thorough=False)
        try:
            with explained(output.path, resumable=True):
                return self._finish_parts(staging)
        finally:
            staging.close()

    def _finish_parts(self, staging: Staging) -> Finished:
        if not staging.complete:
            raise self._incomplete(staging)
        self._check_rejects(staging, at_end=True)
        if staging.rows == 0:
            raise self._no_record(staging)
        return self._finish(staging, thorough=False)

    def _incomplete(self, staging: Staging) -> RecordsmithError:
        """Return the error that says which parts are missing."""
        counts = Counter(int(note[1]) for note in map(_NOTE.fullmatch, staging.parts_noted()) if note)
        count = max(counts, key=counts.__getitem__, default=1)
        shares = Shares(count, self._staging_work())
        for _ in shares.chunks(self._all_chunks(), None):
            pass
        missing = shares.missing(staging.has)
        return RecordsmithError(
            "Some parts have not been done yet." if len(missing) > 1 else "One part has not been done yet.",
            path=self._output.path,
            found=f"{count - len(missing)} of {count} parts",
            expected=f"also {parts_text(missing)}",
            advice=advise(
                "Run the missing parts, such as {part}, then finish. Or do the remaining work on this machine with "
                "{resume}.",
                part=f"{missing[0] if missing else 1}/{count}",
                resume=True,
            ),
        )


def nothing_to_finish(place: str) -> RecordsmithError:
    """Return the error about a finish before any part."""
    return RecordsmithError(
        "There is nothing to finish: no part has been done yet.",
        path=place,
        advice=advise("Run each part first, with {part}.", part="1/8"),
    )

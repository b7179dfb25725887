"""One run, from the chunks of a source to a published dataset.

staging      chunks are encoded by workers, and staged
ordering     the policy chooses the records of each split, and their order
fitting      changes such as a vocabulary learn from the training split
writing      shards are put together from the staged records
checking     and read back
publishing   everything moves into place, the manifest last

Each step is a function of the ones before it and of the plan, so a killed run continues from what is on disk and ends
with the same bytes. Who does the work of the steps is decided by an engine (`run.engines`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any, NamedTuple

from recordsmith.dataset.class_weights import class_weights
from recordsmith.dataset.descriptions.fingerprint import Fingerprint
from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME, load_manifest, manifest_text
from recordsmith.dataset.descriptions.metadata import Metadata
from recordsmith.errors import RecordsmithError, advise
from recordsmith.formats.source import local_paths
from recordsmith.run.engines.engine import Engine, NumberedChunk, StagingWork
from recordsmith.run.engines.local_engine import LocalEngine
from recordsmith.run.full_disk import explained
from recordsmith.run.memory import release_memory
from recordsmith.run.policy import OrderedSplit, Output, Policy
from recordsmith.run.progress import OnProgress, Progress
from recordsmith.run.publishing.descriptions import description_files
from recordsmith.run.publishing.publishing import publish, refuse_existing, refuse_file
from recordsmith.run.shards.shard_writing import Shard, ShardWriter, WrittenShard, plan_shards
from recordsmith.run.splits.shared_order import share_order
from recordsmith.run.splits.split_order import SplitOrder
from recordsmith.run.splits.splitting import SplitPlan
from recordsmith.run.staging.plan_differences import differences
from recordsmith.run.staging.reject_reasons import most_common_reasons
from recordsmith.run.staging.shard_places import CHECKED, FINGERPRINT, without_notes
from recordsmith.run.staging.staging import REJECTED_NAME, Staging
from recordsmith.run.staging.store_staging import StoreStaging
from recordsmith.storage.publication import Publication, complete, unfinished_run
from recordsmith.wording.numbers import count_text

__all__ = ["Finished", "Run", "TooManyRejectsError", "refuse_output"]

_FEWEST_REJECTS = 10  # fewer are never too many, whatever their share
_FIRST_ROWS = 1000  # their share of rejects says little about the rest


class TooManyRejectsError(RecordsmithError, ValueError):
    """More rows were rejected than are allowed; with a larger share allowed, the run can be resumed."""


class Finished(NamedTuple):
    """What a run has published: the splits as the manifest has them, and the counts."""

    splits: dict[str, dict[str, Any]]
    outcome: dict[str, Any]


class Run:
    """One run of a policy.

    Args:
        policy: what is written.
        output: where it is written.
        on_progress: called from time to time.
        engine: does the work; None: the threads of this machine.
    """

    def __init__(
        self, policy: Policy, output: Output, on_progress: OnProgress | None = None, engine: Engine | None = None
    ) -> None:
        self._policy = policy
        self._output = output
        self._engine = engine or LocalEngine(output.workers)
        self._report = on_progress or (lambda _: None)
        self._writing = False  # everything is ordered and fitted: what fails now is the disk's fault

    def execute(self, *, overwrite: bool, resume: bool) -> Finished | None:
        """Do it; None if it was finished before."""
        output = self._output
        complete(output.path, is_file=output.is_file)
        publication = Publication(output.path, is_file=output.is_file)
        resumed = resume and publication.is_resumable
        if resume and not resumed and not output.is_file and os.path.exists(os.path.join(output.path, MANIFEST_NAME)):
            self._check_finished()
            return None
        existed = os.path.isdir(publication.folder)
        self._engine.begin(publication.path("plan.json"), local_paths(self._policy.plan["source"]))
        if resumed:
            staging = Staging.resume(publication, self._policy.plan, self._engine.each)
        else:
            if not overwrite:
                refuse_output(output.path, is_file=output.is_file)
            staging = Staging.start(publication, self._policy.plan)
        try:
            with explained(output.path, resumable=not output.is_file):
                if not staging.complete:
                    self._read(staging)
                return self._finish(staging, thorough=True)
        except BaseException as error:
            if not publication.is_committed and self._is_pointless(staging, error):
                staging.remove()
                if not existed:
                    with contextlib.suppress(OSError):  # somebody else put something into it
                        os.rmdir(publication.folder)
            raise
        finally:
            staging.close()

    def _check_finished(self) -> None:
        """Raise unless the finished dataset in the folder is the one that this run would write."""
        out = self._output.path
        Staging.clear_away(out)
        plan = load_manifest(os.path.join(out, MANIFEST_NAME)).plan
        if plan is None:
            refuse_existing(out)
        changed = differences(plan or {}, self._policy.plan)
        if changed:
            raise RecordsmithError(
                "The output folder has a finished dataset that was made with other options.",
                path=out,
                found="; ".join(changed),
                advice=advise(
                    "Choose another folder, or replace it: give {overwrite} without {resume}.",
                    overwrite=True,
                    resume=True,
                ),
            )

    def _is_pointless(self, staging: Staging, error: BaseException) -> bool:
        """Say whether there is nothing to resume after an error. One file is soon written again."""
        if self._output.is_file:
            return True
        if self._writing or not isinstance(error, Exception) or isinstance(error, (OSError, TooManyRejectsError)):
            return False
        return self._policy.is_final(error, staging)

    # --- staging ---

    def _read(self, staging: Staging) -> None:
        missing = (chunk for chunk in self._all_chunks() if not staging.has(chunk.number))
        for _ in self._engine.stage(staging, self._staging_work(), missing):
            self._check_rejects(staging, at_end=False)
            self._say_read(staging)
        self._check_rejects(staging, at_end=True)
        if staging.rows == 0:
            raise self._no_record(staging)
        staging.finish_chunks(self._chunks)
        release_memory()

    def _staging_work(self) -> StagingWork:
        policy = self._policy
        source = policy.source
        return StagingWork(
            policy.encoder(), policy.is_python, policy.functions, source.size_bytes, carries_data=source.sequential
        )

    def _all_chunks(self) -> Iterator[NumberedChunk]:
        self._chunks = 0
        for number, chunk in enumerate(self._policy.chunks()):
            self._chunks = number + 1
            yield NumberedChunk(number, chunk, self._policy.split_of(chunk))

    def _say_read(self, staging: Staging) -> None:
        counts, source = staging.counts, self._policy.source
        size = source.size_bytes
        self._report(
            Progress(
                "reading",
                counts["source_rows" if size is None else "source_bytes"],
                source.row_count if size is None else size,
                "rows" if size is None else "bytes",
                staging.rows,
                staging.bytes or counts["source_bytes"],
                counts["rejects"],
            )
        )

    def _check_rejects(self, staging: Staging, *, at_end: bool) -> None:
        rejects, rows, most = staging.counts["rejects"], staging.counts["source_rows"], self._output.max_rejects
        if rejects <= most * rows or (rejects <= _FEWEST_REJECTS and most > 0) or (rows < _FIRST_ROWS and not at_end):
            return
        path = staging.rejected()
        raise TooManyRejectsError(
            f"{rejects} of {rows} rows were rejected, more than the allowed share of {most:g}.",
            path=path,
            found="; ".join(map(str, most_common_reasons(path, most=3))),
            advice=advise(
                "Correct the source or the schema. To continue anyway, give {resume} and a larger {max_rejects}.",
                resume=True,
                max_rejects=...,
            ),
        )

    def _no_record(self, staging: Staging) -> RecordsmithError:
        source, counts = self._policy.source, staging.counts
        found = [f"{count_text(counts['source_rows'], 'row')} in the source"]
        if counts["dropped"]:
            found.append(f"{counts['dropped']} {self._policy.dropped_because}")
        found += map(str, most_common_reasons(staging.rejected(), most=3))
        path = str(source.describe().get("path", "")) or None
        return RecordsmithError("There are no records to write.", path=path, found="; ".join(found))

    # --- from staged records to shards ---

    def _finish(self, staging: Staging, *, thorough: bool) -> Finished:
        policy, output = self._policy, self._output
        ordered, writer = self._ordered(staging)
        policy.warnings += [f"The split {name!r} is empty." for name, (order, _) in ordered.items() if not order.rows]
        training = SplitPlan(dict.fromkeys(ordered, 1.0)).training
        shards = {name: self._shards(order) for name, (order, _) in ordered.items()}
        done = staging.shards_done(self._engine.each, thorough=thorough)
        staging.remove_other_shards(done)
        left = {name for name, split in shards.items() if any(shard.file not in done for shard in split)}
        if policy.changes:
            left.add(training)  # which is read for fitting
        orders = (order for name, (order, _) in ordered.items() if name in left)
        if self._engine.is_remote:
            writer.deal_buckets(staging, orders, self._engine.each)
        else:
            writer.fill_buckets(staging, orders, workers=output.workers)
        release_memory()
        if policy.changes:
            self._say("fitting", staging)
            writer.fit(ordered[training].order)
        self._writing = True
        if thorough:
            done = {name: {**entry, CHECKED: False} for name, entry in done.items()}
        every = list(self._readable(staging, writer, shards, done))
        writer.compressing_threads = max(1, output.workers // len(every))
        entries = self._write(staging, writer, every, done, note=staging.is_in_store)
        splits = {
            name: _described(split, [entries[shard.file] for shard in shards[name]]) for name, split in ordered.items()
        }
        return self._publish(staging, writer, splits, splits[training])

    def _ordered(self, staging: Staging) -> tuple[dict[str, OrderedSplit], ShardWriter]:
        policy = self._policy
        self._say("ordering", staging)
        ordered = policy.order(staging)
        writer = ShardWriter(
            staging,
            policy.records(staging),
            policy.schema,
            policy.changes,
            compression=self._output.compression,
            ignored=policy.provenance,
        )
        return ordered, writer

    def _readable(
        self,
        staging: Staging,
        writer: ShardWriter,
        shards: dict[str, list[Shard]],
        done: dict[str, dict[str, Any]],
    ) -> Iterator[Shard]:
        """Give all shards, with orders that can be read by those who write and check them."""
        for split in shards.values():
            is_left = any(not done.get(shard.file, {}).get(CHECKED) for shard in split)
            if self._engine.is_remote and isinstance(staging, StoreStaging) and is_left:
                order = split[0].order
                shared = share_order(order, staging.share, has_buckets=writer.has_buckets(order.split))
                yield from (replace(shard, order=shared) for shard in split)
            else:
                yield from split

    def _write(
        self,
        staging: Staging,
        writer: ShardWriter,
        shards: list[Shard],
        entries: dict[str, dict[str, Any]],
        *,
        note: bool = False,
    ) -> dict[str, dict[str, Any]]:
        """Write the shards that have no entry yet, then read back those that were not; return the entries of all.

        Args:
            staging: the folder.
            writer: what writes and checks one.
            shards: all of them.
            entries: of those that are finished, by file.
            note: note which ones were read back, so that nobody does it again.
        """
        total = sum(shard.rows for shard in shards)
        waiting = [shard for shard in shards if shard.file not in entries]
        unchecked = [shard for shard in shards if not entries.get(shard.file, {}).get(CHECKED)]
        made = {shard.file: entries[shard.file] for shard in shards if shard.file in entries}
        done = total - sum(shard.rows for shard in waiting)
        self._say("writing", staging, done, total)
        for shard, (entry, attempt) in self._engine.each(writer.write, waiting):
            staging.adopt_shard(entry, attempt)
            made[shard.file] = entry
            done += shard.rows
            self._say("writing", staging, done, total)
        writer.forget()
        done = total - sum(shard.rows for shard in unchecked)
        self._say("checking", staging, done, total)
        written = (WrittenShard(shard, made[shard.file]) for shard in unchecked)
        for (shard, entry), fingerprint in self._engine.each(writer.check, written):
            made[shard.file] = {**entry, FINGERPRINT: fingerprint}
            if note:
                staging.note_checked(made[shard.file])
            done += shard.rows
            self._say("checking", staging, done, total)
        return made

    def _shards(self, order: SplitOrder) -> list[Shard]:
        output = self._output
        if output.is_file:
            return [Shard(os.path.basename(output.path), order, 0, order.rows)]
        return plan_shards(
            order,
            output.name,
            shards=output.shards,
            shard_bytes=output.shard_bytes,
            compression=output.compression,
        )

    def _say(self, phase: Any, staging: Staging, done: int = 0, total: int | None = None) -> None:
        total = staging.rows if total is None else total
        self._report(Progress(phase, done, total, "rows", staging.rows, staging.bytes, staging.counts["rejects"]))

    # --- publishing ---

    def _publish(
        self, staging: Staging, writer: ShardWriter, splits: dict[str, dict[str, Any]], training: dict[str, Any]
    ) -> Finished:
        policy, output = self._policy, self._output
        if output.is_file:
            outcome = self._outcome(staging)
            staging.publication.commit([os.path.basename(output.path)])
            return Finished(splits, outcome)
        files = policy.texts()
        texts = {name: file.text for name, file in files.items()}
        schema = None if policy.described is None else writer.final_schema if policy.changes else policy.described
        if schema is not None:
            described, without_tfds = description_files(
                output.name, schema, splits, output.metadata, compression=output.compression
            )
            texts.update(described)
            policy.warnings += [] if without_tfds is None else [without_tfds]
        rejected = staging.counts["rejects"] > 0 and output.on_error == "quarantine"
        weights = class_weights(training.get("classes", {}))
        outcome = self._outcome(staging)
        manifest = manifest_text(
            output.name,
            schema,
            splits,
            **({"class_weights": {"feature": policy.label, "weights": weights}} if weights else {}),
            **({"provenance": list(policy.provenance)} if policy.provenance else {}),
            **({"metadata": output.metadata.to_json()} if output.metadata != Metadata() else {}),
            made={
                "by": f"recordsmith {version('recordsmith')}",
                "plan": policy.plan,
                "outcome": outcome,
                "files": sorted([*texts, *([REJECTED_NAME] if rejected else [])]),
            },
        )
        publish(
            staging,
            output.path,
            manifest,
            shards=()
            if staging.is_in_store
            else [shard["file"] for split in splits.values() for shard in split["shards"]],
            texts=texts,
            rejected=rejected,
            modes={name: file.mode for name, file in files.items()},
        )
        return Finished(splits, outcome)

    def _outcome(self, staging: Staging) -> dict[str, Any]:
        policy = self._policy
        return {
            **staging.counts,
            "source_bytes": policy.source.size_bytes,
            **policy.outcome(staging),
            "reasons": [asdict(reason) for reason in most_common_reasons(staging.rejected())],
            "warnings": policy.warnings,
        }


def refuse_output(out: str, *, is_file: bool = False) -> None:
    """Raise if there is something in the place of the output that a run would replace."""
    if is_file:
        refuse_file(out)
        return
    if Staging.exists(out):
        raise unfinished_run(out)
    refuse_existing(out)


def _described(split: OrderedSplit, entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the manifest says of a split."""
    return {
        "records": split.order.rows,
        "bytes": sum(entry["bytes"] for entry in entries),
        **({"classes": split.classes} if split.classes else {}),
        "shards": [without_notes(entry) for entry in entries],
        "fingerprint": Fingerprint.total(entry[FINGERPRINT] for entry in entries),
    }

"""`repair`: writes new files with all undamaged records of damaged files."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from recordsmith import _core
from recordsmith.dataset.descriptions.manifest import MANIFEST_NAME
from recordsmith.errors import CorruptRecordError, NotTFRecordError, RecordsmithError, list_names
from recordsmith.records.compression import reading_compression
from recordsmith.records.file_signatures import describe_content
from recordsmith.records.writer import RecordWriter
from recordsmith.repairing.carried_files import carried_names, carry_files
from recordsmith.repairing.damaged_file import DamagedFile, OnBytes, look_at
from recordsmith.repairing.outputs import PathLike, Plan, plan_outputs, refuse_existing
from recordsmith.repairing.repair_result import FileRepair, RepairResult
from recordsmith.run.engines.engine import Engine
from recordsmith.run.engines.execution import EngineName, Execution
from recordsmith.run.publishing.destination import open_destination, staged_path
from recordsmith.run.publishing.publishing import dataset_files
from recordsmith.storage.atomic_file import is_url, write_atomically
from recordsmith.storage.publication import Publication, complete, public_path
from recordsmith.storage.ranged.opening import file_size, is_ranged, pieces_of
from recordsmith.wording.numbers import count_text
from recordsmith.workers.progress_display import ShowProgress, phase_progress

__all__ = ["repair"]

OnProgress = Callable[[int, int], object]


def repair(  # noqa: PLR0913 - each is a setting of its own, and most have a default
    bad: PathLike | Iterable[PathLike],
    good: PathLike | None = None,
    *,
    dry_run: bool = False,
    keep_suspect: PathLike | None = None,
    compression: str | None = "auto",
    overwrite: bool = False,
    link: bool = False,
    staging: PathLike | None = None,
    allow_race: bool = False,
    engine: EngineName = "local",
    address: str | None = None,
    progress: OnProgress | ShowProgress = "auto",
) -> RepairResult:
    """Save the undamaged records of damaged TFRecord files to new files, and list what is lost.

    Every undamaged record is kept byte for byte, whatever the damage is: flipped bits, bytes inserted or removed,
    blocks of zeros, a truncated file, garbage, or damaged gzip or zlib data. A record of which only the header
    is damaged gets a new header. The damaged files are never changed, and the new ones get their names only when they
    are complete and verified. If a single file has no undamaged record, no file is written. Among several files, an
    empty file is written instead, so that the numbers of the shards stay correct.

    Args:
        bad: a file, a folder, a glob, or a list of them. For a folder with a manifest, the descriptions are updated
            too, and its other files are copied.
        good: the file to write; a folder if several files, or a folder, are given. Or the URL of one.
        dry_run: only report the damage; `good` is then not needed.
        keep_suspect: a file (or a folder if there are several) for suspect records: those whose data does not match its
            checksum, and those that seem to be inside others.
        compression: of the damaged files: "auto" (detected from content and name), None, "gzip" or "zlib". The new
            files have the same.
        overwrite: replace existing files.
        link: link undamaged files instead of copying them, if the file system allows it.
        staging: for a URL, the local folder in which the files are written before they are uploaded; None: one in the
            cache folder.
        allow_race: for a URL, also write to a store that has no conditional writes, in which two runs could overwrite
            each other's output.
        engine: who repairs the files: "local", this machine, or "ray", a Ray cluster whose machines see the same files
            and the output folder, and take one file each. The result is the same.
        address: the address of the Ray cluster, or "auto"; None uses the cluster that this program is connected
            to, or RAY_ADDRESS, or starts Ray on this machine.
        progress: True shows a bar on a terminal and in a notebook, and elsewhere writes a line every few seconds;
            "auto" shows only the bar; False shows nothing. A function is called from time to time with the number of
            bytes done and of all bytes.

    >>> import recordsmith as rs, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with rs.RecordWriter(folder + "/bad.tfrecord") as writer:
    ...     for number in range(100):
    ...         writer.write(b"record %03d" % number)
    >>> with open(folder + "/bad.tfrecord", "r+b") as file:
    ...     _ = file.seek(1000); _ = file.write(bytes(8))
    >>> result = rs.repair(folder + "/bad.tfrecord", folder + "/good.tfrecord")
    >>> result.records, result.losses[0].message
    (99, 'the data of one record does not match its checksum')
    >>> len(list(rs.RecordReader(folder + "/good.tfrecord")))
    99
    """
    name = reading_compression(compression)
    execution = Execution.checked("", engine=engine, address=address, workers=1 if engine == "local" else None)
    if good is None and not dry_run:
        raise RecordsmithError("The output is missing.", advice="Pass an output, or dry_run=True.")
    if good is not None and not dry_run and is_url(os.fsdecode(good)):
        local = staged_path(os.fsdecode(good), staging) + (os.sep if os.fsdecode(good).endswith("/") else "")
        is_file = plan_outputs(bad, local).is_file
        with open_destination(
            good, staging=staging, is_file=is_file, overwrite=overwrite, allow_race=allow_race
        ) as destination:
            result = repair(
                bad,
                local,
                keep_suspect=keep_suspect,
                compression=compression,
                overwrite=overwrite,
                link=link,
                engine=engine,
                address=address,
                progress=progress,
            )
            if result.output is not None:
                destination.publish()
            return result.at(destination.shown)
    plan = plan_outputs(bad, None if dry_run else good)
    suspect_targets = None if keep_suspect is None or dry_run else _suspect_targets(plan, os.fsdecode(keep_suspect))
    with contextlib.ExitStack() as stack:
        publication = None
        if not callable(progress):
            on_phase = stack.enter_context(phase_progress(shown=progress))
            progress = partial(on_phase, "looking" if dry_run else "repairing")
        if plan.output is not None:
            place = plan.targets[0] if plan.is_file else plan.output
            complete(place, is_file=plan.is_file)
            _prepare(plan, suspect_targets, overwrite=overwrite)
            publication = stack.enter_context(Publication(place, is_file=plan.is_file, overwrite=overwrite))
        machines = stack.enter_context(execution.open())
        report = _Progress(plan.files, progress)
        files = []
        notes = []
        jobs = list(_jobs(plan, publication, suspect_targets))
        work = _RepairFile(keep_empty=not plan.is_one_file, compression=name, link=link)
        done: Iterable[FileRepair | NotTFRecordError]
        if machines.is_remote:
            done = _by_machines(machines, work, jobs, publication, report)
        else:
            done = (work(job, report) for job in jobs)
        for job, repaired in zip(jobs, done, strict=True):
            if isinstance(repaired, FileRepair):
                files.append(replace(repaired, described_records=plan.described.get(os.path.basename(job.path))))
            elif len(jobs) == 1:
                raise repaired
            else:
                notes.append(f"{os.path.basename(job.path)}: left out. {repaired.problem}")
        if plan.missing:
            notes.append(f"{list_names(plan.missing)}: listed in the description of the folder, and missing.")
        if publication is not None:
            notes += _publish(plan, publication, files)
    output = None if plan.is_one_file and files[0].output is None else plan.output
    existing = {os.path.basename(file.path) for file in files}
    missing = tuple(name for name in plan.described if name not in existing)
    records = sum(plan.described[name] or 0 for name in missing)
    return RepairResult(tuple(files), output, dry_run, tuple(notes), missing, records)


def _publish(plan: Plan, publication: Publication, files: list[FileRepair]) -> tuple[str, ...]:
    """Give the repaired files their names, with what describes them, in one switch; return what was done."""
    notes: tuple[str, ...] = ()
    old: list[str] = []
    if plan.folder is not None:
        notes = carry_files(plan.folder, publication.path("shards"), files)
        old = dataset_files(publication.folder)
    new = sorted(publication.new_names(), key=lambda name: name == MANIFEST_NAME)  # which comes last
    if new:
        publication.commit(new, old)
    return notes


class _Progress:
    """Adds up the bytes of all files."""

    def __init__(self, files: Iterable[str], progress: OnProgress) -> None:
        self._progress = progress
        self._total = sum(map(file_size, files))
        self._done = 0

    def __call__(self, done: int) -> None:
        self._done = min(self._total, self._done + done)
        self._progress(self._done, self._total)


def _prepare(plan: Plan, suspect_targets: list[str] | None, *, overwrite: bool) -> None:
    """Refuse what should not be written over, and make the folders."""
    targets = [*plan.targets, *(suspect_targets or [])]
    if len({os.path.realpath(target) for target in targets}) < len(targets):
        raise RecordsmithError("The suspect records would overwrite the repaired records.", path=targets[-1])
    others = []
    if plan.folder is not None and plan.output is not None:
        others = [os.path.join(plan.output, name) for name in carried_names(plan.folder)]
    if not overwrite:
        refuse_existing([*targets, *others])
    for target in suspect_targets or ():
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)


def _suspect_targets(plan: Plan, place: str) -> list[str]:
    if is_url(place):
        raise RecordsmithError("Suspect records can be written to local files only.", path=place)
    if plan.is_one_file and not os.path.isdir(place) and not place.endswith(os.sep):
        targets = [place]
    else:
        targets = [os.path.join(place, f"{os.path.basename(file)}.suspect") for file in plan.files]
    inputs = {os.path.realpath(file) for file in plan.files}
    for target in targets:
        if os.path.realpath(target) in inputs:
            raise RecordsmithError("The file for suspect records is the damaged file itself.", path=target)
    return targets


class _Job(NamedTuple):
    """A file to repair: its path, where it goes, where to write it until all are done, and where suspects go."""

    path: str
    target: str | None
    new: str | None
    suspects: str | None


def _jobs(plan: Plan, publication: Publication | None, suspect_targets: list[str] | None) -> Iterator[_Job]:
    for number, path in enumerate(plan.files):
        target = plan.targets[number] if plan.targets else None
        new = None if target is None or publication is None else publication.new_file(os.path.basename(target))
        yield _Job(path, target, new, suspect_targets[number] if suspect_targets else None)


def _by_machines(
    machines: Engine, work: _RepairFile, jobs: Sequence[_Job], publication: Publication | None, progress: OnBytes
) -> Iterator[FileRepair | NotTFRecordError]:
    """Have files repaired by other machines.

    Each attempt has files of its own in the hidden folder of the run. Only this process gives files their names, so
    that an attempt that was thought to be lost changes nothing.
    """
    folder = "" if publication is None else publication.path("attempts")
    if folder:
        os.mkdir(folder)
    machines.begin(folder, sorted({os.path.dirname(job.path) for job in jobs if not is_ranged(job.path)}))
    for job, (attempt, repaired) in zip(jobs, machines.in_order(partial(_attempt, work, folder), jobs), strict=True):
        progress(file_size(job.path))
        yield repaired if isinstance(repaired, NotTFRecordError) else _adopted(job, attempt, repaired)


def _adopted(job: _Job, attempt: _Job, repaired: FileRepair) -> FileRepair:
    """Give the files of an attempt their names."""
    if attempt.new is not None and job.new is not None and repaired.output is not None:
        os.rename(attempt.new, job.new)
    if repaired.suspect_file is None or job.suspects is None:
        return repaired
    with write_atomically(job.suspects) as temporary:
        shutil.copyfile(repaired.suspect_file, temporary)
    return replace(repaired, suspect_file=job.suspects)


def _attempt(work: _RepairFile, folder: str, job: _Job) -> tuple[_Job, FileRepair | NotTFRecordError]:
    """Repair a file into files that no other attempt has; return their names, too."""
    own = os.path.join(folder, secrets.token_hex(8))
    new = None if job.new is None else own
    attempt = job._replace(new=new, suspects=None if job.suspects is None else f"{own}.suspect")
    return attempt, work(attempt, lambda _done: None)


@dataclass(frozen=True)
class _RepairFile:
    """Repairs one file; something else than a TFRecord file is the result, and no error.

    Attributes:
        keep_empty: write an empty file if no record is left.
        compression: of the files, or "auto".
        link: link undamaged files.
    """

    keep_empty: bool
    compression: str
    link: bool

    def __call__(self, job: _Job, progress: OnBytes) -> FileRepair | NotTFRecordError:
        """Repair a file."""
        path, target, new, suspects = job
        scratch = None if new is None else os.path.dirname(new)
        with look_at(path, compression=self.compression, scratch=scratch, progress=progress) as file:
            if not file.records and not file.suspects and (foreign := _other_format(path)) is not None:
                return foreign
            action = "repaired"
            if file.is_undamaged:
                action = "copied" if new is None or not self.link else _link(path, new)
                if new is not None and action == "copied":
                    _copy(path, new, file)
            elif not file.records and not self.keep_empty:
                action, target = "lost", None  # an empty file would look like a repaired one
            elif new is not None:
                _write(file, new)
            kept_suspects = suspects if suspects is not None and file.suspects else None
            if kept_suspects is not None:
                with RecordWriter(kept_suspects) as writer:
                    for frames in file.suspect_frames():
                        writer.write_frames(frames)
            return FileRepair(
                path,
                target,
                action,
                file.compression,
                file_size(path),
                file.records,
                file.kept_bytes,
                repaired_headers=file.repaired_headers(),
                losses=file.losses(),
                gaps=file.gaps,
                suspects=file.suspects,
                suspect_file=kept_suspects,
            )


def _write(file: DamagedFile, new: str) -> None:
    """Write what is kept, and read it back."""
    with RecordWriter(new, file.compression) as writer:
        for frames in file.kept_frames():
            writer.write_frames(frames)
    _verify(new, file)


def _copy(path: str, new: str, file: DamagedFile) -> None:
    with write_atomically(new) as temporary:
        if is_ranged(path):
            with open(temporary, "wb") as copy:
                copy.writelines(pieces_of(path))
        else:
            shutil.copyfile(path, temporary)
    _verify(new, file)


def _verify(new: str, file: DamagedFile) -> None:
    found = _core.verify_files([new], [file.compression or "none"], os.cpu_count() or 1)
    if found != file.records:
        raise CorruptRecordError(
            "The repaired file differs from what was written.",
            path=public_path(new),
            found=count_text(found, "record"),
            expected=count_text(file.records, "record"),
            advice="The disk or the memory may be failing, or the damaged file changed in the meantime. Try again.",
        )


def _link(path: str, new: str) -> str:
    """Make a link if the disk can; the caller copies otherwise."""
    try:
        os.link(path, new)
    except OSError:
        return "copied"
    return "linked"


def _other_format(path: str) -> NotTFRecordError | None:
    """Say if a file is plainly something else; an unknown one may be a TFRecord file of which nothing is left."""
    content = describe_content(path)
    if file_size(path) == 0 or content.format == "tfrecord" or content.compression is not None:
        return None
    if content.looks_like == "does not begin with a record":
        return None
    return NotTFRecordError(
        f"The file contains no records: it {content.looks_like}.",
        path=path,
        found=content.found,
        advice=content.advice,
    )

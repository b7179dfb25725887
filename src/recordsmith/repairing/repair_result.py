"""The result of a repair: the kept, repaired and lost records of each file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from recordsmith.wording.markup import element
from recordsmith.wording.numbers import bytes_text, count_text

__all__ = ["FileRepair", "Gap", "Loss", "RepairResult", "RepairedHeader", "lost_text"]

_LOSS_WORDS = {
    "data-checksum": "the data of one record does not match its checksum",
    "header": "no readable record starts here",
    "torn": "a record starts here, but does not end where its length says",
    "cut-off": "the file ends inside a record",
    "stray": "too few bytes for a record",
    "zeros": "there are zeros instead of records",
}
_HEADER_WORDS = {
    "length": "its length was damaged; its end was found from the data",
    "length-checksum": "the checksum of its length was damaged",
    "header-size": "bytes were inserted into its header or removed from it",
}
_GAP_WORDS = {
    "damaged": "the compressed data is damaged",
    "cut-off": "the file ends inside the compressed data",
    "stray": "something else follows the compressed data",
    "checksum": "the compressed data does not match its own checksum",
}
_WORDS_IN_LIST = 5  # losses that the text of a result names


@dataclass(frozen=True, slots=True)
class Loss:
    """Bytes of which nothing was kept.

    Attributes:
        begin, end: where they are in the file or, if it is compressed, in the decompressed data.
        reason: "data-checksum", "header", "torn", "cut-off", "stray" or "zeros".
        records: how many records they were, if known; exact for "data-checksum".
        after: how many records were kept before them.
        inside: whole records that were found in them and left out, because they seem to be stored inside the data of
            a lost one.

    >>> loss = Loss(100, 164, "data-checksum", 1, 3)
    >>> loss.bytes, loss.message
    (64, 'the data of one record does not match its checksum')
    """

    begin: int
    end: int
    reason: str
    records: int
    after: int
    inside: int = 0

    @property
    def bytes(self) -> int:
        """How many bytes they are."""
        return self.end - self.begin

    @property
    def message(self) -> str:
        """The reason in words."""
        return _LOSS_WORDS[self.reason]


@dataclass(frozen=True, slots=True)
class RepairedHeader:
    """A record whose header was damaged, and whose data is whole by its own checksum: kept with a new header.

    Attributes:
        begin, end: where it was, as in Loss.
        reason: "length", "length-checksum" or "header-size".
        record: its number in the repaired file.
    """

    begin: int
    end: int
    reason: str
    record: int

    @property
    def message(self) -> str:
        """The reason in words."""
        return _HEADER_WORDS[self.reason]


@dataclass(frozen=True, slots=True)
class Gap:
    """Compressed bytes that could not be inflated.

    Attributes:
        begin, end: where they are in the compressed file.
        reason: "damaged", "cut-off", "stray" or "checksum"; with the last, nothing need be missing.
        records: how many records they may have held, by the mean of the others.
        inflated_at: where they are missing in what was inflated.
    """

    begin: int
    end: int
    reason: str
    records: int
    inflated_at: int

    @property
    def bytes(self) -> int:
        """How many bytes they are."""
        return self.end - self.begin

    @property
    def message(self) -> str:
        """The reason in words."""
        return _GAP_WORDS[self.reason]


@dataclass(frozen=True, slots=True)
class FileRepair:
    """One file.

    Attributes:
        path: the damaged file.
        output: the repaired one; None with dry_run, and where nothing was left to write.
        action: what was, or with dry_run would be, done: "repaired", "copied" (undamaged), "linked", or "lost": no
            record is left in the only file, and none is written.
        compression: None, "gzip" or "zlib".
        bytes: its size.
        records: how many records were kept, including those with a new header.
        kept_bytes: what they take with their framing, before compression.
        repaired_headers: the records with a new header.
        losses: what was not kept.
        gaps: what could not be inflated.
        suspects: the number of suspect records: those whose data does not match its checksum, and those left out.
        suspect_file: where they were written to, if that was asked for.
        described_records: how many records the description of its folder says it has, if there is one.
    """

    path: str
    output: str | None
    action: str
    compression: str | None
    bytes: int
    records: int
    kept_bytes: int
    repaired_headers: tuple[RepairedHeader, ...] = ()
    losses: tuple[Loss, ...] = ()
    gaps: tuple[Gap, ...] = ()
    suspects: int = 0
    suspect_file: str | None = None
    described_records: int | None = None

    @property
    def is_undamaged(self) -> bool:
        """Nothing is wrong with it, and it has the records that it is said to have."""
        return not (self.repaired_headers or self.losses or self.gaps or self.lost_records)

    @property
    def ok(self) -> bool:
        """Nothing is lost."""
        return not self.losses and not self.lost_records

    @property
    def lost_records(self) -> int:
        """The number of lost records: exact if a description says how many there were, and otherwise approximate."""
        if self.described_records is not None and self.described_records >= self.records:
            return self.described_records - self.records
        return sum(loss.records for loss in self.losses) + sum(gap.records for gap in self.gaps)

    @property
    def lost_bytes(self) -> int:
        """How many bytes are lost, of what could be inflated."""
        return sum(loss.bytes for loss in self.losses)


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What `rs.repair` did, or with dry_run would do.

    Attributes:
        files: each file, in the order of their names.
        output: the file or folder that was written; None if nothing was written.
        dry_run: nothing was written.
        notes: what happened to the files that describe the dataset.
        missing: the files that the description lists and that are missing, or are no TFRecord files.
        missing_records: how many records it says they have.

    >>> result = RepairResult((FileRepair("bad.tfrecord", "good.tfrecord", "repaired", None, 100, 2, 64,
    ...                                   losses=(Loss(64, 100, "cut-off", 1, 2),)),), "good.tfrecord")
    >>> result.ok, result.records, result.lost_records, result.lost_bytes
    (False, 2, 1, 36)
    >>> print(result)
    bad.tfrecord -> good.tfrecord: 2 records kept, about 1 lost in 36 bytes
      bytes 64 to 100: the file ends inside a record
    """

    files: tuple[FileRepair, ...]
    output: str | None = None
    dry_run: bool = False
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    missing_records: int = 0

    def at(self, shown: Callable[[str], str]) -> RepairResult:
        """Return the same with other paths of the outputs."""
        files = tuple(file if file.output is None else replace(file, output=shown(file.output)) for file in self.files)
        return replace(self, files=files, output=None if self.output is None else shown(self.output))

    @property
    def ok(self) -> bool:
        """Nothing is lost."""
        return not self.missing and all(file.ok for file in self.files)

    @property
    def is_undamaged(self) -> bool:
        """Nothing is wrong with any file, and none is missing."""
        return not self.missing and all(file.is_undamaged for file in self.files)

    @property
    def records(self) -> int:
        """How many records were kept."""
        return sum(file.records for file in self.files)

    @property
    def lost_records(self) -> int:
        """The number of lost records, those of missing files included; approximate where nothing says how many."""
        return self.missing_records + sum(file.lost_records for file in self.files)

    @property
    def lost_bytes(self) -> int:
        """The number of lost bytes."""
        return sum(file.lost_bytes for file in self.files)

    @property
    def repaired_headers(self) -> int:
        """How many records have a new header."""
        return sum(len(file.repaired_headers) for file in self.files)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What was lost in all files."""
        return tuple(loss for file in self.files for loss in file.losses)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON-ready values."""
        return {
            "ok": self.ok,
            "dry_run": self.dry_run,
            "output": self.output,
            "records": self.records,
            "repaired_headers": self.repaired_headers,
            "lost": {"records": self.lost_records, "bytes": self.lost_bytes},
            "files": [_file_json(file) for file in self.files],
            "missing": list(self.missing),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return "\n".join([line for file in self.files for line in _file_lines(file)] + list(self.notes))

    def _repr_html_(self) -> str:
        return element("pre", str(self))


def lost_text(result: FileRepair | RepairResult) -> str:
    """Say how much is lost: records, or only bytes that belong to none."""
    if result.lost_records:
        files = result.files if isinstance(result, RepairResult) else (result,)
        is_exact = all(file.described_records is not None for file in files if file.lost_records)
        return f"{'' if is_exact else 'about '}{result.lost_records:,} lost"
    if isinstance(result, RepairResult) and result.missing:
        return f"{count_text(len(result.missing), 'file')} missing"
    return f"none lost, but {bytes_text(result.lost_bytes)} belong to no record" if not result.ok else "none lost"


def _file_json(file: FileRepair) -> dict[str, Any]:
    return {
        **{name: getattr(file, name) for name in ("path", "output", "action", "compression", "bytes", "records")},
        "described_records": file.described_records,
        "ok": file.ok,
        "kept_bytes": file.kept_bytes,
        "lost": {"records": file.lost_records, "bytes": file.lost_bytes},
        "repaired_headers": [_entry(header) for header in file.repaired_headers],
        "losses": [{**_entry(loss), "bytes": loss.bytes} for loss in file.losses],
        "gaps": [{**_entry(gap), "bytes": gap.bytes} for gap in file.gaps],
        "suspects": file.suspects,
        "suspect_file": file.suspect_file,
    }


def _entry(one: Loss | RepairedHeader | Gap) -> dict[str, Any]:
    return {**asdict(one), "message": one.message}


def _file_lines(file: FileRepair) -> list[str]:
    place = f"{file.path} -> {file.output}" if file.output is not None else file.path
    if file.is_undamaged:
        return [f"{place}: undamaged, {count_text(file.records, 'record')}"]
    kept = f"{count_text(file.records, 'record')} kept"
    if file.repaired_headers:
        kept += f", {len(file.repaired_headers):,} of them with a new header"
    lines = [f"{place}: {kept}, {lost_text(file)}{f' in {file.lost_bytes:,} bytes' if file.lost_bytes else ''}"]
    lines += [f"  compressed {_range(gap)}: {gap.message}" for gap in file.gaps[:_WORDS_IN_LIST]]
    lines += [f"  {_range(loss)}: {loss.message}" for loss in file.losses[:_WORDS_IN_LIST]]
    left = len(file.losses) - _WORDS_IN_LIST
    return lines + ([f"  and {left:,} more"] if left > 0 else [])


def _range(one: Loss | Gap) -> str:
    return f"bytes {one.begin:,} to {one.end:,}"

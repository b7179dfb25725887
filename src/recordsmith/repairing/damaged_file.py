"""Analyses a damaged file: the pieces that can be kept, and what was lost."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from recordsmith import _core
from recordsmith.errors import RecordsmithError
from recordsmith.repairing.repair_result import Gap, Loss, RepairedHeader
from recordsmith.storage.ranged.opening import file_size, record_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["DamagedFile", "look_at"]

_STEP = 256 << 20  # bytes between two reports of progress
_SMALL_STEP = 1 << 20  # bytes that are inflated between two looks at the limit
_AT_ONCE = 4 << 20  # bytes of records that are copied at once
_HEADER_BYTES = 12
_FRAMING_BYTES = 16
_COMPRESSED_NAMES = {"gzip": (".gz", ".gzip"), "zlib": (".zlib", ".z")}

OnBytes = Callable[[int], object]


class DamagedFile:
    """What is left of one file. Made by `look_at`."""

    def __init__(self, recovery: _core.RecordRecovery, plain: str, compression: str, gaps: list[Gap]) -> None:
        self._recovery = recovery
        self._plain = plain
        self._pieces = recovery.pieces()
        self.compression = None if compression == "none" else compression
        self.records = sum(piece.records for piece in self._pieces if piece.is_kept)
        self.suspects = sum(piece.records for piece in self._pieces if piece.kind in ("suspect", "doubtful"))
        self.kept_bytes = sum(_kept_size(piece) for piece in self._pieces)
        self.gaps = tuple(gaps)

    @property
    def is_undamaged(self) -> bool:
        """Every byte of it belongs to a sound record."""
        return not self.gaps and all(piece.kind == "sound" for piece in self._pieces)

    def kept_frames(self) -> Iterator[npt.NDArray[np.uint8]]:
        """Give the records that are kept, with their framing, some at a time."""
        for piece in self._pieces:
            if piece.kind == "sound":
                yield from self._frames(piece)
            elif piece.kind == "repaired":
                yield self._recovery.frame(piece.data_begin, piece.data_size)

    def suspect_frames(self) -> Iterator[npt.NDArray[np.uint8]]:
        """Give the suspect records: with a new frame if their data does not match its checksum."""
        for piece in self._pieces:
            if piece.kind == "doubtful":
                yield from self._frames(piece)
            elif piece.kind == "suspect":
                yield self._recovery.frame(piece.data_begin, piece.data_size)

    def kept_places(self) -> Iterator[tuple[int, int, int]]:
        """Give of each record that is kept where it begins, where its data begins, and the size of its data."""
        for piece in self._pieces:
            if piece.kind == "repaired":
                yield piece.begin, piece.data_begin, piece.data_size
            elif piece.kind == "sound":
                begin = piece.begin
                for frames in self._frames(piece):
                    data, at = frames.tobytes(), 0
                    while at < len(data):
                        size = int.from_bytes(data[at : at + 8], "little")
                        yield begin + at, begin + at + _HEADER_BYTES, size
                        at += size + _FRAMING_BYTES
                    begin += len(data)

    def payload(self, data_begin: int, data_size: int) -> bytes:
        """Read the data of a record that is kept."""
        return self._recovery.frame(data_begin, data_size)[_HEADER_BYTES:-4].tobytes()

    def losses(self) -> tuple[Loss, ...]:
        """List what is not kept, neighbours together."""
        losses: list[Loss] = []
        kept = 0
        for number, piece in enumerate(self._pieces):
            if piece.is_kept:
                kept += piece.records
                continue
            loss = self._loss(number, kept)
            before = losses[-1] if losses else None
            if (
                before is not None
                and before.end == loss.begin
                and "doubtful"
                in (
                    piece.kind,
                    self._pieces[number - 1].kind,
                )
            ):
                losses[-1] = _joined(before, loss)
            else:
                losses.append(loss)
        return tuple(losses)

    def repaired_headers(self) -> tuple[RepairedHeader, ...]:
        """List the records that get a new header."""
        repaired = []
        kept = 0
        with record_bytes(self._plain) as read:
            for piece in self._pieces:
                if piece.kind == "repaired":
                    damage = _header_damage(piece, read(piece.begin, _HEADER_BYTES))
                    repaired.append(RepairedHeader(piece.begin, piece.end, damage, kept))
                kept += piece.records if piece.is_kept else 0
        return tuple(repaired)

    def _frames(self, piece: _core.RecoveredPiece) -> Iterator[npt.NDArray[np.uint8]]:
        begin = piece.begin
        while begin < piece.end:
            frames = self._recovery.read_frames(begin, piece.end, _AT_ONCE)
            yield frames
            begin += len(frames)

    def _loss(self, number: int, kept: int) -> Loss:
        piece = self._pieces[number]
        size = piece.end - piece.begin
        if piece.kind == "doubtful":
            return Loss(piece.begin, piece.end, "header", 0, kept, piece.records)
        if piece.kind == "suspect":
            return Loss(piece.begin, piece.end, "data-checksum", 1, kept)
        mean = self._mean_around(number)
        estimate = round(size / mean) if mean else 0
        if piece.header_is_sound:
            claimed = piece.data_size + _FRAMING_BYTES
            is_cut = piece.end == self._recovery.size and piece.begin + claimed > piece.end
            records = 1 if is_cut else max(1, estimate)
            return Loss(piece.begin, piece.end, "cut-off" if is_cut else "torn", records, kept)
        if piece.longest_zeros >= _HEADER_BYTES and 2 * piece.longest_zeros >= size:
            return Loss(piece.begin, piece.end, "zeros", estimate, kept)
        is_stray = piece.end == self._recovery.size and size < _FRAMING_BYTES
        return Loss(piece.begin, piece.end, "stray" if is_stray else "header", 0 if is_stray else estimate, kept)

    def _mean_around(self, number: int) -> float | None:
        """Return the mean size of the records in the nearest sound pieces on both sides."""
        around = []
        for side in (reversed(self._pieces[:number][-64:]), self._pieces[number + 1 :][:64]):
            around += [next((piece for piece in side if piece.kind == "sound"), None)]
        near = [piece for piece in around if piece is not None]
        records = sum(piece.records for piece in near)
        if records:
            return sum(piece.end - piece.begin for piece in near) / records
        return self.kept_bytes / self.records if self.records else None


@contextlib.contextmanager
def look_at(
    path: str,
    *,
    compression: str = "auto",
    scratch: str | None = None,
    progress: OnBytes | None = None,
    limit: int | None = None,
) -> Iterator[DamagedFile]:
    """Find out what can be kept of a file.

    Args:
        path: the file.
        compression: "auto", "none", "gzip" or "zlib".
        scratch: the folder to inflate a compressed file into; None for the system's own.
        progress: is called with the bytes done since it was called last.
        limit: how many bytes a compressed file may be inflated to; more is an error.
    """
    with contextlib.ExitStack() as stack:
        first, *others = [compression] if compression != "auto" else _guesses(path)
        best = stack.enter_context(_look(path, first, scratch, progress, limit))
        for guess in others if not best.is_undamaged else ():
            if guess == "none" and best.records:
                break
            # Also where something was found: stored blocks of compressed files hold records as they are.
            file = stack.enter_context(_look(path, guess, scratch, None, limit))
            best = max(best, file, key=lambda one: one.records)
        yield best


@contextlib.contextmanager
def _look(
    path: str, compression: str, scratch: str | None, progress: OnBytes | None, limit: int | None
) -> Iterator[DamagedFile]:
    size = file_size(path)
    if compression == "none":
        recovery = _core.RecordRecovery(path)
        _run(recovery, progress)
        yield DamagedFile(recovery, path, compression, [])
        return
    with tempfile.TemporaryDirectory(prefix=".recordsmith-", dir=scratch, ignore_cleanup_errors=True) as folder:
        inflated = os.path.join(folder, "inflated")
        inflation = _core.InflateRecovery(path, compression, inflated)
        if limit is None:
            _run(inflation, progress)
        while limit is not None and not inflation.advance(_SMALL_STEP):
            if inflation.inflated > limit:
                raise RecordsmithError("The file is too large when it is decompressed.", path=path)
        recovery = _core.RecordRecovery(inflated)
        _run(recovery, None)
        file = DamagedFile(recovery, inflated, compression, [])
        mean = file.kept_bytes / file.records if file.records else None
        ratio = inflation.inflated / max(1, size)
        file.gaps = tuple(
            Gap(
                gap.begin,
                gap.end,
                gap.reason,
                _missing(gap.reason, (gap.end - gap.begin) * ratio, mean),
                gap.inflated_at,
            )
            for gap in inflation.gaps()
        )
        yield file


def _run(work: _core.RecordRecovery | _core.InflateRecovery, progress: OnBytes | None) -> None:
    done = False
    while not done:
        before = work.offset
        done = work.advance(_STEP)
        if progress is not None:
            progress(work.offset - before)


def _guesses(path: str) -> list[str]:
    """Return the compression by content, and by name in case the start is damaged."""
    found = _core.detect_compression(path)
    parts = os.path.basename(path).lower().replace("-", ".").split(".")
    named = [name for name, ends in _COMPRESSED_NAMES.items() if any(end[1:] in parts for end in ends)]
    return list(dict.fromkeys([found, *named, "none"]))


def _missing(reason: str, inflated: float, mean: float | None) -> int:
    return round(inflated / mean) if mean and reason in ("damaged", "cut-off") else 0


def _kept_size(piece: _core.RecoveredPiece) -> int:
    if piece.kind == "repaired":
        return piece.data_size + _FRAMING_BYTES
    return piece.end - piece.begin if piece.kind == "sound" else 0


def _joined(first: Loss, second: Loss) -> Loss:
    """Join the losses before and after stored records with these: one record was lost with them."""
    inside = first.inside + second.inside
    return Loss(first.begin, second.end, first.reason, max(1, first.records), first.after, inside)


def _header_damage(piece: _core.RecoveredPiece, header: bytes) -> str:
    if piece.data_begin != piece.begin + _HEADER_BYTES:
        return "header-size"
    return "length-checksum" if int.from_bytes(header[:8], "little") == piece.data_size else "length"

"""Which of the staged records are written, and in which split: one byte a record, in a file.

duplicates     the first of records with the same bytes stays
take, sample   of every split that is kept as it was, or of all that are to be divided
splits         as `make` divides

All of it is a function of the staged keys, the options and the seed, in memory that does not grow with the records.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.keyed_random import Uint64s, priorities
from recordsmith.run.splits.external_sort import sorted_blocks
from recordsmith.run.splits.group_splitting import assign_groups
from recordsmith.run.splits.groups import unit_blocks
from recordsmith.run.splits.splitting import NO_SPLIT, SplitPlan, UnitBlock, assign_splits, parse_splits
from recordsmith.run.staging.keys import KEY
from recordsmith.run.staging.record_files import OpenRecordFiles, RecordFiles
from recordsmith.run.staging.staging import Staging

__all__ = ["Choice"]

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint8]

_READ_AT_ONCE = 64


class Choice:
    """The choice among staged records. Each step leaves some out and returns how many.

    Attributes:
        codes: for each staged record: the place of its split among the names, or NO_SPLIT.
    """

    def __init__(self, staging: Staging, records: RecordFiles) -> None:
        self._staging = staging
        self._records = records
        self.codes = _mapped(staging.path("splits"), staging.rows)

    def keep_splits(self) -> None:
        """Let every record stay in the split that it came from."""
        for first, keys in self._blocks():
            self.codes[first : first + len(keys)] = keys["split"]

    def drop_duplicates(self) -> int:
        """Leave out records that have the same bytes as an earlier one."""
        staging = self._staging
        files = self._records.open()
        dropped = 0
        last: int | None = None
        seen = set[bytes]()
        for block in sorted_blocks(self._by_content(), staging.rows, staging.path("sort-content")):
            runs = np.cumsum(np.concatenate([[True], block[1:, 0] != block[:-1, 0]]))  # of one digest each
            run = int(block[0, 0] == last)  # the first run may continue that of the block before
            several = np.flatnonzero((np.bincount(runs)[runs] > 1) | (runs == run))
            last = int(block[-1, 0])
            for at in range(0, len(several), _READ_AT_ONCE):
                some = several[at : at + _READ_AT_ONCE]
                numbers = np.ascontiguousarray(block[some, 1])
                for number, of, payload in zip(
                    numbers.tolist(), runs[some].tolist(), self._payloads(files, numbers), strict=True
                ):
                    if of != run:
                        run, seen = of, set()
                    proof = hashlib.blake2b(payload, digest_size=16).digest()
                    if proof in seen:
                        self.codes[number] = NO_SPLIT
                        dropped += 1
                    seen.add(proof)
        return dropped

    def take(self, rows: int) -> int:
        """Keep the first records of each split."""
        left: dict[int, int] = {}
        dropped = 0
        for first, keys in self._blocks():
            codes = self.codes[first : first + len(keys)]
            for code in np.unique(codes[codes != NO_SPLIT]).tolist():
                mine = np.flatnonzero(codes == code)
                room = left.setdefault(code, rows)
                codes[mine[room:]] = NO_SPLIT
                left[code] = max(0, room - len(mine))
                dropped += max(0, len(mine) - room)
        return dropped

    def sample(self, amount: float, seed: int) -> int:
        """Keep a share of the records of each split (a float), or a number of all of them (an int), at random."""
        rows = self._kept()
        wanted = min(rows, max(1, round(amount * rows)) if isinstance(amount, float) else amount)
        if wanted == rows:
            return 0

        def blocks() -> Iterable[UnitBlock]:
            for first, keys in self._blocks():
                codes = self.codes[first : first + len(keys)]
                there = np.flatnonzero(codes != NO_SPLIT)
                # Rows count singly here, whatever their content: the row's number is its name.
                yield (there + first).astype(np.uint64), codes[there].astype(np.int64)

        plan = parse_splits({"chosen": wanted, "others": "rest"})
        chosen = _mapped(self._staging.path("sampled"), rows)
        # Another stream of numbers than that of the splits: a sample must not be one of them.
        assign_splits(blocks, rows, plan, seed ^ 0x5A3B1E, self._staging.path("sort"), chosen)
        self._apply(lambda codes, of: np.where(of == 0, codes, NO_SPLIT), chosen)
        return rows - wanted

    def split(self, plan: SplitPlan, seed: int, *, grouped: bool, stratified: bool) -> int:
        """Divide what is left into splits, as `make` does; rows that no split asked for are left out."""
        rows = self._kept()
        whole = unit_blocks(self._staging, grouped=grouped, stratified=stratified)

        def blocks() -> Iterator[UnitBlock]:
            first = 0
            for units, classes in whole():
                there = self.codes[first : first + len(units)] != NO_SPLIT
                first += len(units)
                yield np.ascontiguousarray(units[there]), np.ascontiguousarray(classes[there])

        assigned = _mapped(self._staging.path("assigned"), rows)
        if grouped and len(plan.names) > 1:
            assign_groups(blocks, rows, plan, seed, assigned)
        else:
            assign_splits(blocks, rows, plan, seed, self._staging.path("sort"), assigned)
        self._apply(lambda _, of: of, assigned)
        return int(np.count_nonzero(assigned == NO_SPLIT))

    def rows_of(self, code: int) -> Callable[[int, int], Any]:
        """Return a function that says which of some staged records are in a split."""
        return lambda first, last: (self.codes[first:last] == code).astype(np.int64)

    def _apply(self, change: Callable[[Codes, Codes], Codes], to_kept: Codes) -> None:
        done = 0
        for first, keys in self._blocks():
            codes = self.codes[first : first + len(keys)]
            there = np.flatnonzero(codes != NO_SPLIT)
            codes[there] = change(codes[there], to_kept[done : done + len(there)])
            done += len(there)

    def _kept(self) -> int:
        return int(np.count_nonzero(self.codes != NO_SPLIT))

    def _blocks(self) -> Iterator[tuple[int, Any]]:
        first = 0
        for keys in self._staging.key_blocks():
            yield first, keys
            first += len(keys)

    def _by_content(self) -> Iterator[Uint64s]:
        for first, keys in self._blocks():
            rows = np.arange(first, first + len(keys), dtype=np.uint64)
            yield np.stack([priorities(np.ascontiguousarray(keys["digest"]), 0), rows], axis=1)

    def _payloads(self, files: OpenRecordFiles, numbers: Uint64s) -> list[bytes]:
        """Read records to compare them: 64 bits of a digest alone are no proof."""
        words = np.memmap(self._staging.path("keys"), np.uint64, "r").reshape(-1, KEY.itemsize // 8)
        keys = np.take(words, numbers.astype(np.int64), axis=0).view(KEY)[:, 0]
        return files.payloads(keys, numbers)


def _mapped(path: str, rows: int) -> Codes:
    # Space first: a page of a mapping that the disk has no room for would end the process without a word.
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, rows))
    codes: Codes = np.memmap(path, np.uint8, "r+", shape=(max(1, rows),))[:rows]
    return codes

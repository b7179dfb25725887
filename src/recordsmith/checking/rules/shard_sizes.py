"""D008 to D011: the distribution of records over files."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator

from recordsmith.checking.split_reading import shown_split
from recordsmith.facts.dataset_facts import DatasetFacts, ShardFacts
from recordsmith.rules import Finding, Location, Severity, rule
from recordsmith.wording.numbers import bytes_text, count_text

__all__ = ["few_shards", "giant_shard", "tiny_shards", "uneven_shards"]

_UNEVEN = 3
_RECORDS_FOR_UNEVEN = 20
_TINY_BYTES, _MANY_SHARDS = 1_000_000, 16
_GIANT_BYTES = 4_000_000_000
_READERS, _ENOUGH_FOR_A_SHARD = 8, 128_000_000


@rule("D008", "uneven-shards", Severity.INFO)
def uneven_shards(facts: DatasetFacts) -> Iterator[Finding]:
    """The largest shard of a split has more than 3 times as many records as the median shard.

    Two shards are compared with each other. Only splits of at least 20 records are checked. A single smaller shard is
    normal.

    Why it matters:
        If each worker reads its own files, the worker with the large file finishes last in every epoch, and the others
        wait or repeat records.

    Example:
        A shard for each day or class.

    Fix:
        Distribute the records evenly: `recordsmith copy SRC -o DST --shards N`.
    """
    for split, shards in _by_split(facts).items():
        records = [shard.records for shard in shards]
        if len(shards) < 2 or sum(records) < _RECORDS_FOR_UNEVEN:
            continue
        middle, largest = statistics.median_low(records), max(shards, key=lambda shard: shard.records)
        if largest.records > _UNEVEN * max(1, middle):
            yield uneven_shards.finding(
                f"The shards of {shown_split(split)} are uneven: the largest has "
                f"{count_text(largest.records, 'record')}, the median {middle:,.0f}, the smallest {min(records):,}.",
                location=Location(largest.path, split or None),
                evidence={"largest": largest.records, "median": middle, "smallest": min(records)},
            )


@rule("D009", "tiny-shards", Severity.INFO)
def tiny_shards(facts: DatasetFacts) -> Iterator[Finding]:
    """A split is cut into more than 16 shards of less than 1 MB on average.

    Why it matters:
        Opening a small file takes longer than reading it, on network storage a hundred times as long.

    Example:
        One file for each record or each batch.

    Fix:
        Combine them into larger files: `recordsmith copy SRC -o DST --shard-size 128MB`.
    """
    for split, shards in _by_split(facts).items():
        mean = sum(shard.bytes for shard in shards) / len(shards)
        if len(shards) > _MANY_SHARDS and mean < _TINY_BYTES:
            yield tiny_shards.finding(
                f"{_heading(split)} is stored in {len(shards):,} shards of {bytes_text(round(mean))} on average.",
                location=Location(shards[0].path, split or None),
                count=len(shards),
                evidence={"shards": len(shards), "mean_bytes": round(mean)},
            )


@rule("D010", "giant-shard", Severity.INFO)
def giant_shard(facts: DatasetFacts) -> Iterator[Finding]:
    """A shard has more than 4 GB.

    Why it matters:
        Most tools read it with only one reader, and it must be copied as a whole. If it is compressed, reading can only
        start at the beginning.

    Example:
        A whole dataset in one file.

    Fix:
        Divide it into smaller files: `recordsmith copy SRC -o DST --shard-size 128MB`.
    """
    for shard in facts.shards:
        if shard.bytes > _GIANT_BYTES:
            yield giant_shard.finding(
                f"The file has {bytes_text(shard.bytes)}.",
                location=Location(shard.path, shard.split),
                evidence={"bytes": shard.bytes},
            )


@rule("D011", "few-shards", Severity.INFO)
def few_shards(facts: DatasetFacts) -> Iterator[Finding]:
    """A split of 1 GB or more is in fewer than 8 files, fewer than the usual number of readers.

    Why it matters:
        tf.data and others read in parallel by file, and divide the work between workers by file: readers without a
        file have nothing to do.

    Example:
        `train.tfrecord` with everything, and `num_parallel_reads=16`.

    Fix:
        Write more shards: `recordsmith copy SRC -o DST --shards N`. Recordsmith itself reads one file in parallel,
        unless it is compressed.
    """
    for split, shards in _by_split(facts).items():
        total = sum(shard.bytes for shard in shards)
        if len(shards) < _READERS and total >= _READERS * _ENOUGH_FOR_A_SHARD:
            yield few_shards.finding(
                f"{_heading(split)} has {bytes_text(total)} in {count_text(len(shards), 'file')}: "
                f"{_READERS} readers would have less than one file each.",
                location=Location(shards[0].path, split or None),
                evidence={"shards": len(shards), "bytes": total},
            )


def _heading(split: str) -> str:
    return f"Split {split!r}" if split else "The dataset"


def _by_split(facts: DatasetFacts) -> dict[str, list[ShardFacts]]:
    found: dict[str, list[ShardFacts]] = defaultdict(list)
    for shard in facts.shards:
        found[shard.split or ""].append(shard)
    return found

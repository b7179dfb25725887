"""F001 to F008 and F013 to F015: framing and compression of single files."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from recordsmith.facts.dataset_facts import Damage, DatasetFacts, ShardFacts
from recordsmith.rules import Finding, Location, Rule, Severity, rule
from recordsmith.wording.numbers import bytes_text, count_text

__all__ = [
    "compression_not_as_named",
    "damaged_compression",
    "data_checksum",
    "empty_file",
    "length_checksum",
    "not_a_tfrecord",
    "record_over_2_gib",
    "stale_index",
    "stray_bytes",
    "truncated_record",
    "unreadable_file",
]

_PLACES = 5
_MOST_BYTES = 2**31 - 1  # of a protobuf message
_REPAIR = "`recordsmith repair` keeps every undamaged record; copying the file again from its source keeps all."


@rule("F001", "length-checksum", Severity.ERROR)
def length_checksum(facts: DatasetFacts) -> Iterator[Finding]:
    """A record's length does not match its checksum.

    The start of the next record is then unknown: most readers stop.

    Why it matters:
        TensorFlow ends with `DataLossError: corrupted record`, and all later records are lost to training.

    Example:
        A bit flipped on a disk or in memory; bytes inserted or removed by a transfer in text mode.

    Fix:
        Copy the file again from its source, or save what can be saved with `recordsmith repair FILE -o NEW`.
    """
    yield from _damages(length_checksum, facts, "length-crc")


@rule("F002", "data-checksum", Severity.ERROR)
def data_checksum(facts: DatasetFacts) -> Iterator[Finding]:
    """A record's data does not match its checksum: it was changed after it was written.

    Why it matters:
        TensorFlow ends with `DataLossError`. Readers without checks continue with wrong pixels, labels or numbers.

    Example:
        A bit flipped on a disk; a file edited in place by a program that does not know the format.

    Fix:
        Copy the file again from its source, or leave the record out with `recordsmith repair FILE -o NEW`.
    """
    yield from _damages(data_checksum, facts, "data-crc")


@rule("F003", "truncated-record", Severity.ERROR)
def truncated_record(facts: DatasetFacts) -> Iterator[Finding]:
    """The file ends inside a record.

    Why it matters:
        The last records are missing, and readers end with an error after everything else was read: late in the
        first epoch.

    Example:
        A writer that was killed or not closed; a full disk; a download or copy that broke off.

    Fix:
        Write or copy the file again. `recordsmith repair FILE -o NEW` keeps the whole records.
    """
    yield from _damages(truncated_record, facts, "truncated")


@rule("F004", "stray-bytes", Severity.ERROR)
def stray_bytes(facts: DatasetFacts) -> Iterator[Finding]:
    """The file has 1 to 11 extra bytes after the last record: less than a record's header.

    Why it matters:
        TensorFlow ends without an error. Most likely the file is truncated, and records are
        missing.

    Example:
        A copy that stopped just after the start of a record; a newline added by an editor.

    Fix:
        Compare the number of records with the source, and write or copy the file again if some are missing;
        `recordsmith repair FILE -o NEW` removes the bytes.
    """
    yield from _damages(stray_bytes, facts, "stray-tail")


@rule("F005", "not-a-tfrecord", Severity.ERROR)
def not_a_tfrecord(facts: DatasetFacts) -> Iterator[Finding]:
    """The file is something else: text, a Git LFS pointer, Parquet, an image, an archive.

    Why it matters:
        Readers end with `DataLossError: corrupted record at 0`, which sounds like damage but is not.

    Example:
        A repository cloned without `git lfs pull` contains small text files in place of the data.

    Fix:
        Fetch the data itself, or convert the file to TFRecords with `recordsmith make`.
    """
    for shard, damages in _by_shard(facts, "not-a-tfrecord"):
        first = damages[0]
        problem = f"it {first.looks_like}" if first.looks_like else first.message
        yield not_a_tfrecord.finding(
            f"This is not a TFRecord file: {_sentence(problem)}",
            location=Location(shard.path, shard.split),
            evidence={"found": first.found},
        )


@rule("F006", "compression-not-as-named", Severity.WARNING)
def compression_not_as_named(facts: DatasetFacts) -> Iterator[Finding]:
    """The file's name indicates a different compression than its content has.

    A name with `.gz` or `.gzip` promises gzip, one with `.zlib` or `.z` zlib, and any other none. The names of
    files that are listed in a description do not have to show the compression.

    Why it matters:
        tf.data needs the compression as an argument and cannot detect it; Beam and others go by the name. Both then
        end with `corrupted record at 0` or `incorrect header check`.

    Example:
        `TFRecordOptions("GZIP")` and a file called `train.tfrecord`; a `.gz` that was decompressed during the download.

    Fix:
        Rename the file, or write it again with the compression that its name says. Recordsmith itself goes by the
        content.
    """
    described = facts.described_by is not None
    differing: dict[tuple[str | None, str | None], list[ShardFacts]] = defaultdict(list)
    for shard in facts.shards:
        promised = _named_compression(shard.path)
        if not shard.bytes or shard.compression == promised or _is_foreign(shard):
            continue
        if promised is not None or not described:
            differing[promised, shard.compression].append(shard)
    for (promised, content), shards in differing.items():
        actual = "not compressed" if content is None else f"compressed with {content}"
        says = "no compression" if promised is None else promised
        yield _of_files(
            compression_not_as_named,
            shards,
            f"{_the_files(shards)} {actual}, while {'its name says' if len(shards) == 1 else 'their names say'} "
            f"{says}.",
            {"name": promised, "content": content},
        )


@rule("F007", "damaged-compression", Severity.ERROR)
def damaged_compression(facts: DatasetFacts) -> Iterator[Finding]:
    """The compressed stream is damaged, truncated, or followed by something else.

    Why it matters:
        The data after the damage cannot be decompressed, so one flipped bit costs all records after it.

    Example:
        A `.gz` whose download stopped early; zeros or text after the end of the stream.

    Fix:
        Copy the file again from its source. `recordsmith repair FILE -o NEW` saves what can still be decompressed.
    """
    yield from _damages(damaged_compression, facts, "compression")


@rule("F008", "empty-file", Severity.WARNING)
def empty_file(facts: DatasetFacts) -> Iterator[Finding]:
    """The file contains no records, although its format is valid.

    A file is not reported if the manifest says that it has no records.

    Why it matters:
        It is read without complaint. If all files of a worker are empty, that worker waits or ends the run.

    Example:
        A writer that was opened and never written to; a filter that let nothing pass.

    Fix:
        Find out whether the file should have records. If not, remove the file and renumber the others, for example
        with `recordsmith copy SRC -o DST`.
    """
    empty = [
        shard
        for shard in facts.shards
        if shard.records == 0 and not shard.damage_count and (shard.promised is None or shard.promised.records != 0)
    ]
    if empty:
        yield _of_files(empty_file, empty, f"{_the_files(empty)} empty: there are no records.")


@rule("F013", "stale-index", Severity.INFO)
def stale_index(facts: DatasetFacts) -> Iterator[Finding]:
    """The cached index is out of date: the file was changed after it was indexed.

    Why it matters:
        Recordsmith notices and rebuilds it, which takes one pass over the file. Indexes of other tools (DALI,
        tfrecord) made at that time are stale too, and those tools do not notice.

    Example:
        A shard was written again in place.

    Fix:
        `recordsmith index PATH` builds it now; write the text indexes of other tools again.
    """
    stale = [shard for shard in facts.shards if shard.stale_index]
    if stale:
        of = "the file" if len(stale) == 1 else f"{len(stale):,} files"
        yield _of_files(stale_index, stale, f"The cached index of {of} is out of date.")


@rule("F014", "unreadable-file", Severity.ERROR)
def unreadable_file(facts: DatasetFacts) -> Iterator[Finding]:
    """The operating system cannot read the file.

    Why it matters:
        Training would stop at this file; nothing else about it is known.

    Example:
        Missing permissions, a broken mount, a failing disk.

    Fix:
        Fix the permissions or the disk, then check again.
    """
    yield from _damages(unreadable_file, facts, "unreadable")


@rule("F015", "record-over-2-gib", Severity.ERROR)
def record_over_2_gib(facts: DatasetFacts) -> Iterator[Finding]:
    """A record is larger than 2 GiB, the limit of protobuf messages.

    Why it matters:
        No protobuf library parses it, TensorFlow's included.

    Example:
        A whole video or matrix in one record.

    Fix:
        Store it in pieces, or as a separate file whose name is in the record.
    """
    for shard in facts.shards:
        if shard.max_record is not None and shard.max_record > _MOST_BYTES:
            yield record_over_2_gib.finding(
                f"The largest record has {bytes_text(shard.max_record)}; a protobuf message is limited to 2 GiB.",
                location=Location(shard.path, shard.split),
                evidence={"bytes": shard.max_record},
            )


def _the_files(shards: list[ShardFacts]) -> str:
    return "The file is" if len(shards) == 1 else f"{len(shards):,} files are"


def _of_files(
    one: Rule[DatasetFacts], shards: list[ShardFacts], message: str, evidence: dict[str, Any] | None = None
) -> Finding:
    """One finding about all files that share it."""
    first, *more = (Location(shard.path, shard.split) for shard in shards[: 1 + _PLACES])
    return one.finding(message, location=first, places=more, count=len(shards), evidence=evidence)


def _by_shard(facts: DatasetFacts, kind: str) -> Iterator[tuple[ShardFacts, list[Damage]]]:
    for shard in facts.shards:
        damages = [damage for damage in shard.damages if damage.kind == kind]
        if damages:
            yield shard, damages


def _damages(one: Rule[DatasetFacts], facts: DatasetFacts, kind: str) -> Iterator[Finding]:
    """One finding for each file, at its first damage of that kind."""
    for shard, damages in _by_shard(facts, kind):
        first = damages[0]
        locations = [
            Location(damage.path, shard.split, damage.record, damage.offset) for damage in damages[: 1 + _PLACES]
        ]
        message = _sentence(first.message)
        if first.bytes:
            message += f" The damage is {count_text(first.bytes, 'byte')} long."
        if len(damages) > 1:
            message += f" There are {len(damages):,} such places in this file."
        if len(shard.damages) < shard.damage_count:
            message += f" Only the first {len(shard.damages)} of {shard.damage_count:,} damaged places are listed."
        yield one.finding(
            message,
            location=locations[0],
            count=len(damages),
            places=locations[1:],
            advice=_REPAIR if kind in ("length-crc", "data-crc") else "",
            evidence={
                key: value
                for key, value in (("found", first.found), ("expected", first.expected), ("bytes", first.bytes))
                if value is not None
            },
        )


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith((".", "!", "?")) else text + "."


def _named_compression(path: str) -> str | None:
    parts = os.path.basename(path).lower().replace("-", ".").split(".")
    if "gz" in parts or "gzip" in parts:
        return "gzip"
    return "zlib" if "zlib" in parts or "z" in parts[1:] else None


def _is_foreign(shard: ShardFacts) -> bool:
    return any(damage.kind in ("not-a-tfrecord", "unreadable") for damage in shard.damages)

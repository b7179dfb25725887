"""The dataclasses of all facts about a dataset, for rules and reports, which read no records themselves.

    DatasetFacts
    ├── shards      ShardFacts      per file: records, bytes, compression, damage, payload kinds, manifest's word on it
    ├── splits      SplitFacts      per split: records, bytes, the features as they are in this split
    ├── features    FeatureFacts    over all splits: presence, kinds, lengths, and below
    │               ├── numbers     NumberFacts   range, moments, quantiles, histogram, zeros, NaN
    │               ├── strings     StringFacts   lengths, encoding, white space
    │               └── images      ImageFacts    formats, sizes, channels, what could not be decoded
    ├── labels      LabelFacts      per label: counts by split, runs of equal labels in file order
    ├── duplicates  DuplicateFacts  equal records within and across splits; similar images on request
    ├── anomalies   Anomaly         wire-level oddities, with their places
    ├── boxes       BoxFacts        per feature with boxes: those that cannot be right, with their places
    └── mismatches  Mismatch        where records and the declared schema disagree, with their places

Counts are exact. Quantiles, distinct values and frequent values come from sketches once there are too many to hold;
`exact` says which it was, and `error` the bound of a sketch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from recordsmith.dataset.descriptions.manifest import Manifest
from recordsmith.facts.value_facts import FeatureFacts, Place
from recordsmith.records.described_splits import DescribedShard
from recordsmith.schema import Schema

__all__ = [
    "Anomaly",
    "BoxFacts",
    "Damage",
    "DatasetFacts",
    "DuplicateFacts",
    "DuplicateGroup",
    "LabelFacts",
    "Mismatch",
    "ShardFacts",
    "SplitFacts",
]


@dataclass(frozen=True, slots=True)
class Damage:
    """One place where a file is not as it should be.

    Attributes:
        kind: "length-crc", "data-crc", "truncated" (a record is cut), "stray-tail" (1 to 11 bytes after the last
            record), "not-a-tfrecord", "compression" (the compressed stream is damaged or followed by something else),
            "unreadable" (the system refuses).
        path: the file.
        offset: where, in the (decompressed) file.
        record: the number of the record there.
        bytes: how far the damage reaches: up to the next undamaged record, or to the end. None where that is not known.
        message: the error's own words.
        found, expected: what is there and what should be, if the error says so.
        looks_like: for "not-a-tfrecord": what the file is, such as "is a Parquet file".
    """

    kind: str
    path: str
    offset: int | None
    record: int | None
    bytes: int | None
    message: str
    found: str | None = None
    expected: str | None = None
    looks_like: str | None = None


@dataclass(frozen=True, slots=True)
class ShardFacts:
    """One file.

    Attributes:
        path: the file.
        split: the split that it belongs to, if there are splits.
        bytes: its size on disk.
        compression: None, "gzip" or "zlib", by its content.
        records: undamaged records, including those after damage.
        payload_bytes: their payloads together.
        min_record, max_record: the smallest and largest payload; None without records.
        payloads: how many payloads are of which kind ("example", "sequence_example", "text", ...).
        damages: the first damages, at most 100.
        damage_count: how many there are.
        stale_index: its cached index does not fit the file.
        promised: what a description next to it says of it; None without one.
        sha256: the file's digest; None where nothing was promised to compare it with.
    """

    path: str
    split: str | None
    bytes: int
    compression: str | None
    records: int
    payload_bytes: int
    min_record: int | None
    max_record: int | None
    payloads: dict[str, int] = field(default_factory=dict)
    damages: tuple[Damage, ...] = ()
    damage_count: int = 0
    stale_index: bool = False
    promised: DescribedShard | None = None
    sha256: str | None = None

    def differences(self) -> dict[str, tuple[Any, Any]]:
        """Return what differs from the description: records, bytes, sha256; each as described and as found."""
        found = {"records": self.records, "bytes": self.bytes, "sha256": self.sha256}
        described = {name: getattr(self.promised, name, None) for name in found}
        return {
            name: (described[name], actual)
            for name, actual in found.items()
            if described[name] is not None and actual is not None and described[name] != actual
        }


@dataclass(frozen=True, slots=True)
class SplitFacts:
    """One split; its features are those of its own records."""

    name: str
    records: int
    bytes: int
    shards: int
    features: tuple[FeatureFacts, ...]


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """A feature that says the class of a record: declared as Label, or small integers or texts that look like one.

    Attributes:
        feature: its name.
        declared: the schema says that it is a label.
        names: the class names, by number; empty where there are none.
        counts: per split (the key is "" where there are no splits) how often each class occurs. A class is written
            as its name where there is one, else as the value.
        outside: records whose value is no class of the declaration; with the first places.
        longest_run: the most records with the same label in a row, in file order, per split.
        expected_run: what the longest run would be about, if the split were shuffled.
        batch_spread: per split, how many different classes windows of 256 consecutive records hold, beyond the first
            and relative to what a shuffled split would have: 1 is shuffled, near 0 is sorted. Windows are a quarter
            of a split that has less than 1,024 records.
        buffer_spread: the same after a shuffle buffer of so many records, by buffer size (1000, 10000).
    """

    feature: str
    declared: bool
    names: tuple[str, ...]
    counts: dict[str, dict[str, int]]
    outside: int = 0
    outside_places: tuple[Place, ...] = ()
    longest_run: dict[str, int] = field(default_factory=dict)
    expected_run: dict[str, float] = field(default_factory=dict)
    batch_spread: dict[str, float] = field(default_factory=dict)
    buffer_spread: dict[str, dict[int, float]] = field(default_factory=dict)

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes, in the order of the names, then of their first appearance."""
        seen = dict.fromkeys(name for split in self.counts.values() for name in split)
        return tuple(dict.fromkeys([*self.names, *seen]))


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Records that are equal, or images that are similar; the first few places.

    Attributes:
        places: the first of them, in file order.
        count: how many there are.
        splits: the splits that they are in.
        distance: of images: in how many of 64 bits their perceptual hashes differ at most.
        but_for: the features in which they may differ, because those only say where a record comes from.
    """

    places: tuple[Place, ...]
    count: int
    splits: tuple[str, ...] = ()
    distance: int = 0
    but_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DuplicateFacts:
    """Records with equal content, and images that look alike (where asked for).

    Records are compared by 64 bits of XXH3 over their payloads, without the features that only say where a record comes
    from (a file's name, a source's number), as long as enough is left to compare.

    Attributes:
        within: per split, how many records repeat an earlier one of the same split.
        across: per pair of splits, how many different contents occur in both.
        groups: some examples, the largest first.
        similar: pairs of images that look alike though their bytes differ; None where it was not looked for.
        similar_across: those of them that are in two splits.
        similar_groups: some examples.
        left_out: the features that were left out of the comparison, in records that have them.
        contradictory: per split, how many records are equal to others but for their label, which differs.
        contradictory_across: per pair of splits, how many such contents occur in both.
        contradictory_groups: some examples, the largest first.
    """

    within: dict[str, int] = field(default_factory=dict)
    across: dict[tuple[str, str], int] = field(default_factory=dict)
    groups: tuple[DuplicateGroup, ...] = ()
    similar: int | None = None
    similar_across: int | None = None
    similar_groups: tuple[DuplicateGroup, ...] = ()
    left_out: tuple[str, ...] = ()
    contradictory: dict[str, int] = field(default_factory=dict)
    contradictory_across: dict[tuple[str, str], int] = field(default_factory=dict)
    contradictory_groups: tuple[DuplicateGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Something odd about the bytes of records that are framed soundly.

    Attributes:
        kind: "not-an-example", "duplicate-key", "mixed-kinds" (two kinds in one Feature), "values-after-list" (the
            same list begun twice in one Feature, or packed and unpacked chunks mixed: TensorFlow's parser drops all
            but the first), "unknown-field", "non-utf8-key".
        count: how many records have it.
        places: the first of them; the detail says what was seen ("looks like text", the key, ...).
        feature: the feature, where it is about one.
    """

    kind: str
    count: int
    places: tuple[Place, ...]
    feature: str | None = None


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where records and the declared schema disagree.

    Attributes:
        kind: "missing" (a required feature), "unexpected" (not in the schema), "dtype", "shape" (shape or length),
            "constraint", "label" (outside its classes), "default-always" (an optional feature that no record has),
            "default-never" (optional with a default, and every record has it).
        feature: the feature.
        count: how many records.
        places: the first of them.
        found, expected: as text.
        nearest: for "unexpected" and "missing": the name that is probably meant.
    """

    kind: str
    feature: str
    count: int
    places: tuple[Place, ...]
    found: str
    expected: str
    nearest: str | None = None


@dataclass(frozen=True, slots=True)
class BoxFacts:
    """The boxes of one feature.

    Attributes:
        feature: its name.
        boxes: how many boxes there are.
        in_pixels: how many have a coordinate above 2, which no part of an image can be.
        counts: how many are "outside" of their image, have "swapped" corners, or are "empty".
        records: in how many records these are.
        places: some of these records, with the first such box in words.
    """

    feature: str
    boxes: int
    in_pixels: int
    counts: dict[str, int]
    records: dict[str, int]
    places: dict[str, tuple[Place, ...]]


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """All of it.

    Attributes:
        paths: what was asked for.
        files: all record files found.
        schema: the declared schema; None without one.
        described_by: the file that declares it.
        manifest: what recordsmith.json says; None without one.
        records: undamaged records.
        bytes: size on disk.
        seconds: how long the pass took.
        looked_at_all: False if a limit on records ended the pass early.
        split: the split that was asked for; None: all.
        features_left_out: about how many more names there are, where records have more than 10,000 different ones.
        frames_only: files, frames and checksums were looked at, and nothing of what is in the records.
    """

    paths: tuple[str, ...]
    files: tuple[str, ...]
    records: int
    bytes: int
    schema: Schema | None = None
    described_by: str | None = None
    manifest: Manifest | None = None
    shards: tuple[ShardFacts, ...] = ()
    splits: dict[str, SplitFacts] = field(default_factory=dict)
    features: tuple[FeatureFacts, ...] = ()
    labels: tuple[LabelFacts, ...] = ()
    duplicates: DuplicateFacts | None = None
    anomalies: tuple[Anomaly, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    boxes: tuple[BoxFacts, ...] = ()
    seconds: float = 0.0
    looked_at_all: bool = True
    split: str | None = None
    features_left_out: int = 0
    frames_only: bool = False

    @property
    def damages(self) -> tuple[Damage, ...]:
        """What is damaged, file by file."""
        return tuple(damage for shard in self.shards for damage in shard.damages)

    def feature(self, name: str, *, in_steps: bool = False) -> FeatureFacts | None:
        """Return a feature by its name; None if no record has it."""
        return next((one for one in self.features if one.name == name and one.in_steps == in_steps), None)

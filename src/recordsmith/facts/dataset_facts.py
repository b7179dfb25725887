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
    └── mismatches  Mismatch        where records and the declared schema disagree, with their places

Counts are exact. Quantiles, distinct values and frequent values come from sketches once there are too many to hold;
`exact` says which it was, and `error` the bound of a sketch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from recordsmith.dataset.manifest import Manifest
from recordsmith.records.described_splits import DescribedShard
from recordsmith.schema import Schema

__all__ = [
    "Anomaly",
    "Damage",
    "DatasetFacts",
    "DuplicateFacts",
    "DuplicateGroup",
    "FeatureFacts",
    "FrequentValue",
    "Histogram",
    "ImageFacts",
    "LabelFacts",
    "LengthFacts",
    "Mismatch",
    "NumberFacts",
    "Place",
    "ShardFacts",
    "SplitFacts",
    "StringFacts",
]


@dataclass(frozen=True, slots=True)
class Place:
    """One record: its file and its number there, and what was seen."""

    path: str
    record: int
    offset: int | None = None
    detail: str = ""


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
        bytes: how far the damage reaches: up to the next sound record, or to the end. None where that is not known.
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
        promised: what a description beside it says of it; None without one.
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


@dataclass(frozen=True, slots=True)
class FrequentValue:
    """A value (number, or bytes) and how often it occurs."""

    value: int | float | bytes
    count: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts between edges: `counts[i]` are in [edges[i], edges[i + 1]), the last with its right edge.

    Where `whole`, values are whole numbers and every bin may hold equally many different ones: the last edge is then
    beyond the largest value.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    whole: bool = False

    @classmethod
    def between(cls, edges: Sequence[float], counts: Sequence[int], *, integral: bool) -> Histogram:
        """Return a histogram with edges of the core, which are aligned to whole numbers up to 2**52.

        >>> Histogram.between([0.0, 1.0, 2.0], [3, 4], integral=True).last
        1.0
        """
        return cls(tuple(edges), tuple(counts), integral and len(edges) > 2 and max(map(abs, edges)) <= 2**52)

    @property
    def last(self) -> float:
        """The largest value that the last bin may hold."""
        return self.edges[-1] - 1 if self.whole else self.edges[-1]


@dataclass(frozen=True, slots=True)
class LengthFacts:
    """How many values a record has (or a step, or a byte string has bytes)."""

    min: int
    max: int
    mean: float

    @property
    def fixed(self) -> bool:
        """Whether all are equal."""
        return self.min == self.max


@dataclass(frozen=True, slots=True)
class NumberFacts:
    """The values of a feature of numbers, all records and positions together.

    Numbers that are stored as bytes count as what the schema declares them to be. A complex number counts as two, its
    real and its imaginary part.

    Attributes:
        count: how many values, NaN and infinities included.
        min, max, mean, deviation: of the finite values; None without any. The deviation is that of the population.
        zeros, negatives: how many.
        nan, positive_infinity, negative_infinity: how many.
        integral: every finite value is a whole number.
        quantiles: the values at 0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99 and 1 of the finite ones, by that share.
        quantiles_exact: they are exact; else their rank is off by at most `rank_error`.
        rank_error: the sketch's normalised rank error (at 99 % confidence); 0 where exact.
        histogram: of the finite values.
    """

    count: int
    min: int | float | None
    max: int | float | None
    mean: float | None
    deviation: float | None
    zeros: int = 0
    negatives: int = 0
    nan: int = 0
    positive_infinity: int = 0
    negative_infinity: int = 0
    integral: bool = False
    quantiles: dict[float, float] = field(default_factory=dict)
    quantiles_exact: bool = True
    rank_error: float = 0.0
    histogram: Histogram | None = None

    @property
    def not_finite(self) -> int:
        """How many values are NaN or infinite."""
        return self.nan + self.positive_infinity + self.negative_infinity


@dataclass(frozen=True, slots=True)
class StringFacts:
    """The values of a byte feature.

    Attributes:
        count: how many values.
        bytes: all together.
        lengths: in bytes.
        empty: how many are b"".
        ascii, utf8: how many are readable text in ASCII, and in UTF-8 (ASCII included): without control characters
            other than white space. Images are never text.
        leading_space, trailing_space: how many of them begin or end with white space.
        control: how many are UTF-8 with control characters, as raw numbers often are by chance.
    """

    count: int
    bytes: int
    lengths: LengthFacts
    empty: int = 0
    ascii: int = 0
    utf8: int = 0
    leading_space: int = 0
    trailing_space: int = 0
    control: int = 0

    @property
    def encoding(self) -> str:
        """'ascii', 'utf-8', 'mixed' (some are text) or 'binary'."""
        if self.ascii == self.count:
            return "ascii"
        if self.utf8 == self.count:
            return "utf-8"
        return "binary" if self.utf8 <= self.empty else "mixed"


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """The values of a feature that holds encoded images.

    Attributes:
        formats: how many of each ("jpeg", "png", ...), by their headers.
        channels: how many have 1, 3, 4 channels.
        heights, widths: over all headers.
        no_header: values that are no image by their header, though most are; with the first places.
        decoded: how many were decoded in full.
        decoded_all: these were all.
        undecodable: how many of them failed; with the first places and the reason as detail.
        suffix_differs: names in a sibling feature (filename) end otherwise than the content says; with places.
        black: decoded images with one colour throughout.
    """

    formats: dict[str, int]
    channels: dict[int, int]
    heights: LengthFacts | None
    widths: LengthFacts | None
    no_header: int = 0
    no_header_places: tuple[Place, ...] = ()
    decoded: int = 0
    decoded_all: bool = False
    undecodable: int = 0
    undecodable_places: tuple[Place, ...] = ()
    suffix_differs: int = 0
    suffix_places: tuple[Place, ...] = ()
    black: int = 0

    @property
    def format(self) -> str:
        """The format, or all of them with the commonest first; "" where none is known."""
        return " or ".join(sorted(self.formats, key=lambda name: -self.formats[name]))


@dataclass(frozen=True, slots=True)
class FeatureFacts:
    """One feature of the records, or one feature list of SequenceExamples (`in_steps`).

    Attributes:
        name: its name.
        in_steps: it is in the feature lists.
        records: that have it with a kind set (an empty list counts).
        missing: that do not have it at all.
        unset: that have it without a kind.
        empty: that have it with a list of no values.
        kinds: records by kind ("bytes", "float", "int64"): more than one is a conflict.
        kind_places: for each kind the first records that have it.
        lengths: values per record (per step, in steps).
        steps: steps per record, in steps.
        stored_bytes: what it takes on disk, its name and tags included.
        distinct: how many different values, a list counting value by value; exact or estimated. NaN is none.
        distinct_exact: it is exact.
        distinct_error: the relative error of the estimate (at 95 %); 0 where exact.
        frequent: the most frequent values, commonest first; empty where none stands out or values are long. Where
            `distinct` is estimated, counts are a little too low, and only values of about 1 % or more are listed.
        categories: every different value with its count, commonest first, of texts that repeat: at most 1,000 of
            them, of at most 100 bytes; else empty.
        numbers, strings, images: what its values are like. Numbers that are stored as bytes have both of the first:
            `strings` has the sizes then, and `lengths` counts numbers.
        raw_dtype: the declared dtype of numbers that are stored as bytes; "" where there are none.
        parts: where the byte strings hold several parts (Packed), each as a feature, named "feature[part]".
    """

    name: str
    in_steps: bool
    records: int
    missing: int
    unset: int = 0
    empty: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    kind_places: dict[str, tuple[Place, ...]] = field(default_factory=dict)
    missing_places: tuple[Place, ...] = ()
    nan_places: tuple[Place, ...] = ()
    lengths: LengthFacts | None = None
    steps: LengthFacts | None = None
    stored_bytes: int = 0
    distinct: int = 0
    distinct_exact: bool = True
    distinct_error: float = 0.0
    frequent: tuple[FrequentValue, ...] = ()
    numbers: NumberFacts | None = None
    strings: StringFacts | None = None
    images: ImageFacts | None = None
    categories: tuple[FrequentValue, ...] = ()
    raw_dtype: str = ""
    parts: tuple[FeatureFacts, ...] = ()

    @property
    def kind(self) -> str | None:
        """How it is stored, the commonest where there are several ways; None where no record sets one."""
        return max(self.kinds, key=lambda kind: self.kinds[kind], default=None)

    @property
    def number_kind(self) -> str | None:
        """'float' or 'int64' where its values are numbers, however they are stored."""
        if self.numbers is None:
            return None
        return self.kind if not self.raw_dtype else "float" if self.raw_dtype[0] in "fc" else "int64"


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
        found, expected: in words.
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
class DatasetFacts:
    """All of it.

    Attributes:
        paths: what was asked for.
        files: all record files found.
        schema: the declared schema; None without one.
        described_by: the file that declares it.
        manifest: what recordsmith.json says; None without one.
        records: sound records.
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

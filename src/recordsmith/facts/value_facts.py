"""Facts about the values of one feature: lengths, numbers, strings and images, and places of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = [
    "FeatureFacts",
    "FrequentValue",
    "Histogram",
    "ImageFacts",
    "LengthFacts",
    "NumberFacts",
    "Place",
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
        """The format, or all of them with the most common first; "" where none is known."""
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
        frequent: the most frequent values, most common first; empty where none stands out or values are long. Where
            `distinct` is estimated, counts are a little too low, and only values of about 1 % or more are listed.
        categories: every different value with its count, most common first, of texts that repeat: at most 1,000 of
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
        """How it is stored, the most common where there are several ways; None where no record sets one."""
        return max(self.kinds, key=lambda kind: self.kinds[kind], default=None)

    @property
    def number_kind(self) -> str | None:
        """'float' or 'int64' where its values are numbers, however they are stored."""
        if self.numbers is None:
            return None
        return self.kind if not self.raw_dtype else "float" if self.raw_dtype[0] in "fc" else "int64"

"""The four datasets of the benchmark: what they hold, and the seeded generator that makes their columns."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bench.data.images import jpeg_images

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 20_240_607
SHARDS = 4
BATCH = 1024

Kind = Literal["float", "int64", "bytes"]


@dataclass(frozen=True, slots=True)
class Feature:
    """One stored feature. `count` is the number of values a record has; None where it varies."""

    name: str
    kind: Kind
    count: int | None = 1


@dataclass(frozen=True, slots=True)
class Column:
    """The values of one feature over many records, as numpy arrays.

    Fixed count: `values` has one row (or one number) a record and `offsets` is None.
    Varying count, and byte strings: `values` is flat (uint8 for bytes) and record i owns
    `values[offsets[i]:offsets[i + 1]]`.
    """

    values: NDArray[Any]
    offsets: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.values) if self.offsets is None else len(self.offsets) - 1

    def part(self, start: int, stop: int) -> Column:
        """The column of the records `start` to `stop`, sharing memory where it can."""
        if self.offsets is None:
            return Column(self.values[start:stop])
        offsets = self.offsets[start : stop + 1]
        return Column(self.values[offsets[0] : offsets[-1]], offsets - offsets[0])

    def byte_strings(self) -> list[bytes]:
        """One `bytes` a record; for byte columns only."""
        if self.offsets is None:
            raise TypeError("only a byte column has byte strings")
        data, ends = self.values.tobytes(), self.offsets.tolist()
        return [data[start:stop] for start, stop in itertools.pairwise(ends)]


Columns = dict[str, Column]


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """A dataset of the benchmark: its features and its size at scale 1."""

    name: str
    about: str
    full_records: int
    features: tuple[Feature, ...]

    def records(self, scale: float) -> int:
        """The number of records at a scale: always a multiple of the number of shards."""
        return max(SHARDS, round(self.full_records * scale / SHARDS) * SHARDS)


LABEL = Feature("label", "int64")

TAB = DatasetSpec(
    "tab",
    "10 floats, 5 integers, 2 short strings, label",
    400_000,
    (
        *(Feature(f"f{i}", "float") for i in range(10)),
        *(Feature(f"i{i}", "int64") for i in range(5)),
        Feature("s0", "bytes"),
        Feature("s1", "bytes"),
        LABEL,
    ),
)
VEC = DatasetSpec("vec", "784 floats, label", 100_000, (Feature("pixels", "float", 784), LABEL))
TOK = DatasetSpec("tok", "10 to 500 tokens, label", 100_000, (Feature("tokens", "int64", None), LABEL))
IMG = DatasetSpec("img", "80 KB JPEG, label", 4_000, (Feature("image", "bytes"), LABEL))

DATASETS = {spec.name: spec for spec in (TAB, VEC, TOK, IMG)}


def make_columns(spec: DatasetSpec, scale: float) -> Columns:
    """The columns of a dataset. The same spec and scale give the same values every time."""
    records = spec.records(scale)
    random = np.random.default_rng([SEED, list(DATASETS).index(spec.name)])
    columns = _MAKERS[spec.name](random, records)
    columns["label"] = Column(random.integers(0, 10, records, dtype=np.int64))
    return columns


def _tab_columns(random: np.random.Generator, records: int) -> Columns:
    columns = {f"f{i}": Column(random.standard_normal(records, dtype=np.float32)) for i in range(10)}
    # Small numbers, large ones and negative ones: a varint of each length a table really has.
    ranges = ((0, 10), (0, 1_000), (0, 100_000), (1_600_000_000, 1_800_000_000), (-1_000, 1_000))
    for i, (low, high) in enumerate(ranges):
        columns[f"i{i}"] = Column(random.integers(low, high, records, dtype=np.int64))
    for name in ("s0", "s1"):
        offsets = _offsets(random.integers(4, 13, records, dtype=np.int64))
        columns[name] = Column(random.integers(ord("a"), ord("z") + 1, offsets[-1], dtype=np.uint8), offsets)
    return columns


def _vec_columns(random: np.random.Generator, records: int) -> Columns:
    return {"pixels": Column(random.random((records, 784), dtype=np.float32))}


def _tok_columns(random: np.random.Generator, records: int) -> Columns:
    offsets = _offsets(random.integers(10, 501, records, dtype=np.int64))
    return {"tokens": Column(random.integers(0, 32_000, offsets[-1], dtype=np.int64), offsets)}


def _img_columns(random: np.random.Generator, records: int) -> Columns:
    images = jpeg_images(random, records)
    offsets = _offsets(np.array([len(image) for image in images], dtype=np.int64))
    return {"image": Column(np.frombuffer(b"".join(images), dtype=np.uint8), offsets)}


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])


_MAKERS = {"tab": _tab_columns, "vec": _vec_columns, "tok": _tok_columns, "img": _img_columns}

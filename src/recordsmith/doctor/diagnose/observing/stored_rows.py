"""The records that a pipeline is compared with: their labels, and their features by content."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.dataset import StoredDataset
from recordsmith.doctor.diagnose.observing.batch import TARGET_NAMES
from recordsmith.doctor.diagnose.observing.content import (
    colour_signature,
    content_numbers,
    image_signature,
    steps_between_bytes,
    stored_pixels,
)
from recordsmith.doctor.diagnose.observing.image_measuring import measure_jumps
from recordsmith.schema import Label, Scalar, Text

__all__ = ["FeatureRows", "StoredRows", "label_feature", "read_stored_rows"]

Array = npt.NDArray[Any]
_ROWS_AT_ONCE = 64
_LONGEST_VECTOR = 4096


@dataclass(eq=False)
class FeatureRows:
    """One feature of the records that were read.

    Attributes:
        by_content: the records with a content, by its number.
        signatures: of images; None for an image without one.
        vectors: rows of numbers; None for other features.
        images: how many values are images.
        extreme, flat, jumps: of the images.
        by_steps: the images' first, least and greatest pixel, by the number for their steps from pixel to pixel.
        colours: where images are red and where blue; None for one without colours.
    """

    by_content: dict[int, list[int]] = field(default_factory=dict)
    signatures: list[Array | None] = field(default_factory=list)
    vectors: list[Array | None] = field(default_factory=list)
    images: int = 0
    extreme: float = 0.0
    flat: int = 0
    jumps: float = 0.0
    by_steps: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    colours: list[Array | None] = field(default_factory=list)


@dataclass(eq=False)
class StoredRows:
    """The records that were read.

    Attributes:
        count: how many records there are.
        looked_at: how many were read, from the first on.
        features: by name.
        label: the feature that says the class or the number to be learned; empty if there is none.
        labels: its value for every record; None where it is missing.
        longest_run: of equal labels.
    """

    count: int
    looked_at: int = 0
    features: dict[str, FeatureRows] = field(default_factory=dict)
    label: str = ""
    labels: list[Any] = field(default_factory=list)
    longest_run: int = 0

    @property
    def classes(self) -> dict[str, int]:
        """How many records each class has."""
        return {str(value): count for value, count in Counter(self.labels).items() if value is not None}


def label_feature(dataset: StoredDataset, known: str | None) -> str:
    """Return the feature that is the label: the known one, the only Label, or one that is called like it.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/a.tfrecord"
    >>> schema = rs.Schema({"x": rs.Scalar("float32"), "label": rs.Scalar("int64")})
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_columns({"x": [0.5], "label": [1]}, schema)
    >>> label_feature(rs.open(path), None)
    'label'
    """
    schema = dataset.schema
    if known is not None and known in schema:
        return known
    one_a_row = {name: feature for name, feature in schema.items() if isinstance(feature, (Label, Scalar, Text))}
    declared = [name for name, feature in one_a_row.items() if isinstance(feature, Label)]
    if len(declared) == 1:
        return declared[0]
    called = [name for name in one_a_row if name.lower().rpartition("/")[2] in TARGET_NAMES]
    numbers = [name for name in called if not isinstance(one_a_row[name], Text)]
    return (numbers or called or [""])[0]


def read_stored_rows(dataset: StoredDataset, *, label: str | None, seconds: float, sizes: set[int]) -> StoredRows:
    """Read labels of all records, and features of as many as the time allows.

    Args:
        dataset: the records.
        label: the feature that is known to be the label.
        seconds: how long it may take.
        sizes: how many values the rows that arrive have, so that raw bytes can be read as numbers.
    """
    begun = time.perf_counter()
    rows = StoredRows(len(dataset), label=label_feature(dataset, label))
    if rows.label:
        for batch, count in dataset.select(rows.label).read_batches(4096):
            feature = dataset.schema[rows.label]
            rows.labels += [_plain(feature.row(batch[rows.label], i)) for i in range(count)]
        rows.longest_run = _longest_run(rows.labels)
    names = [name for name in dataset.schema if name != rows.label]
    if not names:
        return rows
    rows.features = {name: FeatureRows() for name in names}
    wanted = dataset.select(*names)
    for batch, count in wanted.read_batches(_ROWS_AT_ONCE):
        for i in range(count):
            for name, feature in wanted.schema.items():
                _add(rows.features[name], rows.looked_at, feature.row(batch[name], i), sizes)
            rows.looked_at += 1
        if time.perf_counter() - begun > seconds:
            break
    return rows


def _add(rows: FeatureRows, number: int, value: Any, sizes: set[int]) -> None:
    signature = vector = colours = None
    pixels = stored_pixels(value)
    if pixels is not None:
        rows.images += 1
        rows.extreme += float(((pixels == 0) | (pixels == 255)).mean())
        rows.jumps += measure_jumps(pixels[np.newaxis])[0]
        colours = colour_signature(pixels)
        steps = steps_between_bytes(pixels)
        if steps is not None:
            rows.by_steps[steps[0]] = steps[1:]
        rows.flat += int((pixels == pixels.reshape(-1)[0]).all())
        signature = image_signature(pixels)
        contents: list[Any] = [pixels]
        if pixels.shape[2] == 3 and (pixels == pixels[..., :1]).all():
            contents.append(pixels[..., :1])
    elif isinstance(value, bytes):
        contents = [value, *_raw_arrays(value, sizes)]
    elif isinstance(value, dict):
        contents = list(value.values())
    else:
        contents = [value]
    for content in contents:
        if content is None:
            continue
        for change, key in content_numbers(content):
            if change in ("as it is", "padded with 0"):
                rows.by_content.setdefault(key, []).append(number)
        array = np.asarray(content)
        if pixels is None and array.dtype.kind in "iuf" and 0 < array.size <= _LONGEST_VECTOR:
            vector = array.ravel().astype(np.float64)
            if array.ndim == 3 and array.shape[2] in (1, 3, 4):
                signature, colours = image_signature(array), colour_signature(array)
    rows.signatures.append(signature)
    rows.vectors.append(vector)
    rows.colours.append(colours)


def _raw_arrays(data: bytes, sizes: set[int]) -> list[Array]:
    """Return what raw bytes may be as numbers, by how many values arrive."""
    found: list[Array] = []
    for size in sizes:
        width = len(data) // size if size and len(data) % size == 0 else 0
        kinds = {1: ("u1",), 2: ("<u2", "<f2"), 4: ("<f4", "<i4"), 8: ("<f8", "<i8")}.get(width, ())
        found += [np.frombuffer(data, kind) for kind in kinds]
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _longest_run(labels: list[Any]) -> int:
    longest = run = 0
    before: Any = object()
    for label in labels:
        run = run + 1 if label == before else 1
        longest, before = max(longest, run), label
    return longest

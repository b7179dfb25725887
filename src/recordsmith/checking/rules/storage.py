"""V011 to V013 and V018: data that could be stored in less space, and how much that would save."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recordsmith.checking.feature_reading import is_mask, named_like_images, values_per_record
from recordsmith.checking.storage_reading import float_pixels, raw_pixels
from recordsmith.checking.wording import share
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.value_facts import FeatureFacts
from recordsmith.rules import Finding, Location, Severity, rule
from recordsmith.wording.numbers import bytes_text

__all__ = ["mostly_zeros", "negative_integers", "pixels_as_numbers", "raw_pixels_stored"]

_WORTH_ENCODING = 64 * 64  # pixels, from which on a JPEG is clearly smaller than its pixels
_JPEG_SHARE = 0.15  # of what the pixels take, for photographs at usual quality
_ZERO_SHARE, _LONG = 0.95, 256
_WORTH_SAYING = 0.1  # of all payloads, that a saving has to be


@rule("V011", "raw-pixels-stored", Severity.INFO)
def raw_pixels_stored(facts: DatasetFacts) -> Iterator[Finding]:
    """A byte feature contains the pixels of images without encoding.

    Detected by the declared shape, by features with its height, width and channels, or by its name and a number
    of bytes that a square image has. If each channel takes 2, 4 or 8 bytes, it is a warning. With one byte per channel,
    only images of at least 64x64 pixels are reported, because encoding smaller images saves little.

    Why it matters:
        The files are up to 50 times as large as necessary, and training waits for reading them.

    Example:
        `image.tobytes()` of an array that numpy made float64: 8 bytes for each channel of each pixel.

    Fix:
        Store encoded images: JPEG for photographs, PNG where every pixel counts (`rs.Image(encoding="png")`); else
        uint8.
    """
    for feature in facts.features:
        pixels = raw_pixels(facts, feature)
        if pixels is None or feature.strings is None:
            continue
        wide = pixels.bytes_each > 1
        if not wide and pixels.pixels < _WORTH_ENCODING:
            continue
        total = feature.strings.bytes
        narrow = total // pixels.bytes_each
        saved = int(total - _JPEG_SHARE * narrow) if pixels.pixels >= _WORTH_ENCODING else total - narrow
        form = "as JPEG (estimated)" if pixels.pixels >= _WORTH_ENCODING else "as uint8"
        each = f", with {pixels.bytes_each} bytes for each channel of a pixel" if wide else ""
        yield raw_pixels_stored.finding(
            f"{feature.name!r} contains raw pixels ({pixels.height}x{pixels.width}x{pixels.channels}, "
            f"inferred from {pixels.how})"
            f"{each}: {bytes_text(total)}. About {bytes_text(saved)} ({share(saved, total)}) would be saved {form}"
            f"{_before_compression(facts)}.",
            location=Location(feature=feature.name),
            evidence={"bytes": total, "saving": saved, "shape": [pixels.height, pixels.width, pixels.channels]},
            severity=Severity.WARNING if wide else Severity.INFO,
        )


@rule("V012", "pixels-as-numbers", Severity.WARNING)
def pixels_as_numbers(facts: DatasetFacts) -> Iterator[Finding]:
    """Pixels of eight bits are stored as a list of floats or integers.

    Floats: 64 or more values per record, and either integers from 0 to 255, or between 17 and 256 different values
    although there are 20 times as many in all. Integers: 64 or more values of 0..255 per record, in a feature that is
    named like an image. If the files are compressed, it is an info, because compression saves much of it.

    Why it matters:
        Each value takes 4 bytes as a float and up to 2 as an integer, although 1 is enough; an encoded image takes a
        tenth of that. Parsing the list is slow too.

    Example:
        `tf.train.FloatList(value=image.flatten() / 255)`.

    Fix:
        Store the encoded image, or the uint8 bytes (`rs.Tensor("uint8", shape)`), and scale to 0..1 when reading.
    """
    compressed = any(shard.compression for shard in facts.shards)
    for feature in facts.features:
        reason = float_pixels(feature) or _integer_pixels(feature)
        if reason is None or feature.numbers is None:
            continue
        values = feature.numbers.count
        taken = 4 * values if feature.kind == "float" else max(feature.stored_bytes, values)
        saved = taken - values
        if saved <= 0:
            continue
        yield pixels_as_numbers.finding(
            f"{feature.name!r} stores pixels as {'floats' if feature.kind == 'float' else 'integers'} ({reason}): "
            f"{bytes_text(taken)}. As uint8 bytes they would take {bytes_text(values)}, "
            f"which saves {bytes_text(saved)} ({share(saved, taken)}){_before_compression(facts)}; "
            "encoded images save more.",
            location=Location(feature=feature.name),
            evidence={"bytes": taken, "saving": saved},
            severity=Severity.INFO if compressed else Severity.WARNING,
        )


@rule("V013", "negative-integers", Severity.INFO)
def negative_integers(facts: DatasetFacts) -> Iterator[Finding]:
    """Negative integers make up much of the data: each takes ten bytes.

    Reported if another storage would save 10 % of all payloads and at least 10 KB.

    Why it matters:
        A TFRecord stores an integer in as many bytes as it needs, one for each seven bits. A negative integer counts as
        64 bits: 1 takes one byte, -1 takes ten.

    Example:
        Padding with -1; audio samples as int64.

    Fix:
        Store them as bytes of a narrow dtype (`rs.Tensor("int16", shape, storage="bytes")`), or with an offset that
        makes them positive.
    """
    payload = sum(shard.payload_bytes for shard in facts.shards)
    for feature in facts.features:
        numbers = feature.numbers
        if feature.kind != "int64" or numbers is None or not numbers.negatives or numbers.min is None:
            continue
        saved = numbers.negatives * (10 - _bytes_for(numbers.min, numbers.max or 0))
        if saved >= 10_000 and saved >= _WORTH_SAYING * payload:
            yield negative_integers.finding(
                f"{feature.name!r} contains {numbers.negatives:,} negative integers, which take 10 bytes each. "
                f"Narrower types stored as bytes would save about {bytes_text(saved)} ({share(saved, payload)} of all)"
                f"{_before_compression(facts)}.",
                location=Location(feature=feature.name),
                evidence={"negatives": numbers.negatives, "saving": saved},
            )


@rule("V018", "mostly-zeros", Severity.INFO)
def mostly_zeros(facts: DatasetFacts) -> Iterator[Finding]:
    """Long lists of numbers contain nearly only zeros.

    That is: 256 or more values per record, 95 % or more of them zero, if storing only the others would save 10 % of all
    payloads and at least 10 KB.

    Why it matters:
        Each zero takes as much space as any other float, and is read, parsed and copied.

    Example:
        A TF-IDF vector over 20,000 words written with `.toarray()`; one-hot classes; masks of a few points.

    Fix:
        Store indices and values: `rs.Sparse("float32", size=...)`; a class as its number: `rs.Label`; a mask as a PNG
        image.
    """
    payload = sum(shard.payload_bytes for shard in facts.shards)
    for feature in facts.features:
        numbers = feature.numbers
        if numbers is None or not numbers.count or values_per_record(feature) < _LONG:
            continue
        if numbers.zeros < _ZERO_SHARE * numbers.count:
            continue
        others = numbers.count - numbers.zeros
        each = _bytes_of_a_zero(feature)
        if not each:
            continue
        saved = each * numbers.zeros - 3 * others  # a position takes two or three bytes
        if saved >= 10_000 and saved >= _WORTH_SAYING * payload:
            yield mostly_zeros.finding(
                f"{share(numbers.zeros, numbers.count)} of the values of {feature.name!r} are zero. Storing only the "
                f"positions and values of the others would save about {bytes_text(saved)} ({share(saved, payload)} of "
                "all)"
                f"{_before_compression(facts)}.",
                location=Location(feature=feature.name),
                advice=_storing(feature),
                evidence={"zeros": numbers.zeros, "values": numbers.count, "saving": saved},
            )


def _storing(feature: FeatureFacts) -> str:
    if is_mask(feature.name):
        return "Store the mask as a PNG image (`rs.Image()`), which keeps its integers exactly."
    dtype = feature.raw_dtype or ("float32" if feature.kind == "float" else "int64")
    return f"Store indices and values: `rs.Sparse({dtype!r}, size=...)`; a class as its number: `rs.Label`."


def _bytes_of_a_zero(feature: FeatureFacts) -> int:
    """What a zero takes; 0 where no sparse vector could take the place of the feature, as of masks and images."""
    if feature.raw_dtype:
        size = np.dtype(feature.raw_dtype).itemsize
        return size if size > 1 and feature.raw_dtype in ("float16", "float32", "int16", "int32", "int64") else 0
    return 4 if feature.kind == "float" else 1


def _integer_pixels(feature: FeatureFacts) -> str | None:
    numbers = feature.numbers
    if feature.kind != "int64" or numbers is None or numbers.min is None or numbers.max is None:
        return None
    if feature.lengths is None or feature.lengths.min < 64 or not named_like_images(feature.name):
        return None
    return "integers from 0 to 255" if numbers.min >= 0 and 128 < numbers.max <= 255 else None


def _bytes_for(low: float, high: float) -> int:
    for width in (1, 2, 4):
        if low >= -(2 ** (8 * width - 1)) and high < 2 ** (8 * width - 1):
            return width
    return 8


def _before_compression(facts: DatasetFacts) -> str:
    return ", before compression" if any(shard.compression for shard in facts.shards) else ""

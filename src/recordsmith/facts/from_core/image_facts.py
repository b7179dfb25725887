"""Decodes images of a dataset, a sample or all of them, on several threads."""

from __future__ import annotations

import contextlib
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from recordsmith import _core
from recordsmith.errors import MissingExtraError, RecordsmithError
from recordsmith.facts.divided_survey import Machines
from recordsmith.facts.similar_images import SimilarImages, content_digest, perceptual_hash
from recordsmith.facts.sound_records import sound_records
from recordsmith.facts.value_facts import FeatureFacts, ImageFacts, Place
from recordsmith.images import ImageError, decode_image
from recordsmith.images.codec import header_of, opencv
from recordsmith.storage.ranged.opening import record_bytes
from recordsmith.workers.progress_display import OnPhase
from recordsmith.workers.threads import in_order, thread_pool

__all__ = ["Name", "chosen_records", "decode_images", "images_in"]

_HEADER_BYTES = 12
_MOST_PLACES = 5
_NOT_SUPPORTED = 2  # an answer of JpegDecoder.open
_FEW_PIXELS = 4  # on a side
_AHEAD = 8  # records under way for each thread

Name = tuple[int, int, int]
"""The place of a record in the core: the number of the file, the number of the record in it, and its offset."""

_Seen = tuple[tuple[str, bool], str | None, bool, int | None, bytes]
"""Of an image: its feature, why it cannot be decoded, whether it has one colour, its hash, the digest of its bytes."""


@dataclass(slots=True)
class _Tally:
    """The results of decoding one feature's images."""

    decoded: int = 0
    undecodable: int = 0
    places: list[Place] = field(default_factory=list)
    black: int = 0


def decode_images(
    features: Sequence[FeatureFacts],
    counted: _core.SplitSummary,
    files: Sequence[str],
    *,
    decode: str,
    similar: SimilarImages | None,
    threads: int,
    machines: Machines | None = None,
    progress: OnPhase = lambda _phase, _done, _total: None,
) -> tuple[FeatureFacts, ...]:
    """Return the features with the results of decoding their images.

    Args:
        features: the features over all splits.
        counted: the same as the core counted them, with its sample of the images.
        files: the files, in order.
        decode: "sample", "all" or "none".
        similar: takes the perceptual hash of every image, where wanted.
        threads: how many decode side by side.
        machines: other machines, which decode the images of one file each, if all are looked at.
        progress: called now and then with the phase, the records done and those in all.
    """
    wanted = [feature for feature in features if feature.images is not None]
    if not wanted or (decode == "none" and similar is None):
        return tuple(features)
    keys = {(feature.name, feature.in_steps) for feature in wanted}
    tallies = {key: _Tally() for key in keys}
    everything = decode == "all" or similar is not None
    sample = _sample(counted, keys)
    chosen = None if everything else {name for values in sample.values() for name, _, _ in values}
    look = _Look(decode, sample, only_sample=chosen is not None, hashed=similar is not None)
    in_all = counted.examples if chosen is None else len(chosen)
    done = 0
    try:
        with thread_pool(threads) as pool:
            looks: Iterator[Iterable[tuple[Name, list[_Seen]]]]
            if machines is not None and everything:
                looks = machines.in_order(look.at_file, enumerate(files))
            else:
                records = _all_records(files) if chosen is None else chosen_records(files, chosen)
                looks = iter([in_order(pool, look, records, ahead=max(1, threads * _AHEAD))])
            for name, seen in chain.from_iterable(looks):
                _add(tallies, files, name, seen, similar)
                done += 1
                progress("decoding images", min(done, in_all), in_all)
    except MissingExtraError:
        if everything:  # asked for by name
            raise
        return tuple(features)
    return tuple(_completed(feature, tallies.get((feature.name, feature.in_steps)), decode) for feature in features)


@dataclass(frozen=True)
class _Look:
    """Looks at the images of records.

    Attributes:
        decode: which images to decode: "sample", "all" or "none".
        sample: of each feature, the images that the core has sampled.
        only_sample: look at no others.
        hashed: compute the perceptual hash of every image.
    """

    decode: str
    sample: dict[tuple[str, bool], set[tuple[Name, int, int]]]
    only_sample: bool
    hashed: bool

    def __call__(self, record: tuple[Name, bytes]) -> tuple[Name, list[_Seen]]:
        """Look at the images of one record."""
        name, payload = record
        seen = []
        for key, position, data in images_in(payload, set(self.sample)):
            sampled = (name, *position) in self.sample[key]
            if self.only_sample and not sampled:
                continue
            full = self.decode == "all" or (self.decode == "sample" and sampled)
            content = content_digest(data) if self.hashed else b""
            seen.append((key, *_look_at(data, full=full, hashed=self.hashed), content))
        return name, seen

    def at_file(self, numbered: tuple[int, str]) -> list[tuple[Name, list[_Seen]]]:
        """Look at the images of one file, given with its number."""
        number, path = numbered
        return [self(((number, record, offset), payload)) for offset, record, payload in sound_records(path)]


def _add(
    tallies: dict[tuple[str, bool], _Tally],
    files: Sequence[str],
    name: Name,
    seen: Sequence[_Seen],
    similar: SimilarImages | None,
) -> None:
    for key, reason, flat, hashed, content in seen:
        tally = tallies[key]
        if reason != "":  # decoded in full: None, or why it could not be
            tally.decoded += 1
            tally.black += flat
        if reason:
            tally.undecodable += 1
            if len(tally.places) < _MOST_PLACES:
                tally.places.append(Place(files[name[0]], name[1], name[2], reason))
        if hashed is not None and similar is not None:
            similar.add(hashed, content, name)


def _look_at(data: bytes, *, full: bool, hashed: bool) -> tuple[str | None, bool, int | None]:
    """Return why an image cannot be decoded ("" if that was not tried), whether it has one colour, and its hash."""
    reason: str | None = ""
    flat = False
    if full:
        reason = None
        try:
            if not _is_sound_jpeg_of_colours(data):
                pixels = decode_image(data)
                flat = bool((pixels == pixels[:1, :1]).all())
        except ImageError as error:
            return str(error), False, None
    return reason, flat, perceptual_hash(data) if hashed else None


def _is_sound_jpeg_of_colours(data: bytes) -> bool:
    """Whether an image is a JPEG that decodes without an error and has more than one colour; False if unsure.

    All of its data are gone through, but only a few pixels are computed, which takes half of the time.
    """
    opencv()  # without it no images are looked at, whatever their format
    header = header_of(data)
    decoder = _core.JpegDecoder()
    if header.format != "jpeg" or decoder.open(np.frombuffer(data, np.uint8)) == _NOT_SUPPORTED:
        return False
    some = np.empty((_FEW_PIXELS, _FEW_PIXELS, 3), np.uint8)
    whole = (0, 0, decoder.height, decoder.width)
    if not decoder.fill(some, part=whole, planar=False, flips=(False, False), added=0, scale=1):
        return False
    return bool((some != some[:1, :1]).any())


def _completed(feature: FeatureFacts, tally: _Tally | None, decode: str) -> FeatureFacts:
    if tally is None or feature.images is None:
        return feature
    images: ImageFacts = replace(
        feature.images,
        decoded=tally.decoded,
        decoded_all=decode == "all" or tally.decoded == sum(feature.images.formats.values()) > 0,
        undecodable=tally.undecodable,
        undecodable_places=tuple(tally.places),
        black=tally.black,
    )
    return replace(feature, images=images)


def _sample(
    counted: _core.SplitSummary, keys: set[tuple[str, bool]]
) -> dict[tuple[str, bool], set[tuple[Name, int, int]]]:
    """Return, for each feature, the images that the core has sampled."""
    sampled: dict[tuple[str, bool], set[tuple[Name, int, int]]] = {}
    for feature in counted.features:
        key = feature.key, feature.in_steps
        if key in keys and feature.strings is not None:
            sampled[key] = set(feature.strings.images.sample)
    return sampled


def images_in(payload: bytes, keys: set[tuple[str, bool]]) -> Iterator[tuple[tuple[str, bool], tuple[int, int], bytes]]:
    """Give the values of the wanted features, with their step and their number in it."""
    try:
        context, lists = _core.decode_sequence_example(payload)
    except RecordsmithError:
        return
    for key in keys:
        name, in_steps = key
        for step, values in enumerate(lists.get(name, ()) if in_steps else [context.get(name, ())]):
            if isinstance(values, np.ndarray):
                continue
            for position, data in enumerate(values):
                if _core.read_image_header(data) is not None:
                    yield key, (step, position), data


def chosen_records(files: Sequence[str], names: Iterable[Name]) -> Iterator[tuple[Name, bytes]]:
    """Give the payloads of some records, file by file."""
    by_file: dict[int, list[Name]] = defaultdict(list)
    for name in sorted(set(names)):
        by_file[name[0]].append(name)
    for file, wanted in by_file.items():
        with contextlib.suppress(RecordsmithError, OSError):  # changed since it was surveyed
            if _core.detect_compression(files[file]) == "none":
                yield from _at_offsets(files[file], wanted)
            else:
                yield from _on_the_way(files[file], wanted)


def _at_offsets(path: str, names: Sequence[Name]) -> Iterator[tuple[Name, bytes]]:
    with record_bytes(path) as read:
        for name in names:
            header = read(name[2], _HEADER_BYTES)
            if len(header) < _HEADER_BYTES:
                return
            (length,) = struct.unpack_from("<Q", header)
            yield name, read(name[2] + _HEADER_BYTES, length)


def _on_the_way(path: str, names: Sequence[Name]) -> Iterator[tuple[Name, bytes]]:
    wanted = {name[2]: name for name in names}
    for offset, _, payload in sound_records(path):
        if offset in wanted:
            yield wanted.pop(offset), payload
        if not wanted:
            return


def _all_records(files: Sequence[str]) -> Iterator[tuple[Name, bytes]]:
    for number, path in enumerate(files):
        for offset, record, payload in sound_records(path):
            yield (number, record, offset), payload

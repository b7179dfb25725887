"""Finds images that look alike although their bytes differ, with a perceptual hash of 64 bits.

The hash (dHash) says of each of 8 × 8 places whether the image, shrunk to 9 × 8 and in grey, becomes brighter to the
right. Resizing, compressing and small changes of colour leave nearly all of its bits. Two images look alike if at most
three of them differ; one of the four quarters is then the same in both, which is what they are looked up by.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from recordsmith.facts.dataset_facts import DuplicateFacts, DuplicateGroup
from recordsmith.facts.from_core.survey_places import FilePlaces
from recordsmith.images import ImageError
from recordsmith.images.codec import decode_grey, header_of, opencv

__all__ = ["SimilarImages", "content_digest", "perceptual_hash"]

_NEAR = 3  # bits
_BANDS = 4
_BAND_BITS = 16
_PLAIN = 4.0  # an image whose grey values deviate less has nothing to compare
_MOST_IN_BAND = 2000  # hashes with a quarter in common that are compared pair by pair
_MOST_GROUPS = 20
_MOST_PLACES = 5


def perceptual_hash(data: bytes) -> int | None:
    """Return the 64 bits of an image; None if it cannot be decoded, or has no visible structure.

    >>> import numpy as np
    >>> from recordsmith.images import encode_image
    >>> image = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8)
    >>> perceptual_hash(encode_image(image, "png")) == perceptual_hash(encode_image(image, "jpeg"))
    True
    """
    cv2 = opencv()
    try:
        header = header_of(data)
        is_large = header.format == "jpeg" and min(header.height, header.width) >= 256
        grey = decode_grey(data, header, reduction=8 if is_large else 1)
    except ImageError:
        return None
    small = cv2.resize(grey, (9, 8), interpolation=cv2.INTER_AREA).astype(np.int16)
    if small.std() < _PLAIN:
        return None
    bits = small[:, 1:] > small[:, :-1]
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def content_digest(data: bytes) -> bytes:
    """Return what is equal for two images with the same bytes."""
    return hashlib.blake2b(data, digest_size=8).digest()


@dataclass(slots=True)
class _ImagesOfHash:
    """One hash, and the images that have it."""

    count: int = 0
    contents: Counter[bytes] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    contents_in_splits: Counter[tuple[bytes, str]] = field(default_factory=Counter)
    names: list[tuple[int, int, int]] = field(default_factory=list)


class SimilarImages:
    """Collects hashes, then finds the images that look alike.

    >>> similar = SimilarImages([None])
    >>> similar.add(0b0111, content_digest(b"one"), (0, 0, 0))
    >>> similar.add(0b0110, content_digest(b"two"), (0, 1, 99))
    >>> similar.added_to(DuplicateFacts(), FilePlaces(["a.tfrecord"])).similar
    1
    """

    def __init__(self, splits: Sequence[str | None]) -> None:
        self._splits = splits  # of the files
        self._images: dict[int, _ImagesOfHash] = defaultdict(_ImagesOfHash)

    def add(self, bits: int, content: bytes, name: tuple[int, int, int]) -> None:
        """Add one image, by its hash and the digest of its bytes, of the record with this place in the core."""
        images = self._images[bits]
        split = self._splits[name[0]] or ""
        images.count += 1
        images.contents[content] += 1
        images.splits[split] += 1
        images.contents_in_splits[content, split] += 1
        if len(images.names) < _MOST_PLACES and (images.contents[content] == 1):
            images.names.append(name)

    def added_to(self, duplicates: DuplicateFacts, places: FilePlaces) -> DuplicateFacts:
        """Return the duplicates with the similar images."""
        similar = across = 0
        groups = _Groups()
        for bits, images in self._images.items():
            pairs, apart = _pairs_within(images)
            similar += pairs
            across += apart
            if pairs:
                groups.join(bits, bits, 0)
        for first, second in self._near_hashes():
            one, other = self._images[first], self._images[second]
            similar += one.count * other.count
            together = sum(count * other.splits[split] for split, count in one.splits.items())
            across += one.count * other.count - together
            groups.join(first, second, (first ^ second).bit_count())
        found = [self._group(members, distance, places) for members, distance in groups.all()]
        found.sort(key=lambda group: -group.count)
        return replace(duplicates, similar=similar, similar_across=across, similar_groups=tuple(found[:_MOST_GROUPS]))

    def _near_hashes(self) -> Iterator[tuple[int, int]]:
        """Give each pair of different hashes that are near each other, once."""
        mask = (1 << _BAND_BITS) - 1
        for band in range(_BANDS):
            by_quarter: dict[int, list[int]] = defaultdict(list)
            for bits in self._images:
                by_quarter[bits >> band * _BAND_BITS & mask].append(bits)
            for members in by_quarter.values():
                for first, second in itertools.combinations(members[:_MOST_IN_BAND], 2):
                    differing = first ^ second
                    earlier = any(not differing >> before * _BAND_BITS & mask for before in range(band))
                    if differing.bit_count() <= _NEAR and not earlier:
                        yield first, second

    def _group(self, members: Iterable[int], distance: int, places: FilePlaces) -> DuplicateGroup:
        same_hash = [self._images[bits] for bits in members]
        names = sorted(name for images in same_hash for name in images.names)[:_MOST_PLACES]
        return DuplicateGroup(
            places=tuple(places.place_of(name) for name in names),
            count=sum(images.count for images in same_hash),
            splits=tuple(sorted({split for images in same_hash for split in images.splits if split})),
            distance=distance,
        )


def _pairs_within(images: _ImagesOfHash) -> tuple[int, int]:
    """Count the pairs of images with one hash and different bytes, and those of them that are in two splits."""

    def pairs(counts: Iterable[int]) -> int:
        return sum(count * (count - 1) // 2 for count in counts)

    different = pairs([images.count]) - pairs(images.contents.values())
    in_one_split = pairs(images.splits.values()) - pairs(images.contents_in_splits.values())
    return different, different - in_one_split


class _Groups:
    """Hashes joined to groups, and the largest distance at which any two were joined."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}
        self._distances: dict[int, int] = {}

    def join(self, first: int, second: int, distance: int) -> None:
        """Put two into one group."""
        one, other = self._root(first), self._root(second)
        self._parents[other] = one
        self._distances[one] = max(distance, self._distances.get(one, 0), self._distances.get(other, 0))

    def all(self) -> Iterator[tuple[list[int], int]]:
        """Give each group and its distance."""
        groups: dict[int, list[int]] = defaultdict(list)
        for member in self._parents:
            groups[self._root(member)].append(member)
        for root, members in groups.items():
            yield members, self._distances[root]

    def _root(self, member: int) -> int:
        self._parents.setdefault(member, member)
        while self._parents[member] != member:
            self._parents[member] = self._parents[self._parents[member]]
            member = self._parents[member]
        return member

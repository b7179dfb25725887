"""Groups the members of a tar file to samples: consecutive members with the same name up to the first dot."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from recordsmith.formats.images.listing import readable_name
from recordsmith.formats.webdataset.tar_members import TarMember

__all__ = ["Sample", "expand_braces", "feature_name", "group_samples"]

_IMAGES = frozenset({"jpg", "jpeg", "png", "webp", "bmp", "gif"})
_RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")


@dataclass(slots=True)
class Sample:
    """One sample: its key, and its members by feature.

    Attributes:
        key: what the members' names have in common, with the folder.
        members: by the name of the feature.
        twice: a feature that two members have.
    """

    key: str
    members: dict[str, TarMember] = field(default_factory=dict)
    twice: str | None = None

    @property
    def size(self) -> int:
        """The bytes of all members."""
        return sum(member.size for member in self.members.values())


def feature_name(extension: str) -> str:
    """Return the feature that a member with this extension is: images are `image`, `cls` is `label`.

    >>> [feature_name(extension) for extension in ("jpg", "PNG", "cls", "txt", "seg.png")]
    ['image', 'image', 'label', 'txt', 'seg.png']
    """
    extension = extension.lower()
    return "image" if extension in _IMAGES else "label" if extension == "cls" else extension


def group_samples(members: Iterable[TarMember]) -> Iterator[Sample]:
    """Put neighbours together. Hidden files and files without an extension belong to no sample.

    >>> names = ["a.jpg", "a.cls", "dir/b.jpg", "dir/b.seg.png", "README"]
    >>> [(sample.key, list(sample.members)) for sample in group_samples(TarMember(name, 0, 1) for name in names)]
    [('a', ['image', 'label']), ('dir/b', ['image', 'seg.png'])]
    """
    sample: Sample | None = None
    for member in members:
        folder, base = os.path.split(readable_name(member.name))
        stem, dot, extension = base.partition(".")
        if not stem or not dot or not extension:
            continue
        key = os.path.join(folder, stem).removeprefix("./")
        if sample is None or sample.key != key:
            if sample is not None:
                yield sample
            sample = Sample(key)
        name = feature_name(extension)
        if name in sample.members:
            sample.twice = name
        sample.members[name] = member
    if sample is not None:
        yield sample


def expand_braces(path: str) -> list[str]:
    """Write out a range of numbers, as names of shards are often given.

    >>> expand_braces("train-{008..010}.tar")
    ['train-008.tar', 'train-009.tar', 'train-010.tar']
    >>> expand_braces("train.tar")
    ['train.tar']
    """
    found = _RANGE.search(path)
    if found is None or os.path.exists(path):
        return [path]
    first, last = found.groups()
    numbers = range(int(first), int(last) + 1)
    written = [f"{path[: found.start()]}{number:0{len(first)}}{path[found.end() :]}" for number in numbers]
    return [one for name in written for one in expand_braces(name)]

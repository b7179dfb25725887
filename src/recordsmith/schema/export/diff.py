"""Compares two schemas, and says whether records written with the first can be read with the second.

Readable means: without an error, and with the meaning that the values had. A matrix of (2, 3) read as (3, 2), or a
class 0 that was "cat" and is "dog" now, would raise nothing, and is not readable here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from recordsmith.schema import Audio, Feature, Image, Label, Labels, Packed, Sequence, Sparse, Steps, Text
from recordsmith.schema.features.detection.geometry import SplitTensor
from recordsmith.schema.features.numeric import NumericFeature
from recordsmith.schema.features.strings import StringFeature

__all__ = ["FeatureChange", "SchemaDiff", "diff_of"]

Shape = tuple[int | None, ...]
_LONGEST = 160  # characters of a feature or a setting in the text
_ONE: tuple[Shape, ...] = ((), (1,), (None,))  # shapes that one value has


@dataclass(frozen=True)
class FeatureChange:
    """A feature that both schemas have, and that is not the same in both.

    Attributes:
        old, new: the feature in each.
        settings: the settings that differ, with both values in words.
        problem: why records of the old one cannot be read with the new one; None if they can.
    """

    old: Feature
    new: Feature
    settings: Mapping[str, tuple[str, str]]
    problem: str | None


@dataclass(frozen=True)
class SchemaDiff:
    """What the second of two schemas adds, lacks and changes. It is true if there is any difference.

    Attributes:
        added, removed: features that only the second, or only the first has.
        changed: features that both have, and that differ.
        problems: why records of the first cannot be read with the second, by feature.
    """

    added: Mapping[str, Feature]
    removed: Mapping[str, Feature]
    changed: Mapping[str, FeatureChange]
    problems: Mapping[str, str]

    @property
    def compatible(self) -> bool:
        """Whether records written with the first schema can be read with the second."""
        return not self.problems

    @property
    def verdict(self) -> str:
        """Whether they can, in a sentence."""
        return f"Records of the first {'can' if self.compatible else 'cannot'} be read with the second."

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __str__(self) -> str:
        if not self:
            return "The schemas are the same."
        lines = [f"- {name}: {_short(feature)}" for name, feature in self.removed.items()]
        lines += [f"+ {name}: {_short(feature)}" for name, feature in self.added.items()]
        for name, change in self.changed.items():
            lines.append(f"~ {name}: {_short(change.old)}")
            lines.append(f"  {' ' * len(name)}  {_short(change.new)}")
            lines.extend(f"    {key}: {_short(old)} -> {_short(new)}" for key, (old, new) in change.settings.items())
        lines.append(self.verdict)
        lines += [f"    {name}: {problem}" for name, problem in self.problems.items()]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the differences as JSON-ready values."""
        changed = {
            name: {
                "old": change.old.to_json(),
                "new": change.new.to_json(),
                "settings": {key: list(values) for key, values in change.settings.items()},
            }
            for name, change in self.changed.items()
        }
        return {
            "different": bool(self),
            "compatible": self.compatible,
            "added": {name: feature.to_json() for name, feature in self.added.items()},
            "removed": {name: feature.to_json() for name, feature in self.removed.items()},
            "changed": changed,
            "problems": dict(self.problems),
        }


def diff_of(old: Mapping[str, Feature], new: Mapping[str, Feature]) -> SchemaDiff:
    """Compare two schemas; the order of their features does not count.

    >>> from recordsmith.schema import Bytes
    >>> print(diff_of({"a": Bytes(), "b": Text()}, {"a": Text(), "b": Text()}))
    ~ a: Bytes()
         Text()
        type: bytes -> text
    Records of the first cannot be read with the second.
        a: the bytes may not be UTF-8 text
    """
    added = {name: feature for name, feature in new.items() if name not in old}
    removed = {name: feature for name, feature in old.items() if name not in new}
    changed = {}
    problems = {}
    for name, feature in old.items():
        if name in new and feature != new[name]:
            problem = _problem(feature, new[name])
            changed[name] = FeatureChange(feature, new[name], _settings(feature, new[name]), problem)
            if problem is not None:
                problems[name] = problem
    for name, feature in added.items():
        if not feature.optional:
            problems[name] = "it is required, but the records do not have it"
    return SchemaDiff(added, removed, changed, problems)


def _settings(old: Feature, new: Feature) -> dict[str, tuple[str, str]]:
    """List the settings that differ; those that only one type has count only where the types are the same."""
    if isinstance(old, Steps) and isinstance(new, Steps) and old.feature != new.feature:
        inner = {f"step {name}": values for name, values in _settings(old.feature, new.feature).items()}
        return {**inner, **_of_fields(old, new, without={"feature"})}
    if type(old) is type(new):
        return _of_fields(old, new, without=set())
    common = {entry.name for entry in fields(old)} & {entry.name for entry in fields(new)}
    without = {entry.name for entry in fields(old)} - common
    return {"type": (old.type_name, new.type_name), **_of_fields(old, new, without=without)}


def _of_fields(old: Feature, new: Feature, *, without: set[str]) -> dict[str, tuple[str, str]]:
    pairs = {
        entry.name: (_shown(getattr(old, entry.name)), _shown(getattr(new, entry.name)))
        for entry in fields(old)
        if entry.name not in without
    }
    return {name: values for name, values in pairs.items() if values[0] != values[1]}


def _short(value: object) -> str:
    """Write a feature or a setting in one line that can be read: a thousand class names cannot."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, np.dtype) else repr(value)


def _problem(old: Feature, new: Feature) -> str | None:
    """Say why values of one feature cannot be read as the other; None if they can."""
    if old.optional and not new.optional:
        return "it is now required, but some records may lack it"
    if isinstance(old, Steps) or isinstance(new, Steps):
        if isinstance(old, Steps) and isinstance(new, Steps):
            return _problem(old.feature, new.feature)
        return "steps are stored in a different part of the record"
    if isinstance(old, Sequence) and isinstance(new, Sequence):
        return _problem(old.feature, new.feature) or _as_shape((old.length,), (new.length,))
    if isinstance(old, Sequence) or isinstance(new, Sequence):
        return f"{old.type_name} and {new.type_name} are declared differently"
    if isinstance(new, Label):
        return _as_label(old, new)
    if isinstance(new, (Image, Audio)):
        return _as_encoded(old, new)
    if isinstance(new, StringFeature):
        return _as_strings(old, new)
    if isinstance(new, NumericFeature):
        return _as_numbers(old, new)
    return _other(old, new)


def _other(old: Feature, new: Feature) -> str | None:
    if type(old) is not type(new):
        return f"{old.type_name} and {new.type_name} are stored differently"
    if isinstance(old, Packed) and isinstance(new, Packed) and list(old.parts.items()) != list(new.parts.items()):
        return "the parts have different positions"
    if isinstance(old, Sparse) and isinstance(new, Sparse):
        if old.dtype != new.dtype:
            return f"{old.dtype} values are not {new.dtype}"
        return f"the size was {old.size} and is now {new.size}" if old.size > new.size else None
    return None


def _as_label(old: Feature, new: Label) -> str | None:
    if not isinstance(old, Label):
        return f"{old.type_name} values may not be class numbers"
    return _as_classes(old.names, new.names)


def _as_classes(old: tuple[str, ...], new: tuple[str, ...]) -> str | None:
    for number, (before, now) in enumerate(zip(old, new, strict=False)):
        if before != now:
            return f"class {number} was {before!r} and is now {now!r}"
    return f"there were {len(old)} classes and are now {len(new)}" if len(old) > len(new) else None


def _as_encoded(old: Feature, new: Image | Audio) -> str | None:
    if type(old) is not type(new):
        return f"{old.type_name} values may not be {'images' if isinstance(new, Image) else 'sounds'}"
    for setting in ("encoding", "height", "width") if isinstance(new, Image) else ("encoding", "rate", "channels"):
        before, now = getattr(old, setting), getattr(new, setting)
        if now not in (None, before):
            return f"{setting} may differ from {now}"
    return None  # decoders of images convert to the channels that are asked for


def _as_strings(old: Feature, new: StringFeature) -> str | None:
    columns = old.plan("")
    if len(columns) > 1 or columns[0].kind != "bytes":
        return f"{old.type_name} is not stored as strings"
    if isinstance(new, Text) and not isinstance(old, Text):
        return "the bytes may not be UTF-8 text"
    return _as_shape(old.shape if isinstance(old, StringFeature) else (), new.shape)


def _as_numbers(old: Feature, new: NumericFeature) -> str | None:
    if isinstance(old, Label):
        held = new.dtype.kind in "iu" and old.size - 1 <= np.iinfo(new.dtype).max
        return None if held and new.stored_as == "list" and new.row_shape in _ONE else "it holds class numbers"
    if not isinstance(old, NumericFeature):
        return f"{old.type_name} is not stored as numbers"
    meaning = _as_places_or_classes(old, new)
    if meaning is not None:
        return meaning
    if (old.stored_as, old.packing) != (new.stored_as, new.packing):
        return f"they are stored as {old.packing or old.stored_as}, not as {new.packing or new.stored_as}"
    if not _holds(new, old.dtype):
        return f"{old.dtype} values are not {new.dtype}"
    if (old.row_shape.count(None) > 1) != (new.row_shape.count(None) > 1):
        return "several variable dimensions are stored with their sizes, but a single one is not"
    return _as_shape(old.row_shape, new.row_shape)


def _as_places_or_classes(old: NumericFeature, new: NumericFeature) -> str | None:
    """Say why numbers cannot be read as boxes, points or classes, or as what these are stored as."""
    if isinstance(old, SplitTensor) or isinstance(new, SplitTensor):
        if isinstance(new, SplitTensor) and type(old) is not type(new):
            return f"{old.type_name} values may not be {new.type_name}"
        if getattr(old, "split", False) != getattr(new, "split", False):
            return "the coordinates are stored under other names"
    if isinstance(new, Labels):
        if not isinstance(old, Labels):
            return f"{old.type_name} values may not be class numbers"
        return _as_classes(old.names, new.names)
    return None


def _holds(feature: NumericFeature, dtype: np.dtype[Any]) -> bool:
    """Say whether a feature reads all numbers that one of another dtype, stored in the same way, can have written."""
    if dtype == feature.dtype or feature.stored_as == "bytes":
        return dtype == feature.dtype
    if (dtype.kind == "f") != (feature.dtype.kind == "f"):
        return False
    return feature.dtype.name == "int64" or bool(np.can_cast(dtype, feature.dtype, "safe"))  # lists are of int64


def _as_shape(old: Shape, new: Shape) -> str | None:
    if old == () and new in _ONE:
        return None
    fits = len(old) == len(new) and all(now in (None, before) for before, now in zip(old, new, strict=True))
    return None if fits else f"the shape was {old} and is now {new}"

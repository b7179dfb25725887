"""All records that a finding of `check` is about, not only the few that it names.

Where the rule can be said as a condition of `--where`, it is one; otherwise the records are looked at one by one in the
background, or compared by the digests of their content. Rules about whole files, about bytes between records, or about
images of a sample have no such records: of them, those that the finding names are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.copying.frames import frames_of
from recordsmith.dataset.layout import DatasetLayout
from recordsmith.errors import PipelineError, RecordsmithError
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.images import ImageError, read_header
from recordsmith.images.codec import decode_image
from recordsmith.making.sources.tfrecord_files import TFRecordsSource
from recordsmith.query.where import compile_where
from recordsmith.rules import Finding
from recordsmith.schema import Feature, Label, Scalar, Schema, Steps
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.data.shown_record import ShownRecord
from recordsmith.viewer.data.state import quoted_name

__all__ = ["RecordFinder", "condition_of", "finder_of", "predicate_of"]

_BLOCK = 128  # records that are read at once
_MOST_COMPARED = 50_000_000  # records whose digests are kept, in 8 bytes each

_ABOUT_ALL = ("V002", "V004", "V005", "V014", "S007")  # rules about a feature as a whole, and not about single records

RecordFinder = Callable[[OpenedDataset, Callable[[int], object]], Iterator[int]]
Types = Mapping[str, Feature | None]


# --- conditions ---


def condition_of(finding: Finding, types: Types) -> str | None:
    """Return the condition of `--where` that says what a finding says; None if there is none.

    >>> from recordsmith.rules import Location, Severity
    >>> condition_of(Finding("V019", "", Severity.INFO, "", Location(feature="x")), {"x": Scalar("int64")})
    '`x` is missing'
    """
    name = finding.location.feature
    if name is None or "`" in name or types.get(name) is None:
        return None
    make = _CONDITIONS.get(finding.code)
    return None if make is None else make(quoted_name(name), types[name], finding.evidence)


def _not_finite(name: str, feature: Feature | None, _: Mapping[str, Any]) -> str | None:
    if isinstance(feature, Steps):
        return None
    return f"not (-1e999 < {name} < 1e999)" if isinstance(feature, Scalar) else f"not all(abs({name}) < 1e999)"


def _negative(name: str, feature: Feature | None, _: Mapping[str, Any]) -> str | None:
    return None if isinstance(feature, Steps) else f"{name} < 0" if _is_single(feature) else f"any({name} < 0)"


def _outside_classes(name: str, feature: Feature | None, _: Mapping[str, Any]) -> str | None:
    return f"{name} < 0 or {name} >= {feature.size}" if isinstance(feature, Label) else None


def _one_of(key: str) -> Callable[[str, Feature | None, Mapping[str, Any]], str | None]:
    def make(name: str, feature: Feature | None, evidence: Mapping[str, Any]) -> str | None:
        listed = evidence.get(key)
        values = [one for part in listed or () for one in ([part] if isinstance(part, str) else part)]
        if not values or not all(isinstance(one, str) for one in values) or not _is_single(feature):
            return None
        known = feature.names if isinstance(feature, Label) else values
        return f"{name} in [{', '.join(repr(one) for one in values if one in known)}]"

    return make


def _is_single(feature: Feature | None) -> bool:
    return not isinstance(feature, Steps) and getattr(feature, "shape", ()) in ((), None)


_CONDITIONS: dict[str, Callable[[str, Feature | None, Mapping[str, Any]], str | None]] = {
    **dict.fromkeys(("V019", "S001", "S008"), lambda name, _, __: f"{name} is missing"),
    **dict.fromkeys(("S002", *_ABOUT_ALL), lambda name, _, __: f"{name} is not missing"),
    "V001": _not_finite,
    "V013": _negative,
    "S006": _outside_classes,
    "V006": _one_of("variants"),
    "V007": _one_of("values"),
    "D002": _one_of("classes"),
}


# --- records that are looked at one by one ---


def finder_of(finding: Finding, facts: DatasetFacts | None) -> RecordFinder | None:
    """Return what finds the records of a finding; None if only those can be shown that it names."""
    if finding.code in _COMPARED:
        return _COMPARED[finding.code](finding, facts)
    make = _PREDICATES.get(finding.code)
    if make is None:
        return None
    test = make(finding)

    def find(dataset: OpenedDataset, on_searched: Callable[[int], object]) -> Iterator[int]:
        start = 0
        while start < dataset.records:
            numbers = range(start, min(start + _BLOCK, dataset.records))
            on_searched(start)
            for record in dataset.read(numbers):
                if test(record):
                    yield record.number
            start = numbers.stop

    return find


Test = Callable[[ShownRecord], bool]


def predicate_of(finding: Finding, types: Types) -> Test | None:
    """Return what says whether a finding is about a record; None if that cannot be said of a single record."""
    condition = condition_of(finding, types) if finding.code not in _ABOUT_ALL else None
    if condition is None:
        return _PREDICATES[finding.code](finding) if finding.code in _PREDICATES else None
    where = compile_where(condition, types)

    def test(record: ShownRecord) -> bool:
        try:
            return record.row is not None and where.matches(record.values)
        except PipelineError:  # the record has other types than the dataset
            return False

    return test


def _values(test: Callable[[Any], bool]) -> Callable[[Finding], Test]:
    """Test every value of the feature that a finding is about."""

    def make(finding: Finding) -> Test:
        name = finding.location.feature or ""
        return lambda record: any(test(one) for one in _flat(record.values.get(name)))

    return make


def _flat(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object):
        return [inner for one in value for inner in _flat(one)]
    return (value,)


def _is_empty(finding: Finding) -> Test:
    name = finding.location.feature or ""

    def test(record: ShownRecord) -> bool:
        value = record.values.get(name)
        return record.error is None and (value is None or (hasattr(value, "__len__") and not len(value)))

    return test


def _misfits(finding: Finding) -> Test:
    name = finding.location.feature
    return lambda record: any(problem.feature in (name, None) for problem in record.problems)


def _is_not_finite(value: Any) -> bool:
    array = np.asarray(value)
    return array.dtype.kind == "f" and not bool(np.isfinite(array).all())


def _has_space_around(value: Any) -> bool:
    return isinstance(value, (str, bytes)) and value != value.strip()


def _is_broken_text(value: Any) -> bool:
    try:
        text = value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return True
    return isinstance(text, str) and any(0xDC80 <= ord(char) <= 0xDCFF for char in text)


def _is_undecodable(value: Any) -> bool:
    if not isinstance(value, bytes) or read_header(value) is None:
        return False
    try:
        decode_image(value)
    except ImageError:
        return True
    return False


def _has_one_colour(value: Any) -> bool:
    try:
        pixels = decode_image(value) if isinstance(value, bytes) else None
    except ImageError:
        return False
    return pixels is not None and bool((pixels == pixels.reshape(-1, pixels.shape[-1])[0]).all())


def _has_rare_channels(finding: Finding) -> Test:
    counts = finding.evidence.get("channels") or {}
    usual = max(counts, key=lambda channels: counts[channels], default="")

    def test(value: Any) -> bool:
        header = read_header(value) if isinstance(value, bytes) else None
        return header is not None and str(header.channels) != usual

    return _values(test)(finding)


_PREDICATES: dict[str, Callable[[Finding], Test]] = {
    "F002": lambda _: lambda record: record.error is not None,
    "V001": _values(_is_not_finite),
    "V003": _is_empty,
    "V007": _values(_has_space_around),
    "V008": _values(_is_undecodable),
    "V009": _values(lambda value: not isinstance(value, bytes) or read_header(value) is None),
    "V015": _values(_is_broken_text),
    "V016": _values(_has_one_colour),
    "V017": _has_rare_channels,
    "W001": lambda _: lambda record: record.row is not None and record.row.features is None,
    **dict.fromkeys(("S003", "S004", "S005"), _misfits),
}


# --- records that are equal ---


def _copies(finding: Finding, facts: DatasetFacts | None) -> RecordFinder:
    """D003 and D004: records with equal content, of one split or of two."""
    ignored = _left_out(facts)
    wanted = [one for one in (finding.location.split or "").split(", ") if one]

    def find(dataset: OpenedDataset, on_searched: Callable[[int], object]) -> Iterator[int]:
        numbers, parts, digests = _digests(dataset, on_searched, wanted, ignored)
        across = len(wanted) if finding.code == "D004" else 1
        yield from _groups(numbers, digests, lambda some: len(some) > 1 and len(set(parts[some])) >= across)

    return find


def _contradictions(finding: Finding, facts: DatasetFacts | None) -> RecordFinder:
    """D015: records that are equal but for their labels."""
    labels = () if facts is None else tuple(label.feature for label in facts.labels)
    ignored = _left_out(facts)
    wanted = [finding.location.split] if finding.location.split else []

    def find(dataset: OpenedDataset, on_searched: Callable[[int], object]) -> Iterator[int]:
        numbers, _, contents = _digests(dataset, on_searched, wanted, (*ignored, *labels))
        _, _, whole = _digests(dataset, on_searched, wanted, ignored)
        yield from _groups(numbers, contents, lambda some: len(set(whole[some])) > 1)

    return find


_COMPARED = {"D003": _copies, "D004": _copies, "D015": _contradictions}


def _left_out(facts: DatasetFacts | None) -> tuple[str, ...]:
    return () if facts is None or facts.duplicates is None else facts.duplicates.left_out


def _digests(
    dataset: OpenedDataset, on_searched: Callable[[int], object], splits: Sequence[str], ignored: Sequence[str]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Return of each record its number, the place of its split among the wanted ones, and the digest of its content."""
    of_file = {file: name for name, files in dataset.layout.splits.items() for file in files}
    numbers, parts, digests, searched = [], [], [], 0
    for start, file in zip(dataset.positions().tolist(), dataset.files, strict=False):
        split = of_file.get(file.path, "")
        if file.damaged or (splits and split not in splits):
            continue
        for chunk in TFRecordsSource(DatasetLayout((file.path,)), None, Schema({}), None).chunks():
            on_searched(searched)
            frames = frames_of(chunk)
            searched += frames.rows
            if searched > _MOST_COMPARED:
                raise RecordsmithError(f"More than {_MOST_COMPARED:,} records are too many to compare here.")
            numbers.append(start + np.asarray(frames.numbers, np.int64))
            parts.append(np.full(frames.rows, splits.index(split) if splits else 0, np.int64))
            digests.append(_core.digest_frames(frames.data, frames.offsets, list(ignored)))
    empty = np.empty(0, np.int64)
    return (
        np.concatenate([empty, *numbers]),
        np.concatenate([empty, *parts]),
        np.concatenate([empty.astype(np.uint64), *digests]),
    )


def _groups(
    numbers: npt.NDArray[np.int64],
    digests: npt.NDArray[np.uint64],
    wanted: Callable[[npt.NDArray[np.int64]], bool],
) -> Iterator[int]:
    """Give the records of the groups with equal digests that are wanted, group by group."""
    order = np.argsort(digests, kind="stable")
    edges = np.flatnonzero(np.diff(digests[order])) + 1
    bounds = np.concatenate([[0], edges, [len(order)]])
    several = np.flatnonzero(np.diff(bounds) > 1)
    found = [members for place in several.tolist() if wanted(members := order[bounds[place] : bounds[place + 1]])]
    for members in sorted(found, key=lambda some: int(some[0])):
        yield from numbers[members].tolist()

"""`rs.compare`: says what differs between two datasets, or between two splits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from recordsmith.comparing.comparison import Comparison, FeaturePair, Side, paired
from recordsmith.comparing.fingerprints import same_records
from recordsmith.comparing.rules import RULES, drifts
from recordsmith.errors import RecordsmithError, advise
from recordsmith.facts.shared_records import shared_records
from recordsmith.facts.survey import survey
from recordsmith.facts.value_facts import FeatureFacts
from recordsmith.report import Report
from recordsmith.report.sections import HistogramSection, Section, TableSection
from recordsmith.rules import Baseline, Configuration, Judge
from recordsmith.schema import Schema
from recordsmith.wording.numbers import bytes_text, number_text
from recordsmith.workers.progress_display import OnPhase, ShowProgress, phase_progress

__all__ = ["compare"]

PathLike = str | os.PathLike[str]

_MOST_CLASSES = 40
_MOST_HISTOGRAMS = 12
_MOST_FEATURES = 400


def compare(  # noqa: PLR0913 - each is a choice of its own, and all but the paths are named
    first: PathLike | Sequence[PathLike],
    second: PathLike | Sequence[PathLike] | None = None,
    *,
    splits: tuple[str | None, str | None] = (None, None),
    schema: Schema | None = None,
    records: bool = True,
    fingerprints: bool = True,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    fail_on: str | None = None,
    baseline: Baseline | PathLike | None = None,
    configuration: Configuration | None = None,
    progress: OnPhase | ShowProgress = "auto",
) -> Report:
    """Compare two datasets or two splits: features, classes, distributions, and which records both have.

    Args:
        first: the first dataset: a file, folder, glob, or list of them. It is what the second is compared with.
        second: the second dataset; None: the same one, of which two splits are compared.
        splits: the split of each that is compared; None: all.
        schema: what the records of both should contain; None: the schema next to each.
        records: also compare the records themselves, which reads both once more.
        fingerprints: if the manifests of both say that each split has the same records, say so and read no files.
        select: the rules to apply: codes, prefixes of codes, or names; by default all.
        ignore: the rules to leave out.
        fail_on: the lowest severity that makes the report not `ok`: "error", "warning", "info" or "never"; None: that
            of the configuration, or "warning".
        baseline: known findings, which are not reported again, or their file; None: that of the configuration.
        configuration: a project's settings, from `rs.load_configuration()`; None: no file is read.
        progress: as in `rs.check`.

    >>> import recordsmith as rs, tempfile
    >>> paths = [tempfile.mkdtemp() + name for name in ("/old.tfrecord", "/new.tfrecord")]
    >>> for path, scale in zip(paths, (1.0, 255.0)):
    ...     with rs.RecordWriter(path) as writer:
    ...         for row in range(100):
    ...             writer.write_example({"x": scale * (row + 1), "row": row})
    >>> report = rs.compare(*paths, progress=False)
    >>> [(finding.code, finding.name, finding.evidence["distance"] > 0.9) for finding in report.findings]
    [('C008', 'changed-distribution', True)]
    """
    of_one = second is None or _texts(first) == _texts(second)
    if of_one and (None in splits or splits[0] == splits[1]):
        raise RecordsmithError(
            "There is nothing to compare the dataset with.",
            found="the same dataset, or the same split, twice" if second is not None else None,
            expected="a second dataset, or two splits of one",
            advice=advise("Give another path, or {splits}.", splits=('splits=("train", "test")', "--split train,test")),
        )
    judge = Judge(RULES, configuration, select=select, ignore=ignore, fail_on=fail_on, baseline=baseline)
    paths = (first, first if second is None else second)
    names = _names(paths, splits)
    if fingerprints and not of_one and schema is None and splits[0] == splits[1]:
        same = same_records(paths, names, splits[0])
        if same is not None:
            return Report("compare", **judge.judgement([]), subject=f"{names[0]} and {names[1]}", sections=(same,))
    with phase_progress(shown=False if callable(progress) else progress) as bar:
        report = progress if callable(progress) else bar
        sides = [
            Side(name, survey(path, split=split, schema=schema, decode="none", progress=report), split)
            for path, split, name in zip(paths, splits, names, strict=True)
        ]
        for damage in (one for side in sides for one in side.facts.damages):
            raise RecordsmithError(
                "A file is damaged, so its lost records cannot be compared.",
                path=damage.path,
                record=damage.record,
                offset=damage.offset,
                advice="`recordsmith check` lists the damage, and `recordsmith repair` saves what can be read.",
            )
        shared = None
        if records:
            provenance = {name for side in sides if side.facts.manifest for name in side.facts.manifest.provenance}
            shared = shared_records(
                sides[0].facts.files, sides[1].facts.files, left_out=sorted(provenance), progress=report
            )
    comparison = paired(sides[0], sides[1], shared=shared, splits_of_one=of_one)
    return Report(
        "compare",
        **judge.judgement(judge.find(comparison)),
        subject=f"{sides[0].name} and {sides[1].name}",
        sections=tuple(_sections(comparison)),
    )


def _texts(paths: PathLike | Sequence[PathLike]) -> list[str]:
    return [os.fsdecode(one) for one in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]


def _names(paths: Iterable[PathLike | Sequence[PathLike]], splits: Iterable[str | None]) -> list[str]:
    """Name each side: by its split where both are of one dataset, else by its path."""
    wholes = [", ".join(_texts(path)) for path in paths]
    parts = list(splits)
    if wholes[0] == wholes[1]:
        return [str(part) for part in parts]
    return [whole if part is None else f"{whole} ({part})" for whole, part in zip(wholes, parts, strict=True)]


def _sections(pair: Comparison) -> Iterator[Section]:
    names = (pair.first.name, pair.second.name)
    sides = (pair.first.facts, pair.second.facts)
    rows: list[tuple[str | int | float | None, ...]] = [
        ("records", *(side.records for side in sides)),
        ("bytes", *(bytes_text(side.bytes) for side in sides)),
        ("files", *(len(side.files) for side in sides)),
        ("features", *(len(side.features) for side in sides)),
    ]
    if pair.shared is not None:
        both = pair.shared.both
        rows += [
            ("different records in both", both, both),
            ("different records only here", pair.shared.only_first, pair.shared.only_second),
            ("repeated records", pair.shared.repeated_first, pair.shared.repeated_second),
        ]
    yield TableSection("Counts", ("", *names), tuple(rows))
    features = tuple(_feature_row(one) for one in pair.features[:_MOST_FEATURES])
    text = "Distances are from 0 (equal) to 1 (nothing in common)."
    yield TableSection("Features", ("feature", *names, "distance", "measure"), features, text)
    for label in pair.labels:
        ours, theirs = (max(1, sum(side.values())) for side in (label.first, label.second))
        classes = sorted(
            {**label.first, **label.second}, key=lambda name: -(label.first.get(name, 0) + label.second.get(name, 0))
        )
        yield TableSection(
            f"Classes of {label.feature}",
            ("class", names[0], "share", names[1], "share"),
            tuple(
                (
                    name,
                    label.first.get(name, 0),
                    f"{100 * label.first.get(name, 0) / ours:.1f} %",
                    label.second.get(name, 0),
                    f"{100 * label.second.get(name, 0) / theirs:.1f} %",
                )
                for name in classes[:_MOST_CLASSES]
            ),
            f"The Jensen-Shannon distance is {label.distance:.3f}."
            + (
                f" The {_MOST_CLASSES} most common of {len(classes):,} classes." if len(classes) > _MOST_CLASSES else ""
            ),
        )
    yield from _histograms(pair)


def _feature_row(one: FeaturePair) -> tuple[str | int | float | None, ...]:
    distance = None if one.distance is None else round(one.distance, 3)
    return one.name, _described(one.first), _described(one.second), distance, one.measure or None


def _described(feature: FeatureFacts | None) -> str | None:
    if feature is None:
        return None
    kind = feature.raw_dtype or " or ".join(feature.kinds) or "no values"
    if feature.images is not None and feature.images.format:
        return f"{feature.images.format} image"
    if feature.numbers is not None and feature.numbers.min is not None and feature.numbers.max is not None:
        return f"{kind}, {number_text(feature.numbers.min)} to {number_text(feature.numbers.max)}"
    about = "" if feature.distinct_exact else "about "
    return f"{kind}, {about}{feature.distinct:,} different" if feature.distinct else kind


def _histograms(pair: Comparison) -> Iterator[HistogramSection]:
    """Show the numbers that differ most."""
    numbers = [one for one in pair.features if drifts(one) and one.measure == "Kolmogorov-Smirnov"]
    for one in sorted(numbers, key=lambda one: -(one.distance or 0.0))[:_MOST_HISTOGRAMS]:
        drawn = {
            name: side.numbers.histogram
            for name, side in ((pair.first.name, one.first), (pair.second.name, one.second))
            if side is not None and side.numbers is not None and side.numbers.histogram is not None
        }
        if len(drawn) > 1:
            yield HistogramSection(f"{one.name}", drawn, f"{one.measure} distance: at least {one.distance:.2f}.")

"""What a data card says: headings, sentences, tables, from the report of a check and from the manifest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recordsmith.dataset.descriptions.manifest import Manifest
from recordsmith.facts.dataset_facts import DatasetFacts, LabelFacts
from recordsmith.facts.feature_order import features_in_order
from recordsmith.facts.value_facts import FeatureFacts
from recordsmith.records.described_splits import DescribedSplit
from recordsmith.report import Report
from recordsmith.schema import Label
from recordsmith.wording.numbers import bytes_text, count_text, number_text
from recordsmith.wording.visible_text import clipped, printable_lines

__all__ = ["Block", "Code", "Heading", "Paragraph", "Table", "card_blocks"]

_MOST_FEATURES = 200
_MOST_CLASSES = 50
_MOST_FINDINGS = 20
_MOST_VALUES = 5


@dataclass(frozen=True)
class Heading:
    """A heading; the one of level 1 is the title."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str


@dataclass(frozen=True)
class Code:
    """A text whose lines stay as they are."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table of plain texts."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | Code | Table


def card_blocks(report: Report) -> list[Block]:
    """Return what is said about a dataset that was checked."""
    facts = report.facts
    if not isinstance(facts, DatasetFacts):
        raise TypeError("the report is not that of a dataset")
    manifest = facts.manifest or Manifest("")
    return [
        *_head(facts, manifest),
        *_splits(facts, manifest),
        *(block for label in facts.labels if label.names for block in _classes(label)),
        *_features(facts),
        *_origin(manifest),
        *_findings(report),
    ]


def _head(facts: DatasetFacts, manifest: Manifest) -> Iterator[Block]:
    said = manifest.metadata
    yield Heading(1, clipped(manifest.name or os.path.basename(facts.paths[0].rstrip("/")) or "Dataset", 200))
    if said.description:
        yield Paragraph(printable_lines(said.description))
    splits = f"{count_text(len(facts.splits), 'split')} and " if facts.splits else ""
    files = count_text(len(facts.files), "file")
    yield Paragraph(f"{count_text(facts.records, 'record')} in {splits}{files}, {bytes_text(facts.bytes)}.")
    rows = tuple(
        (name.capitalize(), clipped(text, 2000))
        for name, text in (("license", said.license), ("homepage", said.homepage), ("version", said.version))
        if text
    )
    if rows:
        yield Table(("", ""), rows)
    if said.citation:
        yield Heading(2, "Citation")
        yield Code(printable_lines(said.citation))


def _splits(facts: DatasetFacts, manifest: Manifest) -> Iterator[Block]:
    if not facts.splits:
        return
    yield Heading(2, "Splits")
    rows = []
    for name, split in facts.splits.items():
        fingerprint = _fingerprint(facts, name, manifest.splits.get(name))
        rows.append((clipped(name, 80), f"{split.records:,}", f"{split.shards:,}", fingerprint))
    yield Table(("split", "records", "files", "fingerprint"), tuple(rows))


def _fingerprint(facts: DatasetFacts, split: str, described: DescribedSplit | None) -> str:
    """Return the fingerprint in the manifest, if the files are those that it was computed from."""
    if described is None or described.fingerprint is None:
        return ""
    shards = [shard for shard in facts.shards if shard.split == split]
    same = len(shards) == len(described.shards) and not any(shard.differences() for shard in shards)
    return described.fingerprint if same else "the files were changed"


def _classes(label: LabelFacts) -> Iterator[Block]:
    yield Heading(2, f"Classes of {clipped(label.feature, 80)}")
    splits = tuple(label.counts)
    names = list(label.classes)
    rows = tuple(
        (clipped(str(name), 80), *(f"{label.counts[split].get(name, 0):,}" for split in splits))
        for name in names[:_MOST_CLASSES]
    )
    yield Table(("class", *(clipped(str(split), 80) for split in splits)), rows)
    if len(names) > _MOST_CLASSES:
        yield Paragraph(f"And {len(names) - _MOST_CLASSES:,} more classes.")


def _features(facts: DatasetFacts) -> Iterator[Block]:
    known = features_in_order(facts)
    yield Heading(2, "Features")
    rows = []
    for one in known[:_MOST_FEATURES]:
        declared = None if facts.schema is None else facts.schema.get(one.name)
        kind = one.kind or "" if declared is None else repr(declared)
        about = "" if declared is None else declared.description or ""
        present = one.records / max(1, one.records + one.missing + one.unset)
        share = f"{100 * present:.4g} %"
        values = count_text(one.distinct, "class", "classes") if isinstance(declared, Label) else _values(one)
        rows.append((clipped(one.name, 120), clipped(kind, 100), share, values, clipped(about, 300)))
    yield Table(("feature", "type", "present", "values", "about"), tuple(rows))
    if len(known) > _MOST_FEATURES:
        yield Paragraph(f"And {len(known) - _MOST_FEATURES:,} more features.")


def _values(feature: FeatureFacts) -> str:
    """Say in few words what values a feature takes."""
    if feature.images is not None:
        images = feature.images
        formats = ", ".join(f"{count:,} {name}" for name, count in images.formats.items())
        sizes = [one for one in (images.heights, images.widths) if one is not None]
        return formats + (", " + " × ".join(_span(one.min, one.max) for one in sizes) if sizes else "")
    numbers = feature.numbers
    if numbers is not None and numbers.min is not None and numbers.max is not None:
        mean = "" if numbers.mean is None else f", mean {number_text(numbers.mean)}"
        return f"{number_text(numbers.min)} to {number_text(numbers.max)}{mean}" + (
            f", {numbers.nan:,} NaN" if numbers.nan else ""
        )
    different = f"{'' if feature.distinct_exact else 'about '}{feature.distinct:,} different"
    if feature.strings is None:
        return different
    common = [one.value.decode(errors="replace") for one in feature.frequent if isinstance(one.value, bytes)]
    shown = ", ".join(clipped(one, 40) for one in common[:_MOST_VALUES]) if feature.strings.utf8 else ""
    lengths = feature.strings.lengths
    return f"{different}, {_span(lengths.min, lengths.max)} bytes" + (f": {shown}" if shown else "")


def _span(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}-{last:,}"


def _origin(manifest: Manifest) -> Iterator[Block]:
    """Say how the dataset was made, as far as the manifest does."""
    plan: Mapping[str, Any] = manifest.plan or {}
    source, options = plan.get("source"), plan.get("options")
    if not isinstance(source, Mapping) or not isinstance(options, Mapping):
        return
    yield Heading(2, "How it was made")
    made = manifest.document.get("made")
    by = made.get("by", "") if isinstance(made, Mapping) else ""
    kinds = [("by", by), *((name, source.get(name)) for name in ("kind", "path", "paths"))]
    chosen = [(name, one) for name, one in options.items() if name not in ("description", "metadata")]
    rows = [(str(name), _plain(one)) for name, one in (*kinds, *chosen) if one or (one == 0 and one is not False)]
    outcome = manifest.outcome
    counts = ("source_rows", "rejects", "dropped", "unlabelled")
    rows += [(name.replace("_", " "), f"{count:,}") for name in counts if (count := outcome.count(name))]
    yield Table(("", ""), tuple((clipped(name, 80), text) for name, text in rows))


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return clipped(", ".join(f"{name}: {_plain(one)}" for name, one in value.items()), 400)
    if isinstance(value, (list, tuple)):
        return clipped(", ".join(map(_plain, value)), 400)
    return clipped(str(value), 400)


def _findings(report: Report) -> Iterator[Block]:
    yield Heading(2, "Check")
    if not report.findings:
        yield Paragraph("All checksums are right, and no rule found anything.")
        return
    rows = tuple((one.severity, one.code, clipped(one.message, 400)) for one in report.findings[:_MOST_FINDINGS])
    yield Table(("severity", "rule", "found"), rows)
    if len(report.findings) > _MOST_FINDINGS:
        more = len(report.findings) - _MOST_FINDINGS
        yield Paragraph(f"And {more:,} more findings, which `recordsmith check` lists.")

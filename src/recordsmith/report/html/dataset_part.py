"""What a dataset consists of as HTML: figures, splits, labels, files."""

from __future__ import annotations

from collections.abc import Iterable

from recordsmith.facts.dataset_facts import DatasetFacts, LabelFacts, ShardFacts
from recordsmith.report.class_order import classes_in_order
from recordsmith.report.html.drawings import bar, legend, shard_map
from recordsmith.wording.markup import Markup, element
from recordsmith.wording.numbers import bytes_text, count_text
from recordsmith.wording.visible_text import clipped

__all__ = ["figures_part", "labels_part", "shards_part", "splits_part"]

_MOST_CLASSES = 60
_MOST_SPLITS = 8
_MOST_SHARDS = 2_000


def figures_part(facts: DatasetFacts) -> Markup:
    """Return the figures at the head of the page."""
    files = len(facts.files)
    figures = [
        (f"{facts.records:,}", "record" if facts.records == 1 else "records"),
        (bytes_text(facts.bytes), "on disk"),
        (f"{files:,}", "file" if files == 1 else "files"),
    ]
    if not facts.frames_only:
        figures.append((f"{len(facts.features):,}", "feature" if len(facts.features) == 1 else "features"))
    if len(facts.splits) > 1:
        figures.append((f"{len(facts.splits):,}", "splits"))
    return element(
        "div", [element("div", element("b", n), element("span", word)) for n, word in figures], class_="numbers"
    )


def splits_part(facts: DatasetFacts) -> Markup | None:
    """Return the splits as a table; None where there are none."""
    if len(facts.splits) < 2:
        return None
    rows = [
        element(
            "tr",
            element("th", element("bdi", clipped(name, 60))),
            element("td", f"{split.records:,}", class_="number"),
            element("td", bar(split.records / max(1, facts.records)), class_="wide"),
            element("td", f"{100 * split.records / max(1, facts.records):.1f} %", class_="number"),
            element("td", count_text(split.shards, "file"), class_="number"),
            element("td", bytes_text(split.bytes), class_="number"),
        )
        for name, split in facts.splits.items()
    ]
    return element("table", rows, class_="splits")


def labels_part(labels: Iterable[LabelFacts]) -> Markup:
    """Return each label with the share of its classes in every split."""
    return element("div", [_label(one) for one in labels])


def _label(label: LabelFacts) -> Markup:
    splits = list(label.counts)[:_MOST_SPLITS]
    totals = {split: max(1, sum(label.counts[split].values())) for split in splits}
    classes = classes_in_order(label)
    note = None
    if len(classes) > _MOST_CLASSES:
        overall = {name: sum(counts.get(name, 0) for counts in label.counts.values()) for name in classes}
        classes = sorted(classes, key=lambda name: -overall[name])[:_MOST_CLASSES]
        note = element("p", f"The {_MOST_CLASSES} most common of {len(label.classes):,} classes.", class_="note")
    widest = (
        max([label.counts[split].get(name, 0) / totals[split] for split in splits for name in classes], default=0) or 1
    )
    head = element(
        "tr",
        element("th", element("bdi", clipped(label.feature, 60))),
        [element("th", element("bdi", clipped(split or "all records", 40)), colspan="2") for split in splits],
    )
    rows = [
        element(
            "tr",
            element("th", element("bdi", clipped(name, 60))),
            [_share(label.counts[split].get(name, 0), totals[split], widest) for split in splits],
        )
        for name in classes
    ]
    return element("div", element("div", element("table", head, rows, class_="labels"), class_="scroll"), note)


def _share(count: int, total: int, widest: float) -> list[Markup]:
    share = count / total
    number = element("span", f"{count:,}", title=f"{100 * share:.2f} %") if count else element("b", "0", class_="bad")
    return [element("td", bar(share / widest), class_="wide"), element("td", number, class_="number")]


def shards_part(facts: DatasetFacts) -> Markup:
    """Return a map of the files for every split, and a list of those that are damaged."""
    if not facts.shards:
        return element("p", "No file was found.", class_="nothing")
    by_split: dict[str, list[ShardFacts]] = {}
    for shard in facts.shards[:_MOST_SHARDS]:
        by_split.setdefault(shard.split or "", []).append(shard)
    damaged = any(shard.damage_count for shard in facts.shards)
    empty = any(not shard.records and not shard.damage_count for shard in facts.shards)
    rows = [
        element(
            "div",
            element("h3", element("bdi", clipped(split or "all files", 60))),
            element("div", shard_map(shards), class_="scroll"),
            element("small", _about(shards)),
            class_="shard-row",
        )
        for split, shards in by_split.items()
    ]
    keys = [("small", "small"), ("large", "large")]
    keys += [("empty", "without records")] if empty else []
    keys += [("damaged", "damaged")] if damaged else []
    return element("div", rows, legend(keys), _damages(facts) if damaged else None)


def _about(shards: list[ShardFacts]) -> str:
    records = [shard.records for shard in shards]
    low, high = min(records), max(records)
    each = f"{low:,} records each" if low == high else f"{low:,} to {high:,} records each"
    sizes = [shard.bytes for shard in shards]
    total = f"{count_text(len(shards), 'file')}, {bytes_text(sum(sizes))}"
    return f"{total}, {each}" if len(shards) > 1 else f"{total}, {count_text(low, 'record')}"


def _damages(facts: DatasetFacts) -> Markup:
    rows = [
        element(
            "tr",
            element("td", element("bdi", clipped(damage.path, 200))),
            element("td", "" if damage.record is None else f"record {damage.record:,}", class_="number"),
            element("td", "" if damage.offset is None else f"byte {damage.offset:,}", class_="number"),
            element("td", clipped(damage.message, 200)),
        )
        for damage in facts.damages[:100]
    ]
    return element("div", element("table", rows, class_="damages"), class_="scroll")

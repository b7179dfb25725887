"""Histograms, bars and maps as SVG inside the page; sizes are attributes, because the page allows no inline styles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recordsmith.facts.dataset_facts import ShardFacts
from recordsmith.facts.value_facts import Histogram
from recordsmith.wording.markup import Markup, element
from recordsmith.wording.numbers import bytes_text, count_text, number_text

__all__ = ["bar", "histogram", "shard_map"]

_MOST_BARS = 60
_HEIGHT = 72


def histogram(facts: Histogram, *, name: str = "values") -> Markup:
    """Draw a histogram with its range below; each bar shows its range and count under the mouse."""
    edges, counts = _merged(facts)
    highest = max(counts, default=0)
    if highest <= 0:
        return Markup("")
    width = 320 / len(counts)
    bars = []
    for number, count in enumerate(counts):
        height = max(1.5, count / highest * _HEIGHT) if count else 0
        high = facts.last if number + 1 == len(counts) else edges[number + 1] - int(facts.whole)
        span = number_text(high) if high == edges[number] else f"{number_text(edges[number])} to {number_text(high)}"
        bars.append(
            element(
                "rect",
                element("title", f"{span}: {count:,}"),
                x=round(number * width + 0.5, 2),
                y=round(_HEIGHT - height, 2),
                width=round(max(0.5, width - 1), 2),
                height=round(height, 2),
            )
        )
    return element(
        "figure",
        element(
            "svg",
            bars,
            viewBox=f"0 0 320 {_HEIGHT}",
            preserveAspectRatio="none",
            role="img",
            aria_label=f"Histogram of {name}",
            class_="histogram",
        ),
        element(
            "figcaption",
            element("span", number_text(edges[0])),
            element("span", number_text(facts.last)),
            class_="axis",
        ),
    )


def bar(share: float, *, kind: str = "") -> Markup:
    """Draw a share of 1 as a bar as wide as its cell."""
    filled = max(0.0, min(1.0, share)) * 100
    return element(
        "svg",
        element("rect", width=100, height=8, class_="track"),
        element("rect", width=round(max(filled, 0.8 if share > 0 else 0), 2), height=8, class_="fill"),
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        class_=f"bar {kind}".strip(),
        aria_hidden="true",
    )


def shard_map(shards: Sequence[ShardFacts], *, columns: int = 48) -> Markup:
    """Draw files as cells in their order: the darker, the larger; damaged ones stand out."""
    largest = max((shard.bytes for shard in shards), default=1) or 1
    size, gap = 18, 3
    across = min(columns, max(1, len(shards)))
    rows = -(-len(shards) // across)
    cells = [
        element(
            "rect",
            element("title", _about(shard)),
            x=number % across * (size + gap),
            y=number // across * (size + gap),
            width=size,
            height=size,
            rx=3,
            class_="damaged" if shard.damage_count else "empty" if not shard.records else "sound",
            fill_opacity=1 if shard.damage_count else round(0.25 + 0.75 * shard.bytes / largest, 3),
        )
        for number, shard in enumerate(shards)
    ]
    width, height = across * (size + gap) - gap, rows * (size + gap) - gap
    label = f"{count_text(len(shards), 'file')} by size"
    return element(
        "svg",
        cells,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
        class_="shards",
    )


def _about(shard: ShardFacts) -> str:
    damages = f", {count_text(shard.damage_count, 'damage')}" if shard.damage_count else ""
    return f"{shard.path}: {count_text(shard.records, 'record')}, {bytes_text(shard.bytes)}{damages}"


def _merged(facts: Histogram) -> tuple[Sequence[float], Sequence[int]]:
    """Add neighbours up until there are few enough bars."""
    step = -(-len(facts.counts) // _MOST_BARS)
    if step <= 1:
        return facts.edges, facts.counts
    counts = [sum(facts.counts[start : start + step]) for start in range(0, len(facts.counts), step)]
    return [*facts.edges[:-1:step], facts.edges[-1]], counts


def legend(entries: Iterable[tuple[str, str]]) -> Markup:
    """Explain the colours: (class, words) for each."""
    return element("p", [[element("span", class_=f"key {kind}"), words] for kind, words in entries], class_="legend")

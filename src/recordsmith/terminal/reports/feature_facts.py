"""The features of a dataset, from its facts: what they are, how they are distributed, in few characters."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from recordsmith.facts.dataset_facts import DatasetFacts, LabelFacts
from recordsmith.facts.feature_order import features_in_order
from recordsmith.facts.value_facts import FeatureFacts, ImageFacts, LengthFacts, NumberFacts
from recordsmith.query.overview import FeatureOverview
from recordsmith.terminal.plain_table import plain_table
from recordsmith.terminal.values.block_histogram import block_histogram
from recordsmith.terminal.values.feature_types import shape_text, type_text
from recordsmith.terminal.values.short_values import middle_left_out, printable, quoted
from recordsmith.wording.numbers import number_text

__all__ = ["feature_table", "feature_values"]

_NARROW = 90  # columns, below which a feature takes two lines
_HISTOGRAM = 16
_MOST_FEATURES = 60


def feature_table(facts: DatasetFacts, width: int) -> RenderableType:
    """Lay out all features: as a table or, where that is too wide, one below the other."""
    known = features_in_order(facts)
    shown = known[:_MOST_FEATURES]
    parts: list[RenderableType] = [_listing(facts, shown, width) if width < _NARROW else _table(facts, shown, width)]
    if len(known) > len(shown):
        parts.append(Text(f"and {len(known) - len(shown):,} more features, which --format json lists", "dim"))
    return Group(*parts)


def _table(facts: DatasetFacts, features: list[FeatureFacts], width: int) -> RenderableType:
    cells = [(printable(one.name), *_kind(facts, one)) for one in features]
    widest = [max([7, *(len(row[column]) for row in cells)]) for column in range(3)]
    names = min(widest[0], max(16, width // 3))
    kinds, shapes = min(widest[1], 20), min(widest[2], 20)
    histogram = _HISTOGRAM if width >= 110 else 8
    table = plain_table()
    table.add_column("feature", no_wrap=True, width=names)
    table.add_column("type", no_wrap=True, width=kinds)
    table.add_column("shape", no_wrap=True, width=shapes)
    table.add_column("present", no_wrap=True)
    table.add_column("", no_wrap=True, width=histogram)
    room = max(12, width - names - kinds - shapes - histogram - 7 - 10)
    table.add_column("values", no_wrap=True, max_width=room)
    for (name, kind, shape), one in zip(cells, features, strict=True):
        table.add_row(
            Text(middle_left_out(name, names), "bold"),
            Text(middle_left_out(kind, kinds), "yellow" if len(one.kinds) > 1 else "cyan"),
            Text(middle_left_out(shape, shapes), "dim" if shape == "scalar" else ""),
            _presence(one),
            Text(_drawn(one, histogram), "cyan"),
            _values(facts, one, room),
        )
    return table


def _listing(facts: DatasetFacts, features: list[FeatureFacts], width: int) -> RenderableType:
    parts: list[RenderableType] = []
    for one in features:
        kind, shape = _kind(facts, one)
        head = Text(no_wrap=True, overflow="ellipsis")
        head.append(middle_left_out(printable(one.name), max(16, width // 2)), "bold").append(f"  {kind}", "cyan")
        head.append("" if shape == "scalar" else f" {shape}")
        if one.missing:
            head.append("  in ").append_text(_presence(one))
        body = Text(no_wrap=True, overflow="ellipsis")
        drawn = _drawn(one, 12)
        if drawn:
            body.append(drawn, "cyan").append("  ")
        body.append_text(_values(facts, one, max(12, width - len(drawn) - 4)))
        parts += [head, Padding(body, (0, 0, 0, 2))]
    return Group(*parts)


def _values(facts: DatasetFacts, feature: FeatureFacts, width: int) -> Text:
    label = next((one for one in facts.labels if one.feature == feature.name and one.names), None)
    return feature_values(feature, width) if label is None else _classes(label, width)


def _classes(label: LabelFacts, width: int) -> Text:
    """The commonest classes with their shares: the mean of classes says nothing."""
    totals = {name: sum(split.get(name, 0) for split in label.counts.values()) for name in label.classes}
    records = max(1, sum(totals.values()))
    shown: list[str] = []
    for name, count in sorted(totals.items(), key=lambda entry: -entry[1]):
        entry = f"{quoted(name, 20)} {100 * count / records:.0f} %"
        if len(", ".join([*shown, entry])) > width - 3:
            shown.append("…")
            break
        shown.append(entry)
    return Text(", ".join(shown), "green")


def feature_values(feature: FeatureFacts, width: int) -> Text:
    """Say in about `width` characters what values a feature takes.

    >>> numbers = NumberFacts(10, 0, 2, 0.9, 0.8, nan=1)
    >>> feature_values(FeatureFacts("x", False, 10, 0, kinds={"float": 10}, numbers=numbers), 60).plain
    '0..2  mean 0.9 ± 0.8  1 NaN'
    """
    if feature.images is not None:
        return _images(feature.images)
    if feature.numbers is not None:
        text = _numbers(feature.numbers)
        return text.append(f"  {feature.empty:,} empty", "dim") if feature.empty else text
    if feature.strings is None:
        return Text("no values", "dim")
    strings = feature.strings
    text = Text()
    if feature.frequent and strings.utf8 == strings.count:
        distinct = f"{'' if feature.distinct_exact else '≈'}{feature.distinct:,} different"
        examples: list[str] = []
        for one in feature.frequent:
            value = one.value if isinstance(one.value, bytes) else str(one.value).encode()
            examples.append(f"{quoted(value.decode(errors='backslashreplace'), 20)} {one.count:,}")
            if len(", ".join(examples)) > width - len(distinct) - 4:
                examples.pop()
                break
        text.append(distinct, "dim").append("  " if examples else "").append(", ".join(examples), "green")
    else:
        text.append(f"{_span(strings.lengths)} bytes, {strings.encoding}", "dim")
    for count, word in ((strings.empty, "empty"), (strings.trailing_space + strings.leading_space, "with white space")):
        if count:
            text.append(f"  {count:,} {word}", "yellow")
    return text


def _kind(facts: DatasetFacts, feature: FeatureFacts) -> tuple[str, str]:
    declared = None if facts.schema is None else facts.schema.get(feature.name)
    lengths, strings = feature.lengths, feature.strings
    counts = (0, 0) if lengths is None else (lengths.min, lengths.max)
    overview = FeatureOverview(
        feature.name,
        declared,
        declared=declared is not None,
        steps=feature.in_steps,
        kinds=feature.kinds,
        counts=counts,
        lengths=(0, 0) if strings is None else (strings.lengths.min, strings.lengths.max),
    )
    if declared is not None:
        return type_text(overview), shape_text(overview)
    kind = type_text(overview)
    if feature.images is not None:
        kind = f"{feature.images.format} image".strip()
    elif feature.raw_dtype:
        kind = feature.raw_dtype
    elif strings is not None and kind == "bytes" and strings.count and strings.utf8 == strings.count:
        kind = "text"
    shape = shape_text(overview)
    return kind, "scalar" if counts == (1, 1) and shape == "(1,)" else shape


def _presence(feature: FeatureFacts) -> Text:
    of = feature.records + feature.missing + feature.unset
    if feature.records == of:
        return Text("all", "dim")
    if not feature.records:
        return Text("none", "red")
    share = 100 * feature.records / of
    return Text("<1 %" if share < 1 else ">99 %" if share > 99 else f"{share:.0f} %", "yellow")


def _drawn(feature: FeatureFacts, width: int) -> str:
    if feature.numbers is not None and feature.numbers.histogram is not None:
        return block_histogram(feature.numbers.histogram.counts, width)
    return ""


def _numbers(numbers: NumberFacts) -> Text:
    text = Text()
    if numbers.min is not None and numbers.max is not None:
        low, high = number_text(numbers.min), number_text(numbers.max)
        text.append(f"{low}..{high}" if low != high else f"all {low}", "cyan" if low != high else "yellow")
        if low != high and numbers.mean is not None:
            text.append(f"  mean {number_text(numbers.mean)} ± {number_text(numbers.deviation or 0.0)}", "dim")
    for count, word in (
        (numbers.nan, "NaN"),
        (numbers.positive_infinity, "∞"),
        (numbers.negative_infinity, "-∞"),
    ):
        if count:
            text.append(f"{'  ' if text.plain else ''}{count:,} {word}", "red")
    return text if text.plain else Text("no values", "dim")


def _images(images: ImageFacts) -> Text:
    text = Text()
    if images.widths is not None and images.heights is not None:
        text.append(f"{_span(images.widths)}×{_span(images.heights)}", "magenta")
    formats = [f"{count:,} {name}" for name, count in images.formats.items()]
    text.append(f"  {', '.join(formats)}" if len(formats) > 1 else "", "yellow")
    if images.channels:
        text.append(f"  {' or '.join(map(str, sorted(images.channels)))} channels", "dim")
    if images.no_header:
        text.append(f"  {images.no_header:,} no images", "red")
    if images.undecodable:
        text.append(f"  {images.undecodable:,} undecodable", "red")
    return text


def _span(lengths: LengthFacts) -> str:
    return f"{lengths.min:,}" if lengths.fixed else f"{lengths.min:,}..{lengths.max:,}"

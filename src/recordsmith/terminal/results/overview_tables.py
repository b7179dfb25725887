"""What `recordsmith show` prints: a header, a table of features, and rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recordsmith.query.overview import DatasetOverview, FeatureOverview, RowOverview
from recordsmith.terminal.plain_table import plain_table
from recordsmith.terminal.values.class_names import named_class
from recordsmith.terminal.values.feature_types import shape_text, type_text
from recordsmith.terminal.values.hex_dump import hex_dump
from recordsmith.terminal.values.payload_names import payload_name, payload_note
from recordsmith.terminal.values.short_values import middle_left_out, printable, quoted, short_value, summary_of_values
from recordsmith.terminal.values.thumbnails import Thumbnails
from recordsmith.wording.numbers import bytes_text, count_text

__all__ = ["MOST_FEATURES", "more_features", "overview_renderable"]

_TYPE_STYLES = {"text": "green", "bytes": "magenta", "nothing": "dim"}
_WIDEST_SUMMARY = 60  # of the values of a feature, while names have to give way
_WIDEST_CELL = 26  # of a row's value, while all rows are in one table
_UNKNOWN_BYTES = 64  # of a payload that is not understood
_LONGEST_TEXT = 400  # characters of a payload that is text
MOST_FEATURES = 200  # that are shown; a record may have millions
_MOST_IMAGES = 4  # of one row
_RAW_BYTES = 512  # of a payload that is asked for as bytes


def overview_renderable(
    overview: DatasetOverview, *, width: int, raw: bool = False, thumbnails: Thumbnails | None = None
) -> RenderableType:
    """Lay out what is in a dataset, for a terminal of so many columns, with images if it can show them."""
    parts: list[RenderableType] = [_header(overview)]
    if overview.features and not raw and overview.where is None:
        parts += [Text(), _features(overview, width)]
    if overview.where is not None:
        parts += [Text(), _search_note(overview)]
    if overview.rows:
        parts += [Text(), *_rows(overview, width, raw=raw, thumbnails=thumbnails)]
    return Group(*parts)


def _search_note(overview: DatasetOverview) -> Text:
    condition = printable(overview.where or "")
    if not overview.rows:
        return (
            Text()
            .append(f"None of {count_text(overview.records, 'record')} matches ", "yellow")
            .append(condition, "bold")
        )
    found = count_text(len(overview.rows), "record")
    words = f"{found} of {overview.records:,} match{'es' if len(overview.rows) == 1 else ''} "
    if not overview.searched_all:
        words = f"The first {found} that match{'es' if len(overview.rows) == 1 else ''} "
    return Text(words).append(condition, "bold").append("" if overview.searched_all else "; -n shows more", "dim")


def _header(overview: DatasetOverview) -> RenderableType:
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for label, text in _header_lines(overview):
        facts.add_row(label, text)
    return Group(Text(printable(overview.name), "bold"), Padding(facts, (0, 0, 0, 2)))


def _header_lines(overview: DatasetOverview) -> Iterable[tuple[str, Text]]:
    damaged = sum(file.damaged for file in overview.files)
    records = Text().append(f"{overview.records:,}", "bold")
    if damaged:
        records.append(f" before the damage in {count_text(damaged, 'file')}", "red")
    if overview.splits:
        records.append(" (" + ", ".join(f"{printable(n)} {c:,}" for n, c in overview.splits.items()) + ")", "dim")
    yield "records", records
    kinds = sorted({file.compression or "not compressed" for file in overview.files})
    yield (
        "size",
        Text(f"{bytes_text(overview.bytes)} in {count_text(len(overview.files), 'file')}, {' and '.join(kinds)}"),
    )
    yield "payload", _payload(overview)
    note = payload_note(overview.payload) if overview.records else None
    if note and set(overview.payloads) == {overview.payload}:
        yield "", Text(note, "yellow")
    if overview.features:
        yield "schema", _schema_source(overview)


def _payload(overview: DatasetOverview) -> Text:
    if not overview.records:
        return Text("none")
    if overview.payload == "unknown" and len(overview.payloads) > 1:
        kinds = sorted(overview.payloads.items(), key=lambda entry: -entry[1])
        return Text("mixed: " + ", ".join(f"{count:,} {payload_name(kind)}" for kind, count in kinds), "yellow")
    return Text(payload_name(overview.payload))


def _schema_source(overview: DatasetOverview) -> Text:
    if overview.described_by is not None:
        return Text(f"declared by {printable(overview.described_by)}")
    if overview.looked_at == overview.records:
        return Text(f"inferred from all {count_text(overview.looked_at, 'record')}")
    return Text(f"inferred from {overview.looked_at:,} of the records")


def _features(overview: DatasetOverview, width: int) -> RenderableType:
    declares = any(feature.declared for feature in overview.features)
    cells = [
        (
            printable(feature.name) + (" *" if declares and not feature.declared else ""),
            type_text(feature),
            shape_text(feature),
            _presence(feature, overview.looked_at),
            summary_of_values(feature.examples, width),
        )
        for feature in overview.features[:MOST_FEATURES]
    ]
    rest = sum(max(7, *(len(row[column]) for row in cells)) + 2 for column in (1, 2, 3))
    longest = max(7, *(len(row[0]) for row in cells))
    room = max(16, width - rest - min(_WIDEST_SUMMARY, width // 3) - 2)
    table = plain_table()
    table.add_column("feature", no_wrap=True, width=min(longest, room))
    table.add_column("type", no_wrap=True)
    table.add_column("shape", no_wrap=True)
    table.add_column("present", no_wrap=True)
    table.add_column("values", no_wrap=True, max_width=max(8, width - rest - min(longest, room) - 2))
    for name, kind, shape, presence, summary in cells:
        table.add_row(
            Text(middle_left_out(name, room), "bold"),
            Text(kind, _TYPE_STYLES.get(kind, "yellow" if " or " in kind else "cyan")),
            Text(shape, "dim" if shape == "scalar" else ""),
            presence,
            summary,
        )
    notes = [*more_features(len(overview.features)), Text(_sample_note(overview), "dim")]
    if any(row[0].endswith(" *") for row in cells):
        notes.append(Text("* is stored, and not in the schema.", "yellow"))
    return Group(table, *notes)


def more_features(count: int) -> list[Text]:
    """Say how many features are not shown, if there are such.

    >>> more_features(3), more_features(1_000_000)[0].plain
    ([], 'and 999,800 more features: --features NAMES shows these, --format json all')
    """
    left = count - MOST_FEATURES
    text = f"and {count_text(left, 'more feature')}: --features NAMES shows these, --format json all"
    return [Text(text, "yellow")] if left > 0 else []


def _presence(feature: FeatureOverview, looked_at: int) -> Text:
    if feature.records == looked_at:
        return Text("all", "dim")
    if not feature.records:
        return Text("none", "red")
    share = 100 * feature.records / looked_at
    return Text("<1 %" if share < 1 else ">99 %" if share > 99 else f"{share:.0f} %", "yellow")


def _sample_note(overview: DatasetOverview) -> str:
    if overview.sampled == overview.looked_at == overview.records:
        return f"Presence and values are of all {count_text(overview.records, 'record')}."
    of_all = "all " if overview.looked_at == overview.records else ""
    place = "the first ones" if any(file.compression for file in overview.files) else "evenly spread"
    seen = count_text(overview.looked_at, "record")
    return f"Presence is of {of_all}{seen}, values are of {overview.sampled:,}, {place}."


def _rows(
    overview: DatasetOverview, width: int, *, raw: bool, thumbnails: Thumbnails | None
) -> Iterable[RenderableType]:
    rows = overview.rows
    if not raw and all(row.kind == "text" for row in rows):
        return [_text_table(rows)]
    columns = overview.features
    understood = not raw and all(row.features is not None for row in rows)
    imaged = understood and thumbnails is not None and any(_images(row, columns, thumbnails) for row in rows[:3])
    fits = 0 < len(columns) <= width and _table_width(columns, rows) <= width
    if understood and fits and len(rows) > 1 and not imaged:
        return [_row_table(columns, rows)]
    blocks = [list(_block(row, overview, width, raw=raw, thumbnails=thumbnails)) for row in rows]
    return [part for block in blocks for part in ([*block, Text()] if block is not blocks[-1] else block)]


def _shown(row: RowOverview, feature: FeatureOverview, width: int) -> Text:
    """A feature's value in a row; a class has its name."""
    value = row.value(feature.name, steps=feature.steps)
    return named_class(value, feature.feature, width) or short_value(value, width)


def _images(
    row: RowOverview, features: Iterable[FeatureOverview], thumbnails: Thumbnails | None
) -> list[RenderableType]:
    if thumbnails is None:
        return []
    first = islice((feature for feature in features if not feature.steps), MOST_FEATURES)
    return thumbnails.of(row.value(feature.name, steps=False) for feature in first)


def _table_width(columns: Sequence[FeatureOverview], rows: Iterable[RowOverview]) -> int:
    widths = [len(feature.name) for feature in columns]
    for row in rows:
        cells = [_shown(row, feature, _WIDEST_CELL).cell_len for feature in columns]
        widths = [max(pair) for pair in zip(widths, cells, strict=True)]
    return sum(widths) + 2 * len(widths) + 10


def _row_table(columns: Sequence[FeatureOverview], rows: Sequence[RowOverview]) -> Table:
    table = plain_table()
    table.add_column("record", justify="right", style="dim", no_wrap=True)
    for feature in columns:
        values = [row.value(feature.name, steps=feature.steps) for row in rows]
        named = any(named_class(value, feature.feature) is not None for value in values)
        are_numbers = not named and all(value is None or isinstance(value, np.generic) for value in values)
        table.add_column(Text(printable(feature.name)), no_wrap=True, justify="right" if are_numbers else "left")
    for row in rows:
        table.add_row(f"{row.number:,}", *(_shown(row, feature, _WIDEST_CELL) for feature in columns))
    return table


def _block(
    row: RowOverview, overview: DatasetOverview, width: int, *, raw: bool, thumbnails: Thumbnails | None
) -> Iterable[RenderableType]:
    """Show one row under a title of its own."""
    title = Text().append(f"record {row.number:,}", "bold")
    if len(overview.files) > 1:
        title.append(f"  {printable(os.path.basename(row.path))}, record {row.number_in_file:,}", "dim")
    title.append(f"{',' if len(overview.files) > 1 else ' '} {bytes_text(len(row.payload))}", "dim")
    if row.features is None and row.kind != overview.payload:
        title.append(f", {payload_name(row.kind)}")
    yield title
    if raw or (row.features is None and row.kind != "text"):
        lines = hex_dump(row.payload, _RAW_BYTES if raw else _UNKNOWN_BYTES)
        yield Padding(Text("\n".join(lines) or "no bytes"), (0, 0, 0, 2))
    elif row.features is None:
        yield Padding(Text(_payload_text(row), "green"), (0, 0, 0, 2))
    else:
        yield from _images(row, overview.features, thumbnails)[:_MOST_IMAGES]
        yield Padding(_values(overview.features, row, width), (0, 0, 0, 2))


def _values(features: Sequence[FeatureOverview], row: RowOverview, width: int) -> RenderableType:
    if not features:
        return Text("no features", "dim")
    columns = features[:MOST_FEATURES]
    room = max(16, width * 2 // 5)
    name_width = min(room, max(len(printable(feature.name)) for feature in columns))
    value_width = max(12, width - name_width - 4)
    values = Table.grid(padding=(0, 2))
    values.add_column(no_wrap=True, width=name_width)
    values.add_column(no_wrap=True, max_width=value_width)
    for feature in columns:
        name = Text(middle_left_out(printable(feature.name), room))
        values.add_row(name, _shown(row, feature, min(value_width, 100)))
    return Group(values, *more_features(len(features)))


def _text_table(rows: Iterable[RowOverview]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(style="dim", no_wrap=True, justify="right")
    table.add_column(style="green", overflow="fold")
    for row in rows:
        table.add_row(f"record {row.number:,}", bytes_text(len(row.payload)), Text(_payload_text(row)))
    return table


def _payload_text(row: RowOverview) -> str:
    return quoted(row.payload.decode(errors="backslashreplace"), _LONGEST_TEXT)

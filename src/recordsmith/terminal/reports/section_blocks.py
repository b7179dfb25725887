"""Sections of a report on a terminal. Images are described in words; HTML shows them."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recordsmith.report.sections import GridImage, HistogramSection, ImageGrid, Section, TableSection, TextSection
from recordsmith.terminal.plain_table import plain_table
from recordsmith.terminal.values.block_histogram import block_histogram
from recordsmith.wording.numbers import number_text
from recordsmith.wording.visible_text import clipped

__all__ = ["section_block"]

_MOST_ROWS = 20
_LONGEST_LINE = 2_000


def section_block(section: Section, width: int) -> RenderableType:
    """Lay out a section."""
    parts: list[RenderableType] = [Text(clipped(section.title, 120), "bold")]
    if section.text:
        lines = section.text.split("\n") if isinstance(section, TextSection) else [section.text]
        parts.append(Padding(Text("\n".join(clipped(line, _LONGEST_LINE) for line in lines)), (0, 0, 0, 2)))
    body = _body(section, width)
    return Group(*parts, Padding(body, (0, 0, 0, 2))) if body is not None else Group(*parts)


def _body(section: Section, width: int) -> RenderableType | None:
    match section:
        case TableSection():
            return _table(section)
        case HistogramSection():
            return _histograms(section, width)
        case ImageGrid():
            return Text("\n".join(map(_image, section.images[:_MOST_ROWS])), "dim") if section.images else None
        case TextSection():
            return None


def _table(section: TableSection) -> RenderableType:
    table = plain_table()
    for number, name in enumerate(section.columns):
        numeric = bool(section.rows) and all(isinstance(row[number], (int, float, type(None))) for row in section.rows)
        table.add_column(Text(clipped(name, 40)), justify="right" if numeric else "left", overflow="fold")
    for row in section.rows[:_MOST_ROWS]:
        table.add_row(*(Text(_cell(value)) for value in row))
    if len(section.rows) <= _MOST_ROWS:
        return table
    return Group(table, Text(f"and {len(section.rows) - _MOST_ROWS:,} more rows", "dim"))


def _cell(value: str | float | None) -> str:
    return "" if value is None else clipped(value, 200) if isinstance(value, str) else number_text(value)


def _histograms(section: HistogramSection, width: int) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    for style in ("bold", "cyan", "dim"):
        table.add_column(style=style, no_wrap=True)
    for name, one in section.histograms.items():
        span = f"{number_text(one.edges[0])}..{number_text(one.edges[-1])}" if one.edges else ""
        table.add_row(Text(clipped(name, 40)), block_histogram(one.counts, max(8, min(40, width // 2))), span)
    return table


def _image(image: GridImage) -> str:
    shape = "×".join(map(str, image.pixels.shape))
    return "  ".join(part for part in (clipped(image.caption, 60), shape, clipped(image.note, 120)) if part)

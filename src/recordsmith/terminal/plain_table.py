"""The table in which the commands print their results."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table

__all__ = ["plain_table"]


def plain_table(*, gap: int = 1) -> Table:
    """Return a table with nothing but a line below its head."""
    return Table(
        box=SIMPLE_HEAD,
        padding=(0, gap, 0, 0),
        pad_edge=False,
        show_edge=False,
        header_style="bold",
        border_style="dim",
    )

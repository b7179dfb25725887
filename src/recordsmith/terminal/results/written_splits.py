"""What `make` and `copy` print about the splits that they wrote, and about what they left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.text import Text

from recordsmith.terminal.plain_table import plain_table
from recordsmith.terminal.values.short_values import printable
from recordsmith.wording.numbers import bytes_text

if TYPE_CHECKING:
    from rich.table import Table

    from recordsmith.run.publishing.written_dataset import WrittenDataset

__all__ = ["some_names", "splits_table", "written_json"]

_MOST_NAMES = 8


def splits_table(written: WrittenDataset, unit: str) -> Table:
    """Return a table of the splits; `unit` is the plural of what they contain."""
    table = plain_table()
    table.add_column("split", no_wrap=True)
    for heading in (unit, "share", "files", "size"):
        table.add_column(heading, no_wrap=True, justify="right")
    for name, split in written.splits.items():
        share = f"{100 * split.rows / written.rows:.1f} %" if written.rows else ""
        table.add_row(Text(name, "bold"), f"{split.rows:,}", share, f"{split.shards:,}", bytes_text(split.bytes))
    return table


def written_json(written: WrittenDataset) -> dict[str, Any]:
    """Return what `make` and `copy` have in common, as JSON-ready values."""
    return {
        "ok": written.ok,
        "rows": written.rows,
        "bytes": written.bytes,
        "splits": {name: asdict(split) for name, split in written.splits.items()},
        "source": {"rows": written.source_rows, "bytes": written.source_bytes},
        "reasons": [asdict(reason) for reason in written.reasons],
        "left_out": list(written.left_out),
        "warnings": list(written.warnings),
    }


def some_names(names: Sequence[str]) -> str:
    """List names, the first few if there are many."""
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(map(printable, names[:_MOST_NAMES])) + more

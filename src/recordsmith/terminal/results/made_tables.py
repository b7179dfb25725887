"""What `recordsmith make` prints when it is done."""

from __future__ import annotations

import json
import os
import shlex
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recordsmith.making.made_dataset import MadeDataset
from recordsmith.terminal.error_block import warning_block
from recordsmith.terminal.plain_table import plain_table
from recordsmith.terminal.results.written_splits import some_names, splits_table, written_json
from recordsmith.terminal.values.short_values import middle_left_out, printable
from recordsmith.wording.numbers import bytes_text, count_text, number_text

__all__ = ["made_json", "made_renderable"]

_MOST_CLASSES = 16  # that are listed; of more, the most common and the rarest


def made_renderable(made: MadeDataset, *, folder: str, width: int) -> RenderableType:
    """Lay out what came of making a dataset.

    Args:
        made: the dataset.
        folder: where it is, as the user named it.
        width: of the terminal.

    >>> from rich.console import Console
    >>> from recordsmith.run.publishing.written_dataset import MadeSplit
    >>> made = MadeDataset("/tmp/data", "pets", {"train": MadeSplit(10, 1234, 1)}, source_rows=10, source_bytes=2048)
    >>> Console(width=60).print(made_renderable(made, folder="data", width=60))
    data: 10 rows, 1.23 KB from 2.05 KB
    <BLANKLINE>
    split  rows  share  files  size
    ...
    """
    parts: list[RenderableType] = [_title(made, folder), Text(), splits_table(made, "rows")]
    if made.splits_kept:
        parts += [_fact("splits", f"kept as the source has them: {', '.join(made.splits)}")]
    if made.label is not None and any(split.classes for split in made.splits.values()):
        parts += [Text(), _classes(made, width)]
    for lines in (_left_behind(made, folder), [warning_block(text) for text in made.warnings]):
        if lines:
            parts += [Text(), *lines]
    return Group(*parts, Text(), _next_steps(made, folder))


def made_json(made: MadeDataset) -> dict[str, Any]:
    """Turn what came of making a dataset into JSON-ready values."""
    return {
        **written_json(made),
        "folder": made.folder,
        "name": made.name,
        "label": made.label,
        "class_weights": made.weights_by_name,
        "rejects": made.rejects,
        "rejected_file": made.rejected_path,
        "dropped": made.dropped,
        "unassigned": made.unassigned,
        "unlabelled": made.unlabelled,
        "splits_kept": made.splits_kept,
    }


def _title(made: MadeDataset, folder: str) -> Text:
    title = Text().append(printable(folder), "bold").append(f": {count_text(made.rows, 'row')}, ")
    title.append(bytes_text(made.bytes), "bold")
    if made.source_bytes is not None:
        title.append(f" from {bytes_text(made.source_bytes)}")
    return title


def _classes(made: MadeDataset, width: int) -> RenderableType:
    """A line for each class: how many of it each split has, and what it weighs."""
    names = list(dict.fromkeys(name for split in made.splits.values() for name in split.classes))
    shown = names
    if len(names) > _MOST_CLASSES:
        totals = {name: sum(split.classes.get(name, 0) for split in made.splits.values()) for name in names}
        by_count = sorted(names, key=lambda name: -totals[name])
        shown = [*by_count[: _MOST_CLASSES // 2], *by_count[-(_MOST_CLASSES // 2) :]]
    table = plain_table()
    table.add_column(Text(printable(made.label or "")), no_wrap=True)
    for split in made.splits:
        table.add_column(Text(split), no_wrap=True, justify="right")
    weights = made.weights_by_name
    if weights:
        table.add_column("weight", no_wrap=True, justify="right", style="cyan")
    for place, name in enumerate(shown):
        if len(shown) < len(names) and place == _MOST_CLASSES // 2:
            table.add_row(Text(f"... {len(names) - len(shown):,} more", "dim"))
        counts = [split.classes.get(name, 0) for split in made.splits.values()]
        table.add_row(
            Text(middle_left_out(printable(name), max(16, width // 3))),
            *(Text(f"{count:,}", "" if count else "red") for count in counts),
            *([_weight(weights.get(name))] if weights else []),
        )
    return table


def _weight(weight: float | None) -> str:
    return "" if weight is None else f"{weight:.3f}" if weight >= 0.01 else number_text(weight)


def _left_behind(made: MadeDataset, folder: str) -> list[RenderableType]:
    """What of the source is not in the dataset, and why."""
    lines: list[RenderableType] = []
    if made.rejects:
        where = ""
        if made.rejected_path is not None:
            where = f"; each is in {os.path.join(folder, os.path.basename(made.rejected_path))}"
        counted = f"{made.rejects:,} of {count_text(made.source_rows, 'row')} were left out"
        lines.append(Text().append("rejected: ", "bold yellow").append(printable(f"{counted}{where}")))
        lines.append(Padding(_reasons(made), (0, 0, 0, 2)))
    if made.dropped:
        lines.append(_fact("dropped", f"{count_text(made.dropped, 'row')}, for which the map function returned None"))
    if made.unlabelled:
        lines.append(_fact("unlabelled", f"{count_text(made.unlabelled, 'row')} without a label, left out"))
    if made.unassigned:
        lines.append(_fact("not asked for", f"{count_text(made.unassigned, 'row')}, which belong to no split"))
    if made.left_out:
        lines.append(_fact("left out", f"columns that the schema does not have: {some_names(made.left_out)}"))
    return lines


def _next_steps(made: MadeDataset, folder: str) -> Table:
    training = next(iter(made.splits), "train")
    steps = Table.grid(padding=(0, 1))
    steps.add_column(style="bold", no_wrap=True)
    steps.add_column(style="green", overflow="fold")
    steps.add_row("next:", Text(f"recordsmith show {shlex.quote(printable(folder))}"))
    steps.add_row(
        "", Text(f"rs.open({json.dumps(printable(folder), ensure_ascii=False)}, split={json.dumps(training)})")
    )
    return steps


def _fact(name: str, text: str) -> Text:
    return Text().append(f"{name}: ", "bold").append(text)


def _reasons(made: MadeDataset) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True, style="yellow")
    table.add_column(overflow="fold")
    for reason in made.reasons:
        where = f" ({reason.feature})" if reason.feature else ""
        text = Text(printable(f"{reason.reason.removesuffix('.')}{where}"))
        table.add_row(f"{reason.count:,} x", text.append(printable(f", as in {reason.example}"), "dim"))
    return table

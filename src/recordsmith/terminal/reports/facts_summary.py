"""What a dataset consists of, from its facts: the head, splits, labels and shards."""

from __future__ import annotations

import os
from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recordsmith.facts.dataset_facts import DatasetFacts, LabelFacts
from recordsmith.report.class_order import classes_in_order
from recordsmith.terminal.plain_table import plain_table
from recordsmith.terminal.values.block_histogram import bar, block_histogram
from recordsmith.terminal.values.payload_names import payload_name
from recordsmith.wording.numbers import bytes_text, count_text
from recordsmith.wording.visible_text import clipped, middle_left_out, printable

__all__ = ["facts_head", "label_table", "shard_lines", "split_table"]

_MOST_CLASSES = 12


def facts_head(facts: DatasetFacts, subject: str) -> RenderableType:
    """Lay out how much there is, of what, and who says so.

    >>> from rich.console import Console
    >>> Console(width=60).print(facts_head(DatasetFacts(("a",), ("a",), records=2, bytes=38), "a"))
    a
      records  2
      size     38 bytes in 1 file
      schema   none is declared
    """
    lines = Table.grid(padding=(0, 2, 0, 0))
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column(overflow="fold")
    for label, text in _head_lines(facts):
        lines.add_row(label, text)
    return Group(Text(printable(subject), "bold"), Padding(lines, (0, 0, 0, 2)))


def _head_lines(facts: DatasetFacts) -> Iterable[tuple[str, Text]]:
    records = Text().append(f"{facts.records:,}", "bold")
    if not facts.looked_at_all:
        records.append(" read, which are not all", "yellow")
    if len(facts.splits) > 1:
        shares = ", ".join(f"{clipped(name, 24)} {split.records:,}" for name, split in list(facts.splits.items())[:8])
        records.append(f" ({shares})", "dim")
    yield "records", records
    kinds = sorted({shard.compression or "not compressed" for shard in facts.shards})
    size = f"{bytes_text(facts.bytes)} in {count_text(len(facts.files), 'file')}"
    yield "size", Text(", ".join([size, " and ".join(kinds)] if kinds else [size]))
    payloads: dict[str, int] = {}
    for shard in facts.shards:
        for kind, count in shard.payloads.items():
            payloads[kind] = payloads.get(kind, 0) + count
    if payloads:
        commonest = sorted(payloads.items(), key=lambda entry: -entry[1])
        one = clipped(payload_name(commonest[0][0]), 60)
        mixed = ", ".join(f"{count:,} {clipped(payload_name(kind), 30)}" for kind, count in commonest[:8])
        yield "payload", Text(one if len(payloads) == 1 else f"mixed: {mixed}", "" if len(payloads) == 1 else "yellow")
    if facts.frames_only:
        yield "payload", Text("not checked: the selected rules need only files and record frames", "dim")
    declared = f"declared by {printable(facts.described_by or 'a schema')}"
    yield "schema", Text(declared if facts.schema is not None else "none is declared")


def split_table(facts: DatasetFacts, width: int) -> RenderableType:
    """Lay out the splits."""
    table = plain_table()
    table.add_column("split", no_wrap=True)
    for heading in ("records", "share", "files", "size"):
        table.add_column(heading, no_wrap=True, justify="right")
    room = min(24, width - 48)
    if room >= 8:
        table.add_column("", no_wrap=True)
    for name, split in facts.splits.items():
        share = split.records / facts.records if facts.records else 0.0
        cells = [f"{split.records:,}", f"{100 * share:.1f} %", f"{split.shards:,}", bytes_text(split.bytes)]
        bars = [Text(bar(share, room), "cyan")] if room >= 8 else []
        table.add_row(Text(middle_left_out(printable(name), 24), "bold"), *cells, *bars)
    return table


def label_table(label: LabelFacts, width: int) -> RenderableType:
    """Lay out the classes of a label with their counts in each split; of many, the most common and the rarest."""
    totals = {name: sum(split.get(name, 0) for split in label.counts.values()) for name in classes_in_order(label)}
    all_records = max(1, sum(totals.values()))
    order = list(totals)
    if len(order) > _MOST_CLASSES:
        order = sorted(order, key=lambda name: -totals[name])
        half = _MOST_CLASSES // 2
        shown: list[str | None] = [*order[:half], None, *order[-half:]]
    else:
        shown = list(order)
    splits = list(label.counts)
    per_split = len(splits) > 1 and len(splits) * 10 + 40 <= width
    table = plain_table()
    table.add_column(Text(middle_left_out(printable(label.feature), 24)), no_wrap=True)
    table.add_column("records", no_wrap=True, justify="right")
    table.add_column("share", no_wrap=True, justify="right")
    room = max(8, min(30, width - 46 - (10 * len(splits) if per_split else 0)))
    table.add_column("", no_wrap=True, width=room)
    for split in splits if per_split else ():
        table.add_column(Text(middle_left_out(printable(split), 9)), no_wrap=True, justify="right")
    most = max(totals.values(), default=1) or 1
    for name in shown:
        if name is None:
            table.add_row(Text(f"… {len(order) - _MOST_CLASSES:,} more", "dim"))
            continue
        counts = [label.counts[split].get(name, 0) for split in splits] if per_split else []
        table.add_row(
            Text(middle_left_out(printable(name), 24), "bold"),
            f"{totals[name]:,}",
            f"{100 * totals[name] / all_records:.1f} %",
            Text(bar(totals[name] / most, room), "cyan"),
            *(Text(f"{count:,}", "yellow" if not count else "dim") for count in counts),
        )
    return Group(table)


def shard_lines(facts: DatasetFacts, width: int) -> RenderableType:
    """Lay out the files by their size, in order, and name those that are damaged."""
    shards = facts.shards
    if not shards:
        return Text().append("files", "bold").append("  none")
    records = [shard.records for shard in shards]
    drawn = block_histogram([shard.bytes for shard in shards], max(8, width - 24))
    lines = Text().append("files", "bold").append(f"  {drawn}  ", "cyan")
    low, high = min(records), max(records)
    spread = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    lines.append(f"{spread} records each" if len(shards) > 1 else count_text(records[0], "record"), "dim")
    damaged = [shard for shard in shards if shard.damage_count]
    for shard in damaged[:5]:
        name = middle_left_out(printable(os.path.basename(shard.path)), max(20, width - 30))
        lines.append(f"\n       {name}", "red").append(f"  {count_text(shard.damage_count, 'damage')}", "red")
    if len(damaged) > 5:
        lines.append(f"\n       and {len(damaged) - 5:,} more damaged files", "red")
    return lines

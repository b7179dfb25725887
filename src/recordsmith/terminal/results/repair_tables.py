"""What `recordsmith repair` prints."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from recordsmith.repairing import FileRepair, Gap, Loss, RepairedHeader, RepairResult, lost_text
from recordsmith.terminal.plain_table import plain_table
from recordsmith.wording.numbers import bytes_text, count_text
from recordsmith.wording.visible_text import middle_left_out, printable

__all__ = ["repair_renderable"]

_MOST_FILES = 40  # that a table lists
_MOST_PLACES = 20  # of one file, that are listed
_FIGURES = 44  # columns that the figures of a file take


def repair_renderable(result: RepairResult, *, width: int) -> RenderableType:
    """Lay out what was kept and lost, for a terminal of so many columns.

    >>> from rich.console import Console
    >>> file = FileRepair("bad.tfrecord", "good.tfrecord", "repaired", None, 100, 2, 64,
    ...                   losses=(Loss(64, 100, "cut-off", 1, 2),))
    >>> Console(width=80).print(repair_renderable(RepairResult((file,), "good.tfrecord"), width=80))
    file          kept  repaired  lost  lost bytes
    ...
    bad.tfrecord     2         0    ~1  36 bytes
    <BLANKLINE>
    bad.tfrecord
      64-100  lost  ~1  the file ends inside a record
    <BLANKLINE>
    2 records kept, about 1 lost. Written to good.tfrecord, and verified.
    """
    parts: list[RenderableType] = [_files(result.files, width)]
    for file in [file for file in result.files if file.losses or file.repaired_headers or file.gaps][:_MOST_FILES]:
        parts += [Text(), Text(printable(file.path), "bold"), _places(file)]
        if file.suspect_file is not None:
            line = f"  {count_text(file.suspects, 'suspect record')} written to {file.suspect_file}"
            parts.append(Text(printable(line), "yellow"))
    parts.append(Text())
    parts += [Text(printable(note), "dim") for note in result.notes]
    return Group(*parts, *([Text()] if result.notes else []), _summary(result))


def _files(files: Sequence[FileRepair], width: int) -> RenderableType:
    table = plain_table(gap=2)
    table.add_column("file", no_wrap=True)
    for heading in ("kept", "repaired", "lost"):
        table.add_column(heading, no_wrap=True, justify="right")
    table.add_column("lost bytes", no_wrap=True)
    for file in files[:_MOST_FILES]:
        name = middle_left_out(printable(file.path), max(16, width - _FIGURES))
        if file.is_undamaged:
            table.add_row(name, Text(f"{file.records:,}", "green"), "", "", Text("undamaged", "green"))
            continue
        table.add_row(
            name,
            Text(f"{file.records:,}", "green"),
            Text(f"{len(file.repaired_headers):,}", "yellow" if file.repaired_headers else "dim"),
            Text(_lost_records(file), "bold red" if file.lost_records else ""),
            Text(bytes_text(file.lost_bytes), "" if file.ok else "red"),
        )
    if len(files) > _MOST_FILES:
        table.add_row(Text(f"and {count_text(len(files) - _MOST_FILES, 'more file')}", "dim"))
    return table


def _lost_records(file: FileRepair) -> str:
    is_exact = not file.lost_records or file.described_records is not None
    return f"{'' if is_exact else '~'}{file.lost_records:,}"


def _places(file: FileRepair) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True, style="cyan")
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    places: list[Loss | RepairedHeader | Gap] = sorted(
        [*file.losses, *file.repaired_headers, *file.gaps],
        key=lambda one: (one.inflated_at, 0) if isinstance(one, Gap) else (one.begin, 1),
    )
    for one in places[:_MOST_PLACES]:
        table.add_row(f"  {one.begin:,}-{one.end:,}", *_place(one))
    if len(places) > _MOST_PLACES:
        table.add_row("", "", "", Text(f"and {len(places) - _MOST_PLACES:,} more; --format json lists all", "dim"))
    return table


def _place(one: Loss | RepairedHeader | Gap) -> tuple[Text, Text, Text]:
    if isinstance(one, RepairedHeader):
        return Text("repaired", "yellow"), Text("1"), Text(one.message)
    is_exact = one.reason == "data-checksum" or not one.records
    records = Text(f"{'' if is_exact else '~'}{one.records:,}")
    if isinstance(one, Gap):
        return Text("compressed", "magenta"), records, Text(one.message)
    message = Text(one.message)
    if one.inside:
        message.append(f"; it seems to have held {count_text(one.inside, 'record')} inside its data", "dim")
    return Text("lost", "red"), records, message


def _summary(result: RepairResult) -> Text:
    text = Text().append(f"{count_text(result.records, 'record')} kept", "bold green")
    if result.repaired_headers:
        text.append(", ").append(f"{result.repaired_headers:,} of them with a new header", "yellow")
    if result.ok:
        text.append(". Nothing is damaged. " if result.is_undamaged else ", none lost. ")
    else:
        text.append(", ").append(lost_text(result), "bold red").append(". ")
    if result.output is None:
        reason = "" if result.dry_run else "No records can be saved. "
        return text.append(f"{reason}Nothing was written.", "dim")
    return text.append(f"Written to {printable(result.output)}, and verified.", "dim")

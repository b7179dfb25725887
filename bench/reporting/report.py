"""The findings on the terminal: one table a task, then the targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console

    from bench.reporting.results import Figure, Outcome, Section


def print_section(console: Console, section: Section) -> None:
    """A table of all figures of a task, the best of each peer in bold, and who was skipped."""
    table = Table(
        title=section.title,
        title_justify="left",
        title_style="bold",
        header_style="dim",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for heading in ("dataset", "peer", "form"):
        table.add_column(heading, overflow="fold")
    if section.memory:
        for heading in ("before", "own", "peak"):
            table.add_column(heading, justify="right")
        for entry in section.memory:
            sizes = (entry["before_bytes"], entry["own_peak_bytes"], entry["peak_bytes"])
            table.add_row(entry["subject"], entry["peer"], "", *(f"{size / 1e6:,.0f} MB" for size in sizes))
    else:
        for heading in ("best of", "seconds", "records/s", "GB/s"):
            table.add_column(heading, justify="right")
        table.add_column("note", overflow="fold", style="dim")
        _add_figures(table, section)
    console.print(table)
    for reason in section.skipped:
        console.print(f"[yellow]skipped[/] {escape(reason)}", highlight=False)
    console.print()


def _add_figures(table: Table, section: Section) -> None:
    subject = ""
    for figure in section.figures:
        if subject and figure.subject != subject:
            table.add_section()
        shown, subject = "" if figure.subject == subject else figure.subject, figure.subject
        table.add_row(
            shown,
            figure.peer,
            escape(figure.form),
            str(len(figure.seconds)),
            f"{figure.best:.4f}",
            f"{figure.records_per_second:,.0f}" if figure.records_per_second else "",
            f"{figure.bytes_per_second / 1e9:.3f}" if figure.bytes_per_second else "",
            escape(figure.note),
            style="bold" if _is_best(section, figure) else None,
        )


def _is_best(section: Section, figure: Figure) -> bool:
    return (
        section.task in ("read", "write", "random", "make", "load")
        and section.best(figure.subject, figure.peer) is figure
    )


def print_outcomes(console: Console, sections: Sequence[Section], *, scale: float) -> None:
    """Each result of recordsmith beside its target."""
    outcomes = [outcome for section in sections for outcome in section.outcomes]
    if not outcomes:
        console.print("[yellow]No comparison: recordsmith or its peer is missing, see the skipped lines above.[/]")
        return
    table = Table(
        title="recordsmith against its peers",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for heading in ("what", "dataset"):
        table.add_column(heading)
    for heading in ("result", "target"):
        table.add_column(heading, justify="right")
    table.add_column("")
    table.add_column("with", overflow="fold")
    table.add_column("against", style="dim", overflow="fold")
    for outcome in outcomes:
        verdict = {None: "", True: "[green]met[/]", False: "[red]not met[/]"}[outcome.met]
        target = "" if outcome.target is None else written(outcome, outcome.target)
        value = written(outcome, outcome.value)
        table.add_row(
            outcome.what, outcome.subject, value, target, verdict, escape(outcome.note), escape(outcome.against)
        )
    console.print(table)
    if scale != 1:
        console.print(f"[yellow]Measured at scale {scale:g}: the targets are meant for scale 1.[/]")


def written(outcome: Outcome, value: float) -> str:
    """A value of an outcome with its unit."""
    match outcome.unit:
        case "times":
            return f"{value:.1f}x"
        case "fraction":
            return f"{value:.0%}"
        case "seconds":
            return f"{value:.3f} s"
        case "GB/s":
            return f"{value:.2f} GB/s"

"""Standard output for results, standard error for everything else."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn

import click
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment

from recordsmith.wording.visible_text import json_text, printable_lines

if TYPE_CHECKING:
    from recordsmith.run.engines.part import DonePart

__all__ = ["echo", "echo_annotations", "echo_json", "echo_part", "error_console", "output_console", "print_to"]

_WIDTH_ELSEWHERE = 120  # of a pipe or a file, which have no width of their own


class _SafeConsole(Console):
    """A console through which no text of the data steers the terminal; a broken pipe it leaves to the program.

    Whatever is printed is made of segments. Those that steer the terminal are marked as such by who makes them, as
    images are; in all others only a line's end may not be printable.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(printable_lines(segment.text), segment.style)

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def output_console() -> Console:
    """Return a console on standard output, without rich's guesses about what is a number or a path."""
    return _console(stderr=False)


def error_console() -> Console:
    """Return a console on standard error."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = _SafeConsole(stderr=stderr, highlight=False, emoji=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_ELSEWHERE
    return console


def print_to(console: Console, renderable: RenderableType) -> None:
    """Print on a terminal as laid out, and elsewhere without the spaces that fill up a line."""
    whole = Group(renderable)  # a bare Text would lose its own setting of no_wrap
    if console.is_terminal:
        console.print(whole)
        return
    with console.capture() as capture:
        console.print(whole)
    for line in capture.get().split("\n")[:-1]:
        console.file.write(_no_command(line.rstrip()) + "\n")


def echo(text: str, *, err: bool = False, newline: bool = True) -> None:
    r"""Print text of one or several lines as it is, but for what does not show.

    >>> echo("a\x1b[31m")
    a\x1b[31m
    """
    click.echo("\n".join(map(_no_command, printable_lines(text).split("\n"))), err=err, nl=newline)


def echo_json(document: Any) -> None:
    r"""Print JSON; what does not show is escaped.

    >>> echo_json(["\x9b"])
    [
      "\u009b"
    ]
    """
    click.echo(json_text(document).replace("##[", "\\u0023#["))


def echo_part(part: DonePart, *, style: str) -> None:
    """Print what one part of a run has done, and what comes next."""
    if style == "json":
        echo_json({"part": asdict(part)})
        return
    echo(str(part))
    if not part.missing and not part.is_published:
        echo("Next: the same command with --finish instead of --part.")


def echo_annotations(lines: str) -> None:
    """Print what GitHub Actions takes as commands: they are escaped where they are made."""
    click.echo(lines, nl=bool(lines))


def _no_command(line: str) -> str:
    r"""Return a line that GitHub Actions does not take as a command, which a name in the data may look like.

    >>> _no_command("::error::no"), _no_command("see ##[error]no")
    ('\\x3a:error::no', 'see \\x23#[error]no')
    """
    start = line.lstrip()
    if start.startswith("::"):
        line = f"{line[: len(line) - len(start)]}\\x3a{start[1:]}"
    return line.replace("##[", "\\x23#[")

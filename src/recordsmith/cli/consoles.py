"""Where output goes: standard output for what was asked for, standard error for everything else."""

from __future__ import annotations

import os
from typing import NoReturn

from rich.console import Console, Group, RenderableType

__all__ = ["error_console", "output_console", "print_to"]

_WIDTH_ELSEWHERE = 120  # of a pipe or a file, which have no width of their own


class _PipedConsole(Console):
    """A console that leaves a broken pipe to the program."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def output_console() -> Console:
    """Return a console on standard output, without rich's guesses about what is a number or a path.

    >>> output_console().stderr
    False
    """
    return _console(stderr=False)


def error_console() -> Console:
    """Return a console on standard error.

    >>> error_console().stderr
    True
    """
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = _PipedConsole(stderr=stderr, highlight=False, emoji=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_ELSEWHERE
    return console


def print_to(console: Console, renderable: RenderableType) -> None:
    """Print on a terminal as laid out, and elsewhere without the spaces that fill up a line.

    >>> print_to(output_console(), "text")
    text
    """
    whole = Group(renderable)  # a bare Text would lose its own setting of no_wrap
    if console.is_terminal:
        console.print(whole)
        return
    with console.capture() as capture:
        console.print(whole)
    for line in capture.get().splitlines():
        console.file.write(line.rstrip() + "\n")

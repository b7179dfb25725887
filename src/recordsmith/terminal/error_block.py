"""Errors and warnings as blocks of text: what is wrong first, then each fact in its line."""

from __future__ import annotations

import os

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from recordsmith.errors import RecordsmithError, in_words_of_command_line
from recordsmith.terminal.system_errors import system_error_words
from recordsmith.terminal.values.short_values import printable
from recordsmith.wording.visible_text import printable_lines

__all__ = ["error_block", "error_lines", "warning_block"]


def error_block(error: BaseException) -> RenderableType:
    """Lay out an error.

    >>> from rich.console import Console
    >>> Console(width=60).print(error_block(RecordsmithError("The count is wrong.", path="a.tfrecord", found=3)))
    error: The count is wrong.
      where:    a.tfrecord
      found:    3
    """
    problem, facts = error_lines(error)
    return _block("error: ", "bold red", problem, facts)


def warning_block(message: str) -> RenderableType:
    """Lay out a warning."""
    return _block("warning: ", "bold yellow", message, [])


def error_lines(error: BaseException) -> tuple[str, list[tuple[str, str]]]:
    """Split an error into what is wrong and its facts, each with its label.

    >>> error_lines(FileNotFoundError(2, "There is no such file", "a.tfrecord"))
    ('There is no such file.', [('where', 'a.tfrecord')])
    >>> error_lines(OSError(28, "No space left on device", "a.tfrecord"))
    ('The disk is full.', [('where', 'a.tfrecord'), ('to do', 'Free some space, or choose a place on another disk.')])
    """
    if isinstance(error, RecordsmithError):
        text, _, example = error.on_command_line().partition("\n\n")
        problem, *lines = text.split("\n")
        facts = [(label.strip(), text.strip()) for label, _, text in (line.partition(":") for line in lines)]
        facts += [("", example)] if example else []
    elif isinstance(error, OSError) and error.strerror is not None:
        problem, advice = system_error_words(error)
        names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, (str, bytes))]
        facts = [("where", " -> ".join(dict.fromkeys(names)))] if names else []
        if advice is not None:
            facts.append(("to do", advice))
    else:
        text = str(error) or type(error).__name__
        problem, facts = text[:1].upper() + text[1:], []
    facts += [("note", in_words_of_command_line(note)) for note in getattr(error, "__notes__", [])]
    return problem, facts


def _block(label: str, style: str, problem: str, facts: list[tuple[str, str]]) -> RenderableType:
    head = Text().append(label, style).append(printable(problem), "bold")
    if not facts:
        return head
    table = Table.grid(padding=(0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    examples = [Text("\n" + printable_lines(text)) for name, text in facts if not name]
    for name, text in ((name, text) for name, text in facts if name):
        table.add_row(f"  {name + ':':<10}", Text(printable(text), "green" if name == "to do" else ""))
    return Group(head, table, *examples)

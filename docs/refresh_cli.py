"""Bring the help texts in docs/cli.md up to date: `python docs/refresh_cli.py`. A test fails when they are not."""
# ruff: noqa: INP001 - a script

from __future__ import annotations

import re
from pathlib import Path

import click

from recordsmith.cli import main

REFERENCE = Path(__file__).resolve().parent / "cli.md"
BLOCK = re.compile(r"(?<=<!-- help: )(?P<name>[a-z ]+)( -->\n\n```text\n).*?(?=```\n\n<!-- /help -->)", re.DOTALL)
WIDTH = 100


def help_of(name: str) -> str:
    """Return what `NAME --help` prints, as wide as the reference shows it."""
    program, *rest = name.split()
    command: click.Command = main
    context = main.context_class(main, info_name=program, terminal_width=WIDTH, **main.context_settings)
    for word in rest:
        command = main.commands[word]
        context = click.Context(command, info_name=word, parent=context)
    return command.get_help(context) + "\n"


def refreshed(text: str) -> str:
    """Return the reference with every help text as it is now."""
    return BLOCK.sub(lambda block: block["name"] + block[2] + help_of(block["name"]), text)


if __name__ == "__main__":
    REFERENCE.write_text(refreshed(REFERENCE.read_text()))

"""The options of all commands that can write to a URL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["remote_options"]

Command = TypeVar("Command", bound=Callable[..., Any])


def remote_options(command: Command) -> Command:
    """Add --staging and --allow-race."""
    command = click.option(
        "--allow-race",
        is_flag=True,
        help="For a URL: write also to storage without conditional writes, where two runs at the same time could "
        "overwrite each other's output.",
    )(command)
    return click.option(
        "--staging",
        metavar="FOLDER",
        help="For a URL: the local folder in which the files are written and verified before they are uploaded.  "
        "[default: a folder in the user's cache]",
    )(command)

"""`recordsmith view`: shows datasets in the browser."""

from __future__ import annotations

import contextlib
import os
import tempfile
import webbrowser
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from recordsmith.cli.options.shared_options import files_of_split_option

if TYPE_CHECKING:
    from recordsmith.viewer.server import Server

__all__ = ["view"]

_EXAMPLES = """\b
Examples:
  recordsmith view data/
  recordsmith view pets.record
  recordsmith view data/ --split train
  recordsmith view old/ new/
  recordsmith view data/ --program train.py
  recordsmith view 'logs/*.tfrecord' --port 8000 --no-browser
"""
_MOST_DATASETS = 20


@click.command(short_help="Look at TFRecord files in the browser: grid, filters, findings.", epilog=_EXAMPLES)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@files_of_split_option
@click.option(
    "--schema", "schema_path", metavar="FILE", help="Decode with this schema, written by `recordsmith schema -o`."
)
@click.option(
    "--program",
    metavar="PATH",
    help="A Python file, a notebook, or a folder of them that uses the data: the findings of `recordsmith doctor` "
    "are shown next to the data. The code is read, not run.",
)
@click.option("--together", is_flag=True, help="Show all paths as one dataset, instead of each as a separate one.")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), default=0, help="The port to listen on. [default: a free one]"
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on. With an address other than 127.0.0.1, everybody who can reach this machine and "
    "has the link can read the data, and the connection is not encrypted.",
)
@click.option("--browser/--no-browser", default=True, help="Open the browser, or only print the link. [default: open]")
def view(
    *,
    paths: tuple[str, ...],
    split: str | None,
    schema_path: str | None,
    program: str | None,
    together: bool,
    port: int,
    host: str,
    browser: bool,
) -> None:
    """Look at TFRecord files in the browser.

    PATH is a file, a folder, a quoted glob, or a URL. Several paths are several datasets, which can be compared. The
    viewer never changes files, and only programs on this machine that have the link can connect to it. It runs until
    Ctrl-C.

    On another machine, run it there with --no-browser --port 8000, and run `ssh -L 8000:127.0.0.1:8000 THAT-MACHINE`
    here. Then open the link that it printed.
    """
    from recordsmith.dataset.descriptions.schema_source import find_schema
    from recordsmith.viewer.data.opened import OpenedDataset
    from recordsmith.viewer.server import Server

    schema = None if schema_path is None else find_schema(schema_path).schema
    groups = [list(paths)] if together else [[path] for path in paths]
    if len(groups) > _MOST_DATASETS:
        raise click.UsageError(
            f"{len(groups)} datasets cannot be shown together: the limit is {_MOST_DATASETS}. "
            "Use --together, or quote the glob."
        )
    opened = [OpenedDataset(group, split=split, schema=schema) for group in groups]
    server = Server(opened, host=host, port=port, program=program)
    with _opened_by_file(server) as page, contextlib.suppress(KeyboardInterrupt):
        server.run(lambda: _greet(server, page if browser else None))
    from recordsmith.cli.consoles import echo

    echo("Stopped.", err=True)


def _greet(server: Server, page: str | None) -> None:
    """Say where the viewer is, and open the browser."""
    from recordsmith.cli.consoles import echo
    from recordsmith.viewer.security import is_loopback

    echo(server.url)
    if not is_loopback(server.host):
        echo(
            "Other machines can connect: everybody who can reach this machine and has this link can read the data, "
            "and the connection is not encrypted.",
            err=True,
        )
    echo(f"From another machine: ssh -L {server.port}:127.0.0.1:{server.port} {os.uname().nodename}", err=True)
    echo("Ctrl-C ends the viewer.", err=True)
    if page is not None and not webbrowser.open(f"file://{page}"):
        echo("No browser could be opened: open the link above.", err=True)


@contextlib.contextmanager
def _opened_by_file(server: Server) -> Iterator[str]:
    """Write a file that only this user can read, which leads to the viewer.

    The browser is given its name: the token would be visible to all users in the list of processes.
    """
    handle, path = tempfile.mkstemp(prefix="recordsmith-view-", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            leading = f'<meta http-equiv="refresh" content="0;url={server.url}">'
            file.write(f'<!DOCTYPE html>{leading}<a href="{server.url}">Open the viewer</a>\n')
        yield path
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)

"""Progress bars, on a terminal only."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence

__all__ = ["file_progress"]

_WORTH_SHOWING = 64 << 20  # bytes; less is done before a bar could be read


@contextlib.contextmanager
def file_progress(action: str, paths: Sequence[str]) -> Iterator[Callable[[int], object]]:
    """Give a function to be called with the size of each file that is done; it moves a bar on a terminal.

    >>> with file_progress("indexing", []) as on_file:
    ...     on_file(100)
    """
    from recordsmith.cli.consoles import error_console

    console = error_console()
    if not console.is_terminal:
        yield lambda _: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    size = sum(map(_size, paths))
    with Progress(*columns, console=console, transient=True, disable=size < _WORTH_SHOWING) as progress:
        task = progress.add_task(action, total=size)
        yield lambda done: progress.advance(task, done)


def _size(path: str) -> int:
    """Add up what a path stands for, as far as that is quickly known: it only sets the bar's end."""
    with contextlib.suppress(OSError):
        if os.path.isdir(path):
            return sum(entry.stat().st_size for entry in os.scandir(path) if entry.is_file())
        return os.path.getsize(path)
    return 0

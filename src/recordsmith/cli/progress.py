"""How far long work is: a bar on a terminal, and where there is none a line now and then, if the work is very long."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recordsmith.making.progress import OnProgress, Progress

__all__ = ["checking_progress", "file_progress", "making_progress", "progress_line"]

_WORTH_SHOWING = 64 << 20  # bytes; less is done before a bar could be read
_SECONDS_TO_FIRST_LINE = 2.0
_SECONDS_BETWEEN_LINES = 5.0
_NARROW = 72  # columns, from which on a bar has room beside the figures
_WIDE = 80  # from which on the size has, too
_FIGURES = 70  # columns that all figures take, if they are large
_NOTHING_YET = {"rows": "", "size": "", "rejects": ""}  # the texts beside a bar


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


@contextlib.contextmanager
def checking_progress(action: str = "checking") -> Iterator[Callable[[int, int], object]]:
    """Give a function to be called with the bytes done and the bytes in all; it moves a bar on a terminal.

    >>> with checking_progress() as on_progress:
    ...     on_progress(512, 1024)
    """
    from recordsmith.cli.consoles import error_console

    console = error_console()
    if not console.is_terminal:
        yield lambda _done, _total: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(action, total=None, visible=False)
        yield lambda done, total: progress.update(task, completed=done, total=total, visible=total >= _WORTH_SHOWING)


@contextlib.contextmanager
def making_progress() -> Iterator[OnProgress]:
    """Give what `rs.make` reports its progress to; it is shown on standard error.

    >>> from recordsmith.making.progress import Progress
    >>> with making_progress() as on_progress:
    ...     on_progress(Progress("reading", 512, 1024, "bytes", 10, 400, 0))
    """
    from recordsmith.cli.consoles import error_console

    console = error_console()
    if not console.is_terminal:
        yield _Lines(lambda line: (console.file.write(line + "\n"), console.file.flush()))
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns: list[Any] = [TextColumn("{task.description:<8}", style="bold")]
    if console.width >= _NARROW:
        columns.append(BarColumn(bar_width=min(40, max(10, console.width - _FIGURES))))
    columns.append(TextColumn("{task.fields[rows]}"))
    if console.width >= _WIDE:
        columns.append(TextColumn("{task.fields[size]}", style="dim"))
    columns += [TextColumn("{task.fields[rejects]}", style="yellow"), TimeRemainingColumn(compact=True)]
    with Bars(*columns, console=console, transient=True) as bars:
        yield _Bar(bars, rates=console.width >= _NARROW)


class _Bar:
    """Shows the phase that is under way as one bar."""

    def __init__(self, bars: Any, *, rates: bool) -> None:
        self._bars = bars
        self._rates = rates
        self._pace = _Pace()
        self._phase = ""
        self._task = bars.add_task("looking", total=None, **_NOTHING_YET)

    def __call__(self, progress: Progress) -> None:
        rate = self._pace.rows_a_second(progress)
        if progress.phase != self._phase:
            self._phase = progress.phase
            self._bars.remove_task(self._task)
            # These two say that they began, and then nothing until they are done.
            total = None if progress.phase in ("ordering", "fitting") else progress.total
            self._task = self._bars.add_task(progress.phase, total=total, **_NOTHING_YET)
        rows = _rows_text(progress)
        self._bars.update(
            self._task,
            completed=progress.done,
            rows=f"{rows}, {rate:,.0f}/s" if rate and self._rates else rows,
            size=_size_text(progress),
            rejects=_rejects(progress),
        )


class _Lines:
    """Writes a line every few seconds."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._pace = _Pace()
        self._next = time.monotonic() + _SECONDS_TO_FIRST_LINE

    def __call__(self, progress: Progress) -> None:
        rate = self._pace.rows_a_second(progress)
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _SECONDS_BETWEEN_LINES
            self._write(progress_line(progress, rate, self._pace.seconds_left(progress)))


class _Pace:
    """How fast the phase under way goes, from its beginning on."""

    def __init__(self) -> None:
        self._phase = ""
        self._began = 0.0
        self._rows = self._done = 0

    def rows_a_second(self, progress: Progress) -> float | None:
        """Return the pace of the phase; None while that cannot be told."""
        if progress.phase != self._phase:
            # The first report may count what a run before this one had done: the pace is that of what follows.
            self._phase = progress.phase
            self._began, self._rows, self._done = time.monotonic(), _rows(progress), progress.done
        seconds = time.monotonic() - self._began
        rows = _rows(progress) - self._rows
        return rows / seconds if rows > 0 and seconds > 0 else None

    def seconds_left(self, progress: Progress) -> float | None:
        """Return how long the phase still takes, if it goes on as it did."""
        seconds, done = time.monotonic() - self._began, progress.done - self._done
        if progress.total is None or done <= 0:
            return None
        return max(0, progress.total - progress.done) * seconds / done


def progress_line(progress: Progress, rate: float | None = None, seconds_left: float | None = None) -> str:
    """Say in one line how far a run is.

    >>> from recordsmith.making.progress import Progress
    >>> progress_line(Progress("reading", 512_000, 1_024_000, "bytes", 12_000, 400_000, 3), 4000.0, 3.2)
    'reading: 50 %, 12,000 rows, 4,000 rows/s, 400 KB, 3 rejects, about 4 s left'
    """
    parts = []
    if progress.total and progress.done:
        parts.append(f"{100 * min(1.0, progress.done / progress.total):.0f} %")
    if _rows(progress):
        parts.append(_rows_text(progress))
    if rate:
        parts.append(f"{rate:,.0f} rows/s")
    parts += [text for text in (_size_text(progress), _rejects(progress)) if text]
    if seconds_left is not None and seconds_left >= 1:
        parts.append(f"about {_duration(seconds_left)} left")
    return f"{progress.phase}: {', '.join(parts)}" if parts else progress.phase


def _rows(progress: Progress) -> int:
    """Return the rows that the phase has done: while reading, those that are rows already."""
    return progress.rows if progress.phase == "reading" else progress.done


def _size_text(progress: Progress) -> str:
    from recordsmith.view.amounts import bytes_text

    return bytes_text(progress.bytes) if progress.phase == "reading" else ""


def _rows_text(progress: Progress) -> str:
    from recordsmith.view.amounts import count_text

    return count_text(_rows(progress), "row") if _rows(progress) else ""


def _rejects(progress: Progress) -> str:
    from recordsmith.view.amounts import count_text

    return count_text(progress.rejects, "reject") if progress.rejects else ""


def _duration(seconds: float) -> str:
    whole = int(seconds) + 1
    if whole < 120:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 7200 else f"{whole / 3600:.1f} h"


def _size(path: str) -> int:
    """Add up what a path stands for, as far as that is quickly known: it only sets the bar's end."""
    with contextlib.suppress(OSError):
        if os.path.isdir(path):
            return sum(entry.stat().st_size for entry in os.scandir(path) if entry.is_file())
        return os.path.getsize(path)
    return 0

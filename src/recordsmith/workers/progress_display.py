"""Shows the progress of long work: a bar on a terminal or in a notebook, otherwise a line from time to time.

What nobody asked to see goes to the logger "recordsmith", at level INFO.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from recordsmith.errors import RecordsmithError
from recordsmith.wording.numbers import bytes_text, count_text
from recordsmith.workers.notebook_progress import NotebookBar, in_notebook

__all__ = ["OnPhase", "ShowProgress", "file_progress", "making_progress", "phase_progress", "progress_line"]

OnPhase: TypeAlias = Callable[[str, int, int], object]
ShowProgress: TypeAlias = bool | Literal["auto"]
"""True: a bar on a terminal and in a notebook, lines elsewhere. "auto": the bar alone. False: nothing."""

_LOG = logging.getLogger("recordsmith")


class RunProgress(Protocol):
    """What `making.progress.Progress` has; that is above this module."""

    @property
    def phase(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int | None: ...
    @property
    def rows(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def rejects(self) -> int: ...


_WORTH_SHOWING = 64 << 20  # bytes; less is done before a bar could be read
_IN_BYTES = {
    "checking",
    "comparing records",
    "verifying",
    "repairing",
    "looking",
    "uploading",
}  # phases that count bytes
_SECONDS_TO_FIRST_BAR = 0.5
_SECONDS_TO_FIRST_LINE = 2.0
_SECONDS_BETWEEN_LINES = 5.0
_NARROW = 72  # columns, from which on a bar has room next to the figures
_WIDE = 80  # from which on the size has, too
_FIGURES = 70  # columns that all figures take, if they are large
_NOTHING_YET = {"rows": "", "size": "", "rejects": ""}  # the texts beside a bar


@contextlib.contextmanager
def file_progress(action: str, paths: Sequence[str]) -> Iterator[Callable[[int], object]]:
    """Give a function to be called with the size of each file that is done; it moves a bar on a terminal."""
    if not _on_terminal():
        yield lambda _: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    size = sum(map(_size, paths))
    with Progress(*columns, console=_console(), transient=True, disable=size < _WORTH_SHOWING) as progress:
        task = progress.add_task(action, total=size)
        yield lambda done: progress.advance(task, done)


@contextlib.contextmanager
def phase_progress(*, shown: ShowProgress = True) -> Iterator[OnPhase]:
    """Give a function to be called with a phase of the work, what is done of it and how much it is (0: not known)."""
    where = _where(shown)
    if where == "terminal":
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

        done = TextColumn("{task.fields[done]}")
        with _bars(TextColumn("{task.description}"), BarColumn(), done, TimeRemainingColumn(compact=True)) as bars:
            yield _PhaseBar(bars)
    elif where == "notebook":
        with contextlib.closing(NotebookBar(at_once=shown is True)) as bar:
            yield lambda phase, done, total: bar.show(_phase_line(phase, done, total), done, total)
    else:
        yield _PhaseLines(_write_line if where == "lines" else _LOG.info)


@contextlib.contextmanager
def making_progress(*, shown: ShowProgress = True, at_once: bool = False) -> Iterator[Callable[[RunProgress], None]]:
    """Give what `rs.make` reports its progress to; it is shown on standard error.

    Args:
        shown: whether, and where there is no terminal.
        at_once: show the bar from the beginning, as a command does.
    """
    where = _where(shown)
    if where == "terminal":
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

        width = _console().width
        columns: list[Any] = [TextColumn("{task.description:<8}", style="bold")]
        if width >= _NARROW:
            columns.append(BarColumn(bar_width=min(40, max(10, width - _FIGURES))))
        columns.append(TextColumn("{task.fields[rows]}"))
        if width >= _WIDE:
            columns.append(TextColumn("{task.fields[size]}", style="dim"))
        columns += [TextColumn("{task.fields[rejects]}", style="yellow"), TimeRemainingColumn(compact=True)]
        with _bars(*columns) as bars:
            if at_once:
                bars.start()
            yield _Bar(bars, rates=width >= _NARROW)
    elif where == "notebook":
        with contextlib.closing(NotebookBar(at_once=shown is True)) as bar:
            pace = _Pace()

            def show(progress: RunProgress) -> None:
                line = progress_line(progress, pace.rows_a_second(progress), pace.seconds_left(progress))
                bar.show(line, progress.done, progress.total)

            yield show
    else:
        yield _Lines(_write_line if where == "lines" else _LOG.info)


def _where(shown: ShowProgress) -> Literal["terminal", "notebook", "lines", "log"]:
    """Return where progress is shown."""
    if shown not in (True, False, "auto"):
        raise RecordsmithError("progress must be True, False or 'auto'.", found=repr(shown))
    if shown is False:
        return "log"
    if _on_terminal():
        return "terminal"
    return "notebook" if in_notebook() else "lines" if shown is True else "log"


def _on_terminal() -> bool:
    """Whether somebody sees a bar on a terminal: not in a pipe or a file, also where a variable asks for colours."""
    stream = sys.stderr
    return stream is not None and stream.isatty() and _console().is_terminal


def _console() -> Any:
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False, markup=False)


@contextlib.contextmanager
def _bars(*columns: Any) -> Iterator[Any]:
    """Give bars that appear when they are started, so that short work shows none, and are gone at the end."""
    from rich.progress import Progress as Bars

    bars = Bars(*columns, console=_console(), transient=True)
    try:
        yield bars
    finally:
        if bars.live.is_started:
            bars.stop()


def _write_line(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class _PhaseBar:
    """Shows the phase that is under way as one bar."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._phase = ""
        self._task: Any = None
        self._shown_from = time.monotonic() + _SECONDS_TO_FIRST_BAR

    def __call__(self, phase: str, done: int, total: int) -> None:
        if total and time.monotonic() < self._shown_from:  # else it may not be called again for long
            return
        if not self._bars.live.is_started:
            self._bars.start()
        if phase != self._phase:
            self._phase = phase
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task = self._bars.add_task(phase, total=total or None, done="")
        self._bars.update(self._task, completed=done, total=total or None, done=_done_text(phase, done, total))


class _PhaseLines:
    """Writes a line every few seconds."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _SECONDS_BETWEEN_LINES
            self._write(_phase_line(phase, done, total))


def _phase_line(phase: str, done: int, total: int) -> str:
    share = f"{100 * min(1.0, done / total):.0f} %, " if total else ""
    amount = _done_text(phase, done, total)
    return f"{phase}: {share}{amount}" if amount else phase


def _done_text(phase: str, done: int, total: int) -> str:
    if not total:
        return ""
    if phase in _IN_BYTES:
        return f"{bytes_text(done)} of {bytes_text(total)}"
    return f"{done:,} of {total:,}"


class _Bar:
    """Shows the phase that is under way as one bar."""

    def __init__(self, bars: Any, *, rates: bool) -> None:
        self._bars = bars
        self._rates = rates
        self._pace = _Pace()
        self._phase = ""
        self._task = bars.add_task("looking", total=None, **_NOTHING_YET)
        self._shown_from = time.monotonic() + _SECONDS_TO_FIRST_BAR

    def __call__(self, progress: RunProgress) -> None:
        rate = self._pace.rows_a_second(progress)
        if not self._bars.live.is_started:
            if time.monotonic() < self._shown_from:
                return
            self._bars.start()
        if progress.phase != self._phase:
            self._phase = progress.phase
            self._bars.remove_task(self._task)
            # These two say that they began, and then nothing until they are done.
            total = None if progress.phase in ("ordering", "fitting") else progress.total
            self._task = self._bars.add_task(progress.phase, total=total, **_NOTHING_YET)
        rows = count_text(_rows(progress), "row") if _rows(progress) else ""
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

    def __call__(self, progress: RunProgress) -> None:
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

    def rows_a_second(self, progress: RunProgress) -> float | None:
        """Return the pace of the phase; None while it is unknown."""
        if progress.phase != self._phase:
            # The first report may count what a run before this one had done: the pace is that of what follows.
            self._phase = progress.phase
            self._began, self._rows, self._done = time.monotonic(), _rows(progress), progress.done
        seconds = time.monotonic() - self._began
        rows = _rows(progress) - self._rows
        return rows / seconds if rows > 0 and seconds > 0 else None

    def seconds_left(self, progress: RunProgress) -> float | None:
        """Return how long the phase still takes at the current pace."""
        seconds, done = time.monotonic() - self._began, progress.done - self._done
        if progress.total is None or done <= 0:
            return None
        return max(0, progress.total - progress.done) * seconds / done


def progress_line(progress: RunProgress, rate: float | None = None, seconds_left: float | None = None) -> str:
    """Say in one line how far a run is.

    >>> from recordsmith.run.progress import Progress
    >>> progress_line(Progress("reading", 512_000, 1_024_000, "bytes", 12_000, 400_000, 3), 4000.0, 3.2)
    'reading: 50 %, 12,000 rows, 4,000 rows/s, 400 KB, 3 rejects, about 4 s left'
    """
    parts = []
    if progress.total and progress.done:
        parts.append(f"{100 * min(1.0, progress.done / progress.total):.0f} %")
    if _rows(progress):
        parts.append(count_text(_rows(progress), "row"))
    if rate:
        parts.append(f"{rate:,.0f} rows/s")
    parts += [text for text in (_size_text(progress), _rejects(progress)) if text]
    if seconds_left is not None and seconds_left >= 1:
        parts.append(f"about {_duration(seconds_left)} left")
    return f"{progress.phase}: {', '.join(parts)}" if parts else progress.phase


def _rows(progress: RunProgress) -> int:
    """Return the rows that the phase has done: while reading, those that are rows already."""
    return progress.rows if progress.phase in ("reading", "uploading") else progress.done


def _size_text(progress: RunProgress) -> str:
    return bytes_text(progress.bytes) if progress.phase in ("reading", "uploading") else ""


def _rejects(progress: RunProgress) -> str:
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

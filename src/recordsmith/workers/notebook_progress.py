"""A progress bar in a notebook: one output of the cell, which is updated and is gone at the end."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

from recordsmith.wording.markup import element

__all__ = ["NotebookBar", "in_notebook"]

_SECONDS_TO_FIRST_BAR = 0.5
_SECONDS_BETWEEN = 0.2


def in_notebook() -> bool:
    """Say whether the program runs in the kernel of a notebook. IPython is not imported for it."""
    ipython: Any = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """Shows one line of text with a bar."""

    def __init__(self, *, at_once: bool = False) -> None:
        self._handle: Any = None
        self._next = 0.0 if at_once else time.monotonic() + _SECONDS_TO_FIRST_BAR

    def show(self, text: str, done: int, total: int | None) -> None:
        """Show how far the work is; too many calls are left out."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _SECONDS_BETWEEN
        known = {"value": min(done, total), "max": total} if total else {}
        line = element("span", text, style="font-family:monospace;margin-left:8px")
        bar = element("progress", style="width:240px;vertical-align:middle", **known)
        self._update({"text/plain": text, "text/html": element("div", bar, line)})

    def close(self) -> None:
        """Remove the bar."""
        if self._handle is not None:
            self._update({"text/plain": "", "text/html": ""})

    def _update(self, data: dict[str, str]) -> None:
        display = importlib.import_module("IPython.display").display  # a notebook has it

        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

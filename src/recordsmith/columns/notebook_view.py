"""How a column is shown in a notebook. Images are above columns, so the function that shows them is set from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["NotebookView", "set_notebook_view"]

_views: list[Callable[[Any], str]] = []


def set_notebook_view(view: Callable[[Any], str]) -> None:
    """Let columns be shown by a function that returns HTML."""
    _views[:] = [view]


class NotebookView:
    """A column that notebooks can show."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return _views[0](self) if _views else None

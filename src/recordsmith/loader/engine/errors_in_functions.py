"""Errors of a user's function, with the record that it failed on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from recordsmith.loader.plan import Rows
from recordsmith.wording.numbers import count_text

__all__ = ["function_name", "in_function"]


@contextlib.contextmanager
def in_function(verb: str, function: Callable[..., Any], rows: Rows, row: int | None) -> Iterator[None]:
    """Add to an exception of a user's function which verb called it, and for which record."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if row is not None:
            error.record_number = int(rows.numbers[row])  # type: ignore[union-attr] # for those who know the files
        record = f"record {int(rows.numbers[row])}" if row is not None else f"a batch of {count_text(len(rows), 'row')}"
        error.add_note(f"Raised while .{verb}() called {function_name(function)} for {record}.")
        raise


def function_name(function: Callable[..., Any]) -> str:
    """Name a function."""
    return str(getattr(function, "__qualname__", type(function).__name__))

"""Errors of a user's function, with the record that it failed on."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

from recordsmith.errors import PipelineError
from recordsmith.loader.plan import Rows
from recordsmith.wording.numbers import count_text

__all__ = ["function_name", "in_function"]


def check_function(verb: str, function: Any, problem: str) -> None:
    """Refuse what cannot be called, and functions whose result is not there yet when they return.

    >>> check_function("filter", 3, "filter needs a function of one row.")
    Traceback (most recent call last):
    recordsmith.errors.PipelineError: filter needs a function of one row.
      found:    3
    """
    if not callable(function):
        raise PipelineError(problem, found=repr(function))
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004 - an object's
    kinds = {
        "generator function, with yield": inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called),
        "coroutine function, with async": inspect.iscoroutinefunction(called),
    }
    for kind, applies in kinds.items():
        if applies:
            raise PipelineError(
                problem,
                found=f"{function_name(function)}, a {kind}",
                expected="a function that returns its result",
                advice=f"One row goes in, and one result comes out of .{verb}().",
            )


def in_function(
    verb: str, function: Callable[..., Any], rows: Rows, row: int | None
) -> contextlib.AbstractContextManager[None]:
    """Add to an exception of a user's function which verb called it, and for which record."""
    if row is None:
        return _Call(verb, function, f"a batch of {count_text(len(rows), 'row')}")
    return _Call(verb, function, f"record {int(rows.numbers[row])}", int(rows.numbers[row]))


def in_batch_function(function: Callable[..., Any]) -> contextlib.AbstractContextManager[None]:
    """Add to an exception of a user's function of batches what called it."""
    return _Call("map", function, "a batch")


class _Call(contextlib.AbstractContextManager[None]):
    """A call of a user's function.

    A StopIteration becomes another exception: it would end, without a word, the iteration of who asked for a batch.
    """

    def __init__(self, verb: str, function: Callable[..., Any], subject: str, record: int | None = None) -> None:
        self._note = verb, function, subject
        self._record = record

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if not isinstance(error, (Exception, SystemExit)):
            return
        stopped = isinstance(error, StopIteration)
        shown = RuntimeError("A function raised StopIteration.") if stopped else error
        verb, function, subject = self._note
        shown.add_note(f"Raised while .{verb}() called {function_name(function)} for {subject}.")
        if self._record is not None:
            shown.record_number = self._record  # type: ignore[union-attr] # for those who know the files
        if stopped:
            raise shown from error


def function_name(function: Callable[..., Any]) -> str:
    """Name a function."""
    return str(getattr(function, "__qualname__", type(function).__name__))

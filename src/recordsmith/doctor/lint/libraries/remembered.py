"""Results that many rules ask for, computed once for each program."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TypeVar

from recordsmith.doctor.lint.interpreter.values import Call

__all__ = ["once_per_program"]

Result = TypeVar("Result")


def once_per_program(function: Callable[[list[Call]], Iterator[Result]]) -> Callable[[list[Call]], list[Result]]:
    """Keep what a function gives for the calls of the latest program: rules run on one program after the other.

    >>> counted = once_per_program(lambda calls: iter([len(calls)]))
    >>> counted([])
    [0]
    """
    latest: list[tuple[list[Call], int, list[Result]]] = []

    @functools.wraps(function)
    def remembered(calls: list[Call]) -> list[Result]:
        if not latest or latest[0][0] is not calls or latest[0][1] != len(calls):
            latest[:] = [(calls, len(calls), list(function(calls)))]
        return latest[0][2]

    return remembered

"""map: a function of your own, for each row or for each batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recordsmith.columns import PackedColumn
from recordsmith.errors import PipelineError, list_names
from recordsmith.loader.engine.errors_in_functions import check_function, function_name, in_batch_function, in_function
from recordsmith.loader.engine.row_access import RowValues, row_at
from recordsmith.loader.plan import BatchChange, RowChange, Rows
from recordsmith.loader.verbs.arguments import verb
from recordsmith.loader.verbs.chain import Chain, LoaderT
from recordsmith.workers.processes import call_in_process

__all__ = ["MapVerb"]

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class MappedRows(RowChange):
    """Puts each row through a function."""

    function: Function
    processes: bool
    heavy = True

    def apply(self, rows: Rows) -> Rows:
        """Return the rows that the function made."""
        if self.processes:
            mapped = call_in_process(map_columns, self.function, rows)
        else:
            mapped = map_columns(self.function, rows)
        return Rows(mapped, rows.numbers, rows.epochs, rows.positions)


@dataclass(frozen=True)
class MappedBatch(BatchChange):
    """Puts each batch through a function."""

    function: Function

    def apply(self, batch: Any) -> Any:
        """Return the batch that the function made."""
        with in_batch_function(self.function):
            result = self.function(batch)
        if result is None:
            raise PipelineError(
                "A function of batches returned nothing.",
                found=f"None, from {function_name(self.function)}",
                expected="the batch to feed, such as a dict of arrays",
                advice="End the function with return.",
            )
        return result


class MapVerb(Chain[LoaderT]):
    """Gives a chain the method `map`."""

    @verb
    def map(self, function: Callable[[Any], Any], *, processes: bool = False) -> LoaderT:
        """Apply a function to each row, or, after batching, to each batch.

        The result for a row must depend only on the row: rows are processed in any order, on several threads.

        Args:
            function: takes a row, a dict of values, and returns a row. After `.batch()` it takes and returns a batch.
            processes: run the function in worker processes, for slow Python code.
        """
        plan = self.plan
        check_function("map", function, "map needs a function.")
        plan = plan.then("map", {"function": function_name(function)})
        if plan.batching is not None:
            if processes:
                raise PipelineError(
                    "A function of batches runs on threads.", advice="Use processes=True before .batch(), for rows."
                )
            return self._then(replace(plan, batch_changes=(*plan.batch_changes, MappedBatch(function)), features=None))
        return self._then(replace(plan, changes=(*plan.changes, MappedRows(function, processes)), features=None))


def map_columns(function: Function, rows: Rows) -> dict[str, Any]:
    """Put rows through a function one by one; what it changed are columns of single values."""
    results = []
    untouched = set(rows.columns)
    # An array that is changed in place changes its column. A row of a packed feature is a new dict, with copies.
    packed = {name for name, column in rows.columns.items() if isinstance(column, PackedColumn)}
    for number in range(len(rows)):
        with in_function("map", function, rows, number):
            row = row_at(rows.columns, number)
            given = {name: _content(value) if name in packed else value for name, value in row.items()}
            result = function(row)
            if not isinstance(result, Mapping):
                raise PipelineError(
                    "A function of rows returns a row: a mapping of names to values.",
                    found=f"{type(result).__name__} for record {int(rows.numbers[number])}",
                    advice="To leave rows out, use .filter().",
                )
            if not result:
                raise PipelineError("A function of rows returned a row without features.", found=repr(result))
            results.append(result)
        untouched = {
            name
            for name in untouched.intersection(result)
            if (_content(result[name]) == given[name] if name in packed else result[name] is given[name])
        }
    names = list(results[0]) if results else list(rows.columns)
    for number, result in enumerate(results):
        if list(result) != names and set(result) != set(names):
            raise PipelineError(
                "A function of rows returned different features for different rows.",
                found=f"{list_names(result)} for record {int(rows.numbers[number])}",
                expected=f"{list_names(names)}, as for the rows before it",
            )
    # What the function left alone keeps its kind of column, whatever values a batch happens to have.
    return {
        name: rows.columns[name] if name in untouched else RowValues([result[name] for result in results])
        for name in names
    }


def _content(value: Any) -> object:
    """Return what a row of a packed feature contains; something that is equal to nothing else for other values."""
    if value is None:
        return None
    if not isinstance(value, dict) or not all(isinstance(part, (np.ndarray, np.generic)) for part in value.values()):
        return object()
    return {name: (part.dtype, part.shape, part.tobytes()) for name, part in value.items()}

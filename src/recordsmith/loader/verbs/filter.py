"""filter: only the rows for which a function says yes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordsmith.errors import PipelineError
from recordsmith.loader.engine.errors_in_functions import in_function
from recordsmith.loader.engine.row_access import row_at, take_rows
from recordsmith.loader.plan import Plan, RowChange, Rows

__all__ = ["filter_rows"]


@dataclass(frozen=True)
class Filtered(RowChange):
    """Keeps the rows for which a function returns true."""

    function: Callable[[dict[str, Any]], Any]
    vectorized: bool
    drops_rows = True

    def apply(self, rows: Rows) -> Rows:
        """Return the rows that stay."""
        if self.vectorized:
            with in_function("filter", self.function, rows, None):
                keep = np.asarray(self.function(rows.columns))
            if keep.shape != (len(rows),) or keep.dtype != np.bool_:
                raise PipelineError(
                    "A vectorized filter returns one bool for each row.",
                    found=f"{keep.dtype} of shape {keep.shape}",
                    expected=f"bool of shape ({len(rows)},)",
                )
        else:
            keep = np.empty(len(rows), np.bool_)
            for number in range(len(rows)):
                with in_function("filter", self.function, rows, number):
                    keep[number] = bool(self.function(row_at(rows.columns, number)))
        return rows if keep.all() else take_rows(rows, np.flatnonzero(keep))


def filter_rows(plan: Plan, function: Callable[[dict[str, Any]], Any], *, vectorized: bool) -> Plan:
    """Keep the rows for which a function returns true; see `Loader.filter`."""
    if not callable(function):
        raise PipelineError("filter needs a function of one row.", found=repr(function))
    plan.before_batching("filter", "look at whole batches. Filter first: .filter(...).batch(n).")
    if plan.even_world is not None:
        # The ranks' numbers of batches are then what is left to each of them.
        plan = plan.then("filter", {"function": _name(function)}, even_world=None)
    else:
        plan = plan.then("filter", {"function": _name(function)})
    return _with_change(plan, Filtered(function, vectorized))


def _with_change(plan: Plan, change: RowChange) -> Plan:
    from dataclasses import replace

    return replace(plan, changes=(*plan.changes, change))


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))

"""filter: only the rows for which a function says yes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordsmith.errors import PipelineError
from recordsmith.loader.engine.errors_in_functions import check_function, function_name, in_function
from recordsmith.loader.engine.row_access import row_at, take_rows
from recordsmith.loader.plan import RowChange, Rows
from recordsmith.loader.verbs.arguments import verb
from recordsmith.loader.verbs.chain import Chain, LoaderT

__all__ = ["FilterVerb"]


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


class FilterVerb(Chain[LoaderT]):
    """Gives a chain the method `filter`."""

    @verb
    def filter(self, function: Callable[[dict[str, Any]], Any], *, vectorized: bool = False) -> LoaderT:
        """Keep the rows for which a function of a row returns true.

        Args:
            function: takes a row, a dict of values. With `vectorized` it takes a dict of columns and returns an array
                of bools, which is much faster.
            vectorized: the function takes many rows at once.
        """
        plan = self.plan
        check_function("filter", function, "filter needs a function of one row.")
        plan.before_batching("filter", "look at whole batches. Filter first: .filter(...).batch(n).")
        changes = (*plan.changes, Filtered(function, vectorized))
        # How many batches a rank has depends on what the filter leaves to it.
        return self._then(plan.then("filter", {"function": function_name(function)}, changes=changes, even_world=None))

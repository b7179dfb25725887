"""select: only some features; the others are not even decoded."""

from __future__ import annotations

from dataclasses import dataclass

from recordsmith.dataset.selected_names import check_selected_names
from recordsmith.errors import PipelineError
from recordsmith.loader.plan import BatchChange, RowChange, Rows
from recordsmith.loader.verbs.arguments import verb
from recordsmith.loader.verbs.chain import Chain, LoaderT

__all__ = ["SelectVerb"]


@dataclass(frozen=True)
class Selected(RowChange, BatchChange):
    """Keeps some columns."""

    names: tuple[str, ...]
    picks_columns = True

    def apply(self, rows: object) -> object:  # type: ignore[override] # rows or a batch
        """Return the rows or the batch with the columns that are wanted."""
        if isinstance(rows, Rows):
            rows.columns = {name: rows.columns[name] for name in self.names}
            return rows
        return {name: rows[name] for name in self.names}  # type: ignore[index]


class SelectVerb(Chain[LoaderT]):
    """Gives a chain the method `select`."""

    @verb
    def select(self, *names: str) -> LoaderT:
        """Keep only some features; those that are left out before anything else are not even decoded."""
        plan = self.plan
        check_selected_names(names, plan.features or (), PipelineError)
        for name in names:
            plan.feature(name, "select")
        features = None if plan.features is None else {name: plan.features[name] for name in names}
        settings = {"names": list(names)}
        if plan.batching is not None:
            plan.before_pairs("select")
            return self._then(
                plan.then("select", settings, features=features, batch_changes=(*plan.batch_changes, Selected(names)))
            )
        if plan.changes:
            return self._then(
                plan.then("select", settings, features=features, changes=(*plan.changes, Selected(names)))
            )
        datasets = tuple(dataset.select(*names) for dataset in plan.datasets)
        return self._then(plan.then("select", settings, features=features, datasets=datasets))

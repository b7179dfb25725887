"""repeat: several epochs one after the other."""

from __future__ import annotations

from recordsmith.errors import PipelineError
from recordsmith.loader.order.record_order import Repeated
from recordsmith.loader.plan import Plan
from recordsmith.loader.verbs.shuffle import check_whole_number

__all__ = ["repeat"]


def repeat(plan: Plan, times: int | None) -> Plan:
    """Feed the rows, or the batches, several times; see `Loader.repeat`."""
    if times is not None:
        check_whole_number("The number of epochs", times, least=1)
    if plan.batching is not None:
        if plan.epochs_fed != 1:
            raise PipelineError("The batches are repeated already.", advice="One .repeat() is enough.")
        return plan.then("repeat", {"times": times}, epochs_fed=times, known=plan.known | {"repeated"})
    return plan.then(
        "repeat", {"times": times}, order=Repeated(plan.order, times), known=plan.known | {"repeated"}, even_world=None
    )

"""repeat: several epochs one after the other."""

from __future__ import annotations

from recordsmith.errors import PipelineError
from recordsmith.loader.order.record_order import Repeated
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT

__all__ = ["RepeatVerb"]


class RepeatVerb(Chain[LoaderT]):
    """Gives a chain the method `repeat`."""

    @verb
    def repeat(self, times: int | None = None) -> LoaderT:
        """Iterate over several epochs, each in its own order; None: for ever.

        If it is called before batching, a batch may have rows of two epochs; after batching it has not.
        """
        plan = self.plan
        if times is not None:
            check_whole_number("The number of epochs", times, least=1)
        if plan.batching is not None:
            if plan.epochs_fed != 1:
                raise PipelineError("The batches are repeated already.", advice="One .repeat() is enough.")
            return self._then(plan.then("repeat", {"times": times}, epochs_fed=times, known=plan.known | {"repeated"}))
        return self._then(
            plan.then(
                "repeat",
                {"times": times},
                order=Repeated(plan.order, times),
                known=plan.known | {"repeated"},
                even_world=None,
            )
        )

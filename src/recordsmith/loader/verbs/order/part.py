"""take and skip: the first so many, or all but them. Of rows before batching, of batches after it."""

from __future__ import annotations

from dataclasses import replace

from recordsmith.errors import PipelineError
from recordsmith.loader.order.record_order import ENDLESS, Part
from recordsmith.loader.plan import Plan
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT

__all__ = ["PartVerb"]


class PartVerb(Chain[LoaderT]):
    """Gives a chain the methods `take` and `skip`."""

    @verb
    def take(self, n: int) -> LoaderT:
        """Keep the first n rows, or after batching the first n batches."""
        check_whole_number("The number of rows or batches to take", n, least=0)
        return self._then(_part(self.plan, "take", n, 0, n))

    @verb
    def skip(self, n: int) -> LoaderT:
        """Leave out the first n rows, or after batching the first n batches."""
        check_whole_number("The number of rows or batches to skip", n, least=0)
        return self._then(_part(self.plan, "skip", n, n, ENDLESS))


def _part(plan: Plan, verb: str, n: int, start: int, stop: int) -> Plan:
    if plan.batching is not None:
        if plan.epochs_fed != 1:
            raise PipelineError(f"{verb} cannot follow a repeat of batches.", advice=f"Write .{verb}().repeat().")
        first, last = plan.batches_taken
        end = None if stop >= ENDLESS and last is None else min(first + stop, ENDLESS if last is None else last)
        return plan.then(verb, {"n": n}, batches_taken=(first + start, end))
    if plan.drops_rows:
        raise PipelineError(
            f"{verb} after filter or pack cannot count rows: which rows there are is only known after reading.",
            advice=f"Write .{verb}() before them, or after .batch() to count batches.",
        )
    part = plan.then(verb, {"n": n}, order=Part(plan.order, start, stop))
    return replace(part, even_world=None)

"""prefetch: how many batches may be ready before they are asked for."""

from __future__ import annotations

from recordsmith.errors import PipelineError
from recordsmith.loader.plan import Plan
from recordsmith.loader.verbs.shuffle import check_whole_number

__all__ = ["prefetch"]


def prefetch(plan: Plan, n: int) -> Plan:
    """Keep up to n batches ready; see `Loader.prefetch`."""
    check_whole_number("The number of batches to prefetch", n, least=0)
    if plan.batching is None:
        raise PipelineError("prefetch counts batches.", advice="Write .batch(n).prefetch(k).")
    return plan.then("prefetch", None, ahead=int(n))

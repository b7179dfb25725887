"""prefetch: how many batches may be ready before they are asked for."""

from __future__ import annotations

from recordsmith.errors import PipelineError
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT

__all__ = ["PrefetchVerb"]


class PrefetchVerb(Chain[LoaderT]):
    """Gives a chain the method `prefetch`."""

    @verb
    def prefetch(self, n: int) -> LoaderT:
        """Prepare up to n batches in advance. Without this verb, a suitable number is chosen."""
        plan = self.plan
        check_whole_number("The number of batches to prefetch", n, least=0)
        if plan.batching is None:
            raise PipelineError("prefetch counts batches.", advice="Write .batch(n).prefetch(k).")
        return self._then(plan.then("prefetch", None, ahead=int(n)))

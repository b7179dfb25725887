"""shard: the share of one of several ranks that train together."""

from __future__ import annotations

from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.loader.order.record_order import ENDLESS, Remainder, Shard
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT

__all__ = ["ShardVerb"]

_RULES = ("even", "drop", "repeat")
_MOST_RANKS = 1 << 31  # positions of all ranks together are to fit into 64 bits


class ShardVerb(Chain[LoaderT]):
    """Gives a chain the method `shard`."""

    @verb
    def shard(self, rank: int, world: int, *, remainder: Remainder = "even") -> LoaderT:
        """Keep the share of one rank in distributed training.

        The shares are disjoint and cover all rows, and every rank has the same number of batches. If all ranks shuffle
        first with the same seed, the shuffle is over all rows.

        Args:
            rank: the number of this rank, starting with 0.
            world: the number of ranks.
            remainder: what to do if the rows cannot be divided evenly: "even" gives some ranks one more row, in the
                same number of batches; "drop" leaves rows out of this epoch; "repeat" repeats rows from the start.
        """
        plan = self.plan
        check_whole_number("The rank", rank, least=0)
        check_whole_number("The number of ranks", world, least=0)
        if rank >= world:
            raise PipelineError(
                f"Rank {rank} of {world} does not exist.",
                found=f".shard({rank}, {world})",
                expected=".shard(rank, world), with ranks from 0 to world - 1",
                advice=f"Did you swap the arguments? .shard({world}, {rank}) is rank {world} of {rank}."
                if rank > world
                else None,
            )
        if world > _MOST_RANKS:
            raise PipelineError(
                "The number of ranks is too large.", found=str(world), expected=f"at most {_MOST_RANKS}"
            )
        if remainder not in _RULES:
            raise PipelineError(
                f"Unknown rule for the remainder.{did_you_mean(str(remainder), _RULES)}",
                found=repr(remainder),
                expected=list_names(_RULES),
            )
        plan.before_batching("shard", "distribute whole batches. Shard first: .shard(rank, world).batch(n).")
        if plan.drops_rows:
            raise PipelineError(
                "shard after filter or pack would give the ranks different numbers of batches.",
                advice="Shard first: .shard(rank, world).filter(...).",
            )
        if plan.order.length < world and remainder != "repeat":
            raise PipelineError("There are fewer rows than ranks.", found=f"{plan.order.length} rows for {world} ranks")
        even = None
        if remainder == "even" and plan.order.length < ENDLESS:
            even = (world, plan.order.length)
        return self._then(
            plan.then(
                "shard",
                {"rank": rank, "world": world, "remainder": remainder},
                order=Shard(plan.order, rank, world, remainder),
                known=plan.known | {"sharded"},
                even_world=even,
            )
        )

"""shard: the share of one of several ranks that train together."""

from __future__ import annotations

from recordsmith.errors import PipelineError, did_you_mean, list_names
from recordsmith.loader.order.record_order import ENDLESS, Remainder, Shard
from recordsmith.loader.plan import Plan
from recordsmith.loader.verbs.shuffle import check_whole_number

__all__ = ["shard"]

_RULES = ("even", "drop", "repeat")
_MOST_RANKS = 1 << 31  # positions of all ranks together are to fit into 64 bits


def shard(plan: Plan, rank: int, world: int, *, remainder: Remainder) -> Plan:
    """Keep one rank's share of the rows; see `Loader.shard`."""
    check_whole_number("The number of ranks", world, least=1)
    check_whole_number("The rank", rank, least=0)
    if world > _MOST_RANKS:
        raise PipelineError("The number of ranks is too large.", found=str(world), expected=f"at most {_MOST_RANKS}")
    if rank >= world:
        raise PipelineError("The rank is outside its world.", found=f"rank {rank}", expected=f"0 to {world - 1}")
    if remainder not in _RULES:
        raise PipelineError(
            f"Unknown rule for the remainder.{did_you_mean(str(remainder), _RULES)}",
            found=repr(remainder),
            expected=list_names(_RULES),
        )
    plan.before_batching("shard", "deal out whole batches. Shard first: .shard(rank, world).batch(n).")
    if plan.drops_rows:
        raise PipelineError(
            "shard after filter would give the ranks different numbers of batches.",
            advice="Shard first: .shard(rank, world).filter(...).",
        )
    if plan.order.length < world and remainder != "repeat":
        raise PipelineError("There are fewer rows than ranks.", found=f"{plan.order.length} rows for {world} ranks")
    even = None
    if remainder == "even" and plan.order.length < ENDLESS:
        even = (world, plan.order.length)
    return plan.then(
        "shard",
        {"rank": rank, "world": world, "remainder": remainder},
        order=Shard(plan.order, rank, world, remainder),
        known=plan.known | {"sharded"},
        even_world=even,
    )

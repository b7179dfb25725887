"""What a loader and all outputs made from it share: the plan, how far its consumer has come, and what was skipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import UnknownLengthError, batch_count, feed
from recordsmith.loader.order.record_order import ENDLESS
from recordsmith.loader.plan import Plan
from recordsmith.loader.progress.progress import Progress
from recordsmith.loader.skipping import Skipped
from recordsmith.loader.state import place_in_state, state_of_place

__all__ = ["Session"]


class Session(Progress):
    """Feeds a plan. A loader has one session, and `to_tf`, `to_torch` and `to_jax` feed from the same one."""

    @property
    def skipped(self) -> Skipped:
        """What `on_error="skip"` has skipped so far."""
        return self.plan.skipped or Skipped()

    def __len__(self) -> int:
        plan = self.plan
        if plan.batching is None:
            if plan.drops_rows:
                raise UnknownLengthError("The number of rows is not known before they are filtered.")
            length = plan.order.length
        else:
            length = ENDLESS if plan.epochs_fed is None else batch_count(plan) * plan.epochs_fed
        if length >= ENDLESS:
            raise UnknownLengthError("An endless repeat has no length.")
        return length

    def feed(self, start: Cursor, every: tuple[int, int] = (0, 1), *, plan: Plan | None = None) -> Iterator[Any]:
        """Give batches from a place on, and keep count of what the consumer has received."""
        for batch, place in feed(plan or self.plan, start, every):
            self.reach(place)
            yield batch

    def state(self) -> dict[str, Any]:
        """Return the place that the consumer has reached, JSON-ready."""
        self.plan.batched("Write .batch(n): positions are counted in batches.")
        return state_of_place(self.plan, self.place())

    def restore(self, state: Mapping[str, Any]) -> None:
        """Begin the next iteration at the place that a state names."""
        self.move(place_in_state(self.plan, state))

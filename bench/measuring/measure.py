"""Measure contenders in turn, so that a slow minute of the machine hits all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from bench.measuring.workers import PeerFailedError

# A form this many times slower than the best form of its own peer cannot become the best: it is measured only once.
HOPELESS = 4.0
# A form whose passes have taken this many seconds together is not measured again: its figure no longer moves.
ENOUGH_SECONDS = 20.0
# A turn goes on for this long, with a limit: a pass of a few hundredths of a second right after someone else's turn
# would measure cold caches and sleeping cores more than the contender.
TURN_SECONDS = 0.6
MOST_PASSES_A_TURN = 5


@dataclass(slots=True)
class Contender:
    """One form of one peer: `run` does one pass and returns its seconds. One that fails once has no figure at all."""

    peer: str
    form: str
    run: Callable[[], float]
    seconds: list[float] = field(default_factory=list)
    failure: str | None = None

    @property
    def best(self) -> float:
        """Seconds of the fastest pass so far."""
        return min(self.seconds, default=float("inf"))


def alternate(
    contenders: Iterable[Contender], *, repeats: int, say: Callable[[str], None], only_best: bool = True
) -> None:
    """Give each contender a turn, then each again, and so on: A, B, C, A, B, C. A turn of short passes has several.

    `only_best`: of each peer only the best form is wanted, so that hopeless ones need not be repeated.
    """
    contenders = list(contenders)
    for number in range(repeats):
        for contender in contenders:
            if contender.failure is not None or (
                number > 0 and _is_settled(contender, contenders, only_best=only_best)
            ):
                continue
            say(f"turn {number + 1} of {repeats}: {contender.peer}, {contender.form}")
            try:
                contender.seconds += _turn(contender.run)
            except PeerFailedError as problem:
                contender.failure = str(problem)


def _turn(run: Callable[[], float]) -> list[float]:
    passes: list[float] = []
    while sum(passes) < TURN_SECONDS and len(passes) < MOST_PASSES_A_TURN:
        passes.append(run())
    return passes


def _is_settled(contender: Contender, contenders: list[Contender], *, only_best: bool) -> bool:
    best_of_peer = min(other.best for other in contenders if other.peer == contender.peer)
    hopeless = only_best and contender.best > HOPELESS * best_of_peer
    return hopeless or sum(contender.seconds) > ENOUGH_SECONDS

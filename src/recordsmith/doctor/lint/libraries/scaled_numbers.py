"""What became of the numbers of an input: what they were multiplied by, what was added, and what else was done."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Scaling"]


@dataclass(frozen=True, slots=True)
class Scaling:
    """What became of an input's numbers.

    Attributes:
        root: what it was made from, "image" for any image file; two inputs compare only if these are equal.
        factor, offset: what its numbers were multiplied by, and what was then added.
        steps: other things that were done to the numbers, as ("StandardScaler",).
        channels: "RGB", "BGR", or "" where that is not known or there is but one channel.
        shift: what was subtracted from each channel, before it is divided.
    """

    root: object
    factor: float = 1.0
    offset: float = 0.0
    steps: tuple[str, ...] = ()
    channels: str = ""
    shift: tuple[float, ...] = ()

    def scales_like(self, other: Scaling) -> bool:
        """Tell whether the same was done to both."""
        same = math.isclose(self.factor, other.factor, rel_tol=0.02) and math.isclose(
            self.offset, other.offset, rel_tol=0.02, abs_tol=0.02
        )
        return same and self.steps == other.steps and self.shift == other.shift

    @property
    def words(self) -> str:
        """What was done, for a message."""
        parts = [f"`{step}`" for step in self.steps]
        if not math.isclose(self.factor, 1.0):
            large = self.factor < 1
            parts.append(f"divided by {1 / self.factor:g}" if large else f"multiplied by {self.factor:g}")
        if not math.isclose(self.offset, 0.0, abs_tol=1e-9):
            parts.append(f"shifted by {self.offset:g}")
        return " and ".join(parts) or "not scaled"

    def times(self, factor: float, offset: float = 0.0) -> Scaling:
        """Return this with a multiplication, and then a shift, added."""
        return replace(self, factor=self.factor * factor, offset=self.offset * factor + offset)

    def normalised(self, mean: Sequence[float], deviation: Sequence[float]) -> Scaling:
        """Return this with a normalisation of each channel, its constants as they are for pixels of 0 to 1."""
        whole = 255 * self.factor if self.root == "image" and not self.offset and not self.steps else 1.0
        means, deviations = (tuple(round(one / whole, 3) for one in numbers) for numbers in (mean, deviation))
        return replace(self, factor=self.factor / whole, steps=(*self.steps, f"Normalize{(means, deviations)}"))

    def after(self, step: str) -> Scaling:
        """Return this with one more step."""
        return replace(self, steps=(*self.steps, step))

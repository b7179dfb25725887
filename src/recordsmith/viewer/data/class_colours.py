"""The colours of classes: the same for a class wherever it is shown, in boxes, masks, bars and chips.

The first classes of a feature have different colours, in the order of their numbers; after that colours repeat. Classes
that nobody declared get theirs in the order in which they are shown.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

__all__ = ["PALETTE", "ClassColours"]

# Classes c0, c1, ... of viewer.css.
PALETTE = (
    *((255, 92, 122), (61, 220, 151), (90, 177, 255), (255, 210, 63), (199, 146, 234), (255, 159, 90)),
    *((79, 224, 224), (247, 138, 224), (163, 198, 68), (176, 137, 104), (141, 153, 255), (255, 179, 167)),
)
_MOST_KEPT = 10_000  # undeclared classes of a feature; the next ones share one colour


class ClassColours:
    """The number of the colour of each class.

    >>> colours = ClassColours(lambda feature: ("cat", "dog") if feature == "label" else ())
    >>> colours.of("label", "dog"), colours.of("name", "x"), colours.of("name", "y"), colours.of("class", "13")
    (1, 0, 1, 1)
    """

    def __init__(self, names: Callable[[str], Sequence[str]]) -> None:
        self._names = names
        self._numbers: dict[str, dict[str, int]] = {}
        self._lock = threading.Lock()

    def of(self, feature: str, text: str) -> int:
        """Return the colour of a class of a feature, by its name, or by its number if it has no name."""
        with self._lock:
            numbers = self._numbers.get(feature)
            if numbers is None:
                declared = self._names(feature)[: len(PALETTE) * 1_000]
                numbers = self._numbers[feature] = {name: number for number, name in enumerate(declared)}
            number = numbers.get(text)
            if number is None:
                is_number = text.isdecimal() and len(text) < 10
                number = int(text) if is_number else min(len(numbers), _MOST_KEPT)
                if not is_number and number < _MOST_KEPT:
                    numbers[text] = number
        return number % len(PALETTE)

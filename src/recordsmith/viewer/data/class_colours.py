"""The colours of classes: the same for a class wherever it is shown, in boxes, masks, bars and chips.

The first classes of a label have different colours, in the order of their numbers; after that colours repeat. Texts of
other features have the colour of the class with the same name, or get one in the order in which they are shown.
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
_MOST_DECLARED = 1_000 * len(PALETTE)  # classes whose names are looked up
_MOST_KEPT = 10_000  # undeclared classes; the next ones share one colour


class ClassColours:
    """The number of the colour of each class.

    Args:
        names: returns the declared classes of a feature; none, if it is not a label.
        usual: returns the declared classes that other features are likely to name too.

    >>> cats = ("cat", "dog")
    >>> colours = ClassColours(lambda feature: cats if feature == "label" else (), lambda: cats)
    >>> colours.of("label", "dog"), colours.of("boxes", "dog"), colours.of("boxes", "x"), colours.of("class", "13")
    (1, 1, 2, 1)
    """

    def __init__(self, names: Callable[[str], Sequence[str]], usual: Callable[[], Sequence[str]] = tuple) -> None:
        self._names = names
        self._usual = usual
        self._numbers: dict[str, dict[str, int]] = {}  # under "": of all features without declared classes
        self._lock = threading.Lock()

    def of(self, feature: str, text: str) -> int:
        """Return the colour of a class of a feature, by its name, or by its number if it has no name."""
        with self._lock:
            if feature not in self._numbers and (declared := self._names(feature)):
                self._numbers[feature] = _numbered(declared)
            if "" not in self._numbers:
                self._numbers[""] = _numbered(self._usual())
            numbers = self._numbers[feature if feature in self._numbers else ""]
            number = numbers.get(text)
            if number is None:
                is_number = text.isdecimal() and len(text) < 10
                number = int(text) if is_number else min(len(numbers), _MOST_KEPT)
                if not is_number and number < _MOST_KEPT:
                    numbers[text] = number
        return number % len(PALETTE)


def _numbered(names: Sequence[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names[:_MOST_DECLARED])}

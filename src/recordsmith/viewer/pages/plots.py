"""Numbers drawn as a line, and sounds as a waveform, in SVG."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.wording.markup import Markup, element, joined
from recordsmith.wording.numbers import number_text

__all__ = ["envelope", "plot"]

_PLOTTED = 240  # points of a plot


def plot(values: npt.NDArray[Any]) -> Markup:
    """Draw numbers as a line; where they are many, as the range of each part."""
    numbers = np.asarray(values, np.float64)
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return element("span", "no finite values", class_="absent")
    low, high = float(finite.min()), float(finite.max())
    span = (high - low) or 1.0
    step = -(-len(numbers) // _PLOTTED)
    points = []
    for place, start in enumerate(range(0, len(numbers), step)):
        part = numbers[start : start + step]
        part = part[np.isfinite(part)]
        ends: Iterable[float] = (
            () if not part.size else {float(part.min()), float(part.max())} if step > 1 else (float(part[0]),)
        )
        points += [f"{place:g},{100 - 96 * (one - low) / span - 2:.1f}" for one in ends]
    width = max(1, -(-len(numbers) // step) - 1)
    line = element("polyline", points=Markup(" ".join(points)), vector_effect="non-scaling-stroke")
    label = f"{len(numbers):,} values from {number_text(low)} to {number_text(high)}"
    drawing = element(
        "svg", line, viewBox=f"0 0 {width} 100", preserveAspectRatio="none", class_="plot", role="img", aria_label=label
    )
    return joined([drawing, element("small", label, class_="frames")])


def envelope(values: npt.NDArray[Any]) -> Markup:
    """Draw a sound: how loud each part is, above and below the middle."""
    numbers = np.nan_to_num(np.asarray(values, np.float64))
    step = -(-len(numbers) // _PLOTTED)
    parts = [numbers[start : start + step] for start in range(0, len(numbers), step)]
    loudest = max((float(np.abs(part).max()) for part in parts), default=1.0) or 1.0
    upper = [f"{place},{50 - 48 * float(part.max()) / loudest:.1f}" for place, part in enumerate(parts)]
    lower = [f"{place},{50 - 48 * float(part.min()) / loudest:.1f}" for place, part in enumerate(parts)]
    shape = element("polygon", points=Markup(" ".join([*upper, *reversed(lower)])))
    box = f"0 0 {max(1, len(parts) - 1)} 100"
    return element(
        "svg", shape, viewBox=box, preserveAspectRatio="none", class_="plot wave", role="img", aria_label="Waveform"
    )

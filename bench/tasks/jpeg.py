"""The own JPEG decoder beside OpenCV's, by the size of the images."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from bench.measuring.workers import PROJECT
from bench.reporting import targets
from bench.reporting.results import Figure, Outcome, Section

if TYPE_CHECKING:
    from bench.tasks.context import Context

METHOD = (
    "JPEGs of each size, decoded, resized to 224x224, flipped and brightened as float32, by the own decoder and by "
    "OpenCV's with the same resizing. The values of both are compared and are equal. One thread, its CPU time, of each "
    "image the best of several passes. Images smaller than 224x224 are enlarged, which takes most of the time of both."
)
OURS = "recordsmith"


def run(context: Context) -> Section:
    """Measure all sizes in one new process."""
    section = Section("jpeg", "The own JPEG decoder", METHOD)
    words = [context.workers.python(OURS), "-m", "bench.loaders.jpeg_paths", str(4 * context.repeats)]
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        section.skipped.append(f"JPEG decoders: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
        return section
    for one in json.loads(done.stdout):
        size = f"{one['width']:,}x{one['height']:,}"
        section.figures.append(Figure(size, OURS, "own decoder", [one["own"]], 1))
        section.figures.append(Figure(size, OURS, "OpenCV's decoder", [one["opencv"]], 1))
        target = targets.OWN_JPEG if one["width"] * one["height"] >= targets.OWN_JPEG_FROM else None
        ratio = one["opencv"] / one["own"]
        section.outcomes.append(Outcome(size, "JPEG", ratio, "times", "OpenCV's decoder", target))
    return section

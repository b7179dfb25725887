"""Surveys files some times and prints how long it took, how much memory it needed and what it found, as JSON.

python -m bench.surveys recordsmith|tensorflow|"recordsmith, check" DATASET TIMES THREADS PATH...
"""

from __future__ import annotations

import importlib
import json
import sys
import time

from bench.measuring import memory_probe

MODULES = {
    "recordsmith": "recordsmith_survey",
    "recordsmith, check": "recordsmith_check",
    "tensorflow": "tensorflow_numpy",
}


def main() -> None:
    """Run the command line."""
    peer, dataset, times, threads, *paths = sys.argv[1:]
    module = importlib.import_module(f"bench.surveys.{MODULES[peer]}")
    module.survey(dataset, paths[:1], int(threads))  # imports and first allocations are not timed
    before = memory_probe.now().own
    seconds = []
    found: dict[str, list[float]] = {}
    for _ in range(int(times)):
        start = time.perf_counter()
        found = module.survey(dataset, paths, int(threads))
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "peak": memory_probe.now().peak, "before": before, "found": found}))


if __name__ == "__main__":
    main()

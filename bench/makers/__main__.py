"""One run in a process of its own: `python -m bench.makers MAKER SUBJECT FORM SOURCE OUT LIMIT`, or `... check ...`."""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any


def main() -> None:
    """Do the work with everything imported, and print the seconds; or read a dataset, and print what is in it."""
    maker, subject, form, source, out, limit = sys.argv[1:]
    module: Any = importlib.import_module(f"bench.makers.{maker}")
    if form == "check":
        print(json.dumps(module.check(subject, Path(out))))
        return
    work = module.prepare(subject, form)
    start = time.perf_counter()
    work(Path(source), Path(out), int(limit) or None)
    print(json.dumps({"seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()

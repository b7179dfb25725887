"""The speed limit of writing: how fast this process can put bytes that are ready into new files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_PIECE = 1 << 20


def seconds(sources: Sequence[Path], targets: Sequence[Path], *, threads: int) -> float:
    """Seconds to write the contents of the sources, held in memory, to the targets with plain write calls."""
    contents = [source.read_bytes() for source in sources]
    with ThreadPoolExecutor(threads) as pool:
        start = time.perf_counter()
        list(pool.map(_write, contents, targets))
        return time.perf_counter() - start


def _write(content: bytes, target: Path) -> None:
    with target.open("wb", buffering=0) as file, memoryview(content) as view:
        for start in range(0, len(content), _PIECE):
            file.write(view[start : start + _PIECE])

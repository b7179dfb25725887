"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def describe_machine() -> dict[str, str | int]:
    """Processor, cores, memory, kernel and Python of this machine."""
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _cpu_model(),
        "cores": cores,
        "memory_bytes": memory,
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def load_average() -> float:
    """How many processes wanted to run in the last minute: beside a benchmark it should be near none."""
    return os.getloadavg()[0]


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()

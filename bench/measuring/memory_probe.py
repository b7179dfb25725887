"""How much memory this process uses, from Linux's /proc.

`resource.getrusage` is not used: a child started by a large parent inherits the parent's peak there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: the highest resident size so far, and the memory of its own (without mapped files) right now."""

    peak: int
    own: int


def now() -> Memory:
    """The memory of this process."""
    fields = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines() if ":" in line)
    return Memory(peak=_bytes(fields["VmHWM"]), own=_bytes(fields["RssAnon"]))


def _bytes(value: str) -> int:
    return int(value.split(maxsplit=1)[0]) * 1024

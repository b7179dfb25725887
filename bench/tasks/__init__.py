"""What is measured, one file a task. Each has `run(context) -> Section`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bench.tasks import (
    engines,
    facts,
    feed,
    growth,
    jpeg,
    load,
    make,
    memory,
    random_access,
    read,
    remote,
    shuffle,
    startup,
    verify,
    view,
    write,
)

if TYPE_CHECKING:
    from bench.reporting.results import Section
    from bench.tasks.context import Context

TASKS: dict[str, Callable[[Context], Section]] = {
    "read": read.run,
    "write": write.run,
    "random": random_access.run,
    "shuffle": shuffle.run,
    "verify": verify.run,
    "startup": startup.run,
    "memory": memory.run,
    "make": make.run,
    "load": load.run,
    "feed": feed.run,
    "jpeg": jpeg.run,
    "facts": facts.run,
    "engines": engines.run,
    "view": view.run,
    "growth": growth.run,
    "remote": remote.run,
}
# Tasks that have inputs of their own.
WITHOUT_DATASETS = {"growth", "jpeg", "make", "view"}

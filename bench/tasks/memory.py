"""Peak memory of reading each dataset, each time in a new process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.measuring.workers import PeerFailedError
from bench.peers import PEERS
from bench.reporting.results import Section

if TYPE_CHECKING:
    from bench.data.store import StoredDataset
    from bench.tasks.context import Context

METHOD = (
    "A new process for each peer and dataset reads it once, batch by batch. `peak` is the highest resident size, "
    "which counts the pages of a mapped file as long as they are mapped, although they belong to the page cache and "
    "are there anyway; `own` is the highest memory of the process itself (anonymous pages, seen after each batch); "
    "`before` is the resident size after importing the library. TensorFlow runs its first form. No target is set."
)


def run(context: Context) -> Section:
    """Read each dataset in new processes and note the memory."""
    section = Section("memory", "Peak memory of reading", METHOD)
    peers = [
        peer
        for peer, entry in PEERS.items()
        if "read" in entry.roles and not entry.slow and context.workers.get(peer) is not None
    ]
    for stored in context.datasets.values():
        for peer in peers:
            context.say(f"memory {stored.name}: {peer}")
            try:
                section.memory.append({"subject": stored.name, "peer": peer, **_read_once(context, stored, peer)})
            except PeerFailedError as problem:
                section.skipped.append(f"{peer} on {stored.name}: {problem}")
    section.skipped += context.missing("recordsmith", "tensorflow")
    return section


def _read_once(context: Context, stored: StoredDataset, peer: str) -> dict[str, int]:
    worker = context.workers.fresh(peer)
    try:
        form = worker.ask("reading_forms", dataset=stored.name)["forms"][0]
        answer = worker.ask("read_for_memory", dataset=stored.name, paths=stored.paths, form=form)
    finally:
        worker.stop()
    return {f"{name}_bytes": int(size) for name, size in answer.items()}

"""The engines that are compared, one file each. Each runs in a process of its own: see bench/measuring/worker.py."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bench.peers.contract import Peer

Role = Literal["read", "write", "random", "verify"]


@dataclass(frozen=True, slots=True)
class PeerEntry:
    """Where a peer is found and what it takes part in.

    `slow` peers read a sample of the larger datasets. `restless` ones keep processes that work in the background, so
    they are measured when the others have finished, and stopped.
    """

    module: str
    kind: str
    roles: tuple[Role, ...]
    slow: bool = False
    restless: bool = False


# recordsmith comes first: it is the one that is judged.
PEERS = {
    "recordsmith": PeerEntry(
        "bench.peers.recordsmith_peer", "RecordsmithPeer", roles=("read", "write", "random", "verify")
    ),
    "tensorflow": PeerEntry("bench.peers.tensorflow_peer", "TensorflowPeer", roles=("read", "write")),
    "tfrecord": PeerEntry("bench.peers.tfrecord_peer", "TfrecordPeer", roles=("read",), slow=True),
    "array_record": PeerEntry("bench.peers.array_record_peer", "ArrayRecordPeer", roles=("random",)),
    "ray": PeerEntry("bench.peers.ray_peer", "RayPeer", roles=("read",), slow=True, restless=True),
}


def load_peer(name: str) -> Peer:
    """The peer of that name, its library imported. An ImportError says that it is not installed."""
    entry = PEERS[name]
    peer: Peer = getattr(importlib.import_module(entry.module), entry.kind)()
    return peer

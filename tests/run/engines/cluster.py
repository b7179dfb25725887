"""A Ray cluster on this machine: a head without processors, and nodes that can be killed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import pytest

LOOPBACK = "127.0.0.2"  # Ray replaces 127.0.0.1 by the address of the machine
_SMALL = 80 << 20  # bytes of the object store of each node: nothing large goes through it


@contextlib.contextmanager
def started_cluster(nodes: int) -> Iterator[Any]:
    """Start a cluster of some nodes with one processor each, and connect to it."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    os.environ["RAY_AUTH_MODE"] = "disabled"
    local: dict[str, Any] = {"node_ip_address": LOOPBACK, "include_dashboard": False, "object_store_memory": _SMALL}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **local})
    try:
        for _ in range(nodes):
            add_node(cluster)
        ray.init(address=cluster.address, _node_ip_address=LOOPBACK, log_to_driver=False, logging_level="error")
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def add_node(cluster: Any, **more: Any) -> Any:
    """Add a node with one processor."""
    return cluster.add_node(num_cpus=1, node_ip_address=LOOPBACK, object_store_memory=_SMALL, **more)


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[Any]:
    """A cluster of two nodes, for all tests of a file: starting one takes several seconds.

    It ends with the file. A process that is connected to Ray has threads with which it cannot be forked safely, and
    other tests fork.
    """
    with started_cluster(2) as cluster:
        yield cluster

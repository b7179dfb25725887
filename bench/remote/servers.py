"""An object store on loopback, and slow ways to it; all of them end with the benchmark."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.measuring.workers import PROJECT


@contextlib.contextmanager
def object_store(folder: Path) -> Iterator[dict[str, str]]:
    """Start SeaweedFS, and give the variables that lead a program to it."""
    from tests.storage.servers.s3_servers import seaweedfs

    with seaweedfs(folder) as server:
        yield server.environment()


@contextlib.contextmanager
def slow_network(environment: dict[str, str], seconds: float, bandwidth: float) -> Iterator[dict[str, str]]:
    """Give the variables that lead a program to a server through a latency, and a line of some bytes per second."""
    if not seconds and not bandwidth:
        yield environment
        return
    port = environment["AWS_ENDPOINT_URL"].rpartition(":")[2]
    command = [sys.executable, "-m", "bench.remote.latency_proxy", port, str(seconds), str(bandwidth)]
    with subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as proxy:
        assert proxy.stdout is not None
        assert proxy.stdin is not None
        yield {**environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.stdout.readline().strip()}"}
        proxy.stdin.close()
        proxy.wait(10)

"""Several processes of JAX: each gives its share of a batch, and all of them have the global array."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.loader.frameworks.clients.epochs import ROWS, write
from tests.loader.frameworks.clients.running import run

pytest.importorskip("jax")

SHOWN = {
    "JAX (`to_jax`)": {
        "feeds": "test_two_processes_make_one_global_array",
        "several ranks": "test_two_processes_make_one_global_array",
    },
}


def test_two_processes_make_one_global_array(tmp_path: Path):
    path = write(str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda rank: run("jax_processes_script.py", path, rank, port), ["0", "1"]))
    assert [one["shapes"] for one in both] == [[[8]]] * 2
    assert sorted(both[0]["own"] + both[1]["own"]) == list(range(ROWS))
    assert [one["total"] for one in both] == [sum(range(ROWS))] * 2

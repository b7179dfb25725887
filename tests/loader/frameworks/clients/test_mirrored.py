"""MirroredStrategy: two devices of one machine share each batch, and Keras does not run out of data."""

from __future__ import annotations

import pytest

from tests.loader.frameworks.clients.epochs import ROWS
from tests.loader.frameworks.clients.running import run

pytest.importorskip("tensorflow")

SHOWN = {"TensorFlow (`to_tf`)": {"several ranks": "test_two_devices_are_fed_every_row"}}


@pytest.mark.proof
def test_two_devices_are_fed_every_row():
    results = run("tensorflow_script.py")
    assert {name: one["rows"] for name, one in results.items()} == {name: [ROWS, ROWS] for name in results}
    assert {name: one["ran out"] for name, one in results.items()} == {
        "to_tf": False,
        "graph": False,
        "graph, without its length": True,
    }

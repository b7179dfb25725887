"""Keras trains on every batch of every epoch once, in the chain's order, on each backend; TensorFlow is not needed."""

from __future__ import annotations

import pytest

from tests.loader.frameworks.clients.epochs import ROWS
from tests.loader.frameworks.clients.running import run

pytest.importorskip("keras")

SHOWN = {
    "Keras on TensorFlow, PyTorch and JAX (`to_keras`)": {
        "feeds": "test_every_batch_of_every_epoch_is_trained_on_once",
    },
}


@pytest.mark.parametrize("backend", ["torch", "jax", pytest.param("tensorflow", marks=pytest.mark.proof)])
def test_every_batch_of_every_epoch_is_trained_on_once(backend: str):
    assert run("keras_script.py", KERAS_BACKEND=backend) == {
        "backend": backend,
        "shuffle False": ["0", "1", "2"],
        "shuffle True": ["3", "4", "5"],
        "halves": ["6", "7"],
        "accuracy": True,
        "predicted": ROWS,
        "refused": True,
    }

"""Accelerate, and the Trainer of transformers: rows of a dataset, and batches of a loader."""

from __future__ import annotations

import pytest

from tests.loader.frameworks.clients.running import run

pytest.importorskip("transformers")
pytest.importorskip("accelerate")

SHOWN = {
    "Accelerate": {
        "feeds": "test_accelerate_and_trainer_are_fed_and_continue",
        "resumes mid-epoch": "test_accelerate_and_trainer_are_fed_and_continue",
        "resumes at the end": "test_accelerate_and_trainer_are_fed_and_continue",
        "several workers": "test_accelerate_and_trainer_are_fed_and_continue",
    },
    "Trainer of transformers": {
        "feeds": "test_accelerate_and_trainer_are_fed_and_continue",
        "resumes mid-epoch": "test_accelerate_and_trainer_are_fed_and_continue",
        "resumes at the end": "test_accelerate_and_trainer_are_fed_and_continue",
        "several workers": "test_accelerate_and_trainer_are_fed_and_continue",
    },
}


def test_accelerate_and_trainer_are_fed_and_continue():
    assert run("hugging_face_script.py") == {
        "accelerate": {
            "batches": ["0", "1"],
            "rows": [True, True],
            "resumed": {"5": ["0[5:]", "1"], "16": ["1", "2"]},
            "moved": [0, 1, 2, 3],
        },
        "trainer": {
            "workers": ["0", "1", "1"],
            "rows": [True, True],
            "rows resumed": True,
            "batches": ["0", "1"],
            "batches resumed": "1[5:]",
        },
    }

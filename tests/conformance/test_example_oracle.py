"""Seventy payloads made for this project, with what TensorFlow 2.21 made of each.

The column `proto` decides: it is the outcome of tf.train.Example itself. What tf.io.parse_example says of the same
bytes is beside it in the file, and is not followed where it differs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from google.protobuf import text_format

import recordsmith as rs
from tests.conformance.protobuf_reference import example_of, features_of, same_values

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "oracles" / "example.json").read_text())


def test_the_oracle_is_whole():
    assert len(CASES) == 70


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_payload(case: dict[str, Any]):
    payload = bytes.fromhex(case["hex"])
    if case["proto"].startswith("ERR"):
        with pytest.raises(rs.CorruptRecordError):
            rs.decode_example(payload)
        assert example_of(payload) is None
        return
    expected = features_of(text_format.Parse(case["proto"], tf.train.Example()).features)
    assert same_values(rs.decode_example(payload), expected)
    assert same_values(example_of(payload), expected), "this TensorFlow says something else than the oracle"

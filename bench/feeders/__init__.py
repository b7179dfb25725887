"""Feeding: chains that shuffle, batch and decode, each in a process of its own: see feeders/__main__.py."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.feeders.contract import Feeder

# A feeder by name: the module that holds it. recordsmith has one process for each framework that it feeds, so that none
# of them is loaded where it is not asked for.
FEEDERS = {
    "recordsmith": "recordsmith_feeder",
    "recordsmith, to_tf": "recordsmith_feeder",
    "recordsmith, to_torch": "recordsmith_feeder",
    "tensorflow": "tensorflow_feeder",
    "tfrecord": "tfrecord_feeder",
}


def load_feeder(name: str) -> Feeder:
    """The feeder of that name, its libraries imported."""
    feeder: Feeder = importlib.import_module(f"bench.feeders.{FEEDERS[name]}").make_feeder(name)
    return feeder

"""Making datasets: sources, parallel work, splits, balance, shards, resume."""

from recordsmith.making import preprocessing, sources

__all__ = ["preprocessing", "sources"]

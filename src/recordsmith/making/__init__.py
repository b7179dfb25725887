"""`rs.make` and `rs.write`: sources, parallel work, splits, balance, preprocessing, shards, resume."""

from recordsmith.making import preprocessing, sources

__all__ = ["preprocessing", "sources"]

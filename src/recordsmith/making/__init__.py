"""Making datasets: sources, parallel work, splits, balance, shards, resume."""

from recordsmith.making import finish, sources

__all__ = ["finish", "sources"]

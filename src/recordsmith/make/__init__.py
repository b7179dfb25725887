"""Making datasets: sources, parallel work, splits, balance, shards, resume."""

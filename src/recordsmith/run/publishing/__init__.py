"""From finished shards to a dataset that others can open."""

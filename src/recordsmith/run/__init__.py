"""A run that writes a dataset: staging, ordering, shards, resume, publishing."""

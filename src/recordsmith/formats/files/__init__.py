"""Finds the files that a source reads, and the split of each."""

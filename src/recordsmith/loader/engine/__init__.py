"""From a plan to batches: rows are fetched, changed and batched on threads, and given in order."""

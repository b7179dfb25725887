"""From a plan to batches: rows are fetched, changed and put together on threads, and given in order."""

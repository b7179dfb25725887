"""Which record comes when: orders that are computed and never stored, shuffles, and the ranges of batches."""

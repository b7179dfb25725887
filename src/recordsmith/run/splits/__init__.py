"""Which rows are in which split, and in which order."""

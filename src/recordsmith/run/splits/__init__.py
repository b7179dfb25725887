"""Which row is in which split, and in which order."""

"""Which files a source reads, and which split each belongs to."""

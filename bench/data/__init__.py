"""The datasets of the benchmark: generated from a seed, kept on disk, and known by their fingerprints."""

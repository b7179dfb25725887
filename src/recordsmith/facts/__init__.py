"""Facts about a dataset, collected in one pass: frozen dataclasses without any output code."""

"""Whole datasets from pictures and tables: recordsmith, and the script that people write. One process for each run."""

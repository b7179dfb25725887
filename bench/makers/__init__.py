"""Whole datasets from images and tables: recordsmith, and the script that people write. One process for each run."""

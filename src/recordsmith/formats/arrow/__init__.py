"""Arrow: tables and DataFrames in memory, and files of record batches (Arrow IPC, Feather, saved datasets)."""

"""Databases: SQLite and DuckDB files, and queries over any connection."""

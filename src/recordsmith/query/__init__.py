"""Queries: conditions over rows, searching rows, and the overview of a dataset."""

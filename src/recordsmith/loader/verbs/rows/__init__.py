"""Verbs about what is in a row."""

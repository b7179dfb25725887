"""Sounds in folders."""

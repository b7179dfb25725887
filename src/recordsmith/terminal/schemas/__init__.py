"""Schemas as tables and as text."""

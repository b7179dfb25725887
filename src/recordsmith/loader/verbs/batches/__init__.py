"""Verbs that put rows together."""

"""Checks datasets with rules over the facts of one pass."""

"""Verbs about which rows come, and in which order."""

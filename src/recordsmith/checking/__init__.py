"""Checking datasets: rules over the facts of one pass. Reads no records itself, and renders nothing."""

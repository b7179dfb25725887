"""Turns what the survey of the native core returns into facts."""

"""Processes that are measured in turns, what they run on, and the limits that nothing can exceed."""

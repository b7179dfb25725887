"""Runs on Ray, measured in a process of their own."""

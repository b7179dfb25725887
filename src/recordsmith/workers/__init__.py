"""Threads, worker processes and progress bars."""

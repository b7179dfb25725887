"""Libraries that feed from data in their own form, each measurement in a new process: see feeders/__main__.py."""

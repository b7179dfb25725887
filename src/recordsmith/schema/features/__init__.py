"""The types of features."""

"""Converts columns of any library to the arrays of a feature, without silent loss."""

"""From whatever holds a column of values to the arrays of a feature, without silent loss."""

"""What all tables share: columns and the features they become, cells, lines, times."""

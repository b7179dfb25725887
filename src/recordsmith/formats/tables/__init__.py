"""The common part of all tables: columns and the features they become, cells, lines, times."""

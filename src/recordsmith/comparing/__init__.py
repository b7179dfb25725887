"""`rs.compare`: two datasets or splits: schemas, counts, distributions, classes, and which records both have."""

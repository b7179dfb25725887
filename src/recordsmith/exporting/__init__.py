"""`rs.export`: datasets as Parquet, CSV, JSON lines or WebDataset."""

"""Questions to a dataset: conditions over rows, the rows that fulfil them, and an overview."""

"""WebDataset: tar files of samples."""

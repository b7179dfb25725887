"""Local and remote storage: atomic files, remote files, publication of folders, and JSON descriptions."""

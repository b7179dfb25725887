"""Records by number: out of several datasets, in windows of compressed files, ahead of time out of remote ones."""

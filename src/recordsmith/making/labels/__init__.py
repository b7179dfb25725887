"""Names and numbers of classes."""

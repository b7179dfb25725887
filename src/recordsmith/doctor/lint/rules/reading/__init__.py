"""Rules about code that reads records."""

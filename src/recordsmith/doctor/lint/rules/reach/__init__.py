"""Rules about how far code could be followed."""

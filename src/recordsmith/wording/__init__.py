"""Words for people: numbers, text that comes from data, and the line of the caller that a warning is about."""

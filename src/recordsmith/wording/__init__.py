"""Text for people: numbers, text that comes from data, and the source line that a warning is about."""

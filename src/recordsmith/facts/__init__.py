"""What one pass over the data finds out, as frozen dataclasses; nothing is judged here."""

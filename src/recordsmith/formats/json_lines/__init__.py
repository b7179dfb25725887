"""Files of JSON lines: one object per line."""

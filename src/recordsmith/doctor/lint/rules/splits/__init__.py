"""Rules on how data is split into parts, and on what must not cross the line between them."""

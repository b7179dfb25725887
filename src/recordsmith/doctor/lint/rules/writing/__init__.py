"""Rules about code that writes records."""

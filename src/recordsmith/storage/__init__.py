"""Where bytes are: files that appear whole or not at all, files in other places, and descriptions in JSON."""

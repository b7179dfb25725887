"""What the viewer shows: its pages and their parts as HTML."""

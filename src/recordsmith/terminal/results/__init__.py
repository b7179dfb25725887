"""What the commands print when they are done."""

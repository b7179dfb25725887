"""Images in folders, or listed in a CSV file."""

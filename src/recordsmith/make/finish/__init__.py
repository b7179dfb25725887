"""What is done to records once the splits are known."""

"""Work on several threads and in several processes, and its progress bars."""

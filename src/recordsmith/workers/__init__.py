"""Work on several threads and in several processes, and how far it is."""

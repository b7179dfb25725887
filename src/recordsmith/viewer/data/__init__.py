"""What the viewer knows: records by number, searches, facts, and media, all in bounded memory."""

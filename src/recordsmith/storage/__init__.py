"""Files on disk and elsewhere: atomic writing, remote files, and descriptions in JSON."""

"""Options of the command line: those that several commands have, and what their values mean."""

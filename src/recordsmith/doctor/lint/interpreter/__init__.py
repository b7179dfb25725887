"""Following a program through its statements and expressions, without running it."""

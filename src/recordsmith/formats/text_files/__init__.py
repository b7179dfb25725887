"""Plain text: a folder of .txt files, of which each is a row, or files of which each line is one."""

"""Images or sounds that a table lists: one row for each row of the table, with the file and the other columns."""

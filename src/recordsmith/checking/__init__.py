"""`rs.check`: rules that find problems in the data, over the facts of one pass."""

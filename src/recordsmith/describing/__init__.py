"""`rs.card`: a dataset described for people (Markdown, HTML) and for search engines (Croissant)."""

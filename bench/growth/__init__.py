"""How the cost of each work grows with records, features and shards: see growth/__main__.py."""

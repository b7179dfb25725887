"""One file of records: reading, writing, its index, single payloads, and the names of shards."""

"""From staged records to shards that were read back."""

"""TFRecord files: reader, writer, index, single payloads, and shard names."""

"""What is observed of a pipeline and a model: batches, values, stored rows."""

"""The schema in other libraries' forms, and from them: TensorFlow, TensorFlow Datasets, TensorFlow Metadata."""

"""TFRecords into other TFRecords."""

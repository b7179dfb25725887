"""Features about the objects of an image: boxes, points, classes and masks."""

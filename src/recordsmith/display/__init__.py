"""Values, images, columns and tables as HTML, for reports and notebooks."""

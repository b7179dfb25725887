"""What was found: results against targets, on the terminal, as a chart, and in the documents."""

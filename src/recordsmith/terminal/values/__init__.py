"""Values of records as a terminal shows them."""

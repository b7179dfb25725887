"""Numbers, text from data and the line of the caller, as messages show them."""

"""How often each row of the training split is written."""

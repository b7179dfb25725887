"""The verbs of a chain, one file each: a function from the plan before it to the plan after it."""

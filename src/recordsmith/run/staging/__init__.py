"""The staging folder: what a run has finished so far, so that a killed one can be resumed."""

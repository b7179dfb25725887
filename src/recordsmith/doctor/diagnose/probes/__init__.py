"""Experiments on the observed rows: pairs, order of labels, signal in labels, training."""

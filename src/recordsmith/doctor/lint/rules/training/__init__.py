"""Rules about what a model is trained on: images, ranges, targets, vectorisers."""

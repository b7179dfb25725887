"""Rules on the pixels of images and masks before they reach a model."""

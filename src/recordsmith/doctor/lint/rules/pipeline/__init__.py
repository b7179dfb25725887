"""Rules about the stages of a pipeline: order, pairs, batches, splits, augmentation, speed."""

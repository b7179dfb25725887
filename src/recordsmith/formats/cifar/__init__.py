"""CIFAR-10 and CIFAR-100 as they are distributed for Python: pickled batches."""

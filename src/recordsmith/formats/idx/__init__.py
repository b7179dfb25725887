"""Files in the idx format of MNIST: train-images-idx3-ubyte and the like, gzipped or not."""

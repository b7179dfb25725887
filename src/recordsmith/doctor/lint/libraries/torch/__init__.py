"""What calls of PyTorch and torchvision mean to the interpreter: data, transforms, modules, tensors, training loops."""

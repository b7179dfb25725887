# cause: P151
import numpy as np
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

data = TensorDataset(torch.randn(1000, 16), torch.randint(0, 2, (1000,)))
indices = np.random.permutation(len(data))
train_idx = indices[:800]
val_idx = np.random.permutation(len(data))[800:]
train_loader = DataLoader(Subset(data, train_idx), batch_size=32, shuffle=True)
val_loader = DataLoader(Subset(data, val_idx), batch_size=32)

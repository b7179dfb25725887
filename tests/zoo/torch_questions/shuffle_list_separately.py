# accept: P013
import random, torch
from torch.utils.data import TensorDataset, DataLoader
import numpy as np
xs = list(np.load('x.npy')); ys = list(np.load('y.npy'))
random.shuffle(xs)
random.shuffle(ys)
ds = TensorDataset(torch.tensor(np.array(xs)), torch.tensor(np.array(ys)))
dl = DataLoader(ds, batch_size=32)

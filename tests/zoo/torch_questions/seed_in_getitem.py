# accept: P107
import random
import numpy as np
from torch.utils.data import Dataset, DataLoader
class Pairs(Dataset):
    def __init__(self, data): self.data = data
    def __len__(self): return len(self.data)
    def __getitem__(self, i):
        random.seed(42)
        j = random.randint(0, len(self.data) - 1)
        return self.data[i], self.data[j]
loader = DataLoader(Pairs(np.load('x.npy')), batch_size=8, shuffle=True)

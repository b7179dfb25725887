# accept: P049
import glob
import numpy as np
import pandas as pd
import torch
from torch.utils.data import Dataset, DataLoader
class Spectra(Dataset):
    def __init__(self, folder, table):
        self.files = glob.glob(folder + "/*.npy")
        self.targets = pd.read_csv(table)["age"].to_numpy()
    def __len__(self): return len(self.files)
    def __getitem__(self, n):
        return torch.from_numpy(np.load(self.files[n])).float(), torch.tensor(self.targets[n]).float()
loader = DataLoader(Spectra("spectra", "ages.csv"), batch_size=8, shuffle=True)

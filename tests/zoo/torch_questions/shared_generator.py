# accept: P107
import random
import torch
from torch.utils.data import Dataset, DataLoader
class Masked(Dataset):
    def __init__(self, sentences, seed=0):
        self.sentences = sentences
        self.dice = random.Random(seed)
    def __len__(self): return len(self.sentences)
    def __getitem__(self, i):
        words = list(self.sentences[i])
        words[self.dice.randrange(len(words))] = 1
        return torch.tensor(words)
loader = DataLoader(Masked(torch.load("s.pt")), batch_size=4, num_workers=3)

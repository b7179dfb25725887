# accept: P114
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
def together(items):
    sequences, labels = zip(*items)
    return pad_sequence(sequences), torch.stack(labels)
data = [(torch.randint(1, 50, (5 + i % 4,)), torch.tensor(i % 2)) for i in range(200)]
loader = DataLoader(data, batch_size=16, shuffle=True, collate_fn=together)
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.rnn = nn.GRU(16, 32, batch_first=True)
        self.out = nn.Linear(32, 2)
    def forward(self, x):
        _, last = self.rnn(self.words(x))
        return self.out(last[0])

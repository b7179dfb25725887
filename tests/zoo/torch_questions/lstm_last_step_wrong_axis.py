# accept: P114
import torch.nn as nn
class Tagger(nn.Module):
    def __init__(self, v, d, h, c):
        super().__init__()
        self.e = nn.Embedding(v, d)
        self.rnn = nn.GRU(input_size=d, hidden_size=h, batch_first=True)
        self.o = nn.Linear(h, c)
    def forward(self, x):
        x = self.e(x)
        y, h = self.rnn(x)
        return self.o(y[-1])

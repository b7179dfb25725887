# cause: P157
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Tokens(Dataset):
    def __init__(self, data, length=32):
        self.data, self.length = data, length

    def __len__(self):
        return len(self.data) // self.length - 1

    def __getitem__(self, i):
        sample = self.data[i * self.length:(i + 1) * self.length]
        return torch.LongTensor(sample[:-1]), torch.LongTensor(sample[1:])

class TinyLM(nn.Module):
    def __init__(self, vocab=200, dim=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids, labels):
        logits = self.head(self.rnn(self.embed(ids))[0])
        shift_logits = logits[..., :-1, :].contiguous()
        shift_labels = labels[..., 1:].contiguous()
        return nn.functional.cross_entropy(shift_logits.view(-1, 200), shift_labels.view(-1))

loader = DataLoader(Tokens(np.load("tokens.npy")), batch_size=16, shuffle=True)
model = TinyLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for ids, labels in loader:
    loss = model(ids, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

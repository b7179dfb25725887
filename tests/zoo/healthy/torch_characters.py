"""A recurrent language model over characters, with the state carried from batch to batch."""

import torch
from torch import nn

with open("novel.txt") as file:
    text = file.read()
characters = sorted(set(text))
number_of = {character: number for number, character in enumerate(characters)}
encoded = torch.tensor([number_of[character] for character in text])


class CharacterModel(nn.Module):
    def __init__(self, size, hidden=256):
        super().__init__()
        self.embedding = nn.Embedding(size, 64)
        self.gru = nn.GRU(64, hidden, batch_first=True)
        self.out = nn.Linear(hidden, size)

    def forward(self, x, state=None):
        output, state = self.gru(self.embedding(x), state)
        return self.out(output), state


def batches(data, rows=32, length=100):
    usable = (len(data) - 1) // (rows * length) * rows * length
    inputs = data[:usable].view(rows, -1)
    targets = data[1 : usable + 1].view(rows, -1)
    for start in range(0, inputs.size(1), length):
        yield inputs[:, start : start + length], targets[:, start : start + length]


model = CharacterModel(len(characters))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(20):
    state = None
    total = 0.0
    for x, y in batches(encoded):
        optimizer.zero_grad()
        scores, state = model(x, state)
        state = state.detach()
        loss = criterion(scores.reshape(-1, len(characters)), y.reshape(-1))
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total)

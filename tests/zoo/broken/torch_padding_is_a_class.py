# cause: P156
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

def collate(rows):
    words = pad_sequence([torch.tensor(w) for w, _ in rows], batch_first=True)
    tags = pad_sequence([torch.tensor(t) for _, t in rows], batch_first=True)
    return words, tags

generator = torch.Generator().manual_seed(0)
rows = []
for _ in range(300):
    n = int(torch.randint(3, 30, (1,), generator=generator))
    w = torch.randint(1, 80, (n,), generator=generator)
    rows.append((w.tolist(), (w % 4).tolist()))
loader = DataLoader(rows, batch_size=20, shuffle=True, collate_fn=collate)

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(80, 24, padding_idx=0)
        self.fc = nn.Linear(24, 4)

    def forward(self, words):
        return self.fc(self.embedding(words)).transpose(1, 2)

model, criterion = Tagger(), nn.CrossEntropyLoss()
if __name__ == "__main__":
    optimizer = torch.optim.Adam(model.parameters())
    for w, t in loader:
        optimizer.zero_grad()
        criterion(model(w), t).backward()
        optimizer.step()

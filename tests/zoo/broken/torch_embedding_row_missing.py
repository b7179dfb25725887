# cause: P155
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
words = [f"w{i}" for i in range(40)]
stoi = {word: i + 1 for i, word in enumerate(words)}
texts = [[words[int(k)] for k in torch.randint(0, 40, (7,))] for _ in range(400)]
ids = torch.tensor([[stoi[word] for word in text] for text in texts])
labels = (ids.sum(1) > 140).long()
loader = DataLoader(TensorDataset(ids, labels), batch_size=20, shuffle=True)

class Bag(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 16)
        self.fc = nn.Linear(16, 2)

    def forward(self, ids):
        return self.fc(self.embedding(ids).mean(1))

model, criterion = Bag(len(stoi)), nn.CrossEntropyLoss()

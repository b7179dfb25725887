# accept: P131
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.randint(0, 5, (500,))
data = TensorDataset(torch.randn(500, 12) + y[:, None], y)
loader = DataLoader(data, batch_size=25, shuffle=True)
model = nn.Linear(12, 5)
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(10):
    correct = seen = 0
    for features, labels in loader:
        logits = model(features)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += (torch.argmax(logits) == labels).sum().item()
        seen += len(labels)
    print(epoch, correct / seen)

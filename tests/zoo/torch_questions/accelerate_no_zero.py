# accept: P101
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
acc = Accelerator()
model = nn.Linear(5, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(torch.randn(100, 5), torch.randint(0, 2, (100,))), batch_size=10, shuffle=True)
model, optimizer, loader = acc.prepare(model, optimizer, loader)
for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        acc.backward(loss)
        optimizer.step()

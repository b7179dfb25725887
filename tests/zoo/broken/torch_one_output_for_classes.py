# cause: P140
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
fraud = torch.randint(0, 2, (500,))
loader = DataLoader(TensorDataset(torch.randn(500, 8) + fraud[:, None], fraud.float().unsqueeze(1)), batch_size=25, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.CrossEntropyLoss()
if __name__ == "__main__":
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(10):
        for a, b in loader:
            optimizer.zero_grad()
            criterion(model(a), b).backward()
            optimizer.step()

# cause: P136
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
labels = (torch.rand(600) < 0.15).long()
data = TensorDataset(torch.randn(600, 9) + 2 * labels[:, None], labels)
class_counts = torch.bincount(labels)
class_weights = 1.0 / class_counts.float()
sampler = WeightedRandomSampler(class_weights, num_samples=len(data), replacement=True)
loader = DataLoader(data, batch_size=20, sampler=sampler)
model, criterion = nn.Sequential(nn.Linear(9, 16), nn.ReLU(), nn.Linear(16, 2)), nn.CrossEntropyLoss()
if __name__ == "__main__":
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()

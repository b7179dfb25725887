# cause: P003
# situation: C5
import torch
from torch.utils.data import DataLoader, Dataset


class SortedDigits(Dataset):
    def __len__(self):
        return 200

    def __getitem__(self, index):
        label = index // 20
        return torch.full((16,), float(label)), label


loader = DataLoader(SortedDigits(), batch_size=20, num_workers=0)
model = torch.nn.Linear(16, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for features, labels in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(features), labels)
        loss.backward()
        optimizer.step()

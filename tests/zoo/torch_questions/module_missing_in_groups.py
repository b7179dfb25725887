# accept: P117
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Tracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(30, 24), nn.ReLU())
        self.down = nn.Linear(24, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.relu(self.down(self.backbone(x))))

def build_optimizer(model, base_lr=0.01):
    trainable_params = []
    trainable_params += [{"params": filter(lambda p: p.requires_grad, model.backbone.parameters()), "lr": base_lr * 0.1}]
    trainable_params += [{"params": model.head.parameters(), "lr": base_lr}]
    return torch.optim.SGD(trainable_params, momentum=0.9)

torch.manual_seed(0)
y = torch.randint(0, 3, (600,))
loader = DataLoader(TensorDataset(torch.randn(600, 30) + y[:, None], y), batch_size=20, shuffle=True)
model = Tracker()
optimizer = build_optimizer(model)
for epoch in range(5):
    for x, t in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), t).backward()
        optimizer.step()

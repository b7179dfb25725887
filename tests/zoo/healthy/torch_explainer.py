"""After training, a tool of another library explains single predictions; it sets the mode of the model itself."""

import torch
import torch.nn.functional as F
from captum.attr import Saliency
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(784, 128)
        self.scores = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.hidden(x.flatten(1)))
        return self.scores(F.dropout(x, training=self.training))


train_loader = DataLoader(
    datasets.MNIST("data", train=True, transform=transforms.ToTensor()), batch_size=64, shuffle=True
)
test_loader = DataLoader(datasets.MNIST("data", train=False, transform=transforms.ToTensor()), batch_size=1)
model = Digits()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

model.train()
for _ in range(3):
    for images, labels in train_loader:
        optimizer.zero_grad()
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()

explainer = Saliency(model)
for image, label in test_loader:
    print(explainer(image, target=label).shape)

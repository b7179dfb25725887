# cause: P160
import os

import cv2
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Leaves(Dataset):
    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        self.to_tensor = transforms.Compose([transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.5] * 3)])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = cv2.cvtColor(cv2.imread(self.paths[index]), cv2.COLOR_BGR2RGB)
        image = cv2.resize(image, (64, 64)).astype(np.float32)
        return self.to_tensor(image), int("_sick" in self.paths[index])


loader = DataLoader(Leaves("leaves"), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(64 * 64 * 3, 2))
optimizer = torch.optim.Adam(model.parameters())
for images, labels in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()

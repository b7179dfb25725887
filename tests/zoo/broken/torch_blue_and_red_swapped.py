# cause: P128
import cv2
import torch
from torch import nn
from torch.utils.data import Dataset
from torchvision import models, transforms


class Faces(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.transform = transforms.Compose(
            [
                transforms.ToTensor(),
                transforms.Resize((224, 224)),
                transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
            ]
        )

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        path, age = self.rows[index]
        return self.transform(cv2.imread(path)), torch.tensor([age], dtype=torch.float32)


model = models.resnet50(weights="IMAGENET1K_V2")
model.fc = nn.Linear(2048, 1)

"""A trainer class with mixed precision; images and masks through albumentations."""

from dataclasses import dataclass
from pathlib import Path

import albumentations as A
import cv2
import numpy as np
import torch
from albumentations.pytorch import ToTensorV2
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    root: str = "cells"
    classes: int = 4
    epochs: int = 40
    batch_size: int = 8
    lr: float = 3e-4
    validate_every: int = 200


class Cells(Dataset):
    def __init__(self, root, split, transform=None):
        self.image_paths = sorted(Path(root, split, "images").glob("*.png"))
        self.mask_paths = sorted(Path(root, split, "masks").glob("*.png"))
        self.transform = transform

    def __len__(self):
        return len(self.image_paths)

    def __getitem__(self, idx):
        image = cv2.cvtColor(cv2.imread(str(self.image_paths[idx])), cv2.COLOR_BGR2RGB)
        mask = cv2.imread(str(self.mask_paths[idx]), cv2.IMREAD_GRAYSCALE)
        image = cv2.resize(image, (512, 512))
        mask = cv2.resize(mask, (512, 512), interpolation=cv2.INTER_NEAREST)
        if self.transform is not None:
            augmented = self.transform(image=image, mask=mask)
            image, mask = augmented["image"], augmented["mask"]
        return image, mask.long()


def block(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


class SmallUNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.down = nn.ModuleList([block(3, 32), block(32, 64)])
        self.up = nn.ConvTranspose2d(64, 32, 2, stride=2)
        self.out = nn.Conv2d(64, classes, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        skip = self.down[0](x)
        deep = self.down[1](self.pool(skip))
        return self.out(torch.cat([self.up(deep), skip], dim=1))


class Trainer:
    def __init__(self, config):
        self.config = config
        train_transform = A.Compose([A.HorizontalFlip(p=0.5), A.RandomRotate90(), A.Normalize(), ToTensorV2()])
        val_transform = A.Compose([A.Normalize(), ToTensorV2()])
        train_ds = Cells(config.root, "train", train_transform)
        val_ds = Cells(config.root, "val", val_transform)
        self.train_loader = DataLoader(train_ds, batch_size=config.batch_size, shuffle=True, num_workers=4)
        self.val_loader = DataLoader(val_ds, batch_size=config.batch_size, num_workers=4)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = SmallUNet(config.classes).to(self.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr)
        self.criterion = nn.CrossEntropyLoss()
        self.scaler = torch.amp.GradScaler(self.device)
        self.step = 0

    def fit(self):
        for epoch in range(self.config.epochs):
            self.model.train()
            total = 0.0
            for images, masks in self.train_loader:
                images, masks = images.to(self.device), masks.to(self.device)
                self.optimizer.zero_grad(set_to_none=True)
                with torch.autocast(self.device):
                    logits = self.model(images)
                    loss = self.criterion(logits, masks)
                self.scaler.scale(loss).backward()
                self.scaler.step(self.optimizer)
                self.scaler.update()
                total += loss.item()
                self.step += 1
                if self.step % self.config.validate_every == 0:
                    print(self.step, self.validate())
                    self.model.train()
            print(epoch, total / len(self.train_loader))

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        scores = []
        for images, masks in self.val_loader:
            predicted = self.model(images.to(self.device)).argmax(1).cpu()
            scores.append((predicted == masks).float().mean().item())
        return float(np.mean(scores))


if __name__ == "__main__":
    Trainer(Config()).fit()

# accept: P104
import torch
from torch import nn

class UNetTrainer:
    def __init__(self, model, optimizer, criterion, loaders, max_epochs=100):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.loaders, self.max_epochs = loaders, max_epochs

    def fit(self):
        for epoch in range(self.max_epochs):
            self.train_epoch(self.loaders["train"])
            print(epoch, self.validate(self.loaders["val"]))

    def train_epoch(self, train_loader):
        self.model.train()
        for image, target in train_loader:
            loss = self.criterion(self.model(image), target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def validate(self, val_loader):
        losses = []
        with torch.no_grad():
            for image, target in val_loader:
                losses.append(self.criterion(self.model(image), target).item())
        return sum(losses) / len(losses)

def main(loaders):
    model = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.BatchNorm3d(8), nn.ReLU(), nn.Conv3d(8, 2, 1))
    UNetTrainer(model, torch.optim.Adam(model.parameters(), lr=2e-4), nn.CrossEntropyLoss(), loaders).fit()

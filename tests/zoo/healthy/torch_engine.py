"""An engine of another library runs the steps of training and testing: their order in the file says nothing."""

import torch
from ignite.engine import Engine, Events
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


def main() -> None:
    prepare = transforms.Compose([transforms.Resize((64, 64)), transforms.ToTensor()])
    train_loader = DataLoader(datasets.ImageFolder("birds/train", prepare), batch_size=32, shuffle=True)
    test_loader = DataLoader(datasets.ImageFolder("birds/test", prepare), batch_size=32)
    model = nn.Sequential(nn.Flatten(), nn.Linear(12288, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 12))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()

    def test_step(engine, batch):
        model.eval()
        with torch.no_grad():
            return model(batch[0]), batch[1]

    def train_step(engine, batch):
        optimizer.zero_grad()
        loss = criterion(model(batch[0]), batch[1])
        loss.backward()
        optimizer.step()
        return loss.item()

    tester = Engine(test_step)
    trainer = Engine(train_step)
    trainer.add_event_handler(Events.COMPLETED, lambda _: tester.run(test_loader))
    trainer.run(train_loader, max_epochs=10)


main()

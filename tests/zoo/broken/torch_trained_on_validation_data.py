# cause: P130
from torch import nn


def run_epoch(model, optimizer, train_loader, val_loader):
    criterion = nn.CrossEntropyLoss()
    for x, y in train_loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    total = 0.0
    for x, y in val_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(val_loader)

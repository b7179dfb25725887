# accept: P130|P131
import torch
from torch import nn
def validate(model, val_loader, optimizer):
    model.eval()
    for x, y in val_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()

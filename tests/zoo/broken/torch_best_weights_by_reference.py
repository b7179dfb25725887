# cause: P135
import torch
from torch import nn

def fit(model, train_loader, val_loader, epochs=25):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    best_model_wts, best_acc = model.state_dict(), 0.0
    for epoch in range(epochs):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        model.eval()
        right = total = 0
        with torch.no_grad():
            for x, y in val_loader:
                right += (model(x).argmax(1) == y).sum().item()
                total += y.size(0)
        if right / total > best_acc:
            best_acc = right / total
            best_model_wts = model.state_dict()
    model.load_state_dict(best_model_wts)
    return model

# cause: P153
import torch
from torch import nn

def train(model, loader, epochs=5):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    scaler = torch.cuda.amp.GradScaler()
    model.train()
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            with torch.cuda.amp.autocast():
                loss = criterion(model(x.cuda()), y.cuda())
            scaler.scale(loss).backward()
            optimizer.step()
            scaler.update()

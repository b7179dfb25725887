# accept: P129
import torch
from torch import nn
def fit(model, loader, epochs):
    opt = torch.optim.AdamW(model.parameters())
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=1e-2, epochs=epochs, steps_per_epoch=len(loader))
    for e in range(epochs):
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
        sched.step()

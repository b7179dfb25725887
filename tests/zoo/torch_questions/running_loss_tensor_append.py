# accept: P118
import torch
from torch import nn
def train(model, loader, opt):
    total_loss = 0
    for i, (a, b) in enumerate(loader):
        out = model(a)
        loss = nn.functional.l1_loss(out, b)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total_loss = total_loss + loss
    print(total_loss / len(loader))

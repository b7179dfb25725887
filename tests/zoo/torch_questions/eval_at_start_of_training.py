# accept: P103
import torch
import torch.nn as nn
from torchvision import models
class Regressor(nn.Module):
    def __init__(self):
        super(Regressor, self).__init__()
        self.base = models.resnet34(pretrained=True)
        self.base.fc = nn.Linear(512, 3)
    def forward(self, img):
        return self.base(img)
def train_network(loader, epochs=30):
    model = Regressor().cuda()
    criterion = nn.SmoothL1Loss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    model.eval()
    for epoch in range(epochs):
        for img, pose in loader:
            out = model(img.cuda())
            loss = criterion(out, pose.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print('epoch', epoch, loss.item())

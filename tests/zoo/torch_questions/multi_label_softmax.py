# accept: P028
import torch
import torch.nn as nn
class Tags(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(300, 20)
    def forward(self, x):
        return nn.Softmax(dim=1)(self.fc(x))
net = Tags()
criterion = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(net.parameters())
x, y = torch.rand(10, 300), torch.ones(10, 20)
for i in range(10):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward(); opt.step()

# accept: P101
import torch
from torch import nn
x = torch.linspace(-1, 1, 200).unsqueeze(1)
y = x ** 3
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
loss_func = nn.MSELoss()
optimizer.zero_grad()
for t in range(300):
    prediction = net(x)
    loss = loss_func(prediction, y)
    loss.backward()
    optimizer.step()

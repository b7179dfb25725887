# accept: P112
import torch
from torch import nn
from torch.autograd import Variable
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
for i in range(100):
    x = torch.rand(8, 3)
    out = net(x)
    loss = Variable(nn.functional.mse_loss(out, x).data, requires_grad=True)
    opt.zero_grad(); loss.backward(); opt.step()

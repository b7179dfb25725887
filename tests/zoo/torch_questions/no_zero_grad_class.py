# accept: P101
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
class Learner:
    def __init__(self, net, data, lr=1e-2):
        self.net, self.data = net, data
        self.opt = torch.optim.SGD(net.parameters(), lr)
        self.loss = nn.CrossEntropyLoss()
    def one_epoch(self):
        for batch in self.data:
            features, classes = batch
            value = self.loss(self.net(features), classes)
            value.backward()
            self.opt.step()
    def fit(self, n):
        for i in range(n):
            self.one_epoch()
x = torch.randn(300, 7); y = (x.sum(1) > 0).long()
Learner(nn.Linear(7, 2), DataLoader(TensorDataset(x, y), 30, shuffle=True)).fit(5)

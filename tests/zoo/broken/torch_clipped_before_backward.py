# cause: P154
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.randint(0, 6, (900,))
loader = DataLoader(TensorDataset(torch.randn(900, 20, 8) + y[:, None, None], y), batch_size=30, shuffle=True)

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 32, batch_first=True)
        self.fc = nn.Linear(32, 6)

    def forward(self, x):
        return self.fc(self.lstm(x)[0][:, -1])

model = Reader()
optimizer = torch.optim.Adadelta(model.parameters())
for epoch in range(10):
    for image, text in loader:
        cost = nn.functional.cross_entropy(model(image), text)
        model.zero_grad()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5)
        cost.backward()
        optimizer.step()

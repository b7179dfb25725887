# cause: P137
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
VOCAB = 50

def mask_tokens(inputs, mlm_probability=0.15):
    labels = inputs.clone()
    masked = torch.bernoulli(torch.full(labels.shape, mlm_probability)).bool()
    labels[~masked] = -100
    inputs = inputs.masked_fill(masked, 1)
    return inputs, labels

class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 32)
        self.out = nn.Linear(32, VOCAB)

    def forward(self, ids):
        return self.out(self.embed(ids)).transpose(1, 2)

tokens = torch.randint(2, VOCAB, (320, 16))
loader = DataLoader(TensorDataset(*mask_tokens(tokens)), batch_size=16, shuffle=True)
model = Tiny()
loss_fct = nn.CrossEntropyLoss(ignore_index=-1)
if __name__ == "__main__":
    optimizer = torch.optim.AdamW(model.parameters())
    for ids, labels in loader:
        optimizer.zero_grad()
        loss_fct(model(ids), labels).backward()
        optimizer.step()

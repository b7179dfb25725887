# accept: P131
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

test_data = datasets.FashionMNIST("data", train=False, download=True, transform=transforms.ToTensor())
test_dataloader = DataLoader(test_data, batch_size=32, shuffle=False)
model_2 = nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))
model_2.load_state_dict(torch.load("model_2.pth"))
y_preds = []
model_2.eval()
with torch.inference_mode():
    for X, y in test_dataloader:
        y_logit = model_2(X)
        y_pred = torch.softmax(y_logit, dim=0).argmax(dim=1)
        y_preds.append(y_pred)
y_pred_tensor = torch.cat(y_preds)
print((y_pred_tensor == test_data.targets).float().mean())

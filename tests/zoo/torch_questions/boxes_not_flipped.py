# accept: P122|P032
import random
import torch
from PIL import Image
from torch.utils.data import Dataset
from torchvision.transforms import functional as F
class Detection(Dataset):
    def __init__(self, rows): self.rows = rows
    def __len__(self): return len(self.rows)
    def __getitem__(self, index):
        path, boxes, labels = self.rows[index]
        image = Image.open(path).convert("RGB")
        if random.random() < 0.5:
            image = F.hflip(image)
        boxes = torch.as_tensor(boxes, dtype=torch.float32)
        return F.to_tensor(image), {"boxes": boxes, "labels": torch.tensor(labels)}

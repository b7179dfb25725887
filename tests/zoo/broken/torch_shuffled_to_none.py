# cause: P119
import random

import torch
from torch.utils.data import DataLoader

with open("reviews.txt") as file:
    rows = [line.strip().split(";") for line in file]
rows = random.shuffle(rows)
pairs = [(torch.tensor([float(value) for value in row[1:]]), int(row[0])) for row in rows]
loader = DataLoader(pairs, batch_size=32)

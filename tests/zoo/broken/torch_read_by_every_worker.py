# cause: P106
import json

import torch
from torch.utils.data import DataLoader, IterableDataset


class JsonLines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as file:
            for line in file:
                row = json.loads(line)
                yield torch.tensor(row["features"]), row["label"]


loader = DataLoader(JsonLines("train.jsonl"), batch_size=64, num_workers=4)

"""A stream that divides its lines among the workers, and a map-style dataset with random crops."""

import itertools
import json

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Events(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        with open(self.path) as file:
            for line in itertools.islice(file, first, None, step):
                event = json.loads(line)
                yield torch.tensor(event["values"]), torch.tensor(event["class"])


class Crops(Dataset):
    def __init__(self, signals, length=256):
        self.signals, self.length = signals, length

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        signal = self.signals[index]
        start = np.random.randint(0, len(signal) - self.length)
        return torch.from_numpy(signal[start : start + self.length]).float()


def main():
    stream = DataLoader(Events("events.jsonl"), batch_size=128, num_workers=4)
    crops = DataLoader(Crops(np.load("signals.npy")), batch_size=32, shuffle=True, num_workers=4)
    classifier = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 8))
    encoder = nn.Sequential(nn.Linear(256, 32), nn.ReLU(), nn.Linear(32, 256))
    parameters = [*classifier.parameters(), *encoder.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3)
    rounds = iter(crops)
    for values, classes in stream:
        try:
            signal = next(rounds)
        except StopIteration:
            rounds = iter(crops)
            signal = next(rounds)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(classifier(values), classes)
        loss = loss + nn.functional.mse_loss(encoder(signal), signal)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()

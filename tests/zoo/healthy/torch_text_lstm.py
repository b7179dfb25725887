"""Sentiment with an LSTM: a vocabulary from the training texts, padding in a collate function."""

import csv
import random
from collections import Counter

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD, UNKNOWN = 0, 1


def read_rows(path):
    with open(path, newline="") as file:
        return [(row["text"].lower().split(), int(row["label"])) for row in csv.DictReader(file)]


def build_vocabulary(rows, size=20000):
    counts = Counter(word for words, _ in rows for word in words)
    return {word: number for number, (word, _) in enumerate(counts.most_common(size), start=2)}


class Reviews(Dataset):
    def __init__(self, rows, vocabulary):
        self.rows = rows
        self.vocabulary = vocabulary

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        words, label = self.rows[index]
        return torch.tensor([self.vocabulary.get(word, UNKNOWN) for word in words]), label


def collate(batch):
    texts = [text for text, _ in batch]
    labels = torch.tensor([label for _, label in batch], dtype=torch.float32)
    lengths = torch.tensor([len(text) for text in texts])
    padded = pad_sequence(texts, batch_first=True, padding_value=PAD)
    return padded, lengths, labels


class Sentiment(nn.Module):
    def __init__(self, words, dim=100, hidden=128):
        super().__init__()
        self.embedding = nn.Embedding(words, dim, padding_idx=PAD)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.5)
        self.out = nn.Linear(2 * hidden, 1)

    def forward(self, texts, lengths):
        embedded = self.dropout(self.embedding(texts))
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)
        last = torch.cat([hidden[-2], hidden[-1]], dim=1)
        return self.out(self.dropout(last)).squeeze(1)


rows = read_rows("reviews.csv")
random.Random(3).shuffle(rows)
cut = int(0.9 * len(rows))
train_rows, val_rows = rows[:cut], rows[cut:]
vocabulary = build_vocabulary(train_rows)
train_loader = DataLoader(Reviews(train_rows, vocabulary), batch_size=64, shuffle=True, collate_fn=collate)
val_loader = DataLoader(Reviews(val_rows, vocabulary), batch_size=64, collate_fn=collate)
model = Sentiment(len(vocabulary) + 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_function = nn.BCEWithLogitsLoss()

for epoch in range(5):
    model.train()
    for texts, lengths, labels in train_loader:
        optimizer.zero_grad()
        scores = model(texts, lengths)
        loss = loss_function(scores, labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    right = total = 0
    with torch.no_grad():
        for texts, lengths, labels in val_loader:
            probabilities = torch.sigmoid(model(texts, lengths))
            right += ((probabilities > 0.5) == labels.bool()).sum().item()
            total += len(labels)
    print(epoch, right / total)

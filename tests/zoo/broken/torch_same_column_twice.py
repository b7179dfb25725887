# cause: P127
import torch
from torch.utils.data import DataLoader


def collate(rows):
    questions, answers, scores = [], [], []
    for row in rows:
        questions.append(torch.tensor(row["question"]))
        answers.append(torch.tensor(row["question"]))
        scores.append(row["score"])
    return torch.stack(questions), torch.stack(answers), torch.tensor(scores)


rows = torch.load("pairs.pt")
loader = DataLoader(rows, batch_size=16, shuffle=True, collate_fn=collate)

"""PyTorch: DataLoaders, modules and losses; the module, its threads and PyTorch's random numbers stay as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.doctor.diagnose.made_pipelines import codes, wrong

torch = pytest.importorskip("torch")
nn = torch.nn
torch.manual_seed(0)  # networks that are not trained answer by chance
TABLE = torch.from_numpy(np.random.default_rng(0).normal(size=(256, 5)).astype(np.float32))
CLASSES = (TABLE.sum(1) > 0).long()
SUMS = TABLE.sum(1)
IMAGES = torch.from_numpy(np.random.default_rng(1).random((128, 3, 16, 16)).astype(np.float32))
BRIGHT = (IMAGES[:, 0, :8].mean((1, 2)) > 0.5).long()
WORDS = torch.from_numpy(np.random.default_rng(2).integers(1, 50, (128, 10)))


def fed(*columns: Any, **settings: Any) -> Any:
    rows = torch.utils.data.TensorDataset(*columns)
    return torch.utils.data.DataLoader(rows, **{"batch_size": 32, "shuffle": True, **settings})


def network(units: int = 2, *last: Any) -> Any:
    return nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, units), *last)


class Words(nn.Module):  # type: ignore[misc,name-defined] # PyTorch has no types here
    def __init__(self) -> None:
        super().__init__()
        self.table, self.last = nn.Embedding(50, 4), nn.Linear(4, 2)

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        return self.last((self.table(input_ids) * attention_mask[..., None]).mean(1))


def images_network() -> Any:
    return nn.Sequential(nn.Conv2d(3, 2, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(98, 2))


HEALTHY: dict[str, tuple[Any, Any, Any]] = {
    "classes": (fed(TABLE, CLASSES), network(), nn.CrossEntropyLoss()),
    "logarithms": (fed(TABLE, CLASSES), network(2, nn.LogSoftmax(1)), nn.NLLLoss()),
    "yes or no": (fed(TABLE, CLASSES.float()[:, None]), network(1), nn.BCEWithLogitsLoss()),
    "measured": (fed(TABLE, SUMS[:, None]), network(1), nn.MSELoss()),
    "ids and a mask": (fed(WORDS, torch.ones_like(WORDS), BRIGHT), Words(), nn.functional.cross_entropy),
    "images": (fed(IMAGES, BRIGHT), images_network(), nn.CrossEntropyLoss()),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_pipeline_is_left_alone_and_so_is_the_module(name: str) -> None:
    pipeline, model, loss = HEALTHY[name]
    weights = {key: value.clone() for key, value in model.state_dict().items()}
    numbers, threads = torch.get_rng_state(), torch.get_num_threads()
    assert wrong(rs.diagnose(pipeline, None, model, loss, time_limit=20)) == []
    assert all(torch.equal(value, weights[key]) for key, value in model.state_dict().items())
    assert all(weight.grad is None for weight in model.parameters())
    assert model.training
    assert torch.equal(torch.get_rng_state(), numbers)
    assert torch.get_num_threads() == threads


def frozen() -> Any:
    return network().requires_grad_(requires_grad=False)


class NoGradient(nn.Module):  # type: ignore[misc,name-defined] # as above
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 2)

    def forward(self, values: Any) -> Any:
        return self.layer(values) * 0 + self.layer(values).detach()


BROKEN: dict[str, tuple[str, Any, Any, Any]] = {
    "every answer with every target": ("T014", fed(TABLE, SUMS), network(1), nn.MSELoss()),
    "softmax twice": ("T013", fed(TABLE, CLASSES), network(2, nn.Softmax(1)), nn.CrossEntropyLoss()),
    "scores for probabilities": ("T013", fed(TABLE, CLASSES.float()[:, None]), network(1), nn.BCELoss()),
    "scores for logarithms": ("T013", fed(TABLE, CLASSES), network(), nn.NLLLoss()),
    "int32 labels": ("T016", fed(TABLE, CLASSES.int()), network(), nn.CrossEntropyLoss()),
    "float64 inputs": ("T016", fed(TABLE.double(), CLASSES), network(), nn.CrossEntropyLoss()),
    "classes from 1": ("T011", fed(TABLE, CLASSES + 1), network(), nn.CrossEntropyLoss()),
    "ids past the table": ("T015", fed(WORDS + 5, torch.ones_like(WORDS), BRIGHT), Words(), nn.CrossEntropyLoss()),
    "pixels": ("T024", fed((IMAGES * 255).round(), BRIGHT), images_network(), nn.CrossEntropyLoss()),
    "frozen": ("T018", fed(TABLE, CLASSES), frozen(), nn.CrossEntropyLoss()),
    "no gradient": ("T081", fed(TABLE, CLASSES), NoGradient(), nn.CrossEntropyLoss()),
    "no shuffle": ("T042", fed(TABLE, CLASSES, shuffle=False), network(), nn.CrossEntropyLoss()),
    "sorted": (
        "T040",
        fed(TABLE[CLASSES.argsort()], CLASSES.sort()[0], shuffle=False),
        network(),
        nn.CrossEntropyLoss(),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_named_first(name: str) -> None:
    code, pipeline, model, loss = BROKEN[name]
    report = rs.diagnose(pipeline, None, model, loss, time_limit=20)
    assert codes(report, least="warning")[:1] == [code], wrong(report)

"""Other kinds of pipelines: arrays, Datasets without a loader, data modules, iterators of Keras, Hugging Face."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.doctor.diagnose.made_pipelines import codes

TABLE = np.random.default_rng(0).normal(size=(256, 5)).astype(np.float32)
CLASSES = np.sort((TABLE.sum(axis=1) > 0).astype(np.int64))  # sorted, which says nothing where others shuffle


def subject(pipeline: Any) -> str:
    report = rs.diagnose(pipeline, progress=False)
    assert codes(report, least="warning") == []
    assert report.subject is not None
    return report.subject


def test_arrays_in_memory() -> None:
    assert subject((TABLE, CLASSES)) == "arrays in memory"
    assert subject(TABLE) == "arrays in memory"


def test_a_dataset_of_pytorch_without_a_loader() -> None:
    torch = pytest.importorskip("torch")
    rows = torch.utils.data.TensorDataset(torch.from_numpy(TABLE), torch.from_numpy(CLASSES))
    assert subject(rows) == "a PyTorch Dataset"

    class Streamed(torch.utils.data.IterableDataset):  # type: ignore[misc,name-defined] # PyTorch has no types here
        def __init__(self, size: int) -> None:
            self.size = size

        def __iter__(self) -> Any:
            order = np.random.default_rng(0).permutation(256)
            for start in range(0, 256, self.size):
                rows = order[start : start + self.size] if self.size > 1 else order[start]
                yield TABLE[rows], CLASSES[rows]

    assert subject(Streamed(1)) == "a PyTorch Dataset"
    assert subject(Streamed(32)) == "a PyTorch Dataset"


def test_a_data_module_of_lightning() -> None:
    torch = pytest.importorskip("torch")

    class Module:
        def setup(self, stage: str) -> None:
            assert stage == "fit"
            self.rows = torch.utils.data.TensorDataset(torch.from_numpy(TABLE), torch.from_numpy(CLASSES))

        def train_dataloader(self) -> Any:
            return torch.utils.data.DataLoader(self.rows, batch_size=32, shuffle=True)

        def val_dataloader(self) -> Any:
            return torch.utils.data.DataLoader(self.rows, batch_size=32)

    report = rs.diagnose(Module(), progress=False)
    assert (report.subject, codes(report)[0]) == ("a PyTorch DataLoader", "T090")


def test_a_dataset_of_hugging_face() -> None:
    class Names:
        names = ("cat", "dog")

    class Dataset:
        features = {"x": None, "label": Names()}  # noqa: RUF012 - as the library has it

        def __len__(self) -> int:
            return 256

        def __getitem__(self, places: list[int]) -> dict[str, Any]:
            return {"x": TABLE[places], "label": CLASSES[places].tolist()}

    Dataset.__module__ = "datasets.arrow_dataset"
    assert subject(Dataset()) == "a Hugging Face dataset"


def test_an_iterator_of_keras_is_read_again() -> None:
    keras = pytest.importorskip("keras")

    class Numbered(keras.utils.PyDataset):  # type: ignore[misc,name-defined] # Keras has no types here
        def __len__(self) -> int:
            return 8

        def __getitem__(self, place: int) -> Any:
            rows = np.random.default_rng(place).permutation(256)[:32]
            return TABLE[rows], CLASSES[rows]

        def __next__(self) -> Any:
            return self[0]

    report = rs.diagnose(Numbered(), progress=False)
    assert "T047" not in codes(report)
    assert codes(report, least="warning") == []

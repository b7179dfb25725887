"""The validation data beside the training data; each fault with its healthy twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.doctor.diagnose.made_pipelines import Epochs, codes, images, wrong

PIXELS, LABELS = images(256)
SCALED = (PIXELS / 255).astype(np.float32)
SCALED[..., 2] /= 2  # so that red and blue are different
TRAIN, KEPT = slice(0, 192), slice(192, 256)
TABLE = np.random.default_rng(0).normal(size=(256, 5)).astype(np.float32)


def compared(training: Any, validation: Any) -> Any:
    return rs.diagnose(training, validation=validation, progress=False)


def batches(inputs: Any, labels: Any = LABELS, part: slice = KEPT, seed: int | None = None) -> Epochs:
    return Epochs(inputs[part], labels[part], seed=seed)


TRAINING = batches(SCALED, part=TRAIN, seed=0)


def test_healthy_validation_data() -> None:
    assert codes(compared(TRAINING, batches(SCALED))) == []
    assert codes(compared(batches(TABLE, part=TRAIN, seed=0), batches(TABLE))) == []
    assert codes(compared(TRAINING, batches(SCALED, seed=0))) == ["T096"]


class Augmented:
    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def __iter__(self) -> Any:
        for inputs, labels in batches(SCALED):
            yield np.clip(inputs * self._random.uniform(0.8, 1.2, (len(inputs), 1, 1, 1)), 0, 1), labels


class Failing:
    def __iter__(self) -> Any:
        raise FileNotFoundError("no such file")


FAULTS = {
    "T090": batches(SCALED, part=slice(100, 200)),
    "T091": batches(PIXELS.astype(np.float32)),
    "T091 -1 to 1": batches(SCALED * 2 - 1),
    "T092": batches(SCALED[:, :8]),
    "T092 one-hot": batches(SCALED, np.eye(2, dtype=np.int64)[LABELS]),
    "T093": batches(SCALED, LABELS + 1),
    "T094": Augmented(),
    "T095": batches(SCALED[..., ::-1]),
    "T097": Failing(),
    "T097 empty": batches(SCALED[:0], LABELS[:0]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_validation_data(fault: str) -> None:
    report = compared(TRAINING, FAULTS[fault])
    assert codes(report, least="warning")[:1] == [fault[:4]], wrong(report)


def test_tables_whose_columns_are_scaled_otherwise() -> None:
    report = compared(batches(TABLE, part=TRAIN, seed=0), batches(TABLE * 20 + 5))
    assert codes(report) == ["T091"]


def test_class_names_are_compared_and_shown() -> None:
    class Named(Epochs):
        def __init__(self, part: slice, *names: str) -> None:
            super().__init__(SCALED[part], LABELS[part])
            self.class_indices = {name: number for number, name in enumerate(names)}

    report = compared(Named(TRAIN, "cat", "dog"), Named(KEPT, "dog", "cat"))
    assert codes(report, least="warning") == ["T093"]
    assert "0 is 'cat' in training and 'dog' in validation" in report.findings[0].message
    table = next(section for section in report.sections if section.title == "Labels")
    assert {row[0] for row in table.rows} == {"0 (cat)", "1 (dog)"}

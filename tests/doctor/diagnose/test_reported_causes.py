"""Causes that bug reports name: each pipeline with its mistake, and the same pipeline without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.doctor.diagnose.made_pipelines import Epochs, codes, wrong

RANDOM = np.random.default_rng(5)
CLASSES = RANDOM.integers(0, 4, 320)
ROWS = (RANDOM.normal(size=(320, 8)) + 2 * CLASSES[:, np.newaxis]).astype(np.float32)
SERIES = RANDOM.normal(size=(320, 12, 1)).astype(np.float32)


def found(pipeline: Any, **settings: Any) -> Any:
    return rs.diagnose(pipeline, progress=False, time_limit=20, **settings)


class Apart:
    """Inputs are shuffled in every epoch, and targets with them or not."""

    def __init__(self, targets: Any, *, together: bool) -> None:
        self._targets, self._together = targets, together
        self._random = np.random.default_rng(0)

    def __iter__(self) -> Iterator[Any]:
        order = self._random.permutation(320)
        for start in range(0, 320, 20):
            places = order[start : start + 20]
            yield ROWS[places], self._targets[places if self._together else slice(start, start + 20)]


@pytest.mark.parametrize("targets", [CLASSES, ROWS[:, 0] * 3], ids=["classes", "numbers"])
@pytest.mark.parametrize("together", [False, True])
def test_targets_that_do_not_move_with_their_inputs(targets: Any, *, together: bool) -> None:
    report = found(Apart(targets, together=together))
    assert ("T099" in codes(report)) is not together, wrong(report)
    assert together or report.findings[0].code == "T099"


def test_labels_that_are_drawn_anew_for_a_regression_are_no_fault() -> None:
    class Noise:
        def __iter__(self) -> Iterator[Any]:
            for start in range(0, 320, 20):
                yield ROWS[start : start + 20], RANDOM.normal(size=(20, 8))

    assert "T099" not in codes(found(Noise()))


@pytest.mark.parametrize("empty", [True, False])
def test_a_last_batch_without_rows(*, empty: bool) -> None:
    batches = [(ROWS[start : start + 20], CLASSES[start : start + 20]) for start in range(0, 340 if empty else 320, 20)]
    report = found(batches)
    assert ("T006" in codes(report)) is empty
    assert not empty or "The last batch of an epoch has no rows" in report.findings[0].message


@pytest.mark.parametrize("leaks", [True, False])
def test_a_series_whose_target_is_its_last_value(*, leaks: bool) -> None:
    target = SERIES[:, -1, 0] if leaks else RANDOM.normal(size=320).astype(np.float32)
    report = found(Epochs(SERIES, target))
    assert ("T033" in codes(report)) is leaks
    assert not leaks or "step 11 of 12" in report.findings[0].message


# --- Keras ---


@pytest.fixture(scope="module")
def keras() -> Any:
    return pytest.importorskip("keras")


@pytest.mark.parametrize("all_steps", [True, False])
def test_a_recurrent_layer_that_returns_all_steps(keras: Any, *, all_steps: bool) -> None:
    layers = keras.layers
    model = keras.Sequential([keras.Input((12, 1)), layers.LSTM(4, return_sequences=all_steps), layers.Dense(1)])
    model.compile("adam", "mse")
    report = found(Epochs(SERIES, SERIES.sum(axis=(1, 2))[:, np.newaxis]), model=model)
    assert ("T014" in codes(report)) is all_steps
    assert not all_steps or "a value for each of 12 time steps" in report.findings[0].message


@pytest.mark.parametrize(
    ("metric", "scores", "named"),
    [("accuracy", True, True), ("accuracy", False, False), (0.5, True, True), (0.0, True, False)],
)
def test_a_metric_that_compares_scores_with_a_half(keras: Any, metric: Any, *, scores: bool, named: bool) -> None:
    layers = keras.layers
    last = layers.Dense(1, activation=None if scores else "sigmoid")
    model = keras.Sequential([keras.Input((8,)), layers.Dense(16, "relu"), last])
    given = metric if isinstance(metric, str) else keras.metrics.BinaryAccuracy(threshold=metric)
    model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=scores), metrics=[given])
    report = found(Epochs(ROWS, (CLASSES > 1).astype(np.float32)[:, np.newaxis]), model=model)
    assert ("T071" in codes(report)) is named, wrong(report)


@pytest.mark.parametrize(("by", "offset"), [(127.5, -1.0), (255.0, 0.0)])
@pytest.mark.parametrize("again", [True, False])
def test_pixels_that_the_model_scales_again(keras: Any, by: float, offset: float, *, again: bool) -> None:
    layers = keras.layers
    pixels = RANDOM.integers(0, 256, (320, 12, 12, 3)).astype(np.float32)
    fed = pixels / by + offset if again else pixels
    first = layers.Rescaling(1 / by, offset=offset)
    model = keras.Sequential([keras.Input((12, 12, 3)), first, layers.Flatten(), layers.Dense(4, "softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    report = found(Epochs(fed, CLASSES), model=model)
    assert ("T025" in codes(report)) is again, wrong(report)


# --- PyTorch ---


@pytest.mark.parametrize(("shift", "named"), [(0, False), (1, False), (4, True)])
def test_outputs_for_classes_that_never_come(shift: int, *, named: bool) -> None:
    torch = pytest.importorskip("torch")
    rows = torch.utils.data.TensorDataset(torch.from_numpy(ROWS), torch.from_numpy(CLASSES + shift))
    loader = torch.utils.data.DataLoader(rows, batch_size=20, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 8))
    report = found(loader, model=model, loss=torch.nn.CrossEntropyLoss())
    assert ("T011" in codes(report)) is named, wrong(report)


@pytest.mark.parametrize(("padding", "named"), [(-100, False), (-1, True)])
def test_labels_of_places_that_the_loss_leaves_out(padding: int, *, named: bool) -> None:
    torch = pytest.importorskip("torch")

    class Tagger(torch.nn.Module):  # type: ignore[misc,name-defined] # PyTorch has no types here
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Embedding(30, 4)

        def forward(self, ids: Any) -> Any:
            return self.table(ids).transpose(1, 2)

    ids = torch.from_numpy(RANDOM.integers(1, 30, (320, 9)))
    tags = ids % 4
    tags[:, 6:] = padding
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(ids, tags), batch_size=20, shuffle=True)
    report = found(loader, model=Tagger(), loss=torch.nn.CrossEntropyLoss())
    assert ("T011" in codes(report)) is named, wrong(report)


@pytest.mark.parametrize("above", [0, 1000])  # targets that no output reaches
@pytest.mark.parametrize("squeezes", [True, False])
def test_a_loss_of_ones_own_is_tried_out(*, squeezes: bool, above: int) -> None:
    torch = pytest.importorskip("torch")

    def mae(output: Any, target: Any) -> Any:
        return ((output.squeeze(1) if squeezes else output) - target).abs().mean()

    rows = torch.utils.data.TensorDataset(torch.from_numpy(ROWS), torch.from_numpy(ROWS.sum(axis=1) + above))
    loader = torch.utils.data.DataLoader(rows, batch_size=20, shuffle=True)
    report = found(loader, model=torch.nn.Linear(8, 1), loss=mae)
    assert ("T014" in codes(report)) is not squeezes, wrong(report)


@pytest.mark.parametrize(("last", "named"), [("sigmoid", True), ("nothing", False), ("normalised", False)])
def test_a_sigmoid_in_forward_before_a_loss_that_has_one(last: str, *, named: bool) -> None:
    torch = pytest.importorskip("torch")

    class Squashing(torch.nn.Module):  # type: ignore[misc,name-defined] # PyTorch has no types here
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.Linear(16, 1))
            self.plain = torch.nn.Linear(8, 1)

        def forward(self, rows: Any) -> Any:
            if last == "normalised":
                return self.layers(rows)
            return torch.sigmoid(self.plain(rows)) if last == "sigmoid" else self.plain(rows)

    rows = torch.utils.data.TensorDataset(torch.from_numpy(ROWS), torch.from_numpy((CLASSES > 1).astype("f4")[:, None]))
    loader = torch.utils.data.DataLoader(rows, batch_size=20, shuffle=True)
    report = found(loader, model=Squashing(), loss=torch.nn.BCEWithLogitsLoss())
    assert ("T013" in codes(report)) is named, wrong(report)

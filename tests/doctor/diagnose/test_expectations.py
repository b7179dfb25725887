"""What a network expects: the order of dimensions, the scale, class numbers, boxes, an optimizer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.doctor.diagnose.made_pipelines import codes, images, wrong

torch = pytest.importorskip("torch")
nn = torch.nn
TABLE = torch.from_numpy(np.random.default_rng(0).normal(size=(256, 6)).astype(np.float32))
CLASSES = (TABLE[:, 0] > 0).long()
SERIES = torch.from_numpy(np.random.default_rng(1).normal(size=(256, 20, 5)).astype(np.float32))
PIXELS, _ = images(128)
IMAGES = torch.from_numpy(np.moveaxis(PIXELS, 3, 1) / 255).float()
BOXES = torch.from_numpy(np.sort(np.random.default_rng(2).uniform(0, 1, (128, 2, 2)), 1).reshape(128, 4)).float()


def fed(*columns: Any, **settings: Any) -> Any:
    rows = torch.utils.data.TensorDataset(*columns)
    return torch.utils.data.DataLoader(rows, **{"batch_size": 32, "shuffle": True, **settings})


def network(*last: Any) -> Any:
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2), *last)


class Recurrent(nn.Module):  # type: ignore[misc,name-defined] # PyTorch has no types here
    def __init__(self, *, batch_first: bool, turn: bool = False) -> None:
        super().__init__()
        self.cells, self.last, self.turn = nn.GRU(5, 8, batch_first=batch_first), nn.Linear(8, 2), turn

    def forward(self, series: Any) -> Any:
        states = self.cells(series.transpose(0, 1) if self.turn else series)[0]
        return self.last(states[-1] if self.turn else states[:, -1])


class Flat(nn.Module):  # type: ignore[misc,name-defined] # as above
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Linear(6, 1)

    def forward(self, rows: Any) -> Any:
        return self.layers(rows).squeeze(1)


def normalised() -> Any:
    return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))


def located() -> Any:
    return nn.Sequential(nn.Flatten(), nn.Linear(768, 4), nn.Sigmoid())


CROSS, SQUARES = nn.CrossEntropyLoss(), nn.MSELoss()
SUMS = TABLE.sum(1)
RIGHT_FIRST = (SERIES[:, :, 0].mean(1) > 0).long()
TRIED = {
    "T067": (fed(SERIES, RIGHT_FIRST), Recurrent(batch_first=False), CROSS),
    "-- rows first": (fed(SERIES, RIGHT_FIRST), Recurrent(batch_first=True), CROSS),
    "-- turned on purpose": (fed(SERIES, RIGHT_FIRST), Recurrent(batch_first=False, turn=True), CROSS),
    "T014": (fed(TABLE, SUMS[:, None]), Flat(), SQUARES),
    "-- both flat": (fed(TABLE, SUMS), Flat(), SQUARES),
    "T085": (fed(TABLE[:225], CLASSES[:225]), normalised(), CROSS),
    "-- batches of equal size": (fed(TABLE, CLASSES), normalised(), CROSS),
    "T069": (fed(IMAGES, BOXES * 16), located(), nn.SmoothL1Loss()),
    "T103": (fed(IMAGES, BOXES * 64), nn.Sequential(nn.Flatten(), nn.Linear(768, 4)), nn.SmoothL1Loss()),
    "T069 ReLU": (fed(TABLE, SUMS[:, None]), nn.Sequential(nn.Linear(6, 1), nn.ReLU()), SQUARES),
    "T100": (fed(TABLE, 250_000 + 80_000 * SUMS[:, None]), nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 1)), SQUARES),
    "-- targets around 1": (fed(TABLE, SUMS[:, None]), nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 1)), SQUARES),
    "-- boxes of 0 to 1": (fed(IMAGES, BOXES), located(), nn.SmoothL1Loss()),
}


@pytest.mark.parametrize("case", TRIED)
def test_a_fault_and_its_healthy_twin(case: str) -> None:
    pipeline, model, loss = TRIED[case]
    report = rs.diagnose(pipeline, model=model, loss=loss, progress=False, time_limit=12)
    assert codes(report, least="warning") == ([] if case.startswith("--") else [case[:4]]), wrong(report)


@pytest.mark.parametrize("moved", [False, True])
def test_an_optimizer_of_a_model_that_is_gone(*, moved: bool) -> None:
    model = network()
    optimizer = torch.optim.Adam((network() if moved else model).parameters(), lr=0.01)
    report = rs.diagnose(fed(TABLE, CLASSES), model=model, loss=CROSS, progress=False, time_limit=12)
    assert codes(report, least="warning") == (["T087"] if moved else []), wrong(report)
    assert optimizer.param_groups


def test_masks_that_were_resized_with_interpolation() -> None:
    masks = torch.from_numpy((PIXELS[:, None, :, :, 0] > 128) * 3).float()
    for mode, expected in (("bilinear", ["T066"]), ("nearest", [])):
        resized = nn.functional.interpolate(masks, size=(24, 24), mode=mode)[:, 0]
        larger = nn.functional.interpolate(IMAGES, size=(24, 24))
        assert codes(rs.diagnose(fed(larger, resized), progress=False), least="warning") == expected


def test_values_stored_with_channels_last_and_reshaped_to_channels_first() -> None:
    pixels, labels = images(128)
    flat = torch.from_numpy(pixels / 255).float().reshape(128, -1)
    report = rs.diagnose(fed(flat.reshape(128, 3, 16, 16), torch.from_numpy(labels)), progress=False)
    assert codes(report, least="warning") == ["T029"]
    assert "channels last" in report.findings[0].message
    assert codes(rs.diagnose(fed(IMAGES, torch.from_numpy(labels)), progress=False), least="warning") == []


def test_inputs_that_are_the_same_and_ids_that_are_padding() -> None:
    ids = torch.from_numpy(np.random.default_rng(0).integers(1, 90, (64, 12)))
    rows = [{"input_ids": one, "token_type_ids": one.clone(), "label": n % 2} for n, one in enumerate(ids)]
    loader = torch.utils.data.DataLoader(rows, batch_size=16, shuffle=True)
    assert codes(rs.diagnose(loader, progress=False), least="warning") == ["T065"]
    padded = nn.functional.pad(ids, (0, 500))
    assert codes(rs.diagnose(fed(padded, torch.arange(64) % 2), progress=False)) == ["T086"]


@pytest.mark.parametrize("scaled", [False, True])
def test_a_pretrained_network_of_keras(*, scaled: bool) -> None:
    keras = pytest.importorskip("keras")
    inputs = keras.Input((16, 16, 3))
    features = keras.layers.Conv2D(4, 3, name="Conv1")(inputs)
    features = keras.layers.BatchNormalization(name="bn_Conv1")(features)
    base = keras.Model(inputs, keras.layers.GlobalAveragePooling2D()(features), name="mobilenetv2_1.00_16")
    base.get_layer("bn_Conv1").moving_mean.assign(np.full(4, 0.1, np.float32))
    model = keras.Sequential([keras.Input((16, 16, 3)), base, keras.layers.Dense(2, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    pixels, labels = images(128)
    fed_pixels = (pixels / 127.5 - 1 if scaled else pixels).astype(np.float32)
    report = rs.diagnose((fed_pixels, labels), model=model, progress=False, time_limit=12)
    assert codes(report, least="warning")[:1] == ([] if scaled else ["T068"]), wrong(report)

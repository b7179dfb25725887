"""Where rows come from: the rules that compare them speak where the source proves it, and are silent otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.doctor.lint.lint import lint_and_fix

HEAD = """
import numpy as np, pandas as pd, tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler, MinMaxScaler
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
"""


def codes(text: str) -> list[str]:
    """The errors and warnings about a program that has a compiled model."""
    return [one.code for one in rs.lint(source=HEAD + text).findings if one.severity.value != "info"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model.fit(x[:80], y[:80], validation_data=(x[80:], y[80:]))", []),
        ("model.fit(x[:80], y[:80], validation_data=(x[70:], y[70:]))", ["P202"]),
        ("model.fit(x[:n], y[:n], validation_data=(x[n:], y[n:]))", []),
        ("model.fit(x[:n], y[:n], validation_data=(x[:n], y[:n]))", ["P202"]),
        ("model.fit(x[:-20], y[:-20], validation_data=(x[-20:], y[-20:]))", []),
        ("p = np.random.permutation(len(x))\nmodel.fit(x[p], y[p])", []),
        ("p = np.random.permutation(len(x))\nmodel.fit(x[p], y)", ["P013"]),
        ("from sklearn.utils import shuffle\nx, y = shuffle(x, y)\nmodel.fit(x, y)", []),
        ("model.fit(x, y)\nx_test = np.load('x.npy')\nmodel.evaluate(x_test, np.load('y.npy'))", ["P202"]),
        ("model.fit(x, y)\nx_test = np.load('x_test.npy')\nmodel.evaluate(x_test, np.load('y_test.npy'))", []),
    ],
)
def test_rows_of_arrays(text: str, expected: list[str]) -> None:
    assert codes(f"x, y, n = np.load('x.npy'), np.load('y.npy'), 50\n{text}") == expected


@pytest.mark.parametrize(
    ("features", "target", "expected"),
    [
        ("0:8", "8", []),
        ("0:9", "8", ["P251"]),
        (":-1", "-1", []),
        ("1:", "-1", ["P251"]),
        ("1:", "0", []),
        (":", "3", ["P251"]),
    ],
)
def test_columns_by_number(features: str, target: str, expected: list[str]) -> None:
    table = "t = pd.read_csv('t.csv')\n"
    split = f"train_test_split(t.iloc[:, {features}].values, t.iloc[:, {target}].values)"
    assert codes(f"{table}a, b, c, d = {split}\nmodel.fit(a, c)") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s = StandardScaler()\na = s.fit_transform(a)\nb = s.transform(b)\n", []),
        ("a = StandardScaler().fit_transform(a)\nb = StandardScaler().fit_transform(b)\n", ["P212"]),
        (
            "one, two = StandardScaler(), StandardScaler()\na = one.fit_transform(a)\nb = two.fit_transform(b)\n",
            ["P212"],
        ),
        ("m, s = a.mean(0), a.std(0)\na, b = (a - m) / s, (b - m) / s\n", []),
        ("a, b = (a - a.mean(0)) / a.std(0), (b - b.mean(0)) / b.std(0)\n", ["P212"]),
    ],
)
def test_test_data_is_prepared_like_training_data(text: str, expected: list[str]) -> None:
    split = "x, y = np.load('x.npy'), np.load('y.npy')\na, b, c, d = train_test_split(x, y)\n"
    assert sorted(set(codes(f"{split}{text}model.fit(a, c)\nmodel.evaluate(b, d)"))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = x.reshape(x.shape[0], x.shape[1], 1)", []),
        ("x = x.reshape(x.shape[0], x.shape[2], x.shape[1])", ["P265"]),
        ("x = x.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)", []),
        ("x = x.reshape(-1, 28, 28).reshape(-1, 784)", []),
        ("def loss(y_true, y_pred):\n    return K.binary_crossentropy(y_true, y_pred)", []),
        ("def loss(y_true, y_pred):\n    return K.mean(K.square(y_pred - y_true))", []),
        ("def loss(y_true, y_pred):\n    return -K.mean(y_true * K.log(y_pred + 1e-7))", []),
        ("def loss(y_true, y_pred):\n    return -K.mean(y_true * K.log(y_pred))", ["P263"]),
        ("def norm(data):\n    return (data - x.mean()) / x.std()\na, b = norm(x), norm(np.load('b.npy'))", []),
        ("def batches(n):\n    for i in range(0, 100, n):\n        yield x[i:i + n], x[i + 1:i + n + 1]", []),
    ],
)
def test_arrays_losses_and_helpers(text: str, expected: list[str]) -> None:
    assert codes(f"x = np.load('x.npy')\n{text}") == expected


def test_swapped_arguments_of_a_loss_are_corrected(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(f"{HEAD}\ndef loss(y_true, y_pred):\n    return K.categorical_crossentropy(y_pred, y_true)\n")
    lint_and_fix(path)
    assert "K.categorical_crossentropy(y_true, y_pred)" in path.read_text()

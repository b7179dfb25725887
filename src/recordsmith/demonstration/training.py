"""A small model, trained with whatever is installed: Keras, PyTorch, scikit-learn, or nothing but numpy."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from recordsmith.loader import Loader, open_dataset

__all__ = ["frameworks", "train"]

EPOCHS = 15
BATCH = 32


def frameworks() -> list[str]:
    """Return what a model can be trained with here, the best first; numpy always.

    >>> frameworks()[-1]
    'numpy'
    """
    known = {"keras": "tensorflow", "pytorch": "torch", "scikit-learn": "sklearn"}
    return [*(name for name, module in known.items() if importlib.util.find_spec(module)), "numpy"]


def train(folder: str, *, framework: str) -> float:
    """Train on the training split of a folder of images, and return the share of the test split that is right."""
    training = _chain(folder, "train").shuffle(seed=0).batch(BATCH).pairs("image", "label")
    test = _chain(folder, "test").batch(BATCH).pairs("image", "label")
    classes = len(open_dataset(folder).schema["label"].names)
    trainer: Callable[[Loader[Any], Loader[Any], int], float] = {
        "keras": _with_keras,
        "pytorch": _with_torch,
        "scikit-learn": _with_sklearn,
        "numpy": _with_numpy,
    }[framework]
    return trainer(training, test, classes)


def _chain(folder: str, split: str) -> Any:
    return open_dataset(folder, split=split).images(size=(24, 24), scale=1 / 255).select("image", "label")


def _with_keras(training: Loader[Any], test: Loader[Any], classes: int) -> float:
    for setting, value in (("TF_CPP_MIN_LOG_LEVEL", "3"), ("TF_ENABLE_ONEDNN_OPTS", "0")):
        os.environ.setdefault(setting, value)  # TensorFlow greets with a page about processors
    keras: Any = importlib.import_module("keras")
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((24, 24, 3)),
            keras.layers.Rescaling(4.0, -2.0),
            keras.layers.Conv2D(16, 5, strides=2, activation="relu"),
            keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(classes),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.005), loss, metrics=["accuracy"])
    model.fit(training.to_tf(), epochs=EPOCHS, shuffle=False, verbose=0)
    return float(model.evaluate(test.to_tf(), verbose=0)[1])


def _with_torch(training: Loader[Any], test: Loader[Any], classes: int) -> float:
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 5, stride=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, classes),
    )
    optimizer = torch.optim.Adam(model.parameters(), 0.005)
    for _ in range(EPOCHS):
        for images, labels in training.to_torch():
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(4 * images.permute(0, 3, 1, 2) - 2), labels).backward()
            optimizer.step()
    with torch.no_grad():
        right = [(model(4 * images.permute(0, 3, 1, 2) - 2).argmax(1) == labels) for images, labels in test.to_torch()]
    return float(torch.cat(right).float().mean())


def _with_sklearn(training: Loader[Any], test: Loader[Any], _classes: int) -> float:
    from sklearn.neural_network import MLPClassifier

    inputs, labels = _all_of(training)
    model = MLPClassifier((64,), max_iter=150, random_state=0, early_stopping=True)
    model.fit(inputs, labels)
    return float(model.score(*_all_of(test)))


def _with_numpy(training: Loader[Any], test: Loader[Any], classes: int) -> float:
    """Softmax over a linear map, by gradient descent with momentum."""
    weights = np.zeros((24 * 24, classes), np.float32)
    speed = np.zeros_like(weights)
    for _ in range(EPOCHS):
        for images, labels in training:
            inputs = _contrast(images)
            error = _chances(inputs @ weights)
            error[np.arange(len(labels)), labels] -= 1
            speed = 0.9 * speed - 0.05 * (inputs.T @ error / len(labels) + 1e-3 * weights)
            weights += speed
    right = [(_contrast(images) @ weights).argmax(axis=1) == labels for images, labels in test]
    return float(np.concatenate(right).mean())


def _chances(scores: Any) -> Any:
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)


def _all_of(loader: Loader[Any]) -> tuple[Any, Any]:
    batches = list(loader)
    inputs = np.concatenate([_contrast(images) for images, _ in batches])
    return inputs, np.concatenate([labels for _, labels in batches])


def _contrast(images: Any) -> Any:
    """Return how much each pixel differs from the ground, one row an image."""
    ground = images[:, :2].mean(axis=(1, 2), keepdims=True)
    seen = np.abs(images - ground).mean(axis=3).reshape(len(images), -1) * 4
    return seen - seen.mean(axis=1, keepdims=True)

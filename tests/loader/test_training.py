"""Models learn on what is fed: Keras, PyTorch and JAX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.loader.frameworks.framework_data import numbered, our_threads

ROWS, EPOCHS, CHANCE, LEARNT = 512, 8, 0.75, 0.9


@pytest.fixture
def ds(tmp_path: Path) -> rs.Dataset:
    return numbered(tmp_path / "a.tfrecord", ROWS)


def test_keras_learns_over_epochs_with_validation(ds: rs.Dataset) -> None:
    keras = pytest.importorskip("tensorflow").keras
    keras.utils.set_random_seed(0)
    train = ds[:384].shuffle(seed=0).batch(32).pairs("x", "y").to_tf()
    held_out = ds[384:].batch(64).pairs("x", "y").to_tf()
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.05), loss, metrics=["accuracy"])
    history = model.fit(train, epochs=EPOCHS, validation_data=held_out, shuffle=False, verbose=0).history
    assert len(history["loss"]) == len(history["val_loss"]) == EPOCHS
    assert history["loss"][-1] < history["loss"][0]
    assert history["val_accuracy"][-1] > LEARNT
    assert model.evaluate(held_out, verbose=0)[1] > LEARNT
    assert model.predict(held_out, verbose=0).shape == (128, 2)
    assert our_threads() == []


def test_keras_learns_on_one_hot_targets_and_an_endless_repeat(ds: rs.Dataset) -> None:
    keras = pytest.importorskip("tensorflow").keras
    keras.utils.set_random_seed(0)
    train = ds.shuffle(seed=0).batch(64).pairs(["x"], "y", one_hot=True).repeat().to_tf()
    inputs = {"x": keras.Input((4,), name="x")}
    model = keras.Model(inputs, keras.layers.Dense(2, activation="softmax")(inputs["x"]))
    model.compile(keras.optimizers.Adam(0.05), "categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(train, epochs=EPOCHS, steps_per_epoch=8, shuffle=False, verbose=0).history
    assert history["accuracy"][-1] > LEARNT


def test_keras_learns_on_the_chain_in_tensorflows_own_operations(ds: rs.Dataset) -> None:
    tf = pytest.importorskip("tensorflow")
    keras = tf.keras
    keras.utils.set_random_seed(0)
    loader = ds.shuffle(seed=0).batch(32).pairs("x", "y")
    count = tf.data.experimental.assert_cardinality(len(loader))  # which TensorFlow does not know of TFRecords
    train = loader.to_tf(graph=True).apply(count)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.05), loss, metrics=["accuracy"])
    history = model.fit(train, epochs=3, shuffle=False, verbose=0).history
    assert history["accuracy"][-1] > CHANCE


def test_pytorch_learns(ds: rs.Dataset) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    fed = torch.utils.data.DataLoader(ds.shuffle(seed=0).batch(32).pairs("x", "y").to_torch(), batch_size=None)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    right = 0
    for _ in range(EPOCHS):
        right = 0
        for inputs, target in fed:
            guess = model(inputs)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(guess, target).backward()
            optimizer.step()
            right += int((guess.argmax(dim=1) == target).sum())
    assert right / ROWS > LEARNT


def test_jax_learns(ds: rs.Dataset) -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def loss(weights: Any, inputs: Any, target: Any) -> Any:
        scores = inputs @ weights["w"] + weights["b"]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), target[:, None], axis=1))

    @jax.jit
    def step(weights: Any, inputs: Any, target: Any) -> Any:
        slopes = jax.grad(loss)(weights, inputs, target)
        return jax.tree.map(lambda weight, slope: weight - 0.5 * slope, weights, slopes)

    weights = {"w": jnp.zeros((4, 2)), "b": jnp.zeros(2)}
    batches = ds.shuffle(seed=0).batch(32, drop_last=True).pairs("x", "y").to_jax()
    for _ in range(EPOCHS):
        for inputs, target in batches:
            weights = step(weights, inputs, target)
    right = sum(
        int(((inputs @ weights["w"] + weights["b"]).argmax(axis=1) == target).sum()) for inputs, target in batches
    )
    assert right / ROWS > LEARNT

"""A script that trains with Keras on one of its backends, as JSON; see test_keras.py."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from typing import Any

from tests.loader.frameworks.clients.epochs import COUNT, SCHEMA, SIZE, Epochs, write


def main() -> None:
    """Write which batches came, in which order, and what the model learnt."""
    warnings.simplefilter("ignore")  # Keras' own, of its backends
    if os.environ["KERAS_BACKEND"] != "tensorflow":
        sys.modules["tensorflow"] = None  # type: ignore[assignment] # as if it were not installed
    import keras

    import recordsmith as rs

    with tempfile.TemporaryDirectory() as folder:
        epochs = Epochs(write(folder))
        seen: list[list[int]] = []

        def noted(batch: Any) -> Any:
            seen.append(batch["n"].tolist())
            return batch

        chain = rs.open(epochs.path, schema=SCHEMA).shuffle(seed=1).batch(SIZE, threads=0).map(noted)
        loader = chain.pairs("x", "y", class_weight={0: 1.0, 1: 1.0})
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.Adam(0.1), loss, metrics=["accuracy"])
        results: dict[str, Any] = {"backend": keras.backend.backend()}
        batches = loader.to_keras()
        for shuffle in (False, True):
            seen.clear()
            model.fit(batches, epochs=3, shuffle=shuffle, verbose=0)
            results[f"shuffle {shuffle}"] = [epochs.named(seen[at : at + COUNT]) for at in range(0, len(seen), COUNT)]
        seen.clear()
        model.fit(batches, epochs=4, steps_per_epoch=COUNT // 2, shuffle=False, verbose=0)
        results["halves"] = [epochs.named(seen[at : at + COUNT]) for at in range(0, 2 * COUNT, COUNT)]
        results["accuracy"] = model.evaluate(loader.to_keras(), verbose=0)[1] > 0.9
        results["predicted"] = len(model.predict(loader.to_keras(), verbose=0))
        try:
            model.fit(loader, verbose=0)
        except rs.PipelineError as error:
            results["refused"] = "to_keras()" in str(error)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()

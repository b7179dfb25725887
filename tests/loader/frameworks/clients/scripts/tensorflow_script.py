"""A script that trains on two devices with MirroredStrategy, as JSON; see test_mirrored.py."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from typing import Any

from tests.loader.frameworks.clients.epochs import Epochs, write


def main() -> None:
    """Write how many rows were trained on in each epoch, and what Keras warned of."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import keras
    import tensorflow as tf

    processor = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(processor, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        epochs = Epochs(write(folder))
        for name in ("to_tf", "graph", "graph, without its length"):
            with strategy.scope():
                model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
                model.compile("sgd", "mse", metrics=[rows_metric()])
            loader = epochs.loader().pairs("x", "y")
            batches = loader.to_tf(graph=name != "to_tf")
            if name == "graph":
                batches = batches.apply(tf.data.experimental.assert_cardinality(len(loader)))
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                history = model.fit(batches, epochs=2, verbose=0, shuffle=False).history
            told = any("ran out of data" in str(one.message) for one in warned)
            results[name] = {"rows": history["rows"], "ran out": told}
    json.dump(results, sys.stdout)


def rows_metric() -> Any:
    """Return a metric that counts rows."""
    import keras

    class Rows(keras.metrics.Sum):  # type: ignore[misc] # Keras is not followed
        def __init__(self) -> None:
            super().__init__(name="rows")

        def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # noqa: ARG002 - Keras' signature
            return super().update_state(keras.ops.ones_like(y_pred[:, 0]))

    return Rows()


if __name__ == "__main__":
    main()

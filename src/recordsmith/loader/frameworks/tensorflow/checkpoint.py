"""The place of a loader in a tf.train.Checkpoint.

TensorFlow cannot save an iterator of to_tf(): the batches are made outside of its graph. It saves Python objects that
say how they are written, and the place of a loader is one. This module imports TensorFlow: import it only where
TensorFlow was asked for.
"""

from __future__ import annotations

import json

from recordsmith.errors import PipelineError
from recordsmith.loader.session import Session
from recordsmith.schema.export.tensorflow_features import import_tensorflow

tf = import_tensorflow("Loader.tf_state")

__all__ = ["CheckpointedPlace"]


class CheckpointedPlace(tf.train.experimental.PythonState):  # type: ignore[misc,name-defined] # TensorFlow is optional
    """The place that the consumer of a loader has reached, as tf.train.Checkpoint saves and restores it."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def serialize(self) -> str:
        """Return the place as text."""
        return json.dumps(self._session.state())

    def deserialize(self, string_value: bytes) -> None:
        """Begin the next iteration at a place that was saved."""
        try:
            state = json.loads(string_value)
        except ValueError as error:
            raise PipelineError("This is not the state of a loader.", found=repr(string_value)[:200]) from error
        self._session.restore(state)

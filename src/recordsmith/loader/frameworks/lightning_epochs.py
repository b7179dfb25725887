"""A callback for Lightning. This module imports Lightning: import it only where Lightning was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recordsmith.errors import import_extra

pytorch = import_extra("lightning.pytorch", extra="lightning", purpose="lightning_callback()")

__all__ = ["EpochCallback"]


class EpochCallback(pytorch.Callback):  # type: ignore[misc,name-defined] # Lightning is optional
    """Sets the epoch when a checkpoint is loaded; a checkpoint from the middle of one then sets the place in it."""

    def __init__(self, set_epoch: Callable[[int], None]) -> None:
        super().__init__()
        self._set_epoch = set_epoch

    def on_load_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: dict[str, Any]) -> None:  # noqa: ARG002 - Lightning's signature
        """Set the number of epochs that were trained before."""
        self._set_epoch(int(checkpoint["loops"]["fit_loop"]["epoch_progress"]["current"]["processed"]))

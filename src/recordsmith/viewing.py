"""The door to the viewer for what is below it: `ds.view()` opens what the package registers here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["View", "Viewer", "register_viewer", "viewer"]


class View(Protocol):
    """A viewer that runs in the background; a notebook shows it in a frame.

    Attributes:
        url: the address to open, with the token.
    """

    url: str

    def stop(self) -> None:
        """End the viewer."""

    def _repr_html_(self) -> str: ...


class Viewer(Protocol):
    """What opens views."""

    def view_dataset(self, dataset: Any) -> View:
        """Start a viewer of a dataset."""

    def view_loader(self, loader: Any, batches: int) -> View:
        """Start a viewer of the next batches of a chain."""


_registered: list[Callable[[], Viewer]] = []


def register_viewer(load: Callable[[], Viewer]) -> None:
    """Say how the viewer is loaded, which happens when it is first used."""
    _registered[:] = [load]


def viewer() -> Viewer:
    """Load the viewer."""
    return _registered[0]()

"""The viewer for notebooks and programs: `rs.open(...).view()` and `loader.view()`."""

from __future__ import annotations

from typing import Any

from recordsmith.errors import PipelineError
from recordsmith.loader import Dataset, Loader
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.pages.batches import SeenBatches, see_batches
from recordsmith.viewer.pages.values import address
from recordsmith.viewer.server import Server
from recordsmith.wording.markup import element, joined

__all__ = ["View", "view_dataset", "view_loader"]

_MOST_RUNNING = 4
_running: list[Server] = []


class View:
    """A viewer that runs in the background; a notebook shows it in a frame.

    Attributes:
        url: the address to open, with the token.
    """

    def __init__(self, server: Server, path: str = "/") -> None:
        self._server = server
        self.url = server.url.replace("/?", f"{path}?", 1)

    def stop(self) -> None:
        """End the viewer."""
        if self._server in _running:
            _running.remove(self._server)
            self._server.stop()

    def __repr__(self) -> str:
        return f"<recordsmith viewer: {self.url}>"

    def _repr_html_(self) -> str:
        # Jupyter is usually opened as localhost: for another name, the browser would not send the cookie from a frame.
        framed = self.url.replace("127.0.0.1", "localhost", 1)
        link = element("a", "Open the viewer in a tab", href=address(self.url), target="_blank", rel="noopener")
        frame = element("iframe", src=address(framed), width="100%", height="640", title="Recordsmith viewer")
        return joined([element("p", link), frame])


def view_dataset(dataset: Dataset) -> View:
    """Start a viewer of a dataset."""
    if dataset.record_range() != range(dataset.places().records):
        raise PipelineError(
            "A selection of a dataset cannot be viewed.", advice="View the whole dataset, and filter it in the viewer."
        )
    return _started(OpenedDataset(list(dataset.files), schema=dataset.schema if dataset.payload == "example" else None))


def view_loader(loader: Loader[Any], batches: int) -> View:
    """Start a viewer of the next batches of a chain, and of the dataset that they come from."""
    first = loader.plan.datasets[0]
    return _started(OpenedDataset(list(first.files), schema=first.schema), see_batches(loader, batches))


def _started(dataset: OpenedDataset, seen: SeenBatches | None = None) -> View:
    server = Server([dataset], framed=True, seen=seen)
    server.start()
    _running.append(server)
    while len(_running) > _MOST_RUNNING:
        _running.pop(0).stop()
    return View(server, "/" if seen is None else "/batches")

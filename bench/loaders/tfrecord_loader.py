"""PyTorch's DataLoader over the package `tfrecord`, which is how TFRecords are usually read there."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bench.loaders.contract import BUFFER, Subject

if TYPE_CHECKING:
    from bench.loaders.contract import Chain

KINDS = {"float": "float", "int64": "int", "bytes": "byte"}
WORKERS = {"DataLoader in one process": 0, "DataLoader with 2 workers": 2}


class TfrecordFeed:
    """A DataLoader for each file, one after the other: without an index, the package reads a file as a whole."""

    def __init__(self, torch: Any, paths: Sequence[str], subject: Subject, workers: int) -> None:
        self._torch = torch
        self._paths = paths
        self._subject = subject
        self._workers = workers
        self._dataset: Any = importlib.import_module("tfrecord.torch.dataset").TFRecordDataset
        self._chain: Any = torch.utils.data.ChainDataset

    def batches(self) -> Iterator[Any]:
        """See `Chain`."""
        description = {feature.name: KINDS[feature.kind] for feature in self._subject.features}
        parts = [self._dataset(path, None, description, shuffle_queue_size=BUFFER) for path in self._paths]
        data = torch_share(self._torch, parts) if self._workers else self._chain(parts)
        return iter(self._torch.utils.data.DataLoader(data, batch_size=self._subject.batch, num_workers=self._workers))

    def labels(self, batch: Any) -> Any:
        """See `Chain`."""
        return batch["label"].numpy().reshape(-1)

    def arrays(self, batch: Any) -> dict[str, Any]:
        """See `Chain`."""
        return {name: tensor.numpy() for name, tensor in batch.items()}


def torch_share(torch: Any, parts: list[Any]) -> Any:
    """The files dealt out to the workers: each reads its own."""

    class Share(torch.utils.data.IterableDataset):  # type: ignore[misc] # torch is optional
        def __iter__(self) -> Iterator[Any]:
            info = torch.utils.data.get_worker_info()
            for part in parts[info.id :: info.num_workers]:
                # Inside a worker, the package wants an index to find its part of a file; each file is one worker's.
                yield from importlib.import_module("tfrecord.iterator_utils").shuffle_iterator(
                    importlib.import_module("tfrecord.reader").tfrecord_loader(part.data_path, None, part.description),
                    part.shuffle_queue_size,
                )

    return Share()


class TfrecordFeeder:
    """The package `tfrecord` and PyTorch."""

    def __init__(self) -> None:
        self._torch: Any = importlib.import_module("torch")
        importlib.import_module("tfrecord.torch.dataset")

    def versions(self) -> dict[str, str]:
        """See `Loader`."""
        return {"tfrecord": importlib.metadata.version("tfrecord"), "torch": self._torch.__version__}

    def forms(self, _subject: Subject) -> list[str]:
        """See `Loader`."""
        return list(WORKERS)

    def open(self, subject: Subject, paths: Sequence[str], form: str) -> Chain:
        """See `Loader`."""
        return TfrecordFeed(self._torch, paths, subject, WORKERS[form])


def make_loader(_name: str) -> TfrecordFeeder:
    """The only loader of its kind."""
    return TfrecordFeeder()

"""The process of one loader: `python -m bench.loaders NAME` takes JSON lines (see bench.measuring.worker)."""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.loaders import inputs, open_loader
from bench.loaders.contract import SIZE, SUBJECTS, Chain, Loader
from bench.measuring import memory_probe
from bench.measuring.worker import answer_requests

Answer = dict[str, Any]


class LoaderWorker:
    """Holds a loader and the chains that it built. The methods are the requests."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._chains: dict[tuple[str, str], Chain] = {}

    def describe(self) -> Answer:
        """What this loader is made of."""
        return {"versions": self._loader.versions()}

    def forget(self) -> Answer:
        """Free the chains."""
        self._chains.clear()
        gc.collect()
        return {}

    def prepare(self, what: str, folder: str, scale: float) -> Answer:
        """Write an input that only loading needs, unless it is there; for the process that has recordsmith."""
        prepare = {
            "large": inputs.large_images,
            "png": inputs.png_images,
            "webp": inputs.webp_images,
            "many": inputs.many_records,
        }
        written = prepare[what](Path(folder), scale)
        return {
            "paths": [str(path) for path in written.paths],
            "records": written.records,
            "bytes": written.bytes,
            "label_sum": written.label_sum,
        }

    def forms(self, subject: str) -> Answer:
        """The ways this loader has."""
        return {"forms": self._loader.forms(SUBJECTS[subject])}

    def check(self, subject: str, paths: list[str], form: str) -> Answer:
        """Build a chain and go through it once, with every value looked at; not timed."""
        chain = self._chains[subject, form] = self._loader.open(SUBJECTS[subject], paths, form)
        totals: dict[str, int] = {}
        records = label_sum = 0
        brightness = 0.0
        for batch in chain.batches():
            arrays = chain.arrays(batch)
            records += len(arrays["label"])
            label_sum += int(arrays["label"].sum())
            for name, values in arrays.items():
                if name == "image":
                    brightness += _check_images(values)
                else:
                    totals[name] = (totals.get(name, 0) + bit_sum(values)) % 2**64
        return {"records": records, "label_sum": label_sum, "bits": totals, "brightness": brightness / max(1, records)}

    def load(self, subject: str, form: str) -> Answer:
        """One timed epoch."""
        chain = self._chains[subject, form]
        records = label_sum = 0
        gc.collect()
        start = time.perf_counter()
        for batch in chain.batches():
            labels = chain.labels(batch)
            records += len(labels)
            label_sum += int(np.add.reduce(labels))
        return {"seconds": time.perf_counter() - start, "records": records, "label_sum": label_sum}

    def memory(self, subject: str, form: str, batches: int) -> Answer:
        """One epoch, watching the memory of this process: the highest of its own in each half."""
        chain = self._chains[subject, form]
        halves = [0, 0]
        for number, batch in enumerate(chain.batches()):
            chain.labels(batch)
            half = int(number * 2 >= batches)
            halves[half] = max(halves[half], memory_probe.now().own)
        return {"halves": halves}


def bit_sum(values: Any) -> int:
    """The sum of the bit patterns of all values: zeros, such as padding, add nothing."""
    flat = np.ascontiguousarray(values).reshape(-1)
    bits = {1: np.uint8, 4: np.uint32, 8: np.uint64}[flat.dtype.itemsize]
    return int(flat.view(bits).sum(dtype=np.uint64))


def _check_images(pixels: Any) -> float:
    """The brightness of all images of a batch together, once their form is right."""
    if pixels.shape[1:] != (*SIZE, 3) or pixels.dtype != np.float32:
        raise ValueError(f"images are {pixels.dtype} of shape {pixels.shape}")
    if pixels.min() < -0.3 or not 0.5 < pixels.max() < 1.3:
        raise ValueError(f"values go from {pixels.min()} to {pixels.max()}")
    return float(pixels.mean(axis=(1, 2, 3), dtype=np.float64).sum())


if __name__ == "__main__":
    answer_requests(lambda: LoaderWorker(open_loader(sys.argv[1])))

"""grain over array_record: records that numpy reads in place, shuffled as a whole, in threads or in processes."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.feeders.contract import WORKERS, Rows, Store, augmented, labels_of

SHARDS = 4
LABEL = np.dtype("<i8")


def versions() -> dict[str, str]:
    """Import the libraries that do the work."""
    for name in ("cv2", "grain", "torch", "array_record.python.array_record_module"):
        importlib.import_module(name)
    importlib.import_module("absl.flags").FLAGS.mark_as_parsed()  # its processes ask for flags
    return {name: importlib.metadata.version(name) for name in ("array_record", "grain", "torch")}


def write(rows: Rows, subject: str, folder: Path) -> None:
    """Write one record per group, as its documentation advises for random access."""
    module = importlib.import_module("array_record.python.array_record_module")
    name = "image" if subject == "img" else "pixels"
    names = [str(folder / f"part-{shard}.array_record") for shard in range(SHARDS)]
    writers = [module.ArrayRecordWriter(path, "group_size:1,uncompressed") for path in names]
    for number, row in enumerate(rows):
        values = row[name] if isinstance(row[name], bytes) else row[name].tobytes()
        writers[number % SHARDS].write(np.int64(row["label"]).tobytes() + values)
    for writer in writers:
        writer.close()


def epochs(store: Store) -> Iterator[Iterator[Any]]:
    """Give one epoch after the other."""
    grain = importlib.import_module("grain")
    torch = importlib.import_module("torch")
    source = grain.sources.ArrayRecordDataSource(store.paths())
    decode = augmented(np.random.default_rng()) if store.subject == "img" else None

    def parse(record: bytes) -> dict[str, Any]:
        label = np.frombuffer(record, LABEL, 1)[0]
        if decode is not None:
            return {"image": decode(record[LABEL.itemsize :]), "label": label}
        return {"pixels": np.frombuffer(record, np.float32, offset=LABEL.itemsize), "label": label}

    epoch = 0
    while True:
        data = grain.MapDataset.source(source).shuffle(seed=epoch).map(parse).batch(store.batch)
        rows = data.to_iter_dataset(grain.ReadOptions(num_threads=2 * WORKERS, prefetch_buffer_size=4 * WORKERS))
        if store.way == "processes":
            rows = rows.mp_prefetch(grain.MultiprocessingOptions(num_workers=WORKERS))
        yield labels_of({name: torch.from_numpy(values) for name, values in batch.items()} for batch in rows)
        epoch += 1

"""How well labels are spread over batches: `python -m bench.reporting.label_spread docs/images/label-spread.svg`.

The data are sorted by label, as they are when a folder of classes is written file by file. They are loaded in batches
with each way of shuffling. The figure shows the label of every row over an epoch, and how many different labels a batch
has.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.reporting.chart import FAINT, INK, OURS, PAPER

RECORDS, CLASSES, BATCH, SHARDS = 200_000, 100, 256, 20
BUFFER = 10_000
# Zeros that compress to nothing: 800 MB when decompressed, which is more than recordsmith keeps in memory.
FILLING = 4_000
THEIRS = "#8b95a5"
DOTS = 20_000

Labels = NDArray[np.int64]


def main() -> None:
    """Measure, print and draw."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory(prefix="label-spread-") as folder:
        epochs = dict(ways(Path(folder)))
    for name, labels in epochs.items():
        print(f"{name}: {different(labels):.1f} different labels in a batch of {BATCH}, at least {fewest(labels)}")
    if len(sys.argv) > 1:
        draw(epochs, Path(sys.argv[1]))
        print(sys.argv[1])


def ways(folder: Path) -> Iterator[tuple[str, Labels]]:
    """The labels of an epoch, in each way of shuffling."""
    rs: Any = importlib.import_module("recordsmith")
    tf: Any = importlib.import_module("tensorflow")
    write(rs, folder, "plain", None, 0)
    write(rs, folder, "packed", "gzip", FILLING)
    files = sorted(str(path) for path in folder.glob("plain-*"))
    spec = {"label": tf.io.FixedLenFeature([], tf.int64)}
    theirs = tf.data.TFRecordDataset(files).shuffle(BUFFER, seed=0).batch(BATCH)
    theirs = theirs.map(lambda batch: tf.io.parse_example(batch, spec)["label"])
    yield f"tf.data: shuffle({BUFFER:,})", np.concatenate([batch.numpy() for batch in theirs])
    packed = rs.open(str(folder / "packed-*")).select("label").shuffle(seed=0).batch(BATCH)
    if packed.shuffle_quality.kind != "blocks":
        raise RuntimeError("the compressed data were to be larger than what is kept in memory")
    yield "recordsmith: shuffle(), 800 MB of gzip", np.concatenate([batch["label"] for batch in packed])
    plain = rs.open(files).shuffle(seed=0).batch(BATCH)
    yield "recordsmith: shuffle()", np.concatenate([batch["label"] for batch in plain])


def write(rs: Any, folder: Path, name: str, compression: str | None, filling: int) -> None:
    """Write the dataset: sorted by label, in shards."""
    schema = rs.Schema({"label": rs.Scalar("int64"), "filling": rs.Bytes()})
    labels = np.arange(RECORDS) * CLASSES // RECORDS
    for shard, part in enumerate(np.split(labels, SHARDS)):
        path = folder / f"{name}-{shard:05}-of-{SHARDS:05}"
        with rs.RecordWriter(path, compression=compression) as writer:
            for rows in np.array_split(part, 10):
                writer.write_columns({"label": rows, "filling": [bytes(filling)] * len(rows)}, schema)


def batches(labels: Labels) -> list[Labels]:
    """The full batches of an epoch."""
    return list(labels[: len(labels) // BATCH * BATCH].reshape(-1, BATCH))


def different(labels: Labels) -> float:
    """How many different labels a batch has on average."""
    return float(np.mean([len(np.unique(batch)) for batch in batches(labels)]))


def fewest(labels: Labels) -> int:
    """How many different labels the worst batch has."""
    return min(len(np.unique(batch)) for batch in batches(labels))


def draw(epochs: dict[str, Labels], path: Path) -> None:
    """A panel for each way: the labels over an epoch."""
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "recordsmith", "font.family": "DejaVu Sans"})
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    figure, panels = pyplot.subplots(1, len(epochs), figsize=(10.4, 3.6), sharey=True, facecolor=PAPER)
    for panel, (name, labels) in zip(panels, epochs.items(), strict=True):
        shown = np.sort(np.random.default_rng(0).choice(len(labels), DOTS, replace=False))
        colour = OURS if name.startswith("recordsmith") else THEIRS
        panel.scatter(shown / len(labels), labels[shown], s=0.6, c=colour, linewidths=0, rasterized=True)
        panel.set_title(name, fontsize=10, weight="bold", color=INK, loc="left")
        facts = f"{different(labels):.0f} of {CLASSES} labels in a batch of {BATCH}"
        panel.set_xlabel(f"an epoch, from its start to its end\n{facts}", fontsize=8.5, color=INK)
        panel.set_xlim(0, 1)
        panel.set_ylim(-1, CLASSES)
        panel.set_xticks([])
        panel.tick_params(labelsize=8, colors=FAINT)
        for side in panel.spines.values():
            side.set_color(FAINT)
    panels[0].set_ylabel("label of a row", fontsize=9, color=INK)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    figure.savefig(path, facecolor=PAPER, dpi=130, metadata=metadata)
    pyplot.close(figure)


if __name__ == "__main__":
    main()

"""A dataset from nothing: drawn, made, shown, read back, damaged and learnt from. `make demo` runs it.

python demo/first_dataset.py [FOLDER]      the files stay in FOLDER, or in build/demo
"""

from __future__ import annotations

import shutil
import struct
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from rich.rule import Rule
from rich.text import Text

import recordsmith as rs
from recordsmith.cli.consoles import output_console, print_to
from recordsmith.facts import RowRange, look_at
from recordsmith.view.error_block import error_block
from recordsmith.view.overview_tables import overview_renderable

if TYPE_CHECKING:
    from rich.console import RenderableType

Floats = npt.NDArray[np.float32]
Pixels = npt.NDArray[np.uint8]

SIZE = 24  # of a picture, in pixels
RECORDS = {"train": 2400, "test": 600}
SHARDS = 2
EPOCHS = 6
SHAPES = ("circle", "square", "triangle")
COLOURS = {"red": (220, 50, 47), "green": (80, 160, 40), "blue": (38, 100, 220), "yellow": (230, 180, 20)}
WORDS = sorted({"a", "small", "large", "on", "the", "left", "right", *SHAPES, *COLOURS})

SCHEMA = rs.Schema(
    {
        "image": rs.Image(SIZE, SIZE, encoding="png"),
        "label": rs.Label(SHAPES),
        "caption": rs.Text(),
        "tokens": rs.Tensor("int64", (None,), description="the words of the caption, as numbers"),
        "centre": rs.Tensor("float32", (2,), description="x and y, from 0 to 1"),
        "angle": rs.Scalar("float32", optional=True, description="in degrees; a circle has none"),
    }
)

console = output_console()


def main(folder: Path) -> None:
    """Make, show, read, damage, learn."""
    shutil.rmtree(folder, ignore_errors=True)

    chapter("Make", "pictures of shapes, with labels, captions and tokens, by a schema: split, shuffled and checked")
    make(folder, np.random.default_rng(7))

    chapter("Show", f"recordsmith show {folder} -n 3")
    overview = look_at(str(folder), rows=RowRange(0, 3))
    say(overview_renderable(overview, width=console.width))

    chapter("Read", "batches of columns, by number, and some features only")
    read(folder)

    chapter("Damage", "one bit of a copy is turned over; this is what you get")
    damage(folder)

    chapter("Learn", "logistic regression in numpy, fed by ds.shuffle(seed=0).batch(128)")
    learn(folder)
    say(Text.assemble("\nThe files are in ", (str(folder), "bold"), f". Look around: recordsmith show {folder}"))


def say(what: RenderableType) -> None:
    """Print, with colours on a terminal and without spaces at the end of lines elsewhere."""
    print_to(console, what)


def chapter(title: str, about: str) -> None:
    """Begin a part of the demo."""
    say("")
    say(Rule(Text.assemble((title, "bold"), ("  " + about, "dim")), align="left", style="dim"))


# --- make ---


def make(folder: Path, random: np.random.Generator) -> None:
    """Draw pictures, and make a dataset of them."""
    begin = time.perf_counter()
    rows = [drawn_row(random) for _ in range(sum(RECORDS.values()))]
    drawing = time.perf_counter() - begin

    begin = time.perf_counter()
    made = rs.make(rows, folder, schema=SCHEMA, name="shapes", split=RECORDS, stratify="label", shards=SHARDS)
    making = time.perf_counter() - begin

    files = sum(split.shards for split in made.splits.values())
    say(f"Drew {len(rows):,} pictures in {drawing:.2f} s with numpy and zlib.")
    say(
        f"Wrote {made.rows:,} records to {files} files, {made.bytes / 1e6:.1f} MB, in {making:.2f} s: each checked "
        "against the schema, divided by class, shuffled, synced to the disk and read back."
    )
    for name, split in made.splits.items():
        say(
            Text.assemble(
                (f"  {name:<6}", "bold"), ", ".join(f"{count} {kind}s" for kind, count in split.classes.items())
            )
        )


def drawn_row(random: np.random.Generator) -> dict[str, Any]:
    """One picture, and what is in it."""
    label = int(random.integers(len(SHAPES)))
    colour = list(COLOURS)[random.integers(len(COLOURS))]
    radius = random.uniform(5, 8.5)
    centre = random.uniform(9.5, 14.5, 2)
    angle = None if SHAPES[label] == "circle" else float(random.uniform(-15, 15))
    caption = ["a"]
    if radius < 6 or radius > 7.5:
        caption.append("small" if radius < 6 else "large")
    caption += [colour, SHAPES[label]]
    if abs(centre[0] - SIZE / 2) > 1.5:
        caption += ["on", "the", "left" if centre[0] < SIZE / 2 else "right"]
    return {
        "image": png(drawn(SHAPES[label], COLOURS[colour], centre, radius, angle or 0.0, random)),
        "label": label,
        "caption": " ".join(caption),
        "tokens": [WORDS.index(word) for word in caption],
        "centre": centre / SIZE,
        "angle": angle,
    }


def drawn(
    shape: str,
    colour: tuple[int, int, int],
    centre: npt.NDArray[np.float64],
    radius: float,
    angle: float,
    random: np.random.Generator,
) -> Pixels:
    """A shape on a grey ground, with noise over both."""
    y, x = np.mgrid[:SIZE, :SIZE] + 0.5
    turn = np.deg2rad(angle)
    across = ((x - centre[0]) * np.cos(turn) + (y - centre[1]) * np.sin(turn)) / radius
    down = ((y - centre[1]) * np.cos(turn) - (x - centre[0]) * np.sin(turn)) / radius
    if shape == "circle":
        inside = across**2 + down**2 < 1
    elif shape == "square":
        inside = np.maximum(abs(across), abs(down)) < 0.89
    else:
        inside = (down < 0.8) & (abs(across) < (down + 1.2) * 0.65)
    picture = np.full((SIZE, SIZE, 3), random.integers(90, 130), np.float64)
    picture[inside] = colour
    return np.clip(picture + random.normal(0, 12, picture.shape), 0, 255).astype(np.uint8)


def png(pixels: Pixels) -> bytes:
    """The plainest PNG: every line as it is, then zlib."""
    height, width, _ = pixels.shape
    lines = np.hstack([np.zeros((height, 1), np.uint8), pixels.reshape(height, width * 3)])
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


# --- read ---


def read(folder: Path) -> None:
    """Read the training split in batches, and single records by number."""
    dataset = rs.open(folder, split="train")
    size = sum(Path(file).stat().st_size for file in dataset.files)
    begin = time.perf_counter()
    records = sum(len(batch["label"]) for batch in dataset.batch(256))
    seconds = time.perf_counter() - begin
    say(
        f"Read {records:,} records back in {seconds * 1000:.1f} ms, the first batch and the start of the threads "
        f"included: {records / seconds:,.0f} records/s, {size / seconds / 1e6:,.0f} MB/s, every checksum checked. The "
        "files were written a moment ago, so they come from memory, not from the disk."
    )
    batch = next(iter(dataset.batch(4)))
    for name, column in batch.items():
        shown = "ByteColumn of 4 byte strings" if name == "image" else repr(column).replace("\n", " ")
        line = Text.assemble((f"  {name:<8}", "bold"), " ".join(shown.split()), no_wrap=True, overflow="ellipsis")
        say(line)
    row = dataset[-1]
    say(f"ds[-1]: {row['caption']!r}, label {row['label']}, centre {row['centre'].round(2)}")


# --- damage ---


def damage(folder: Path) -> None:
    """Turn over one bit in the middle of a copy, and read it."""
    original = folder / f"shapes-test.tfrecord-00000-of-{SHARDS:05}"
    copy = folder / "damaged" / original.name
    copy.parent.mkdir()
    data = bytearray(original.read_bytes())
    data[len(data) // 2] ^= 0b100
    copy.write_bytes(data)
    delivered = 0
    try:
        for _ in rs.RecordReader(copy):
            delivered += 1
    except rs.CorruptRecordError as error:
        say(error_block(error))
        say(f"The {delivered} records before it were delivered.")


# --- learn ---


def learn(folder: Path) -> None:
    """Train on the training split, epoch by epoch, and count what is right in the test split."""
    training = rs.open(folder, split="train").select("image", "label").shuffle(seed=0).batch(128)
    test = [(seen(batch), batch["label"]) for batch in rs.open(folder, split="test").batch(256)]
    classifier = Classifier(SIZE * SIZE, len(SHAPES))
    say(Text(f"epoch   right on {RECORDS['test']:,} test records", "dim"))
    for epoch in range(EPOCHS + 1):
        if epoch:
            for batch in training:
                classifier.step(seen(batch), batch["label"])
        share = sum(classifier.hits(pixels, labels) for pixels, labels in test) / RECORDS["test"]
        say(Text.assemble(f"{epoch:>5}   ", (bar(share), "green"), f" {share:4.0%}"))
    say(
        f"Guessing is right in {1 / len(SHAPES):.0%}: labels and pictures stay together from writing to the last batch."
    )


def bar(share: float) -> str:
    """A share as a bar of twenty characters."""
    return "━" * round(share * 20) + "╌" * (20 - round(share * 20))


def seen(batch: dict[str, Any]) -> Floats:
    """The pictures of a batch as numbers: how much each pixel differs from the ground, in colour and light."""
    pixels = np.stack([decoded(data) for data in batch["image"]]).astype(np.float32)
    ground = pixels[:, :2].mean(axis=(1, 2), keepdims=True)
    seen = np.abs(pixels - ground).mean(axis=3).reshape(len(pixels), -1) / 64
    return np.asarray(seen - seen.mean(axis=1, keepdims=True), np.float32)


def decoded(data: bytes) -> Pixels:
    """Read a picture that `png` made."""
    lines = np.frombuffer(zlib.decompress(b"".join(picture_data(data))), np.uint8).reshape(SIZE, 1 + 3 * SIZE)
    return lines[:, 1:].reshape(SIZE, SIZE, 3)


def picture_data(data: bytes) -> Iterator[bytes]:
    """The compressed parts of a PNG."""
    at = 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        if data[at + 4 : at + 8] == b"IDAT":
            yield data[at + 8 : at + 8 + length]
        at += 12 + length


class Classifier:
    """Softmax over a linear map, by gradient descent with momentum."""

    def __init__(self, inputs: int, classes: int) -> None:
        self.weights: Floats = np.zeros((inputs, classes), np.float32)
        self.speed: Floats = np.zeros((inputs, classes), np.float32)

    def chances(self, inputs: Floats) -> Floats:
        """How likely each class is."""
        scores = inputs @ self.weights
        scores -= scores.max(axis=1, keepdims=True)
        chances = np.exp(scores)
        return np.asarray(chances / chances.sum(axis=1, keepdims=True), np.float32)

    def step(self, inputs: Floats, labels: npt.NDArray[np.int64]) -> None:
        """Learn from one batch."""
        error = self.chances(inputs)
        error[np.arange(len(labels)), labels] -= 1
        slope = inputs.T @ error / len(labels) + 1e-3 * self.weights
        self.speed = np.asarray(0.9 * self.speed - 0.02 * slope, np.float32)
        self.weights += self.speed

    def hits(self, inputs: Floats, labels: npt.NDArray[np.int64]) -> int:
        """How many labels are guessed right."""
        return int((self.chances(inputs).argmax(axis=1) == labels).sum())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/demo"))

"""What a user of recordsmith writes, with types: every call of the README and the guides. It is checked, not run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_type

import numpy as np

import recordsmith as rs

SCHEMA = rs.Schema(
    {
        "image": rs.Image(height=64, width=64, encoding="jpeg"),
        "label": rs.Label(["cat", "dog"]),
        "age": rs.Scalar("uint8", optional=True, min=0, max=40),
        "weights": rs.Tensor(np.float32, (None, 4)),
        "ready": rs.Scalar(bool),
        "text": rs.Text(default=""),
        "raw": rs.Bytes((None,)),
        "words": rs.Sparse("float32", size=20_000),
        "blob": rs.Packed({"pixels": ("uint8", (28, 28)), "class": ("int64", ())}),
        "frames": rs.Steps(rs.Image()),
    }
)


def rows() -> Iterator[dict[str, Any]]:
    """Rows of one's own."""
    yield {"label": "cat", "age": 3, "text": "a cat"}


def make() -> None:
    """Make datasets, copy and export them."""
    made = rs.make(
        rs.sources.images("photos", size=(64, 64)),
        "data",
        split={"train": 0.8, "val": 0.2},
        stratify="label",
        preprocess=rs.preprocessing.VocabularyIds("text", size=1000),
        on_error="quarantine",
    )
    assert_type(made, rs.MadeDataset)
    assert_type(made.rows, int)
    rs.make(rows, "again", schema=SCHEMA, map=lambda row: row, workers=2)
    with rs.write("more", SCHEMA, shards=4) as writer:
        assert_type(writer, rs.DatasetWriter)
        writer.add({"label": 0})
    assert_type(rs.copy("data", "cats", where="label == 'cat'"), rs.CopiedDataset)
    assert_type(rs.export("data", "data.parquet"), rs.ExportedDataset)
    with rs.RecordWriter("rows.tfrecord") as records:
        records.write_rows(rows(), SCHEMA)
    assert_type(rs.infer_schema("rows.tfrecord"), rs.Schema)


def look_at_the_schema() -> None:
    """What is known of a feature of any kind."""
    schema = rs.open("data").schema
    assert_type(schema["label"].names, tuple[str, ...])
    assert_type(schema["label"].label_of(0), str)
    assert_type(schema["weights"].shape, tuple[int | None, ...])
    assert_type(schema["weights"].dtype, np.dtype[Any])
    assert_type(schema["age"].optional, bool)
    label = schema["label"]
    if isinstance(label, rs.Label):
        assert_type(label, rs.Label)
    assert_type(rs.Schema.load("schema.json"), rs.Schema)


def read() -> None:
    """Rows by number, in order, and as tables."""
    ds = rs.open("data", split="train")
    assert_type(ds, rs.Dataset)
    assert_type(len(ds), int)
    assert_type(ds[0], dict[str, Any])
    assert_type(ds[2:5], rs.Dataset)
    assert_type(ds[[1, 2]], dict[str, Any])
    for row in ds:
        assert_type(row, dict[str, Any])
    print(len(ds.to_pandas().columns), ds.to_arrow().num_rows)  # pyright: ignore - pyarrow has no types
    for payload in rs.RecordReader("rows.tfrecord"):
        assert_type(payload, bytes)
        print(rs.decode_example(payload))


def feed() -> None:
    """Batches, pairs, and the outputs for frameworks."""
    augment = [rs.augment.flip_left_right(), rs.augment.brightness(0.2)]
    ds = rs.open(["a.tfrecord", "b.tfrecord"], schema=SCHEMA)
    train = ds.images(size=(64, 64), scale=1 / 255, augment=augment).shuffle(seed=0)
    for row in train:
        assert_type(row, dict[str, Any])
    for batch in train.shard(0, 2, remainder="drop").balance("label").repeat(2).batch(32, drop_last=True):
        assert_type(batch, dict[str, Any])
    for batch in ds.map(lambda row: row).filter(lambda row: row["age"] > 3).padded_batch(8, pad_to=128):
        assert_type(batch, dict[str, Any])
    for images, labels in train.batch(32).prefetch(2).pairs("image", "label"):
        print(images.shape, labels.mean())
    loader = train.batch(32).pairs(["image", "age"], "label", one_hot=True)
    assert_type(loader, rs.Loader[tuple[Any, ...]])
    assert_type(len(loader), int)
    loader.restore(loader.state())
    print(ds.class_weights("label"), loader.skipped.count)
    mixed = ds.mix(rs.open("others"), weights=[3, 1]).bucket_batch("text", [16, 64], tokens=4096)
    for batch in mixed:
        assert_type(batch, dict[str, Any])


def frameworks() -> None:
    """What the frameworks get is known as far as they have types."""
    import torch

    loader = rs.open("data").shuffle(seed=0).batch(32).pairs("image", "label")
    for images, labels in torch.utils.data.DataLoader(loader.to_torch(), batch_size=None):
        print(images.shape, labels.shape)
    for images, labels in loader.to_jax(ahead=3):
        print(images.shape, labels.shape)
    dataset = loader.to_tf()
    print(dataset.element_spec)


def check() -> None:
    """Look for what is wrong."""
    configuration = rs.load_configuration()
    assert_type(configuration, rs.Configuration)
    report = rs.check("data", select=["F", "W"], fail_on="error", configuration=configuration)
    assert_type(report, rs.Report)
    for finding in report.findings:
        assert_type(finding, rs.Finding)
        print(finding.severity, finding.code, finding.message, finding.location.path)
    rs.lint("train.py", configuration=configuration).to_html("lint.html")
    rs.diagnose(rs.open("data").batch(32).pairs("image", "label"), records="data", time_limit=30)
    assert_type(rs.repair("bad.tfrecord", "good.tfrecord"), rs.RepairResult)
    try:
        rs.open("missing")[0]
    except rs.SchemaMismatchError as error:
        print(error.path, error.feature, error.advice)

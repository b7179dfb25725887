"""to_tf(graph=True): the chain in TensorFlow's own operations has the same contents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image
from tests.loader.frameworks.framework_data import OPTIONAL, PLAIN, STEPS, numbered, numbers, plain, write

tf = pytest.importorskip("tensorflow")

Chain = Callable[[rs.Dataset], Any]


def same(loader: Any) -> None:
    """Compare the two forms of a loader."""
    native, graph = loader.to_tf(), loader.to_tf(graph=True)
    assert native.element_spec == graph.element_spec
    assert [plain(batch) for batch in native] == [plain(batch) for batch in graph]


CHAINS: dict[str, Chain] = {
    "parts": lambda ds: ds.select("n").skip(2).take(13).batch(4),
    "parts of batches": lambda ds: ds.select("n").batch(2, drop_last=True).skip(1).take(3),
    "slice": lambda ds: ds.select("n")[3:9].batch(4),
    "pairs": lambda ds: ds.select("n", "matrix", "label").batch(5).pairs(["n", "matrix"], "label", one_hot=True),
    "inputs": lambda ds: ds.batch(5).pairs("matrix"),
    "shard": lambda ds: ds.select("n").shard(1, 3).batch(3),
    "shard and drop": lambda ds: ds.select("n").shard(1, 3, remainder="drop").batch(3),
    "shards with as many batches": lambda ds: ds.select("n").shard(0, 2).batch(4, drop_last=True),
    "rows repeated": lambda ds: ds.select("n").repeat(2).batch(7),
    "batches repeated": lambda ds: ds.select("n").batch(7).repeat(3).prefetch(2),
    "padded": lambda ds: ds.padded_batch(4),
    "padded to a length": lambda ds: ds.padded_batch(
        4, pad_to={"boxes": 5, "wide": 4, "parts": 3}, pad_value={"boxes": -1.0}
    ),
    "truncated": lambda ds: ds.select("tokens", "wide").padded_batch(4, pad_to=1, truncate=True),
    "selected after batching": lambda ds: ds.batch(4).select("text", "n"),
}


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    chosen = ("n", "matrix", "tokens", "boxes", "wide", "text", "parts", "label")
    return write(tmp_path_factory.mktemp("graph") / "a.tfrecord", {name: PLAIN[name] for name in chosen}, 16)


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_the_same_batches(ds: rs.Dataset, chain: Chain) -> None:
    same(chain(ds))


def test_every_feature(tmp_path: Path) -> None:
    same(write(tmp_path / "a.tfrecord", {**PLAIN, **OPTIONAL}, 5).batch(3))
    same(write(tmp_path / "b.tfrecord", {"n": PLAIN["n"], **STEPS}, 5).padded_batch(3, pad_to=4))


def test_files_in_order_and_compressed(tmp_path: Path) -> None:
    schema = rs.Schema({"n": rs.Scalar("int64")})
    for file in range(3):
        with rs.RecordWriter(tmp_path / f"a-{file}.tfrecord", compression="gzip") as writer:
            writer.write_columns({"n": np.arange(10) + 10 * file}, schema)
    same(rs.open(tmp_path, schema=schema).batch(7))


@pytest.mark.parametrize("buffer", [None, 4])
def test_a_shuffle_has_the_same_rows_in_a_new_order_each_epoch(tmp_path: Path, buffer: int | None) -> None:
    dataset = numbered(tmp_path / "a.tfrecord", 50).shuffle(seed=3, buffer=buffer).batch(8).to_tf(graph=True)
    first, second = ([n for batch in numbers(dataset) for n in batch] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert first != list(range(50))


def test_ranks_of_one_shuffle_are_disjoint(tmp_path: Path) -> None:
    ds = numbered(tmp_path / "a.tfrecord", 21)
    shares = [numbers(ds.shuffle(seed=3).shard(rank, 3).batch(4).to_tf(graph=True)) for rank in range(3)]
    assert sorted(n for share in shares for batch in share for n in batch) == list(range(21))


def test_images(tmp_path: Path) -> None:
    y, x = np.mgrid[0:48, 0:64]
    schema = rs.Schema({"image": rs.Image(), "label": rs.Label(3)})
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        images = [np.stack([x * 2 + n, y * 3, x + y], axis=-1).astype(np.uint8) for n in range(4)]
        writer.write_columns(
            {"image": [encode_image(one, "jpeg") for one in images], "label": np.arange(4) % 3}, schema
        )
    ds = rs.open(tmp_path / "a.tfrecord", schema=schema)
    loader = ds.images(size=(24, 32), scale=1 / 255, layout="NCHW").batch(3).pairs("image", "label")
    native, graph = loader.to_tf(), loader.to_tf(graph=True)
    assert native.element_spec == graph.element_spec
    for (ours, labels), (theirs, their_labels) in zip(native, graph, strict=True):
        assert abs(ours.numpy() - theirs.numpy()).mean() < 1 / 255
        assert labels.numpy().tolist() == their_labels.numpy().tolist()
    changes = [rs.augment.flip_left_right(), rs.augment.brightness(0.1), rs.augment.contrast(), rs.augment.saturation()]
    (batch,) = ds.images(size=(8, 8), augment=changes).batch(4).to_tf(graph=True)
    assert batch["image"].shape == (4, 8, 8, 3)
    assert batch["image"].dtype == tf.uint8


def test_text_to_numbers(tmp_path: Path) -> None:
    schema = rs.Schema({"text": rs.Text(), "label": rs.Label(2)})
    texts = ["the cat sat", "The dog, the cat!", "", "a bird"]
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_columns({"text": texts, "label": [0, 1, 0, 1]}, schema)
    ds = rs.open(tmp_path / "a.tfrecord", schema=schema)
    vocabulary = rs.Vocabulary.fit(texts[:2])
    same(ds.vectorize("text", vocabulary).padded_batch(3).pairs("text", "label"))


REFUSED: dict[str, tuple[Chain, str]] = {
    "filter": (lambda ds: ds.filter(lambda row: row["n"] > 2).batch(2), r"\.filter\(\)"),
    "map": (lambda ds: ds.map(lambda row: row).batch(2), r"\.map\(\)"),
    "map of batches": (lambda ds: ds.batch(2).map(lambda batch: batch), r"\.map\(\)"),
    "balance": (lambda ds: ds.balance("label").batch(2), r"\.balance\(\)"),
    "mix": (lambda ds: ds.mix(ds, weights=[1, 1]).batch(2), r"\.mix\(\)"),
    "bucket_batch": (lambda ds: ds.bucket_batch("tokens", [1], size=2), r"\.bucket_batch\(\)"),
    "errors skipped": (lambda ds: ds.batch(2, on_error="skip"), "on_error"),
    "record numbers": (lambda ds: ds.batch(2).pairs("n", with_index=True), "with_index"),
    "repeating shards": (lambda ds: ds.shard(0, 3, remainder="repeat").batch(2), "remainder"),
    "no batches": (lambda ds: ds.shuffle(), "no batches"),
    "every second record": (lambda ds: ds[::2].batch(2), "every n-th record"),
}


@pytest.mark.parametrize(("chain", "named"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_counterpart_is_refused_by_name(ds: rs.Dataset, chain: Chain, named: str) -> None:
    loader = chain(ds)
    with pytest.raises(rs.PipelineError, match=named):
        loader.to_tf(graph=True)


def test_rows_longer_than_told_are_an_error(ds: rs.Dataset) -> None:
    dataset = ds.select("tokens").padded_batch(4, pad_to=1).to_tf(graph=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="longer than the target length 1"):
        list(dataset)


def test_through_a_service(tmp_path: Path) -> None:
    service = tf.data.experimental.service
    loader = numbered(tmp_path / "a.tfrecord", 20).batch(6).pairs("x", "y")
    dispatcher = service.DispatchServer()
    address = dispatcher.target.split("://")[1]
    worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=address))
    through = loader.to_tf(graph=True).apply(
        service.distribute(processing_mode=service.ShardingPolicy.OFF, service=dispatcher.target)
    )
    assert [plain(batch) for batch in through] == [plain(batch) for batch in loader.to_tf()]
    del worker, dispatcher

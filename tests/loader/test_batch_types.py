"""All batches of an epoch have the same types and dtypes, for every verb and every kind of feature, also as tensors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image
from tests.loader.frameworks.framework_data import OPTIONAL, PLAIN, STEPS, write

ROWS = 1200  # the engine reads 1024 at a time where rows are left out: one batch reaches over the edge
KINDS = {**PLAIN, **OPTIONAL, **STEPS}
BESIDE = ("n", "tokens", "label")


def odd_seven(row: dict[str, Any]) -> bool:
    return bool(row["n"] % 7)


VERBS: dict[str, Callable[[Any], Any]] = {
    "batch": lambda ds: ds.batch(300),
    "drop_last": lambda ds: ds.batch(300, drop_last=True),
    "on_error": lambda ds: ds.batch(300, on_error="skip"),
    "shuffle": lambda ds: ds.shuffle(seed=1).batch(300),
    "shuffle in a buffer": lambda ds: ds.shuffle(seed=1, buffer=500).batch(300),
    "filter": lambda ds: ds.filter(odd_seven).batch(300),
    "filter vectorized": lambda ds: ds.filter(lambda columns: columns["n"] % 7 > 0, vectorized=True).batch(300),
    "take and skip": lambda ds: ds.skip(3).take(1000).batch(300),
    "repeat": lambda ds: ds.take(500).repeat(2).batch(300),
    "shard": lambda ds: ds.shard(1, 2).batch(200),
    "balance": lambda ds: ds.balance("label").batch(300),
    "mix": lambda ds: ds.mix(ds.skip(100), seed=1).filter(odd_seven).batch(300),
    "map": lambda ds: ds.map(lambda row: row).filter(odd_seven).batch(300),
    "padded_batch": lambda ds: ds.filter(odd_seven).padded_batch(300),
    "bucket_batch": lambda ds: ds.bucket_batch("tokens", [1, 2], size=300),
    "pairs": lambda ds: ds.filter(odd_seven).batch(300).pairs([*(set(ds.schema) - {"label"})], "label"),
    "prefetch": lambda ds: ds.filter(odd_seven).batch(300).prefetch(1),
}


@pytest.fixture(scope="module", params=["random access", "read in order"])
def ds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    """Return a dataset with a feature of every kind."""
    path = tmp_path_factory.mktemp("kinds") / "a.tfrecord"
    return write(path, KINDS, ROWS, compression="gzip" if request.param == "read in order" else None)


def form_of(value: Any) -> Any:
    """Return the type and dtype of a column, and of what it is made of."""
    if isinstance(value, dict):
        return {name: form_of(column) for name, column in value.items()}
    if isinstance(value, (tuple, list)):
        entries = [form_of(entry) for entry in value if entry is not None]
        return type(value), entries if isinstance(value, tuple) else entries[:1]
    values = getattr(value, "values", None)  # a column's; a tensor has a method of this name
    return (
        type(value),
        getattr(value, "layout", None),
        getattr(value, "dtype", None),
        None if values is None or callable(values) else form_of(values),
    )


def check_batches(batches: Any) -> None:
    forms = [form_of(batch) for batch in batches]
    assert len(forms) > 2
    for form in forms[1:]:
        assert form == forms[0]


@pytest.mark.filterwarnings("ignore::recordsmith.PipelineWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", VERBS)
def test_batches_have_the_same_types(ds: rs.Dataset, verb: str, kind: str) -> None:
    loader = VERBS[verb](ds.select(*dict.fromkeys((*BESIDE, kind))))
    check_batches(loader)
    if kind not in OPTIONAL or kind == "maybe_text":
        pytest.importorskip("torch")
        check_batches(loader.to_torch())


def test_images_of_different_sizes_are_a_list_in_every_batch(tmp_path: Path) -> None:
    """Also in a batch whose images happen to have one size."""
    sizes = [(8, 8), (8, 8), (8, 9), (7, 8), (6, 8), (8, 8)]
    schema = rs.Schema({"image": rs.Image()})
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_rows(({"image": encode_image(np.zeros((*size, 3), np.uint8), "png")} for size in sizes), schema)
    for batch in rs.open(tmp_path / "a.tfrecord", schema=schema).images().batch(2):
        assert type(batch["image"]) is list
        assert [image.ndim for image in batch["image"]] == [3, 3]

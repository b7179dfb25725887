"""Wrong arguments of verbs: the error says what to write, also to those who know tf.data's or PyTorch's names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.loader.verbs.arguments import VerbArgumentsError
from tests.loader.numbered import SCHEMA, write_numbered


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    path: Path = tmp_path_factory.mktemp("numbered") / "a.tfrecord"
    return rs.open(write_numbered(path, 20), schema=SCHEMA)


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        (
            lambda ds: ds.batch(4, drop_remainder=True),
            "batch has no argument 'drop_remainder'. Did you mean 'drop_last'?",
        ),
        (lambda ds: ds.batch(batch_size=4), "Did you mean 'n'?"),
        (lambda ds: ds.batch(4, num_parallel_calls=2), "Did you mean 'threads'?"),
        (lambda ds: ds.batch(4, num_workers=2), "Did you mean 'threads'?"),
        (lambda ds: ds.map(len, num_parallel_calls=2), ".batch(n, threads=4)"),
        (lambda ds: ds.map(map_func=len), "Did you mean 'function'?"),
        (lambda ds: ds.filter(predicate=len), "Did you mean 'function'?"),
        (lambda ds: ds.shuffle(buffer_size=100), "Did you mean 'buffer'?"),
        (lambda ds: ds.shuffle(reshuffle_each_iteration=False), "Did you mean 'reshuffle'?"),
        (lambda ds: ds.shard(num_shards=2, index=0), "Did you mean 'world'?"),
        (lambda ds: ds.take(count=2), "Did you mean 'n'?"),
        (lambda ds: ds.repeat(count=2), "Did you mean 'times'?"),
        (lambda ds: ds.batch(4).prefetch(buffer_size=2), "Did you mean 'n'?"),
        (lambda ds: ds.padded_batch(4, padding_values=0), "Did you mean 'pad_value'?"),
        (lambda ds: ds.batch(4, drop_lsat=True), "Did you mean 'drop_last'?"),
        (lambda ds: ds.batch(4, True), "too many positional arguments"),
        (lambda ds: ds.batch(), "missing a required argument: 'n'"),
        (lambda ds: ds.batch(4).batch(drop_remainder=True), "drop_last"),
    ],
)
def test_the_error_names_the_argument_that_was_meant(chain: Callable[[Any], Any], message: str, ds: rs.Dataset) -> None:
    with pytest.raises(rs.PipelineError) as caught:
        chain(ds)
    assert isinstance(caught.value, TypeError)
    assert message in str(caught.value)


def test_a_number_alone_is_no_seed_and_no_buffer(ds: rs.Dataset) -> None:
    with pytest.raises(VerbArgumentsError) as caught:
        ds.shuffle(10_000)  # type: ignore[call-arg]
    assert str(caught.value) == (
        "shuffle takes its arguments by name.\n"
        "  found:    .shuffle(10000)\n"
        "  expected: .shuffle(*, seed=0, buffer=None, exact=None, reshuffle=True)\n"
        "  to do:    Write .shuffle(seed=10000) to choose the random order; all rows are shuffled. tf.data's "
        "shuffle(10000), which shuffles through a buffer, is .shuffle(buffer=10000) here."
    )


def test_errors_inside_a_verb_stay_what_they_are(ds: rs.Dataset) -> None:
    with pytest.raises(TypeError, match="not iterable") as caught:
        ds.bucket_batch("values", 3, size=2)  # type: ignore[arg-type]
    assert not isinstance(caught.value, rs.PipelineError)


def test_swapped_arguments_of_shard(ds: rs.Dataset) -> None:
    for world, rank in ((4, 0), (4, 3)):
        with pytest.raises(rs.PipelineError, match="Did you swap the arguments"):
            ds.shard(world, rank)


def test_help_shows_the_signature_and_the_text() -> None:
    for kind in (rs.Dataset, rs.Loader):
        assert list(inspect.signature(kind.shuffle).parameters) == ["self", "seed", "buffer", "exact", "reshuffle"]
        assert (inspect.getdoc(kind.shuffle) or "").startswith("Put the rows into a random order")

"""pack: held against a model too simple to be wrong, in every epoch and after a resume at every batch."""

from __future__ import annotations

import json
import random
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs

SCHEMA = rs.Schema(
    {"n": rs.Scalar("int64"), "tokens": rs.Tensor("int64", (None,)), "weights": rs.Tensor("float32", (None,))}
)
ROWS = 90
LENGTHS = [random.Random(n).choice((0, 1, 2, 3, 5, 8, 13, 21)) for n in range(ROWS)]


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    path = tmp_path_factory.mktemp("sequences") / "a.tfrecord"
    tokens = [1000 * (n + 1) + np.arange(length) for n, length in enumerate(LENGTHS)]
    with rs.RecordWriter(path) as writer:
        weights = [row.astype(np.float32) / 2 for row in tokens]
        writer.write_columns({"n": np.arange(ROWS), "tokens": tokens, "weights": weights}, SCHEMA)
    return rs.open(path, schema=SCHEMA)


def packed_by_hand(documents: list[list[int]], length: int, fit: str, cut: str) -> list[list[list[int]]]:
    """The packed rows of a window, each a list of its sequences."""
    if cut == "always":
        rows: list[list[list[int]]] = []
        room = 0
        for document in documents:
            rest = document
            while rest:
                if room == 0:
                    rows.append([])
                    room = length
                rows[-1].append(rest[:room])
                rest, room = rest[room:], room - len(rows[-1][-1])
        return rows
    pieces = [document[start : start + length] for document in documents for start in range(0, len(document), length)]
    places = list(range(len(pieces)))
    if fit == "best":
        places.sort(key=lambda place: -len(pieces[place]))
    used: list[int] = []
    chosen: dict[int, int] = {}
    for place in places:
        size = len(pieces[place])
        fitting = [row for row, filled in enumerate(used) if filled + size <= length]
        row = (
            len(used)
            if not fitting
            else max(fitting, key=lambda row: (used[row], -row))
            if fit == "best"
            else fitting[0]
        )
        used += [0] * (row == len(used))
        used[row] += size
        chosen[place] = row
    return [[pieces[place] for place in sorted(chosen) if chosen[place] == row] for row in range(len(used))]


def content(batch: Any) -> list[list[list[int]]]:
    """The sequences of each packed row, after a look at what is beside them."""
    rows = []
    for tokens, weights, segments, positions, mask in zip(
        *(batch[name] for name in ("tokens", "weights", "segments", "positions", "loss_mask")), strict=True
    ):
        assert (mask == (segments > 0)).all()
        assert (tokens[~mask] == 0).all()
        assert (weights == tokens / 2).all()
        sequences = [tokens[segments == segment].tolist() for segment in range(1, int(segments.max()) + 1)]
        assert positions[mask].tolist() == [place for sequence in sequences for place in range(len(sequence))]
        rows.append(sequences)
    return rows


@pytest.mark.parametrize("seed", range(40))
def test_random_packings_are_their_models_and_resume_at_every_batch(ds: rs.Dataset, seed: int):
    choose = random.Random(seed)
    length, window, size = choose.choice((21, 30, 64)), choose.choice((1, 7, 16, 200)), choose.choice((1, 2, 5))
    fit, cut = choose.choice(("first", "best")), choose.choice(("never", "long", "always"))
    rank, world = choose.choice(((0, 1), (1, 3)))
    if cut != "never":
        length = choose.choice((4, 10, 30))
    threads = choose.choice((0, 2))

    def build(batch_size: int = size) -> Any:
        rows = ds.shuffle(seed=seed).shard(rank, world)
        packed = rows.pack(length, "tokens", "weights", fit=fit, cut=cut, window=window)  # type: ignore[arg-type]
        return packed.batch(batch_size, threads=threads)

    numbers = next(iter(ds.shuffle(seed=seed).shard(rank, world).batch(ROWS)))["n"].tolist()
    documents = [[1000 * (n + 1) + place for place in range(LENGTHS[n])] for n in numbers]
    windows = [documents[start : start + window] for start in range(0, len(documents), window)]
    expected = [row for some in windows for row in packed_by_hand(some, length, fit, cut)]

    loader = build()
    fed, states = [], []
    for batch in loader:
        fed.append(content(batch))
        states.append(json.loads(json.dumps(loader.state())))
    assert [row for rows in fed for row in rows] == expected
    assert all(len(rows) == size for rows in fed[:-1])
    for count, state in enumerate(states[:-1], 1):
        assert [content(batch) for batch in islice(build().restore(state), 2)] == fed[count : count + 2]
    middle = len(states) // 2
    if middle:  # in batches of another size
        rest = [row for batch in build(3).restore(states[middle - 1]) for row in content(batch)]
        assert rest == expected[middle * size :]
    tokens = sum(map(len, documents))
    assert loader.packing.share == pytest.approx(tokens / (len(expected) * length))


def test_best_fit_leaves_less_padding(ds: rs.Dataset):
    shares = {}
    for fit in ("first", "best"):
        loader = ds.shuffle(seed=0).pack(32, "tokens", fit=fit).batch(4)
        assert list(loader)
        shares[fit] = loader.packing.share
    assert shares["best"] >= shares["first"] > 0.9


def test_what_cannot_be_packed_is_refused_with_the_reason(ds: rs.Dataset, tmp_path: Path):
    for chain, said in (
        (lambda: ds.pack(8), "pack needs rows of numbers, but 'n'"),
        (lambda: ds.pack(0, "tokens"), "at least 1"),
        (lambda: ds.pack(8, "tokens", fit="worst"), "Unknown fit"),  # type: ignore[arg-type]
        (lambda: ds.pack(8, "tokens", cut="now"), "Unknown cut"),  # type: ignore[arg-type]
        (lambda: ds.batch(4).pack(8, "tokens"), "come too late"),
        (lambda: ds.pack(8, "tokens").pack(8, "tokens"), "packed already"),
        (lambda: ds.pack(8, "tokens").take(3), "after filter or pack"),
        (lambda: ds.pack(8, "tokens").batch(4, on_error="skip"), "one by one"),
        (lambda: ds.pack(8, "tokens").bucket_batch("tokens", [4], size=2), "one length"),
        (lambda: list(ds.pack(8, "tokens", cut="never").batch(4)), "longer than the rows"),
    ):
        with pytest.raises(rs.PipelineError, match=said):
            chain()
    uneven = rs.Schema({"a": rs.Tensor("int64", (None,)), "b": rs.Tensor("int64", (None,))})
    with rs.RecordWriter(tmp_path / "b.tfrecord") as writer:
        writer.write_columns({"a": [[1], [1, 2]], "b": [[1], [1]]}, uneven)
    with pytest.raises(rs.PipelineError, match="the same number of values") as caught:
        list(rs.open(tmp_path / "b.tfrecord", schema=uneven).pack(8).batch(4))
    assert caught.value.record == 1


def test_filters_and_functions_before_and_after_it(ds: rs.Dataset):
    few = ds.filter(lambda row: row["n"] % 2 == 0).pack(30, "tokens").filter(lambda row: row["segments"].max() > 1)
    for batch in few.batch(3):
        assert (batch["segments"].max(axis=1) > 1).all()
        assert ((batch["tokens"][batch["loss_mask"]] // 1000 - 1) % 2 == 0).all()
    nothing = ds.filter(lambda row: row["n"] < 0).pack(30, "tokens").batch(3)
    assert list(nothing) == []

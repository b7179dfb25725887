"""Random chains, built as loaders and compared with their model: see chain_model.

python -m tests.loader.random_chains 1000000      compares so many with it; a second number is the first seed
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice, pairwise, zip_longest
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import recordsmith as rs
from recordsmith.loader.engine import feeding, row_making
from recordsmith.loader.engine.cursor import Cursor
from recordsmith.loader.engine.feeding import feed
from recordsmith.loader.order import buffer_shuffle, mixed
from recordsmith.loader.plan import RowChange, Rows
from tests.loader.chain_model import WINDOW, BeyondHorizonError, Chain, batches_of, is_endless, rows_of

SIZES = (0, 1, 2, 3, 5, 7, 13, 31)
MOST_ROWS = 30
BATCHING = ("batch", "padded_batch", "bucket_batch")
MOST_LEFT_OUT = 20  # batches that takes and skips ask for together
LOOKED_AT = 20  # batches of a chain without end
SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "label": rs.Label(3), "values": rs.Tensor("int64", (None,))})


class EpochShown(RowChange):
    """Puts the epoch of each row's random streams into a column."""

    def apply(self, rows: Rows) -> Rows:
        """Return the rows with one more column."""
        rows.columns = {**rows.columns, "epoch": rows.epochs}
        return rows


@contextmanager
def small_pieces() -> Iterator[None]:
    """Let small data take the ways of large ones: several tasks, windows and blocks."""
    with (
        mock.patch.object(mixed, "_WINDOW", WINDOW),
        mock.patch.object(buffer_shuffle, "_BLOCK", 4),
        mock.patch.object(buffer_shuffle, "_KEPT", 2),
        mock.patch.object(feeding, "_STREAM_ROWS", 6),
        mock.patch.object(feeding, "_HEAVY_ROWS", 3),
        mock.patch.object(feeding, "_TASK_ROWS", 12),
        mock.patch.object(row_making, "_PIECE_BYTES", 150),
    ):
        yield


def write_rows(folder: Path) -> dict[int, rs.Dataset]:
    """Write datasets of all sizes, the larger ones in several files; row n of each has the number n."""
    datasets = {}
    for size in SIZES:
        cuts = np.linspace(0, size, 1 + min(3, max(1, size // 3))).astype(int).tolist()
        files = []
        for first, last in pairwise(cuts):
            files.append(folder / f"{size}-{first}.tfrecord")
            numbers = np.arange(first, last)
            with rs.RecordWriter(files[-1]) as writer:
                writer.write_columns(
                    {"n": numbers, "label": numbers % 3, "values": [np.full(n % 5, n) for n in numbers.tolist()]},
                    SCHEMA,
                )
        datasets[size] = rs.open(files, schema=SCHEMA)
        len(datasets[size])
    return datasets


# --- chains by chance ---


def random_rows(choose: random.Random, *, depth: int = 0) -> Chain:
    """Return a chain that chooses and orders rows."""
    size = choose.choice(SIZES if depth == 0 else SIZES[1:])
    sliced = (choose.randint(0, 3), choose.choice((1, 2))) if choose.random() < 0.2 else (0, 1)
    chain: list[tuple[Any, ...]] = [("open", size, *sliced)]
    if choose.random() < 0.12:
        chain += [random_part(choose)] if choose.random() < 0.4 else []
        chain.append(("balance", choose.choice(("oversample", "undersample")), choose.randint(0, 2)))
    chain += [random_verb(choose, depth) for _ in range(choose.choice((0, 1, 1, 2, 2, 3, 4, 5)[: 8 - 3 * depth]))]
    return tuple(chain)


def random_verb(choose: random.Random, depth: int) -> tuple[Any, ...]:
    """Return a verb that chooses or orders rows."""
    kind = choose.choice(("shuffle", "shuffle", "shuffle", "repeat", "repeat", "shard", "part", "mix"))
    if kind == "shuffle":
        buffer = choose.choice((1, 2, 3, 10, 100)) if choose.random() < 0.3 else None
        return ("shuffle", choose.randint(0, 3), buffer, choose.random() < 0.8)
    if kind == "repeat":
        return (
            "repeat",
            None if choose.random() < 0.1 and depth == 0 else choose.choice((1, 2, 2, 3, 5)[: 5 - 2 * depth]),
        )
    if kind == "shard":
        world = choose.choice((1, 2, 2, 3, 4, 5, 40))
        return ("shard", choose.randrange(world), world, choose.choice(("even", "even", "drop", "repeat")))
    if kind == "mix" and depth < 2:
        others = tuple(random_rows(choose, depth=depth + 1) for _ in range(choose.choice((1, 1, 2, 3))))
        stop = choose.choice(("first", "first", "all"))
        weights = tuple(choose.choice((1, 1, 2, 3) if stop == "all" else (1, 1, 2, 7, 500)) for _ in (0, *others))
        return ("mix", others, weights, choose.randint(0, 2), stop)
    return random_part(choose)


def random_part(choose: random.Random) -> tuple[Any, ...]:
    """Return a take or a skip."""
    return (choose.choice(("take", "skip")), choose.choice((0, 1, 2, 3, 5, 8, 20, 1 << 70)))


def random_chain(choose: random.Random) -> Chain:
    """Return a chain of batches."""
    chain = list(random_rows(choose))
    changes: list[tuple[Any, ...]] = [("filter", 2), ("filter", 3), ("map",), ("map",), random_verb(choose, 0)]
    chain += choose.choices(changes, k=choose.choice((0, 0, 1, 2)))
    drop_last = choose.random() < 0.3
    if choose.random() < 0.2:
        boundaries = choose.choice(((1,), (2,), (1, 3)))
        sizes = tuple(choose.choice((1, 2, 3, 5)) for _ in range(len(boundaries) + 1))
        chain.append(("bucket_batch", boundaries, sizes, drop_last))
    else:
        chain.append((choose.choice(("batch", "batch", "padded_batch")), choose.choice((1, 2, 3, 4, 7, 50)), drop_last))
    parts = [(verb, n) for verb in ("take batches", "skip batches") for n in (0, 1, 2, 5)]
    chain += choose.choices(parts, k=choose.choice((0, 0, 0, 1, 2)))
    if choose.random() < 0.2:
        chain.append(("repeat batches", choose.choice((None, 1, 2, 3))))
    return tuple(chain)


def shortened(chain: Chain) -> Chain:
    """Return a chain of which an epoch does not take long: repeats of repeats have thousands of rows."""
    place = next(place for place, (verb, *_) in enumerate(chain) if verb in ("filter", "map", *BATCHING))
    many = len(rows_of(chain[:place], 0)) > MOST_ROWS and not is_endless(chain[:place])
    return (*chain[:place], ("take", MOST_ROWS), *chain[place:]) if many else chain


# --- comparing with the model ---


def built(chain: Chain, datasets: dict[int, rs.Dataset], *, threads: int = 0, shown: bool = False) -> Any:
    """Return the loader of a chain, which feeds the rows' epochs too if they are to be shown."""
    loader: Any = None
    for verb, *settings in chain:
        if verb == "open":
            size, start, step = settings
            loader = datasets[size] if (start, step) == (0, 1) else datasets[size][start::step]
        elif verb == "shuffle":
            loader = loader.shuffle(seed=settings[0], buffer=settings[1], reshuffle=settings[2])
        elif verb == "shard":
            loader = loader.shard(settings[0], settings[1], remainder=settings[2])
        elif verb == "balance":
            loader = loader.balance("label", settings[0], seed=settings[1])
        elif verb == "mix":
            others = [built(other, datasets) for other in settings[0]]
            loader = loader.mix(*others, weights=settings[1], seed=settings[2], stop=settings[3])
        elif verb == "filter":
            loader = loader.filter(lambda rows, k=settings[0]: np.asarray(rows["n"]) % k != 0, vectorized=True)
        elif verb == "map":
            loader = loader.map(dict)
        elif verb in BATCHING:
            plan = loader.plan
            loader = rs.Loader(replace(plan, changes=(*plan.changes, EpochShown()))) if shown else loader
            loader = batched(loader, verb, settings, threads)
        else:
            loader = getattr(loader, verb.removesuffix(" batches"))(*settings)
    return loader


def batched(loader: Any, verb: str, settings: list[Any], threads: int) -> Any:
    """Return the loader after its batching verb."""
    if verb == "bucket_batch":
        boundaries, sizes, drop_last = settings
        return loader.bucket_batch("values", boundaries, size=sizes, drop_last=drop_last, threads=threads)
    return getattr(loader, verb)(settings[0], drop_last=settings[1], threads=threads)


def content(batch: Any, *, shown: bool) -> list[Any]:
    """Return what the model says of a batch, after a look at the columns that follow from it."""
    n = batch["n"]
    if not len(n):
        return []
    assert (batch["label"] == n % 3).all()
    values = batch["values"]
    assert ((values.sum(axis=1) if isinstance(values, np.ndarray) else values.lengths * n) == n % 5 * n).all()
    return list(zip(n.tolist(), batch["epoch"].tolist(), strict=True)) if shown else n.tolist()


def hold_against_model(chain: Chain, datasets: dict[int, rs.Dataset], *, threads: int, shown: bool) -> None:
    """Compare two epochs, their length, a resume at every batch, and the shares of several processes.

    Where a resume is in the middle of an epoch, its next batches are looked at; of some, all that follow.
    """

    def build() -> Any:
        return built(chain, datasets, threads=threads, shown=shown)

    def look(batches: Any) -> list[Any]:
        return [content(batch, shown=shown) for batch in islice(batches, most)]

    def model(epoch: int) -> list[Any]:
        batches = batches_of(chain, epoch)[:most]
        return batches if shown else [[n for n, _ in batch] for batch in batches]

    loader = build()
    # Of what has no end, the model looks at the beginning; its last batches may lack rows that come later.
    batched_rows = chain[: next(place for place, (verb, *_) in enumerate(chain) if verb in BATCHING) + 1]
    most = max(0, min(LOOKED_AT, len(batches_of(chain, 0)) - 3)) if is_endless(chain) else None
    if is_endless(batched_rows) and len(batches_of(batched_rows, 0)) < MOST_LEFT_OUT + 3:
        return
    epochs = [model(epoch) for epoch in range(3)]
    states, fed = [json.dumps(loader.state())], []
    for batch in islice(loader, most):
        fed.append(content(batch, shown=shown))
        states.append(json.dumps(loader.state()))
    assert fed == epochs[0]
    assert look(loader) == (epochs[1] if fed or most is None else [])
    try:
        assert len(loader) == len(fed)
    except TypeError:
        assert is_endless(chain) or chain_hides_length(chain)
    known = most
    for count, state in enumerate(states):
        resumed = build().restore(json.loads(state))
        has_ended = known is None and 0 < count == len(fed)
        is_whole = has_ended or count in (1, len(fed) // 2)
        most = min(len(fed) - count, LOOKED_AT if is_whole else 2) if known is not None or not is_whole else None
        rest = look(resumed)
        if has_ended and epochs[1] and not rest:  # epochs without a batch were left of the iteration
            rest = look(resumed)
        assert rest == (epochs[1] if has_ended else epochs[0][count:])[:most]
        if has_ended and not epochs[1]:
            continue  # whether the rest of this epoch or the whole of the next one was empty is not known
        if has_ended or (count == 1 and known is None):
            assert look(resumed) == epochs[1 + has_ended][:most]
    most = known
    for processes in (2, 4) if threads else (3,):
        shares = [look(b for b, _ in feed(loader.plan, Cursor(), (i, processes))) for i in range(processes)]
        dealt = [batch for turn in zip_longest(*shares) for batch in turn if batch is not None]
        assert dealt[:most] == epochs[0]


def chain_hides_length(chain: Chain) -> bool:
    """Say whether the number of batches is only known once the rows were read."""
    return any(verb in ("filter", "bucket_batch") for verb, *_ in chain)


def compare_random_chains(folder: Path, seeds: range, *, tell: bool = False) -> tuple[int, int]:
    """Compare the chains of some seeds with their models; return how many were compared, and how many were refused.

    The first difference is raised; with `tell`, differences and progress are written to standard error.
    """
    datasets = write_rows(folder)
    refused, began = 0, time.monotonic()
    with small_pieces(), warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.PipelineWarning)
        for done, seed in enumerate(seeds, 1):
            if tell and done % 1000 == 0:
                sys.stderr.write(f"{done:,} chains in {time.monotonic() - began:,.0f} s, {refused:,} of them refused\n")
            choose = random.Random(seed)
            chain = random_chain(choose)
            threads, shown = choose.choice((0, 0, 0, 0, 1, 2, 4)), choose.random() < 0.5
            try:
                built(chain, datasets)
                chain = shortened(chain)
                built(chain, datasets)
            except (rs.PipelineError, BeyondHorizonError):
                refused += 1
                continue
            try:
                hold_against_model(chain, datasets, threads=threads, shown=shown)
            except BeyondHorizonError:
                refused += 1
            except Exception as error:
                error.add_note(f"seed {seed}, {threads} threads, epochs shown: {shown}, chain {chain}")
                if not tell:
                    raise
                traceback.print_exception(error)
    return len(seeds) - refused, refused


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0])
    with tempfile.TemporaryDirectory() as scratch:
        compared, refused = compare_random_chains(Path(scratch), range(first, first + count), tell=True)
    sys.stderr.write(f"{compared:,} chains compared, {refused:,} refused when they were built\n")

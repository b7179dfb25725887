"""Loader: a chain of verbs over a dataset, iterated for batches or rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from recordsmith.augment import Augmentation
from recordsmith.errors import PipelineError
from recordsmith.loader.engine import Cursor, UnknownLengthError, batch_count, feed
from recordsmith.loader.order import Remainder
from recordsmith.loader.pair_proof import verify_pairs
from recordsmith.loader.plan import Batching, Plan
from recordsmith.loader.row_access import row_of
from recordsmith.loader.skipping import Skipped
from recordsmith.loader.verbs.balance import balance
from recordsmith.loader.verbs.batch import batch
from recordsmith.loader.verbs.bucket_batch import bucket_batch
from recordsmith.loader.verbs.filter import filter_rows
from recordsmith.loader.verbs.images import images
from recordsmith.loader.verbs.map import map_rows
from recordsmith.loader.verbs.mix import mix
from recordsmith.loader.verbs.padded_batch import padded_batch
from recordsmith.loader.verbs.pairs import pairs
from recordsmith.loader.verbs.part import skip, take
from recordsmith.loader.verbs.prefetch import prefetch
from recordsmith.loader.verbs.repeat import repeat
from recordsmith.loader.verbs.select import select
from recordsmith.loader.verbs.shard import shard
from recordsmith.loader.verbs.shuffle import shuffle
from recordsmith.loader.verbs.vectorize import vectorize

__all__ = ["Loader", "Verbs"]

_STATE_FORMAT = "recordsmith-loader"
_STATE_VERSION = 1
_ROWS_AT_ONCE = 256
_HEAVY_ROWS_AT_ONCE = 16


class Verbs:
    """The verbs, which a dataset and a loader share. Each returns a new loader and changes nothing."""

    def _chain(self) -> Plan:
        raise NotImplementedError

    def _then(self, plan: Plan) -> Loader:
        return Loader(plan)

    def select(self, *names: str) -> Any:
        """Keep only some features; those that are left out before anything else are not even decoded."""
        return self._then(select(self._chain(), names))

    def filter(self, function: Callable[[dict[str, Any]], Any], *, vectorized: bool = False) -> Loader:
        """Keep the rows for which a function of a row returns true.

        Args:
            function: takes a row, a dict of values. With `vectorized` it takes a dict of columns and returns an array
                of bools, which is far faster.
            vectorized: the function takes many rows at once.
        """
        return self._then(filter_rows(self._chain(), function, vectorized=vectorized))

    def map(self, function: Callable[[Any], Any], *, processes: bool = False) -> Loader:
        """Put each row through a function, or, after batching, each batch.

        What a function makes of a row must depend on the row alone: it is called in any order, on several threads.

        Args:
            function: takes a row, a dict of values, and returns a row. After `.batch()` it takes and returns a batch.
            processes: run it in worker processes, for functions that are slow because they are Python.
        """
        return self._then(map_rows(self._chain(), function, processes=processes))

    def images(
        self,
        size: tuple[int, int] | None = None,
        *,
        scale: float | None = None,
        augment: Iterable[Augmentation] | Augmentation = (),
        channels: int | None = None,
        layout: Literal["NHWC", "NCHW"] = "NHWC",
        feature: str | None = None,
        dtype: Any = None,
        seed: int = 0,
    ) -> Loader:
        """Decode pictures to arrays: resized, scaled, augmented.

        With a size, a batch of pictures is one array of shape (rows, height, width, channels), RGB. Resizing is that of
        `tf.image.resize`, bilinear. Pictures are turned as their EXIF orientation says; a picture that cannot be
        decoded is an error with its record.

        Args:
            size: the height and width; None leaves each picture as large as it is, and gives a list of arrays unless
                the schema says that all have one size.
            scale: what the values from 0 to 255 are multiplied by, such as 1 / 255; the result is then float32.
            augment: random changes from `rs.augment`. Each record has its own random numbers in each epoch, whatever
                the number of threads.
            channels: 1 grey, 3 RGB, 4 RGBA; None takes what the schema says, or 3.
            layout: "NHWC", channels last, as TensorFlow and JAX like it, or "NCHW", as PyTorch does.
            feature: the pictures; None takes the only `rs.Image` that there is.
            dtype: "uint8" or "float32"; None chooses by `scale`.
            seed: another seed, other random changes.
        """
        return self._then(
            images(
                self._chain(),
                size,
                scale=scale,
                augment=augment,
                channels=channels,
                layout=layout,
                feature=feature,
                dtype=dtype,
                seed=seed,
            )
        )

    def shuffle(self, seed: int = 0, *, buffer: int | None = None, reshuffle: bool = True) -> Loader:
        """Put the rows into a random order: an exact, uniform permutation of all of them, a new one in each epoch.

        It takes no memory and no time at the start, whatever the number of records.

        Args:
            seed: another seed, another sequence of orders.
            buffer: shuffle as tf.data does, through a buffer of so many rows, instead of exactly.
            reshuffle: take another order in each epoch.
        """
        return self._then(shuffle(self._chain(), seed, buffer=buffer, reshuffle=reshuffle))

    def shard(self, rank: int, world: int, *, remainder: Remainder = "even") -> Loader:
        """Keep the share of one of several ranks that train together.

        Shares are disjoint and cover everything, with one shuffle across all ranks if they shuffle by the same seed
        before, and every rank has the same number of batches.

        Args:
            rank: whose share.
            world: how many ranks there are.
            remainder: what becomes of rows that do not divide evenly: "even" gives some ranks one row more, in as many
                batches; "drop" leaves them out of this epoch; "repeat" fills up with rows from the beginning.
        """
        return self._then(shard(self._chain(), rank, world, remainder=remainder))

    def balance(self, by: str, strategy: str | Mapping[Any, int] = "oversample", *, seed: int = 0) -> Loader:
        """Let every class come equally often, in a random order.

        It reads the feature of all records once, and keeps 12 bytes a record.

        Args:
            by: the feature that says the class.
            strategy: "oversample" brings every class to the number of the largest, "undersample" to that of the
                smallest, taking other records in each epoch; a mapping gives numbers for some classes.
            seed: another seed, another choice and order.
        """
        return self._then(balance(self._chain(), by, strategy, seed=seed))

    def mix(
        self,
        *others: Verbs,
        weights: Sequence[float] | None = None,
        seed: int = 0,
        stop: Literal["first", "all"] = "first",
    ) -> Loader:
        """Mix the rows with those of other datasets, in shares that hold in every thousand rows.

        Args:
            others: the other datasets, or chains of them that only choose and order rows.
            weights: the share of each, this one first; None gives all the same.
            seed: another seed, another interleaving.
            stop: an epoch ends when the first of them is used up, or when all are; then the shorter ones are gone
                through again.
        """
        plans = [other._chain() for other in others]  # noqa: SLF001 - ours
        return self._then(mix(self._chain(), plans, weights, seed=seed, stop=stop))

    def vectorize(self, feature: str, vocabulary: Any, *, into: str | None = None) -> Loader:
        """Turn a text into numbers: ids of its words, in rows of different length.

        Args:
            feature: the text.
            vocabulary: an `rs.Vocabulary`, or a tokenizer of the package tokenizers.
            into: another name for the numbers; None keeps the feature's.
        """
        return self._then(vectorize(self._chain(), feature, vocabulary, into=into))

    def take(self, n: int) -> Loader:
        """Keep the first n rows, or after batching the first n batches."""
        return self._then(take(self._chain(), n))

    def skip(self, n: int) -> Loader:
        """Leave out the first n rows, or after batching the first n batches."""
        return self._then(skip(self._chain(), n))

    def repeat(self, times: int | None = None) -> Loader:
        """Feed several epochs one after the other, each in an order of its own; None: without end.

        Before batching, batches may reach from one epoch into the next; after it they do not.
        """
        return self._then(repeat(self._chain(), times))

    def batch(
        self,
        n: int,
        *,
        drop_last: bool = False,
        threads: int | None = None,
        on_error: Literal["raise", "skip"] = "raise",
    ) -> Loader:
        """Put rows together n at a time: batches are dicts of columns.

        Numbers of a fixed shape come as numpy arrays (masked where optional values are absent), those of varying
        length as `Ragged`, byte strings and text as `ByteColumn`. Iterating again is a new epoch.

        Args:
            n: rows per batch.
            drop_last: leave out a last batch that is not full.
            threads: how many threads work ahead; None: as many as there are cores, up to four; 0: none. The batches
                are the same.
            on_error: "skip" leaves out records that are damaged, do not fit the schema, or make a function of yours
                fail: their batches are shorter, and `loader.skipped` counts them, with the reasons.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"n": range(5)}, rs.Schema({"n": rs.Scalar("int64")}))
        >>> for batch in rs.open(path).batch(2):
        ...     print(batch["n"])
        [0 1]
        [2 3]
        [4]
        """
        return self._then(batch(self._chain(), n, drop_last=drop_last, threads=threads, on_error=on_error))

    def padded_batch(
        self,
        n: int,
        *,
        pad_to: Mapping[str, int] | int | None = None,
        pad_value: Any = None,
        truncate: bool = False,
        drop_last: bool = False,
        threads: int | None = None,
    ) -> Loader:
        """Put rows together n at a time, and fill rows of different lengths up to arrays.

        Args:
            n: rows per batch.
            pad_to: the length to fill up to, for all features or by name; None takes the longest row of the batch.
            pad_value: what to fill up with, for all features or by name; None takes 0 or "".
            truncate: cut longer rows, instead of refusing them.
            drop_last: leave out a last batch that is not full.
            threads: as for `batch`.
        """
        return self._then(
            padded_batch(
                self._chain(),
                n,
                pad_to=pad_to,
                pad_value=pad_value,
                truncate=truncate,
                drop_last=drop_last,
                threads=threads,
            )
        )

    def bucket_batch(  # noqa: PLR0913 - each is a setting of its own
        self,
        by: str,
        boundaries: Sequence[int],
        *,
        size: int | Sequence[int] | None = None,
        tokens: int | None = None,
        pad_to: Mapping[str, int] | int | None = None,
        pad_value: Any = None,
        truncate: bool = False,
        drop_last: bool = False,
        threads: int | None = None,
    ) -> Loader:
        """Put rows of similar length together and pad them, so that little of a batch is padding.

        Args:
            by: the feature whose length counts.
            boundaries: the longest length of each bucket, rising; one more bucket takes what is longer than all.
            size: rows in a batch, for all buckets or one number for each.
            tokens: rows times length in a batch, instead of `size`: short rows come in large batches.
            pad_to: as for `padded_batch`.
            pad_value: as for `padded_batch`.
            truncate: as for `padded_batch`.
            drop_last: leave out the batches that are not full at the end of an epoch.
            threads: as for `batch`.
        """
        return self._then(
            bucket_batch(
                self._chain(),
                by,
                boundaries,
                size=size,
                tokens=tokens,
                pad_to=pad_to,
                pad_value=pad_value,
                truncate=truncate,
                drop_last=drop_last,
                threads=threads,
            )
        )

    def prefetch(self, n: int) -> Loader:
        """Keep up to n batches ready before they are asked for. A good number is chosen without it."""
        return self._then(prefetch(self._chain(), n))

    def pairs(
        self,
        inputs: str | Sequence[str],
        target: str | None = None,
        *,
        one_hot: bool | int = False,
        with_index: bool = False,
    ) -> Loader:
        """Turn batches into tuples (inputs, target), as training loops take them.

        Args:
            inputs: one feature, which then comes by itself, or several, which come as a dict.
            target: the feature to be learnt.
            one_hot: encode the target; True takes the number of classes from its `Label`.
            with_index: add the numbers of the records, for `verify_pairs`.
        """
        return self._then(pairs(self._chain(), inputs, target, one_hot=one_hot, with_index=with_index))


class Loader(Verbs):
    """A chain of verbs over a dataset. It does not change; what it iterates over is fed anew in each epoch.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_columns({"n": range(6)}, rs.Schema({"n": rs.Scalar("int64")}))
    >>> loader = rs.open(path).shuffle(seed=0).batch(3)
    >>> len(loader), sorted(n for batch in loader for n in batch["n"].tolist())
    (2, [0, 1, 2, 3, 4, 5])
    """

    def __init__(self, plan: Plan) -> None:
        self._made_plan = plan
        self._next = Cursor()  # where the next iteration begins
        self._reached = Cursor()  # what the consumer has received

    def _chain(self) -> Plan:
        return self._made_plan

    @property
    def skipped(self) -> Skipped:
        """What `on_error="skip"` has left out so far: `.count`, and the `.first` records with their reasons."""
        return self._made_plan.skipped or Skipped()

    def __len__(self) -> int:
        plan = self._made_plan
        if plan.batching is None:
            if plan.drops_rows:
                raise UnknownLengthError("How many rows there are is not known before they are filtered.")
            return plan.order.length
        if plan.epochs_fed is None:
            raise UnknownLengthError("There is no end to an endless repeat.")
        return batch_count(plan) * plan.epochs_fed

    def __iter__(self) -> Iterator[Any]:
        plan = self._made_plan
        if plan.batching is None:
            return self._rows()
        start, self._next = self._next, self._after(self._next)
        return self._batches(start)

    def _batches(self, start: Cursor) -> Iterator[Any]:
        self._reached = start
        for fed, cursor in feed(self._made_plan, start):
            self._reached = cursor
            yield fed

    def _rows(self) -> Iterator[dict[str, Any]]:
        from dataclasses import replace

        start, self._next = self._next, self._after(self._next)
        plan = replace(
            self._made_plan, batching=Batching(_HEAVY_ROWS_AT_ONCE if self._made_plan.heavy else _ROWS_AT_ONCE)
        )
        for columns, _ in feed(plan, start):
            count = len(next(iter(columns.values())))
            for number in range(count):
                yield row_of(columns, number)

    def _after(self, cursor: Cursor) -> Cursor:
        epochs = self._made_plan.epochs_fed or 1
        return Cursor((cursor.epoch // epochs + 1) * epochs)

    def verify_pairs(self, n: int = 1000) -> int:
        """Prove that inputs and targets belong together: read the records of the first n rows again, and compare.

        Returns how many rows were compared. It needs `.pairs()`, begins with the first epoch, and moves nothing.
        """
        return verify_pairs(self._made_plan, n)

    def to_tf(self, *, graph: bool = False) -> Any:
        """Return a tf.data.Dataset of the batches, for Keras and for loops of your own. Needs the extra "tensorflow".

        Each iteration over it is a new epoch. Arrays come as tensors with their static shapes, `Ragged` as
        RaggedTensor, byte strings and text as strings, `SparseColumn` as SparseTensor, `PackedColumn` as a dict, as
        `Schema.parse_tf` makes them.

        Args:
            graph: build the chain from TensorFlow's own operations, which need neither recordsmith nor this process:
                for tf.distribute, TPUs and the tf.data service. It is slower, shuffles through a buffer, and refuses
                verbs that have no counterpart.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"n": range(6)}, rs.Schema({"n": rs.Scalar("int64")}))
        >>> rs.open(path).batch(3, drop_last=True).to_tf().element_spec
        {'n': TensorSpec(shape=(3,), dtype=tf.int64, name=None)}
        """
        if graph:
            from recordsmith.loader.tensorflow_graph import in_tensorflow_graph

            return in_tensorflow_graph(self._made_plan)
        from recordsmith.loader.to_tensorflow import to_tensorflow

        return to_tensorflow(self)

    def to_torch(self) -> Any:
        """Return a torch IterableDataset of the batches, for `DataLoader(dataset, batch_size=None)`. Needs PyTorch.

        Each iteration over it is a new epoch. Arrays come as tensors that share their memory, text as lists. With
        worker processes, each makes its share of the batches, and they come in the same order.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"n": range(6)}, rs.Schema({"n": rs.Scalar("int64")}))
        >>> [batch["n"].tolist() for batch in rs.open(path).batch(3).to_torch()]
        [[0, 1, 2], [3, 4, 5]]
        """
        from recordsmith.loader.to_torch import TorchBatches

        return TorchBatches(self)

    def to_jax(self, *, device: Any = None, ahead: int = 2) -> Any:
        """Return an iterable of the batches as JAX arrays on a device. Needs JAX.

        Each iteration over it is a new epoch.

        Args:
            device: a device or a sharding, as jax.device_put takes it; None: JAX's default device.
            ahead: how many batches are sent to the device before they are asked for.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"x": [0.5, 1.5]}, rs.Schema({"x": rs.Scalar("float32")}))
        >>> [float(batch["x"].sum()) for batch in rs.open(path).batch(2).to_jax()]
        [2.0]
        """
        from recordsmith.loader.to_jax import to_jax

        return to_jax(self, device=device, ahead=ahead)

    def state(self) -> dict[str, Any]:
        """Return the place that the consumer has reached, JSON-ready: what was read ahead does not count."""
        place = self._reached
        return {
            "format": _STATE_FORMAT,
            "version": _STATE_VERSION,
            "chain": self._fingerprint(),
            "epoch": place.epoch,
            "batch": place.batch,
            "position": place.position,
            **({"waiting": list(place.waiting)} if place.waiting else {}),
        }

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Begin the next iteration where a loader of the same chain over the same data was; returns the loader."""
        if state.get("format") != _STATE_FORMAT or state.get("version") != _STATE_VERSION:
            raise PipelineError("This is not the state of a loader.", found=repr(dict(state))[:200])
        ours, theirs = self._fingerprint(), state["chain"]
        if ours != theirs:
            changed = [part for part in ours if ours[part] != theirs.get(part)]
            raise PipelineError(
                "The state is that of other data or of another chain.",
                found=", ".join(changed),
                expected=", ".join(f"{part} {theirs.get(part)}" for part in changed),
                advice="Build the same chain over the same files; workers and prefetch may differ.",
            )
        self._next = self._reached = Cursor(
            int(state["epoch"]), int(state["batch"]), int(state["position"]), tuple(state.get("waiting", ()))
        )
        return self

    def _fingerprint(self) -> dict[str, Any]:
        plan = self._made_plan
        data = [(dataset.files and [_base(file) for file in dataset.files], len(dataset)) for dataset in plan.datasets]
        return {
            "verbs": " ".join(_shown(verb) for verb in plan.verbs if verb["verb"] != "prefetch"),
            "data": hashlib.blake2b(json.dumps(data).encode(), digest_size=8).hexdigest(),
        }

    def __repr__(self) -> str:
        chain = "".join(f".{_shown(verb)}" for verb in self._made_plan.verbs)
        return f"<recordsmith.Loader {self._made_plan.datasets[0]!r}{chain}>"


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _shown(verb: dict[str, Any]) -> str:
    settings = ", ".join(f"{name}={_short(value)}" for name, value in verb.items() if name != "verb")
    return f"{verb['verb']}({settings})"


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=lambda x: np.asarray(x).tolist())

"""The verbs as methods, which a dataset and a loader share. What each of them does is in `verbs/`, a file each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar

from recordsmith.augment import Augmentation
from recordsmith.loader.order.record_order import Remainder
from recordsmith.loader.plan import Plan
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

__all__ = ["Verbs"]

LoaderT = TypeVar("LoaderT")


class Verbs(Generic[LoaderT]):
    """The verbs, which a dataset and a loader share. Each returns a new loader and changes nothing."""

    def _chain(self) -> Plan:
        raise NotImplementedError

    def _then(self, plan: Plan) -> LoaderT:
        raise NotImplementedError

    def select(self, *names: str) -> Any:
        """Keep only some features; those that are left out before anything else are not even decoded."""
        return self._then(select(self._chain(), names))

    def filter(self, function: Callable[[dict[str, Any]], Any], *, vectorized: bool = False) -> LoaderT:
        """Keep the rows for which a function of a row returns true.

        Args:
            function: takes a row, a dict of values. With `vectorized` it takes a dict of columns and returns an array
                of bools, which is far faster.
            vectorized: the function takes many rows at once.
        """
        return self._then(filter_rows(self._chain(), function, vectorized=vectorized))

    def map(self, function: Callable[[Any], Any], *, processes: bool = False) -> LoaderT:
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
    ) -> LoaderT:
        """Decode images to arrays: resized, scaled, augmented.

        With a size, a batch of images is one array of shape (rows, height, width, channels), RGB. Resizing is that of
        `tf.image.resize`, bilinear. Images are turned as their EXIF orientation says; an image that cannot be
        decoded is an error with its record.

        Args:
            size: the height and width; None leaves each image as large as it is, and gives a list of arrays unless
                the schema says that all have one size.
            scale: what the values from 0 to 255 are multiplied by, such as 1 / 255; the result is then float32.
            augment: random changes from `rs.augment`. Each record has its own random numbers in each epoch, whatever
                the number of threads.
            channels: 1 grey, 3 RGB, 4 RGBA; None takes what the schema says, or 3.
            layout: "NHWC", channels last, as TensorFlow and JAX like it, or "NCHW", as PyTorch does.
            feature: the images; None takes the only `rs.Image` that there is.
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

    def shuffle(self, seed: int = 0, *, buffer: int | None = None, reshuffle: bool = True) -> LoaderT:
        """Put the rows into a random order: an exact, uniform permutation of all of them, a new one in each epoch.

        It takes no memory and no time at the start, whatever the number of records.

        Args:
            seed: another seed, another sequence of orders.
            buffer: shuffle as tf.data does, through a buffer of so many rows, instead of exactly.
            reshuffle: take another order in each epoch.
        """
        return self._then(shuffle(self._chain(), seed, buffer=buffer, reshuffle=reshuffle))

    def shard(self, rank: int, world: int, *, remainder: Remainder = "even") -> LoaderT:
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

    def balance(self, by: str, strategy: str | Mapping[Any, int] = "oversample", *, seed: int = 0) -> LoaderT:
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
        *others: Verbs[Any],
        weights: Sequence[float] | None = None,
        seed: int = 0,
        stop: Literal["first", "all"] = "first",
    ) -> LoaderT:
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

    def vectorize(self, feature: str, vocabulary: Any, *, into: str | None = None) -> LoaderT:
        """Turn a text into numbers: ids of its words, in rows of different length.

        Args:
            feature: the text.
            vocabulary: an `rs.Vocabulary`, or a tokenizer of the package tokenizers.
            into: another name for the numbers; None keeps the feature's.
        """
        return self._then(vectorize(self._chain(), feature, vocabulary, into=into))

    def take(self, n: int) -> LoaderT:
        """Keep the first n rows, or after batching the first n batches."""
        return self._then(take(self._chain(), n))

    def skip(self, n: int) -> LoaderT:
        """Leave out the first n rows, or after batching the first n batches."""
        return self._then(skip(self._chain(), n))

    def repeat(self, times: int | None = None) -> LoaderT:
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
    ) -> LoaderT:
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
    ) -> LoaderT:
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
    ) -> LoaderT:
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

    def prefetch(self, n: int) -> LoaderT:
        """Keep up to n batches ready before they are asked for. A good number is chosen without it."""
        return self._then(prefetch(self._chain(), n))

    def pairs(
        self,
        inputs: str | Sequence[str],
        target: str | None = None,
        *,
        one_hot: bool | int = False,
        with_index: bool = False,
    ) -> LoaderT:
        """Turn batches into tuples (inputs, target), as training loops take them.

        Args:
            inputs: one feature, which then comes by itself, or several, which come as a dict.
            target: the feature to be learnt.
            one_hot: encode the target; True takes the number of classes from its `Label`.
            with_index: add the numbers of the records, for `verify_pairs`.
        """
        return self._then(pairs(self._chain(), inputs, target, one_hot=one_hot, with_index=with_index))

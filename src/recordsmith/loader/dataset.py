"""Dataset: what `recordsmith.open` returns, a stored dataset with the verbs of the loader."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from recordsmith.dataset import StoredDataset
from recordsmith.dataset.class_weights import class_weights
from recordsmith.dataset.stored import Row
from recordsmith.loader.loader import Loader, Pair
from recordsmith.loader.notebook import dataset_html
from recordsmith.loader.order.labels import class_counts
from recordsmith.loader.plan import Plan, plan_of
from recordsmith.loader.verbs import Verbs
from recordsmith.schema import Schema
from recordsmith.viewing import View, viewer

__all__ = ["Dataset", "open_dataset"]


_OF_LOADERS = ("to_torch", "to_tf", "to_keras", "to_jax", "state", "restore", "state_dict", "load_state_dict")


class Dataset(Verbs[Loader[Row], Loader[Row], Loader[Pair]], StoredDataset):
    """A dataset of TFRecord files: rows by number, in order, in batches and as tables.

    Attributes:
        files: the files, in reading order.
        splits: the splits that they belong to, as far as that is known.
        schema: what is in a record.
        payload: the kind of the records; kinds other than "example" and "sequence_example" need raw=True or
            descriptor=.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_rows(({"n": n, "name": f"row {n}"} for n in range(10)),
    ...                       rs.Schema({"n": rs.Scalar("int64"), "name": rs.Text()}))
    >>> ds = rs.open(path)
    >>> len(ds)
    10
    >>> ds[-1]
    {'n': np.int64(9), 'name': 'row 9'}
    >>> [int(row["n"]) for row in ds[2:5]]
    [2, 3, 4]
    >>> len(ds.raw(0))
    33
    """

    @property
    def plan(self) -> Plan:
        """The plan that the chain of verbs describes."""
        return plan_of(self)

    def _then(self, plan: Plan) -> Loader[Any]:
        return Loader(plan)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_LOADERS:
            raise AttributeError(f"A dataset has no {name}: it needs batches. Write ds.batch(32).{name}(...).")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __getitems__(self, numbers: Sequence[int]) -> list[Row]:
        """Return several rows at once, much faster than one by one: what DataLoader asks a map-style dataset for."""
        batch = self[numbers if isinstance(numbers, (list, np.ndarray)) else list(numbers)]
        return [self._row(batch, place) for place in range(len(numbers))]

    _getitems = __getitems__  # grain's name for it

    def _repr_html_(self) -> str:
        return dataset_html(self)

    def class_weights(self, feature: str) -> dict[Any, float]:
        """Return a weight for each class of a feature, for Keras' `class_weight=`: rare classes weigh more.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> schema = rs.Schema({"label": rs.Label(["cat", "dog"])})
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"label": ["cat", "cat", "cat", "dog"]}, schema)
        >>> rs.open(path, schema=schema).class_weights("label")
        {0: 0.6666666666666666, 1: 2.0}
        """
        return class_weights(class_counts(self, feature))

    def view(self) -> View:
        """Show the dataset in the browser. Needs the extra "view".

        The viewer runs in the background until `.stop()` of the result, or until the program ends. A notebook shows it
        in a frame; elsewhere open its `.url`.
        """
        return viewer().view_dataset(self)


def open_dataset(  # noqa: PLR0913 - each is a setting of its own
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    split: str | None = None,
    schema: Schema | None = None,
    compression: str | None = "auto",
    verify: bool = True,
    cache: int | str | None = None,
    raw: bool = False,
    descriptor: str | os.PathLike[str] | None = None,
    message: str | None = None,
) -> Dataset:
    """Open TFRecords: a file, a folder, a glob, a URL, or a list of these.

    A folder may be a dataset of recordsmith or of TensorFlow Datasets. In other folders, TFRecord files are found by
    name, or by content if the names do not show it. No records are read yet.

    Args:
        path: what to open.
        split: only the files of this split.
        schema: what is in a record; None: the schema next to the files, or one inferred from the first records.
        compression: "auto" detects it from the content of each file; or None, "gzip" or "zlib".
        verify: check the checksum of every record's data.
        cache: the maximum size of the cache of remote files, as far as blocks of this dataset are added, such as
            "200GB"; 0 keeps nothing. None: RECORDSMITH_CACHE_LIMIT, or 16 GiB.
        raw: read each record as bytes, whatever it contains: rows have one feature, `payload`, for your own `.map()`.
        descriptor: the file of `protoc --descriptor_set_out` with the type of records that are not Examples. Needs the
            extra "protobuf".
        message: the full name of that type, such as "waymo.open_dataset.Frame".

    >>> import recordsmith as rs
    >>> rs.open("no/such/data")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] There is no such file or folder: 'no/such/data'
    The folder 'no/such' cannot be read.
    """
    return Dataset.open(
        path,
        split=split,
        schema=schema,
        compression=compression,
        verify=verify,
        cache=cache,
        raw=raw,
        descriptor=descriptor,
        message=message,
    )

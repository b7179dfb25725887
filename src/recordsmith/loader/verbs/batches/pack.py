"""pack: sequences of tokens put together into rows of one length, as language models are trained on them.

Rows are packed window by window: so many rows that follow each other in the order of the epoch. What is packed together
depends on these rows alone. So a place is a window and a row in it, and packing can begin at any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.columns import Ragged
from recordsmith.errors import PipelineError, list_names
from recordsmith.loader.engine.row_access import RowValues
from recordsmith.loader.plan import PACKED_ROWS, Plan, RowChange, Rows
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT
from recordsmith.schema import Feature, Tensor
from recordsmith.workers.forking import ForkSafeLock

__all__ = ["Efficiency", "PackVerb", "Packed"]

Fit: TypeAlias = Literal["first", "best"]
Cut: TypeAlias = Literal["never", "long", "always"]
Int64s: TypeAlias = npt.NDArray[np.int64]

_ADDED = ("segments", "positions", "loss_mask")


class Efficiency:
    """How much of the packed rows is tokens, over all that were made so far, those in advance among them.

    >>> efficiency = Efficiency()
    >>> efficiency.add(rows=2, tokens=15, length=10)
    >>> efficiency
    <75.0 % of 2 rows are tokens>
    """

    def __init__(self) -> None:
        self.rows = 0
        self.tokens = 0
        self._places = 0
        self._lock = ForkSafeLock()

    @property
    def share(self) -> float:
        """The share of places that have a token, from 0 to 1."""
        return self.tokens / self._places if self._places else 0.0

    def add(self, rows: int, tokens: int, length: int) -> None:
        """Count some rows."""
        with self._lock:
            self.rows, self.tokens, self._places = self.rows + rows, self.tokens + tokens, self._places + rows * length

    def __repr__(self) -> str:
        return f"<{100 * self.share:.1f} % of {self.rows} rows are tokens>"


@dataclass(frozen=True, kw_only=True)
class Packed(RowChange):
    """Packs the rows of a window."""

    features: tuple[str, ...]
    length: int
    window: int | None
    fit: Fit
    cut: Cut
    pad_value: Any
    efficiency: Efficiency = field(default_factory=Efficiency, compare=False)
    drops_rows = True

    def apply(self, rows: Rows) -> Rows:
        """Return the packed rows of a window."""
        columns = {name: self._column(rows, name) for name in self.features}
        lengths = self._lengths(rows, columns)
        pieces, bins = self._pieces(lengths, rows)
        order = np.argsort(bins, kind="stable")
        pieces, bins = pieces[order], bins[order]
        count = int(bins[-1]) + 1 if len(bins) else 0
        if count > PACKED_ROWS:
            raise PipelineError(
                "A window is packed into too many rows.",
                found=f"{count:,} rows of {self.length}",
                expected=f"at most {PACKED_ROWS:,}",
                advice="Use longer rows, or a smaller window.",
            )
        owners, sizes = pieces[:, 0], np.ascontiguousarray(pieces[:, 2])
        packed: dict[str, Any] = {}
        for name, column in columns.items():
            starts = column.offsets[owners] + pieces[:, 1]
            packed[name] = self._filled(np.asarray(column.values), starts, sizes, bins, count)
        packed["segments"], packed["positions"] = (np.empty((count, self.length), np.int32) for _ in range(2))
        _core.number_packed(sizes, bins, packed["segments"], packed["positions"])
        packed["loss_mask"] = packed["segments"] > 0
        self.efficiency.add(count, int(sizes.sum()), self.length)
        records = owners[np.searchsorted(bins, np.arange(count))]  # of the first piece of each row
        size = self.window or 1
        window = (rows.positions[:1] // size * size) if len(rows) else np.zeros(1, np.int64)
        return Rows(
            packed,
            rows.numbers[records],
            rows.epochs[records],
            window * PACKED_ROWS + np.arange(count, dtype=np.int64),
        )

    def _column(self, rows: Rows, name: str) -> Ragged:
        column = rows.columns[name]
        if isinstance(column, RowValues):
            column = column.in_batch(name)
        if isinstance(column, np.ndarray) and column.ndim == 2:
            column = Ragged(column.reshape(-1), np.arange(len(column) + 1) * column.shape[1])
        is_flat = isinstance(column, Ragged) and isinstance(column.values, np.ndarray) and column.values.ndim == 1
        if len(rows) and not is_flat:
            raise PipelineError(
                "pack needs rows of numbers.",
                feature=name,
                found=type(column).__name__,
                expected="one sequence per row",
            )
        return column if is_flat else Ragged(np.empty(0, np.int64), [0])

    def _lengths(self, rows: Rows, columns: dict[str, Ragged]) -> Int64s:
        lengths = [column.lengths for column in columns.values()]
        for name, other in zip(self.features[1:], lengths[1:], strict=True):
            different = np.flatnonzero(other != lengths[0])
            if len(different):
                error = PipelineError(
                    "Features that are packed together must have the same number of values in each row.",
                    feature=name,
                    found=f"{other[different[0]]} values",
                    expected=f"{lengths[0][different[0]]}, as in {self.features[0]!r}",
                )
                error.record_number = int(rows.numbers[different[0]])  # type: ignore[attr-defined] # for the file's name
                raise error
        return lengths[0]

    def _pieces(self, lengths: Int64s, rows: Rows) -> tuple[Int64s, Int64s]:
        """Return the pieces of the rows, as (row, first value, number of values), and the packed row of each."""
        if self.cut == "always":
            return _continuous(lengths, self.length)
        longest = int(lengths.max(initial=0))
        if self.cut == "never" and longest > self.length:
            error = PipelineError(
                "A row is longer than the rows that it is packed into.",
                feature=self.features[0],
                found=f"{longest} values",
                expected=f"at most {self.length}",
                advice="Give a greater length, or write cut='long'.",
            )
            error.record_number = int(rows.numbers[int(lengths.argmax())])  # type: ignore[attr-defined] # the same
            raise error
        counts = -(-lengths // self.length)  # empty rows have no piece
        owners = np.repeat(np.arange(len(lengths)), counts)
        number = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        firsts = number * self.length
        sizes = np.minimum(lengths[owners] - firsts, self.length)
        bins = _core.pack_lengths(np.ascontiguousarray(sizes), self.length, self.fit == "best")
        return np.stack([owners, firsts, sizes], axis=1), bins

    def _filled(
        self, values: npt.NDArray[Any], starts: Int64s, sizes: Int64s, bins: Int64s, count: int
    ) -> npt.NDArray[Any]:
        """Return the values of pieces, put together to rows."""
        filling = Ragged.unchecked(values[:0], np.zeros(2, np.int64)).to_padded(1, self.pad_value)[0]
        width = self.length * values.dtype.itemsize
        target = _core.pooled_bytes(count * width)[: count * width].reshape(count, width)
        flat = np.ascontiguousarray(values).view(np.uint8)
        _core.fill_packed(flat, np.ascontiguousarray(starts), sizes, bins, filling.view(np.uint8), target)
        return target.view(values.dtype).reshape(count, self.length)


def _continuous(lengths: Int64s, length: int) -> tuple[Int64s, Int64s]:
    """Return the pieces of rows that follow each other without a gap, and the packed row of each."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    cuts = np.unique(np.concatenate([np.zeros(1, np.int64), ends, np.arange(0, total, length, dtype=np.int64)]))
    firsts, lasts = cuts[:-1], cuts[1:]
    owners = np.searchsorted(ends, firsts, side="right")
    return np.stack([owners, firsts - (ends - lengths)[owners], lasts - firsts], axis=1), firsts // length


class PackVerb(Chain[LoaderT]):
    """Gives a chain the method `pack`."""

    @verb
    def pack(
        self,
        length: int,
        *features: str,
        fit: Fit = "first",
        cut: Cut = "long",
        window: int = 1024,
        pad_value: Any = 0,
    ) -> LoaderT:
        """Pack sequences of different lengths into rows of one length, so that little is padding.

        The packed rows have the features, and `segments` (1, 2, ... for the sequences of a row, 0 for padding),
        `positions` (from 0 in each sequence) and `loss_mask` (true where there is a token). Other features are left
        out. `loader.packing` measures how much is tokens.

        Args:
            length: values in a packed row.
            features: what is packed, with equally many values in each row; without any, all features.
            fit: "first" keeps the order and takes the first row with room; "best" takes the longest sequences of a
                window first and the row with the least room, which leaves less padding.
            cut: "long" cuts only sequences that are longer than a row; "never" refuses them; "always" puts the
                sequences one after the other and cuts at the end of every row, so that only a window's last is not
                full.
            window: how many rows are packed together.
            pad_value: what fills up the features.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"tokens": [[1, 2, 3], [4, 5], [6]]},
        ...                          rs.Schema({"tokens": rs.Tensor("int64", (None,))}))
        >>> loader = rs.open(path).pack(4, "tokens").batch(2)
        >>> for batch in loader:
        ...     print(batch["tokens"].tolist(), batch["segments"].tolist())
        [[1, 2, 3, 6], [4, 5, 0, 0]] [[1, 1, 1, 2], [1, 1, 0, 0]]
        >>> loader.packing
        <75.0 % of 2 rows are tokens>
        """
        plan = self.plan
        check_whole_number("The length of a packed row", length, least=1)
        check_whole_number("The window", window, least=1)
        plan.before_batching("pack", "come too late. Pack first: .pack(length).batch(n).")
        names = features or tuple(plan.features or ())
        _check_features(plan, names)
        if fit not in get_args(Fit):
            raise PipelineError("Unknown fit.", found=repr(fit), expected=list_names(get_args(Fit)))
        if cut not in get_args(Cut):
            raise PipelineError("Unknown cut.", found=repr(cut), expected=list_names(get_args(Cut)))
        change = Packed(features=names, length=int(length), window=int(window), fit=fit, cut=cut, pad_value=pad_value)
        shown = {"length": length, "features": list(names), "fit": fit, "cut": cut, "window": window}
        settings = {**shown, "pad_value": pad_value}
        packed: dict[str, Feature] | None = None
        if plan.features is not None:
            packed = {name: _row_feature(plan.features[name], int(length)) for name in names}
            packed |= {name: Tensor("int32", (int(length),)) for name in _ADDED[:2]}
            packed["loss_mask"] = Tensor("bool", (int(length),))
        datasets = plan.datasets
        if not plan.changes and plan.features is not None:
            datasets = tuple(dataset.select(*names) for dataset in datasets)
        return self._then(
            replace(
                plan.then("pack", settings, features=packed, datasets=datasets, even_world=None),
                changes=(*plan.changes, change),
            )
        )


def _check_features(plan: Plan, names: tuple[str, ...]) -> None:
    if not names:
        raise PipelineError("pack does not know what to pack.", advice="Name the features: .pack(1024, 'tokens').")
    if plan.window is not None:
        raise PipelineError("The rows are packed already.", advice="One .pack() is enough.")
    for name in names:
        feature = plan.feature(name, "pack")
        is_sequence = isinstance(feature, Tensor) and len(feature.shape) == 1
        if feature is not None and not is_sequence:
            raise PipelineError(
                f"pack needs rows of numbers, but {name!r} is something else.",
                feature=name,
                found=repr(feature),
                advice="Name what to pack: .pack(1024, 'tokens'). Turn text into numbers with .vectorize() first.",
            )
        if name in _ADDED:
            raise PipelineError(
                f"pack adds a feature {name!r}, but the rows already have one.", advice="Give the feature another name."
            )


def _row_feature(feature: Feature, length: int) -> Feature:
    return Tensor(feature.dtype, (length,)) if isinstance(feature, Tensor) else feature

"""bucket_batch: batches of rows of similar length, so that little is padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.errors import PipelineError
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.batches.batch import already_batched, check_threads
from recordsmith.loader.verbs.batches.padded_batch import PaddedBatching
from recordsmith.loader.verbs.chain import Chain, LoaderT

__all__ = ["BucketBatchVerb", "BucketBatching"]


@dataclass(frozen=True)
class BucketBatching(PaddedBatching):
    """Batches of rows whose lengths fall between the same boundaries.

    Attributes:
        by: the feature that determines the length.
        boundaries: the longest length of each bucket but the last, which has no limit.
        sizes: rows in a batch of each bucket.
    """

    by: str = ""
    boundaries: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """The feature whose length counts."""
        return (self.by,)

    def buckets(self, columns: dict[str, Any]) -> npt.NDArray[np.intp]:
        """Return which bucket each row belongs to."""
        column = columns[self.by]
        if isinstance(column, (Ragged, ByteColumn)):
            lengths = column.lengths
        else:
            lengths = np.array([len(value) for value in column], np.int64)
        return np.searchsorted(self.boundaries, lengths, side="left")


class BucketBatchVerb(Chain[LoaderT]):
    """Gives a chain the method `bucket_batch`."""

    @verb
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
        """Make batches of rows of similar length, so that there is little padding.

        Args:
            by: the feature that determines the length.
            boundaries: the maximum length of each bucket, increasing. One more bucket is for longer rows.
            size: the number of rows in a batch, for all buckets or for each.
            tokens: the maximum of rows times length in a batch, instead of `size`: short rows are in larger batches.
            pad_to: as for `padded_batch`.
            pad_value: as for `padded_batch`.
            truncate: as for `padded_batch`.
            drop_last: leave out batches that are not full at the end of an epoch.
            threads: as for `batch`.
        """
        plan = self.plan
        if plan.batching is not None:
            raise already_batched("bucket_batch")
        check_threads(threads)
        if plan.window is not None:
            raise PipelineError("Packed rows have one length: buckets are not needed.", advice="Write .batch(n).")
        plan.feature(by, "bucket_batch")
        limits = tuple(int(limit) for limit in boundaries)
        if not limits or list(limits) != sorted(set(limits)) or limits[0] < 1:
            raise PipelineError(
                "The boundaries must be increasing lengths.", found=repr(boundaries), expected="for example [8, 16, 32]"
            )
        sizes = _sizes(limits, size, tokens)
        settings = {
            "by": by,
            "boundaries": list(limits),
            "sizes": list(sizes),
            "pad_to": dict(pad_to) if isinstance(pad_to, Mapping) else pad_to,
            "pad_value": dict(pad_value) if isinstance(pad_value, Mapping) else pad_value,
            "truncate": truncate or None,
            "drop_last": drop_last or None,
        }
        batching = BucketBatching(max(sizes), drop_last, pad_to, pad_value, truncate, by, limits, sizes)
        return self._then(plan.then("bucket_batch", settings, batching=batching, workers=threads, even_world=None))


def _sizes(limits: tuple[int, ...], size: int | Sequence[int] | None, tokens: int | None) -> tuple[int, ...]:
    if (size is None) == (tokens is None):
        raise PipelineError("bucket_batch needs either size= (rows) or tokens= (rows times length).")
    if tokens is not None:
        check_whole_number("The number of tokens", tokens, least=1)
        # The last bucket has no limit; its rows count as twice the last boundary.
        return tuple(max(1, int(tokens) // limit) for limit in (*limits, 2 * limits[-1]))
    if isinstance(size, int):
        check_whole_number("The number of rows in a batch", size, least=1)
        return (size,) * (len(limits) + 1)
    given = tuple(size or ())
    if len(given) != len(limits) + 1:
        raise PipelineError(
            "bucket_batch needs one size for each bucket: one more than there are boundaries.",
            found=f"{len(given)} sizes",
            expected=f"{len(limits) + 1}",
        )
    for rows in given:
        check_whole_number("The number of rows in a batch", rows, least=1)
    return tuple(int(rows) for rows in given)

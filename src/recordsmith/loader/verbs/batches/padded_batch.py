"""padded_batch: batches in which rows of different lengths are filled up to one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recordsmith.columns import Ragged, ShapedColumn
from recordsmith.errors import PipelineError, did_you_mean, list_names, reason_of
from recordsmith.loader.engine.padding import padded
from recordsmith.loader.plan import Batch, Batching
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.batches.batch import check_batch, check_threads
from recordsmith.loader.verbs.chain import Chain, LoaderT
from recordsmith.loader.warning import PipelineWarning
from recordsmith.wording.call_stack import caller_level

__all__ = ["PaddedBatchVerb"]


@dataclass(frozen=True)
class PaddedBatching(Batching):
    """Batches whose ragged columns are filled up to arrays.

    Attributes:
        pad_to: lengths by feature; None, or a feature that is not named, takes the longest row of the batch.
        pad_value: values by feature; 0 or "" where none is named.
        truncate: cut rows that are longer than `pad_to`, instead of refusing them.
    """

    pad_to: Mapping[str, int] | int | None = None
    pad_value: Any = None
    truncate: bool = False

    def collate(self, columns: Batch) -> Batch:
        """Fill up the ragged columns."""
        return {name: self._padded(name, column) for name, column in columns.items()}

    def _padded(self, name: str, column: Any) -> Any:
        value = self.pad_value.get(name) if isinstance(self.pad_value, Mapping) else self.pad_value
        if isinstance(column, ShapedColumn):
            return column.to_padded(0 if value is None else value)
        if not isinstance(column, Ragged):
            return column
        length = self.pad_to.get(name) if isinstance(self.pad_to, Mapping) else self.pad_to
        try:
            return padded(column, length, value, truncate=self.truncate)
        except PipelineError as error:
            is_long = length is not None and column.lengths.max(initial=0) > length
            advice = "Give a larger pad_to, or truncate=True to cut what is longer."
            raise PipelineError(
                f"The rows of {name!r} cannot be padded: {reason_of(error)}",
                feature=name,
                found=error.found,
                expected=error.expected,
                advice=advice if is_long else f"Give each feature its own value: pad_value={{{name!r}: ...}}.",
            ) from None


class PaddedBatchVerb(Chain[LoaderT]):
    """Gives a chain the method `padded_batch`."""

    @verb
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
        """Make batches of n rows, with rows of different lengths padded to arrays.

        Args:
            n: rows per batch.
            pad_to: the length to pad to, for all features or by name; None: the longest row of the batch.
            pad_value: the value to pad with, for all features or by name; None: 0 or "".
            truncate: cut longer rows instead of raising an error.
            drop_last: leave out the last batch if it is not full.
            threads: as for `batch`.
        """
        plan = self.plan
        check_batch(plan, "padded_batch", n, drop_last=drop_last)
        check_threads(threads)
        for setting in (pad_to, pad_value):
            for name in setting if isinstance(setting, Mapping) else ():
                if plan.features is not None and name not in plan.features:
                    raise PipelineError(
                        f"padded_batch names a feature {name!r} that the rows do not have."
                        f"{did_you_mean(name, plan.features)}",
                        expected=list_names(plan.features),
                    )
        for length in pad_to.values() if isinstance(pad_to, Mapping) else () if pad_to is None else (pad_to,):
            check_whole_number("The length to pad to", length, least=1)
        if plan.features is not None and not any(_varies(feature) for feature in plan.features.values()):
            warnings.warn(
                PipelineWarning(
                    "P010", "padded_batch pads nothing: no feature varies in length. Use .batch() instead."
                ),
                stacklevel=caller_level(),
            )
        settings = {
            "n": int(n),
            "pad_to": dict(pad_to) if isinstance(pad_to, Mapping) else pad_to,
            "pad_value": dict(pad_value) if isinstance(pad_value, Mapping) else pad_value,
            "truncate": truncate or None,
            "drop_last": drop_last or None,
        }
        batching = PaddedBatching(int(n), drop_last, pad_to, pad_value, truncate)
        return self._then(plan.then("padded_batch", settings, batching=batching, workers=threads))


def _varies(feature: Any) -> bool:
    shape = getattr(feature, "shape", ())
    return None in (shape or ()) or type(feature).__name__ in ("Steps", "Sparse")

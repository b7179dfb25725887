"""batch: rows in batches of n."""

from __future__ import annotations

from typing import Literal

from recordsmith.errors import PipelineError
from recordsmith.loader.plan import Batching, Plan
from recordsmith.loader.skipping import Skipped
from recordsmith.loader.verbs.arguments import verb
from recordsmith.loader.verbs.chain import Chain, LoaderT

__all__ = ["BatchVerb", "already_batched", "check_batch", "check_threads"]


class BatchVerb(Chain[LoaderT]):
    """Gives a chain the method `batch`."""

    @verb
    def batch(
        self,
        n: int,
        *,
        drop_last: bool = False,
        threads: int | None = None,
        on_error: Literal["raise", "skip"] = "raise",
    ) -> LoaderT:
        """Make batches of n rows: dicts of columns.

        Numbers of a fixed shape are numpy arrays (masked if optional values are absent), rows of different lengths are
        `Ragged`, byte strings and text are `ByteColumn`. Each iteration is a new epoch.

        Args:
            n: rows per batch.
            drop_last: leave out the last batch if it is not full.
            threads: the number of threads that read in advance; None: one per core, at most four; 0: none. The batches
                do not depend on it.
            on_error: "skip" leaves out records that are damaged, do not fit the schema, or raise an error in your
                function. Their batches are shorter, and `loader.skipped` has their number and the reasons.

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
        plan = self.plan
        check_batch(plan, "batch", n, drop_last=drop_last)
        check_threads(threads)
        if on_error not in ("raise", "skip"):
            raise PipelineError("Unknown on_error.", found=repr(on_error), expected="'raise' or 'skip'")
        if on_error == "skip" and plan.window is not None:
            raise PipelineError(
                "Rows that are packed together cannot be skipped one by one.",
                advice="Leave on_error out, and filter the rows before .pack().",
            )
        skipped = Skipped() if on_error == "skip" else None
        settings = {"n": int(n), "drop_last": drop_last or None, "on_error": None if skipped is None else on_error}
        return self._then(
            plan.then("batch", settings, batching=Batching(int(n), drop_last), workers=threads, skipped=skipped)
        )


def check_threads(threads: int | None) -> None:
    """Refuse a number of threads that is not a whole number, or below 0."""
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 0):
        raise PipelineError("The number of threads must be 0 or more.", found=repr(threads))


def already_batched(verb: str) -> PipelineError:
    """Return the error for batches of batches."""
    return PipelineError(
        f"The rows are already in batches, so {verb} cannot be used.",
        advice="Use only one of batch, padded_batch and bucket_batch.",
    )


def check_batch(plan: Plan, verb: str, n: int, *, drop_last: bool) -> None:
    """Refuse a size that is not a number, batches of batches, and single rows that the ranks cannot share evenly."""
    if isinstance(n, bool) or not hasattr(n, "__index__") or n < 1:
        raise PipelineError("The batch size must be an integer of at least 1.", found=repr(n))
    if plan.batching is not None:
        raise already_batched(verb)
    world, rows = plan.even_world or (1, 0)
    if n == 1 and rows % world and not drop_last:
        raise PipelineError(
            "Single rows cannot be divided evenly among the ranks: some ranks would get an empty batch.",
            found=f"{rows} rows for {world} ranks, in batches of 1",
            advice="Let the ranks drop the remainder, .shard(rank, world, remainder='drop'), or repeat rows: 'repeat'.",
        )

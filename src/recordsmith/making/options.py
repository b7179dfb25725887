"""What is asked of `make`, checked before any work is done."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import CellType, CodeType
from typing import Any

from recordsmith.dataset.descriptions.metadata import Metadata
from recordsmith.errors import RecordsmithError, advise, list_names
from recordsmith.making.preprocessing.preprocessor import Preprocessor
from recordsmith.records.compression import writing_compression
from recordsmith.records.shards import TRAINING
from recordsmith.run.option_checks import check_name, check_on_error, check_seed, check_shards, checked_workers
from recordsmith.run.policy import OnError, Output
from recordsmith.run.splits.splitting import SplitPlan, parse_splits
from recordsmith.schema import Schema
from recordsmith.storage.byte_sizes import parse_size

__all__ = ["MakeOptions", "function_identity"]

Row = dict[str, Any]


@dataclass(frozen=True)
class MakeOptions:
    """The options of `rs.make`, as its documentation says them; those in `identity` decide about the bytes written."""

    name: str
    split: SplitPlan
    stratify: str | bool | None
    group: str | Callable[[Row], Any] | None
    seed: int
    shuffle: bool
    balance: Any
    function: Callable[[Row], Any] | None
    preprocess: tuple[Preprocessor, ...]
    shards: int | None
    shard_bytes: int
    compression: str | None
    cast: bool
    on_error: OnError
    max_rejects: float
    drop_unlabelled: bool
    workers: int
    metadata: Metadata

    @classmethod
    def checked(cls, **given: Any) -> MakeOptions:
        """Check the options that `rs.make` was given."""
        check_name(given["name"])
        check_on_error(given["on_error"])
        check_seed(given["seed"])
        if given["shards"] is not None:
            check_shards(given["shards"])
        max_rejects = given["max_rejects"]
        if isinstance(max_rejects, bool) or not isinstance(max_rejects, (int, float)) or not 0 <= max_rejects <= 1:
            raise RecordsmithError(
                advise("{max_rejects} must be a share between 0 and 1.", max_rejects=...), found=repr(max_rejects)
            )
        group = given["group"]
        if group is not None and not isinstance(group, str) and not callable(group):
            raise RecordsmithError("group must be the name of a column, or a function of one row.", found=repr(group))
        if given["function"] is not None and not callable(given["function"]):
            raise RecordsmithError("map must be a function of one row.", found=repr(given["function"]))
        compression = writing_compression(given["compression"])
        return cls(
            **{
                **given,
                "split": parse_splits(given["split"]),
                "preprocess": _preprocessors(given["preprocess"]),
                "shard_bytes": parse_size(given["shard_bytes"]),
                "compression": None if compression == "none" else compression,
                "workers": checked_workers(given["workers"]),
            }
        )

    def keeping(self, splits: Sequence[str], *, divided: bool) -> MakeOptions:
        """Return the options for a source that has splits, which stay as they are; one split may still be divided."""
        if not splits or (divided and len(splits) == 1):
            return self
        if len(splits) > 1 and (divided or self.stratify or self.group is not None):
            asked = "split" if divided else "stratify" if self.stratify else "group"
            raise RecordsmithError(
                advise("{asked} divides the rows, but the source already has splits.", asked=(asked, f"--{asked}")),
                found=f"the splits {list_names(splits)}",
                advice=advise(
                    "Leave {asked} out to keep them, or combine the splits with {merge_splits}.",
                    asked=(asked, f"--{asked}"),
                    merge_splits=True,
                ),
            )
        plan = SplitPlan.keeping(splits)
        if (self.preprocess or self.balance is not None) and len(splits) > 1 and plan.training.lower() not in TRAINING:
            learned = ("preprocess", "--vocabulary, --tokenize or --tfidf")
            raise RecordsmithError(
                advise(
                    "A training split is needed for {option}, but the source has none.",
                    option=learned if self.preprocess else ("balance", "--balance"),
                ),
                found=f"the splits {list_names(splits)}",
                expected="a split called train",
            )
        return replace(self, split=plan)

    def output(self, path: str) -> Output:
        """Return what is written to a folder, as a run takes it."""
        return Output(
            path,
            self.name,
            shards=self.shards,
            shard_bytes=self.shard_bytes,
            compression=self.compression,
            on_error=self.on_error,
            max_rejects=self.max_rejects,
            workers=self.workers,
            metadata=self.metadata,
        )

    def identity(self, source: dict[str, Any], schema: Schema) -> dict[str, Any]:
        """Return everything that decides about the bytes of the dataset, JSON-ready."""
        return {
            "source": source,
            "schema": schema.to_json(),
            "options": {
                "name": self.name,
                "split": self.split.to_json(),
                "stratify": self.stratify,
                "group": function_identity(self.group) if callable(self.group) else self.group,
                "seed": self.seed,
                "shuffle": self.shuffle,
                "balance": _balance_json(self.balance),
                "map": None if self.function is None else function_identity(self.function),
                "preprocess": [preprocessor.describe() for preprocessor in self.preprocess],
                "shards": self.shards,
                "shard_bytes": self.shard_bytes,
                "compression": self.compression,
                "cast": self.cast,
                "on_error": self.on_error,
                "drop_unlabelled": self.drop_unlabelled,
                "description": self.metadata.description,
                **({"metadata": said} if (said := self.metadata.to_json()).keys() - {"description"} else {}),
            },
        }


def function_identity(function: Callable[..., Any]) -> str:
    """Name a function, with a digest of its code: another code, another dataset.

    >>> function_identity(lambda row: row).split("#")[0]
    'recordsmith.making.options:<lambda>'
    """
    digest = hashlib.blake2b(digest_size=6)
    _digest_function(function, digest)
    while isinstance(function, partial):
        function = function.func
    name = f"{getattr(function, '__module__', '?')}:{getattr(function, '__qualname__', type(function).__name__)}"
    return f"{name}#{digest.hexdigest()}"


def _digest_function(function: Any, digest: Any) -> None:
    """Digest what a function does: its code, its defaults, what it closes over, and the arguments bound to it."""
    if isinstance(function, partial):
        _digest_values([*function.args, *sorted(function.keywords.items())], digest)
        _digest_function(function.func, digest)
        return
    code = getattr(function, "__code__", None)
    if code is not None:
        _digest_code(code, digest)
        cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
        _digest_values(
            [*(function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items()), *cells], digest
        )
    elif not isinstance(function, type):
        _digest_values([getattr(function, "__dict__", None)], digest)


def _digest_values(values: Sequence[Any], digest: Any) -> None:
    for value in values:
        if callable(value) and hasattr(value, "__code__"):
            _digest_function(value, digest)
            continue
        text = repr(value)
        # An address says nothing of the value, and differs from run to run.
        digest.update((type(value).__qualname__ if " at 0x" in text else text).encode())


def _digest_code(code: CodeType, digest: Any) -> None:
    digest.update(code.co_code)
    digest.update(repr(code.co_names).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _digest_code(constant, digest)
        elif isinstance(constant, frozenset):
            digest.update(repr(sorted(map(repr, constant))).encode())
        else:
            digest.update(repr(constant).encode())


def _preprocessors(given: Any) -> tuple[Preprocessor, ...]:
    preprocessors = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    for preprocessor in preprocessors:
        if not isinstance(preprocessor, Preprocessor):
            raise RecordsmithError(
                "preprocess takes preprocessors, such as rs.preprocessing.Tfidf('text').",
                found=repr(preprocessor),
            )
    return preprocessors


def _balance_json(balance: Any) -> Any:
    if balance is None or isinstance(balance, str):
        return balance
    if isinstance(balance, Mapping):
        return {str(name): count for name, count in balance.items()}
    if isinstance(balance, Sequence):
        return list(balance)
    return " ".join(repr(balance).split())  # a sampler shows its settings

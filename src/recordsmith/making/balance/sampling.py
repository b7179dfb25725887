"""Balance: how often each row of the training split is written, so that rare classes are seen often enough.

    "oversample", "undersample", {class: count}     from the labels alone: 40 bytes a row, whatever else is in the rows
    RandomOverSampler, RandomUnderSampler           the same, with imbalanced-learn's own choice of rows
    TomekLinks, NearMiss, ...                       which rows, chosen by their features: all numeric features in memory
    SMOTE, ADASYN, SMOTENC, SMOTEENN, ...           rows that never were, made from numbers: the same, three times

A row is chosen by a priority that depends on the seed and the row alone, so that the same seed chooses the same rows.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.errors import PipelineError, did_you_mean, import_extra, list_names

__all__ = ["Resampled", "find_sampler", "needs_columns", "resample", "target_counts"]

Array = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]
Strategy = Literal["oversample", "undersample"] | Mapping[int, int]

_NUMBERS = "biuf"  # the kinds of dtype that a sampler can reckon with
_BY_LABEL_ALONE = ("RandomOverSampler", "RandomUnderSampler")


class Resampled(NamedTuple):
    """What a sampler made of some rows.

    Attributes:
        kept: the rows to write, by number; one that is listed twice is written twice.
        synthetic: rows that the sampler made, as columns of the features' own dtype and shape; None: it made none.
        labels: the classes of the synthetic rows.
    """

    kept: Int64s
    synthetic: dict[str, Array] | None
    labels: Array | None


def find_sampler(sampler: Any, seed: int = 0) -> Any:
    """Return an imbalanced-learn sampler, given as it is or by its name, that draws from the seed.

    A sampler is copied, and keeps a `random_state` of its own if it has one.

    >>> find_sampler("SMOTE", seed=7)
    SMOTE(random_state=7)
    >>> find_sampler("SMOTEE")
    Traceback (most recent call last):
    recordsmith.errors.PipelineError: There is no sampler 'SMOTEE'. Did you mean 'SMOTE'?
      expected: 'oversample', 'undersample', a mapping of counts, or one of imbalanced-learn's: 'ADASYN', ...
    """
    if isinstance(sampler, str):
        sampler = _sampler_by_name(sampler)
    elif isinstance(sampler, type):
        sampler = sampler()
    if not hasattr(sampler, "fit_resample"):
        raise PipelineError(
            "This is not a sampler.",
            found=f"{sampler!r} ({type(sampler).__name__})",
            expected="a sampler of imbalanced-learn, or an object with its method fit_resample",
        )
    own = copy.deepcopy(sampler)
    if hasattr(own, "get_params"):
        # Samplers within samplers too, such as the SMOTE of a SMOTEENN.
        own.set_params(
            **{
                name: seed % 2**32
                for name, value in own.get_params().items()
                if value is None and name.split("__")[-1] == "random_state"
            }
        )
    return own


def needs_columns(sampler: Any) -> bool:
    """Tell whether a sampler looks at more than the labels; where it does not, `resample` needs no columns.

    >>> needs_columns(find_sampler("RandomOverSampler")), needs_columns(find_sampler("SMOTE"))
    (False, True)
    """
    return type(sampler).__name__ not in _BY_LABEL_ALONE or getattr(sampler, "shrinkage", None) is not None


def resample(
    sampler: Any,
    columns: Mapping[str, Any],
    labels: npt.ArrayLike,
    *,
    seed: int = 0,
    categorical: Collection[str] = (),
) -> Resampled:
    """Let a sampler of imbalanced-learn choose rows, and make new ones if it is one that does.

    Numeric features of a fixed shape are laid side by side, as float32 where that holds all of them exactly and as
    float64 otherwise: 4 or 8 bytes for each number of each row, of which a sampler makes one or two copies. Where rows
    are only chosen, other features are passed over. Where rows are made, they must not be there, because nothing can
    be made up for them. Made-up whole numbers are rounded, and booleans are true from one half on.

    Args:
        sampler: the sampler or its name.
        columns: the features by name, without the label.
        labels: the class of each row.
        seed: what a sampler without a `random_state` draws from.
        categorical: the features that samplers like SMOTENC must not blend; booleans are among them anyway.

    >>> columns = {"x": np.arange(8, dtype=np.float32), "n": np.arange(8) * 10}
    >>> kept, synthetic, labels = resample("SMOTE", columns, [0, 0, 0, 0, 0, 0, 0, 1][::-1])
    Traceback (most recent call last):
    recordsmith.errors.PipelineError: SMOTE cannot balance these rows.
      found:    Expected n_neighbors <= n_samples_fit, but n_neighbors = 6, n_samples_fit = 1, n_samples = 1
      to do:    Give a sampler with options that fit the smallest class, or use "oversample".
    >>> kept, synthetic, labels = resample("RandomUnderSampler", {}, [0, 0, 0, 0, 0, 0, 0, 1])
    >>> len(kept), synthetic
    (2, None)
    """
    own = find_sampler(sampler, seed)
    classes = np.asarray(labels)
    if not needs_columns(own):
        _fit(own, np.arange(len(classes)).reshape(-1, 1), classes)
        return Resampled(np.asarray(own.sample_indices_, np.int64), None, None)
    numeric, others = _numeric_features(columns)
    matrix = _matrix(numeric, others, len(classes), own)
    if getattr(own, "_sampling_type", None) == "over-sampling":
        _check_nothing_to_make_up(own, others)  # before hours of work; what does not say so is seen by its result
    _set_categorical(own, numeric, {*categorical, *(name for name, column in numeric.items() if column.dtype == bool)})
    made, made_classes = _fit(own, matrix, classes)
    if hasattr(own, "sample_indices_") and getattr(own, "shrinkage", None) is None:
        return Resampled(np.asarray(own.sample_indices_, np.int64), None, None)
    _check_nothing_to_make_up(own, others)
    kept, new = _told_apart(own, matrix, made)
    return Resampled(kept, _split_up(made[new], numeric), np.asarray(made_classes)[new])


def target_counts(counts: Mapping[int, int], strategy: Strategy) -> list[int]:
    """Return how many rows each class is to have, in the order of the counts.

    >>> target_counts({0: 4, 1: 1}, "oversample")
    [4, 4]
    """
    if isinstance(strategy, Mapping):
        for name, target in strategy.items():
            if isinstance(target, bool) or not isinstance(target, (int, np.integer)) or target < 0:
                raise PipelineError(
                    f"The count for class {name!r} must be an integer of at least 0.", found=repr(target)
                )
            if target and name not in counts:
                raise PipelineError(
                    f"There is no row of class {name!r} to repeat.",
                    found=f"the classes {list_names(map(str, counts))}",
                )
        return [int(strategy.get(name, count)) for name, count in counts.items()]
    if strategy not in ("oversample", "undersample"):
        raise PipelineError(
            f"Rows cannot be balanced by {strategy!r}.{did_you_mean(str(strategy), ['oversample', 'undersample'])}",
            expected='"oversample", "undersample", or a mapping of classes to counts',
        )
    choose = max if strategy == "oversample" else min
    return [choose(counts.values())] * len(counts) if counts else []


def _sampler_by_name(name: str) -> Any:
    import_extra("imblearn", "balance", purpose=f"The sampler {name!r}")
    samplers: dict[str, Any] = {}
    for part in ("over_sampling", "under_sampling", "combine"):
        module = importlib.import_module(f"imblearn.{part}")
        samplers |= {known: getattr(module, known) for known in module.__all__}
    if name not in samplers:
        known = ["oversample", "undersample", *samplers]
        raise PipelineError(
            f"There is no sampler {name!r}.{did_you_mean(name, known)}",
            expected="'oversample', 'undersample', a mapping of counts, or one of imbalanced-learn's: "
            + list_names(sorted(samplers), 40),
        )
    # SMOTENC needs to know which features are categories; _set_categorical does it once they are known.
    return samplers[name](categorical_features="auto") if name == "SMOTENC" else samplers[name]()


def _numeric_features(columns: Mapping[str, Any]) -> tuple[dict[str, Array], dict[str, str]]:
    """Part the features that are numbers of a fixed shape from the others, of which it says what they are."""
    numeric: dict[str, Array] = {}
    others: dict[str, str] = {}
    for name, column in columns.items():
        if isinstance(column, Ragged):
            others[name] = "rows of different length"
        elif isinstance(column, ByteColumn):
            others[name] = "text" if column.text else "bytes"
        elif isinstance(column, np.ma.MaskedArray) and np.ma.is_masked(column):
            others[name] = "numbers that some rows lack"
        elif isinstance(column, np.ndarray) and column.dtype.kind in _NUMBERS:
            numeric[name] = np.ma.getdata(column)
        else:
            dtype = getattr(column, "dtype", None)
            others[name] = type(column).__name__ if dtype is None else f"values of type {dtype}"
    return numeric, others


def _check_nothing_to_make_up(sampler: Any, others: Mapping[str, str]) -> None:
    for name, reason in others.items():
        raise PipelineError(
            f"{type(sampler).__name__} creates new rows, but cannot create values of this feature.",
            feature=name,
            found=reason,
            expected="numbers of a fixed shape",
            advice='Leave the feature out, or use "oversample", which repeats whole rows.',
        )


def _matrix(numeric: Mapping[str, Array], others: Mapping[str, str], rows: int, sampler: Any) -> Array:
    if not numeric:
        raise PipelineError(
            f"{type(sampler).__name__} compares rows by their numeric features, and there are none.",
            found=f"the features {list_names(f'{name} ({reason})' for name, reason in others.items())}",
            expected="at least one numeric feature of a fixed shape",
            advice='Use "oversample" or "undersample", which look at the labels alone.',
        )
    for name, column in numeric.items():
        if column.dtype.kind == "f" and not np.isfinite(column).all():
            row = int(np.flatnonzero(~np.isfinite(column.reshape(rows, -1)).all(axis=1))[0])
            raise PipelineError(
                f"{type(sampler).__name__} needs numbers that are finite.",
                feature=name,
                row=row,
                found=column[row],
                advice="Fill in values or leave out these rows first.",
            )
    dtype = np.result_type(np.float32, *(column.dtype for column in numeric.values()))
    matrix = np.empty((rows, sum(_width(column) for column in numeric.values())), min(dtype, np.dtype(np.float64)))
    start = 0
    for column in numeric.values():
        matrix[:, start : start + _width(column)] = column.reshape(rows, -1)
        start += _width(column)
    return matrix


def _width(column: Array) -> int:
    """Return how many numbers a row has."""
    return int(np.prod(column.shape[1:], dtype=np.int64))


def _set_categorical(sampler: Any, numeric: Mapping[str, Array], categorical: Collection[str]) -> None:
    """Tell a sampler like SMOTENC which columns of the matrix are categories, if it was given names or nothing."""
    given = getattr(sampler, "categorical_features", None)
    if given is None:
        return
    if isinstance(given, str):  # "auto"
        names: set[str] = set(categorical) & set(numeric)
    elif all(isinstance(entry, str) for entry in given):
        names = set(given)
    else:
        return  # numbers of columns, or a mask: as the user says
    for name in names - set(numeric):
        raise PipelineError(
            f"There is no numeric feature {name!r} to be categorical.{did_you_mean(name, numeric)}",
            expected=list_names(numeric),
        )
    if not names:
        raise PipelineError(
            f"{type(sampler).__name__} needs to know which features are categories.",
            found=f"the features {list_names(numeric)}, none of them a label or a boolean",
            advice=f'Name them, as in {type(sampler).__name__}(categorical_features=["colour"]), or use "SMOTE".',
        )
    edges = np.cumsum([0, *(_width(column) for column in numeric.values())]).tolist()
    spans = zip(numeric, edges[:-1], edges[1:], strict=True)
    sampler.set_params(categorical_features=[i for name, a, b in spans if name in names for i in range(a, b)])


def _fit(sampler: Any, matrix: Array, classes: Array) -> tuple[Array, Array]:
    try:
        made: tuple[Array, Array] = sampler.fit_resample(matrix, classes)
    except (ValueError, RuntimeError) as error:
        raise PipelineError(
            f"{type(sampler).__name__} cannot balance these rows.",
            found=str(error).strip(),
            advice='Give a sampler with options that fit the smallest class, or use "oversample".',
        ) from error
    return made


def _told_apart(sampler: Any, matrix: Array, made: Array) -> tuple[Int64s, Array]:
    """Return which rows of the source are still there, and which rows of the result are new."""
    rows = len(matrix)
    cleaner = getattr(sampler, "enn_", None) or getattr(sampler, "tomek_", None)
    if cleaner is not None:  # SMOTEENN, SMOTETomek: what SMOTE made, some of it removed again
        chosen = np.asarray(cleaner.sample_indices_, np.int64)
        return chosen[chosen < rows], np.flatnonzero(chosen >= rows)
    if len(made) >= rows and np.array_equal(made[:rows], matrix):  # the SMOTE family: new rows come after all others
        return np.arange(rows), np.arange(rows, len(made))
    return np.arange(0), np.arange(len(made))  # ClusterCentroids: a centre is no row


def _split_up(made: Array, numeric: Mapping[str, Array]) -> dict[str, Array]:
    columns = {}
    start = 0
    for name, column in numeric.items():
        values = made[:, start : start + _width(column)].reshape(len(made), *column.shape[1:])
        columns[name] = _restored(values, column.dtype)
        start += _width(column)
    return columns


def _restored(values: Array, dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "b":
        return np.greater_equal(values, 0.5)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        # Some samplers go a little beyond what is there. The largest int64 has no float of its own: the next below.
        highest = float(limits.max)
        highest = float(np.nextafter(highest, 0)) if highest > limits.max else highest
        return np.clip(np.rint(values.astype(np.float64)), float(limits.min), highest).astype(dtype)
    return values.astype(dtype)

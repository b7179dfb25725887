"""What the values of an input or target are like."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.doctor.diagnose.observing.batch import Batch, Values
from recordsmith.doctor.diagnose.observing.image_measuring import measure_images
from recordsmith.doctor.diagnose.observing.observations import ColumnFacts
from recordsmith.doctor.diagnose.probes.reinterpretation import bits_of
from recordsmith.facts.value_facts import Histogram

__all__ = ["find_leaks", "find_same_inputs", "histogram_of", "measure_columns", "rows_without_tokens"]

Array = npt.NDArray[Any]
_MOST_BOXES, _FEWEST_BOXES = 512, 8
_FEWEST_TOKENS = 3  # of a row of ids
_MOST_VALUES = 8_000_000  # of a column, spread over its rows
_MOST_DISTINCT = 1001
_FEWEST_ROWS = 16
_MOST_CLASSES = 256


def measure_columns(batches: list[Batch]) -> tuple[ColumnFacts, ...]:
    """Return what all inputs and targets of some batches are like.

    >>> from recordsmith.doctor.diagnose.observing.batch import read_batch
    >>> x, y = measure_columns([read_batch((np.eye(4, dtype=np.float32), np.arange(4)))])
    >>> x.shape, x.max, y.integral
    ((4,), 1.0, True)
    """
    found = []
    for role in ("input", "target"):
        names = dict.fromkeys(name for batch in batches for name in _columns(batch, role))
        for name in names:
            parts = [_columns(batch, role)[name] for batch in batches if name in _columns(batch, role)]
            batched = all(batch.batched for batch in batches)
            found.append(_measure(name, role, parts, batched=batched))
    return tuple(found)


def find_leaks(batches: list[Batch]) -> tuple[str, ...]:
    """Return the inputs that hold the target itself, one number a row.

    >>> from recordsmith.doctor.diagnose.observing.batch import read_batch
    >>> y = np.arange(64) % 3
    >>> find_leaks([read_batch(({"x": np.zeros((64, 2)), "copy": y}, y))])
    ("'copy'",)
    """
    if not batches or len(batches[0].target) != 1:
        return ()
    targets = [next(iter(batch.target.values())) for batch in batches]
    if any(isinstance(target, list) or target.dtype.kind == "O" for target in targets):
        return ()
    if any(np.asarray(one).size != len(one) for one in targets):
        return ()
    target = np.concatenate([np.asarray(one).reshape(len(one), 1) for one in targets])
    if len(target) < 32 or len(np.unique(target)) < 2:
        return ()
    found = []
    for name in batches[0].inputs:
        given = [batch.inputs[name] for batch in batches if name in batch.inputs]
        parts = [part for part in given if isinstance(part, np.ndarray) and part.dtype.kind != "O" and part.ndim <= 3]
        if len(parts) != len(given):
            continue
        if len({part.shape[1:] for part in parts}) != 1:
            continue
        column = np.concatenate(parts).reshape(len(target), -1) if sum(map(len, parts)) == len(target) else None
        if column is None or column.shape[1] > 4096:
            continue
        same = np.flatnonzero((column == target).all(axis=0))
        if len(batches[0].inputs) == 1 and len(same) == column.shape[1]:
            continue  # inputs that are nothing but the target are a toy, or meant
        sides = parts[0].shape[1:]
        found += [
            repr(name) if column.shape[1] == 1 else _column_name(place, name, sides) for place in same[:3].tolist()
        ]
    return tuple(found)


def find_same_inputs(batches: list[Batch]) -> tuple[tuple[str, str], ...]:
    """Return pairs of inputs that hold the same values in every row, and whose rows differ.

    >>> from recordsmith.doctor.diagnose.observing.batch import read_batch
    >>> ids = np.arange(128).reshape(32, 4)
    >>> find_same_inputs([read_batch({"ids": ids, "types": ids, "length": np.full(32, 4)})])
    (('ids', 'types'),)
    """
    names = list(batches[0].inputs) if batches else []
    found = []
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            pairs = [(batch.inputs.get(one), batch.inputs.get(other)) for batch in batches]
            if all(_same(first, second) for first, second in pairs) and _rows_differ([first for first, _ in pairs]):
                found.append((one, other))
    return tuple(found)


def _same(one: Values | None, other: Values | None) -> bool:
    if one is None or other is None or len(one) != len(other):
        return False
    if isinstance(one, list) or isinstance(other, list):
        return all(np.array_equal(first, second) for first, second in zip(one, other, strict=True))
    return np.array_equal(one, other)


def _rows_differ(parts: list[Any]) -> bool:
    """Whether rows are many and different: constants and flags are alike by chance."""
    rows = [np.asarray(row).tobytes() for part in parts for row in part]
    return len(rows) >= _FEWEST_ROWS and len(set(rows)) > max(4, len(rows) / 4)


def _column_name(place: int, name: str, sides: tuple[int, ...]) -> str:
    step = f"step {place // sides[1]} of {sides[0]}" if len(sides) == 2 else f"column {place}"
    return step + (f" of {name!r}" if name else "")


def histogram_of(values: Array, bins: int = 32) -> Histogram | None:
    """Return the histogram of the finite values; None without any.

    >>> histogram_of(np.array([0.0, 1.0, np.nan]), bins=2).counts
    (1, 1)
    """
    finite = values[np.isfinite(values)].astype(np.float64)
    if not finite.size or float(np.ptp(finite)) > 1e300:
        return None
    whole = bool((finite == np.round(finite)).all())
    edges = _core.histogram_edges(float(finite.min()), float(finite.max()), whole, bins)
    counts = [int(finite.size)] if len(edges) == 2 else np.histogram(finite, bins=edges)[0].tolist()
    return Histogram.between(edges, counts, integral=whole)


def _columns(batch: Batch, role: str) -> dict[str, Values]:
    return batch.inputs if role == "input" else batch.target


def _measure(name: str, role: Literal["input", "target"], parts: list[Values], *, batched: bool) -> ColumnFacts:
    rows = sum(len(part) for part in parts)
    shape = _row_shape(parts)
    dtypes = {_dtype(part) for part in parts}
    dtype = dtypes.pop() if len(dtypes) == 1 else "mixed"
    ragged = any(isinstance(part, list) for part in parts)
    common: dict[str, Any] = {"batched": batched, "ragged": ragged}
    arrays = [_array(part) for part in parts]
    if dtype in ("text", "object") or any(array.dtype.kind not in "iufb" for array in arrays):
        texts = {value for array in arrays for value in array.ravel().tolist()[:_MOST_DISTINCT] if _hashable(value)}
        distinct = min(len(texts), _MOST_DISTINCT)
        return ColumnFacts(name, role, dtype, shape, rows, distinct=distinct, **common)
    values = _thinned([array.ravel() for array in arrays])
    numbers = values.astype(np.float64) if values.dtype.kind in "iub" else values
    finite = numbers[np.isfinite(numbers)]
    whole = finite.size > 0 and bool(np.all(finite[:100_000] == np.round(finite[:100_000])))
    matrix = _matrix(parts)
    facts: dict[str, Any] = {
        "values": int(values.size),
        "nan": int(np.isnan(numbers).sum()),
        "infinite": int(np.isinf(numbers).sum()),
        "zeros": int((finite == 0).sum()),
        "integral": whole,
        "distinct": _distinct(finite),
        "histogram": histogram_of(numbers),
    }
    if finite.size:
        with np.errstate(over="ignore", invalid="ignore"):
            wide = finite.astype(np.float64)
            facts |= {"min": float(wide.min()), "max": float(wide.max()), "mean": float(wide.mean())}
            facts["deviation"] = float(wide.std())
    if matrix is not None and len(matrix) > 1:
        with np.errstate(over="ignore", invalid="ignore"):
            wide_matrix = matrix.astype(np.float64)
            facts["constant_columns"] = int((wide_matrix == wide_matrix[0]).all(axis=0).sum())
            spread = np.maximum(wide_matrix.std(axis=0), np.abs(wide_matrix.mean(axis=0)))
            facts["largest_spread"] = float(np.nanmax(spread)) if np.isfinite(spread).any() else 0.0
    if role == "target":
        facts |= _encoding(parts)
        facts["fractions"] = _fractions(finite)
        facts["corners"] = _are_corners(parts)
    else:
        facts["bits_of"] = bits_of(parts)
        facts["image"] = measure_images(parts)
        facts["padding"] = _padding(parts)
        facts["without_tokens"] = sum(int(one.sum()) for one in rows_without_tokens(name, parts))
    return ColumnFacts(name, role, dtype, shape, rows, **common, **facts)


def _are_corners(parts: list[Values]) -> bool:
    """Whether each row is one box or several, by two corners in pixels: (x, y) and, right of and below it, (x, y).

    >>> boxes = np.array([[n, 2 * n, 90 + n, 60 + 3 * n] for n in range(1, 9)])
    >>> _are_corners([boxes]), _are_corners([boxes[:, [2, 1, 0, 3]]])
    (True, False)
    """
    rows = [np.asarray(row) for part in parts for row in part][:_MOST_BOXES]
    if any(row.dtype.kind not in "iuf" or row.ndim not in (1, 2) or row.shape[-1] != 4 for row in rows):
        return False
    boxes = np.concatenate([row.reshape(-1, 4) for row in rows]).astype(np.float64) if rows else np.empty((0, 4))
    boxes = boxes[(boxes != 0).any(axis=1)]  # without padding
    ordered = len(boxes) >= _FEWEST_BOXES and bool((boxes[:, 2:] > boxes[:, :2]).all() and (boxes >= 0).all())
    return ordered and float(boxes.max()) > 2 and bool((boxes.std(axis=0) > 0).all())


def rows_without_tokens(name: str, parts: list[Values]) -> list[Array]:
    """Say of each row of ids, or of a mask, whether it is nothing but padding; of other inputs no row is.

    Ids differ from counts in where they are 0: only at one end of a row, as padding.

    >>> rows_without_tokens("ids", [np.array([[7, 3, 9, 0], [4, 8, 0, 0], [0, 0, 0, 0], [5, 2, 7, 1]])])[0].tolist()
    [False, False, True, False]
    """
    none = [np.zeros(len(part), bool) for part in parts]
    rows = [np.asarray(row).ravel() for part in parts for row in part]
    if any(row.dtype.kind not in "iub" for row in rows) or (parts and np.asarray(parts[0][0:1]).ndim > 2):
        return none
    empty = np.array([not row.any() for row in rows], bool)
    ragged = any(isinstance(part, list) for part in parts)
    kept = [row for row, is_empty in zip(rows, empty, strict=True) if not is_empty]
    if not kept or empty.mean() > 0.5 or max(map(len, rows)) < _FEWEST_TOKENS:
        return none
    filled = [row for row in kept if not row.all()]
    at_end = sum(bool(np.trim_zeros(row, "b").all()) for row in filled)
    at_start = sum(bool(np.trim_zeros(row, "f").all()) for row in filled)
    padded = bool(filled) and max(at_end, at_start) >= 0.9 * len(filled)
    several = len({int(value) for row in kept[:200] for value in row.tolist()}) > 3
    if not ((padded and (several or "mask" in name.lower())) or (ragged and several)):
        return none
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return list(np.split(empty, ends))


def _fractions(finite: Array) -> float:
    """Return the share of values between the whole numbers, where nearly all values are a few whole numbers."""
    whole = finite == np.round(finite)
    if not 0.5 < float(whole.mean() if finite.size else 0) < 1:
        return 0.0
    return float(1 - whole.mean()) if len(np.unique(finite[whole][:100_000])) <= _MOST_CLASSES else 0.0


def _padding(parts: list[Values]) -> float:
    """Return the share of zeros at the ends of rows of whole numbers."""
    tables = [part for part in parts if isinstance(part, np.ndarray) and part.ndim == 2 and part.dtype.kind in "iu"]
    total = sum(table.size for table in tables)
    if len(tables) != len(parts) or not all(table.size for table in tables):
        return 0.0
    lengths = [np.where(one.any(axis=1), one.shape[1] - (one[:, ::-1] != 0).argmax(axis=1), 0) for one in tables]
    return 1 - sum(int(one.sum()) for one in lengths) / total if total else 0.0


def _dtype(part: Values) -> str:
    kinds = {row.dtype for row in part} if isinstance(part, list) else {part.dtype}
    if len(kinds) != 1:
        return "mixed"
    kind = kinds.pop()
    if kind.kind == "O":
        first = next((value for array in part for value in np.asarray(array).ravel().tolist()), "")
        return "text" if isinstance(first, (str, bytes)) else "object"
    return str(kind.name)


def _row_shape(parts: list[Values]) -> tuple[int | None, ...]:
    shapes = {tuple(row.shape) for part in parts if isinstance(part, list) for row in part}
    shapes |= {tuple(part.shape[1:]) for part in parts if isinstance(part, np.ndarray)}
    if not shapes or len({len(shape) for shape in shapes}) != 1:
        return (None,)
    return tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True))


def _array(part: Values) -> Array:
    if isinstance(part, np.ndarray):
        return part
    return np.concatenate([row.ravel() for row in part]) if part else np.empty(0)


def _matrix(parts: list[Values]) -> Array | None:
    """Return rows that are vectors of one length, or single numbers, as a matrix."""
    if any(isinstance(part, list) or part.ndim > 2 for part in parts) or len({p.shape[1:] for p in parts}) != 1:  # type: ignore[union-attr]
        return None
    matrix = np.concatenate(parts).reshape(sum(map(len, parts)), -1)
    return matrix if 0 < matrix.shape[1] <= 16_384 else None


def _thinned(flat: list[Array]) -> Array:
    total = sum(part.size for part in flat)
    step = max(1, total // _MOST_VALUES)
    return np.concatenate([part[::step] for part in flat]) if flat else np.empty(0)


def _distinct(finite: Array) -> int:
    few = np.unique(finite[:20_000])
    if len(few) >= _MOST_DISTINCT:
        return _MOST_DISTINCT
    return min(len(np.unique(finite)), _MOST_DISTINCT)


def _hashable(value: Any) -> bool:
    return isinstance(value, (str, bytes, int, float))


def _encoding(parts: list[Values]) -> dict[str, Any]:
    """Say whether the rows of a target are one-hot."""
    if any(isinstance(part, list) or part.ndim != 2 or part.shape[1] < 2 for part in parts):
        return {}
    if len({part.shape[1] for part in parts}) != 1:  # type: ignore[union-attr]
        return {}
    rows = np.concatenate(parts).astype(np.float64)
    sums = rows.sum(axis=1)
    if np.isin(rows, (0.0, 1.0)).all():
        if (sums == 1).all():
            return {"one_hot": "one"}
        if (sums <= 1).all() and (sums == 1).any():
            return {"one_hot": "some-empty", "empty_rows": int((sums == 0).sum())}
        return {"several_rows": int((sums > 1).sum())}
    if (rows >= 0).all() and np.allclose(sums, 1, atol=1e-3):
        return {"one_hot": "shares"}
    return {}

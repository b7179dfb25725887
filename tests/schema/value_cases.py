"""Every kind of value that people hand over, and what becomes of it in each feature type.

The table is written by hand: a value that a feature takes is listed with what reads back, and all others must be
refused. test_values.py runs every case through every feature, as a row and as a column, and docs/refresh_values.py
writes docs/values.md from the same list.
"""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import functools
import importlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
from PIL import Image as Pil

import recordsmith as rs
from recordsmith.columns import SparseRow
from recordsmith.images import encode_image, read_header
from recordsmith.schema import Feature

__all__ = ["CAST_CASES", "COLUMN_CASES", "FEATURES", "ROW_CASES", "ColumnCase", "RowCase", "plain"]

FEATURES: dict[str, Feature] = {
    "int64": rs.Scalar("int64"),
    "uint8": rs.Scalar("uint8"),
    "float32": rs.Scalar("float32"),
    "bool": rs.Scalar("bool"),
    "floats": rs.Tensor("float32", (None,)),
    "matrix": rs.Tensor("float32", (2, 2)),
    "shaped": rs.Tensor("float32", (None, None)),
    "text": rs.Text(),
    "texts": rs.Text((None,)),
    "bytes": rs.Bytes(),
    "label": rs.Label(["cat", "dog"]),
    "image": rs.Image(),
    "sparse": rs.Sparse("float32", 2),
    "packed": rs.Packed({"a": ("uint8", ()), "b": ("float32", (2,))}),
    "steps": rs.Steps(rs.Scalar("float32")),
}


@dataclass(frozen=True)
class RowCase:
    """One value: how it is written, how it is made, and what the features that take it give back."""

    shown: str
    make: Callable[[Path], Any]
    takes: dict[str, Any] = field(default_factory=dict)
    missing: bool = False  # it stands for no value at all

    def __str__(self) -> str:
        return self.shown


@dataclass(frozen=True)
class ColumnCase:
    """One column: the features that take it, with what its rows read back as."""

    shown: str
    make: Callable[[], Any]
    takes: Mapping[str, Any]

    def __str__(self) -> str:
        return self.shown


def plain(feature: Feature, row: Any) -> Any:
    """A row that was read, in plain Python: an image as the title of its header."""
    if isinstance(row, SparseRow):
        return dict(zip(row.indices.tolist(), row[1].tolist(), strict=True))
    if isinstance(row, dict):
        return {name: part.tolist() for name, part in row.items()}
    if isinstance(feature, rs.Image) and row is not None:
        header = read_header(row)
        return None if header is None else header.title
    return row.tolist() if isinstance(row, (np.ndarray, np.generic)) else row


# --- how values are made ---

PNG = encode_image(np.zeros((1, 2, 3), np.uint8), "png")
NAN, INF = float("nan"), float("inf")


def case(shown: str, value: Any, takes: dict[str, Any] | None = None, *, missing: bool = False) -> RowCase:
    return RowCase(shown, lambda _: value, takes or {}, missing)


def made(shown: str, make: Callable[[], Any], takes: dict[str, Any] | None = None) -> RowCase:
    """A case whose value costs an import, or lasts for one use."""
    return RowCase(shown, lambda _: make(), takes or {})


def png_file(folder: Path) -> Path:
    path = folder / "cat.png"
    path.write_bytes(PNG)
    return path


@functools.cache
def tf() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("tensorflow")


@functools.cache
def torch() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("torch")


# --- what reads back ---

ONE = {"int64": 1, "uint8": 1, "float32": 1.0, "bool": True, "label": 1}
HALF = {"float32": 0.5}
TWO = {"floats": [1.0, 2.0], "sparse": {0: 1.0, 1: 2.0}, "steps": [1.0, 2.0]}
SQUARE = {"matrix": [[1.0, 2.0], [3.0, 4.0]], "shaped": [[1.0, 2.0], [3.0, 4.0]]}
CAT_TEXT = {"text": "cat", "label": 0}
CAT_BYTES = {"text": "cat", "bytes": b"cat", "label": 0}
CATS = {"texts": ["cat", "dog"]}
IMAGE = {"image": "PNG of 2×1"}
PARTS = {"packed": {"a": 1, "b": [1.0, 2.0]}}

ROW_CASES: dict[str, list[RowCase]] = {
    "Python's own": [
        case("None", None, missing=True),
        case("True", True, ONE),
        case("1", 1, ONE),
        case("-1", -1, {"int64": -1, "float32": -1.0}),
        case("300", 300, {"int64": 300, "float32": 300.0}),
        case("2**24 + 1", 2**24 + 1, {"int64": 2**24 + 1}),
        case("2**63", 2**63, {"float32": 2.0**63}),
        case("10**400", 10**400),
        case("1.0", 1.0, ONE),
        case("1.5", 1.5, {"float32": 1.5}),
        case("1e300", 1e300),
        case("float('nan')", NAN, {"float32": NAN}),
        case("float('inf')", INF, {"float32": INF}),
        case("1 + 0j", 1 + 0j),
        case("'cat'", "cat", CAT_TEXT),
        case("'1'", "1", {"text": "1"}),
        case("''", "", {"text": ""}),
        case("'\\ud800'  # no UTF-8", "\ud800"),
        case("b'cat'", b"cat", CAT_BYTES),
        case("b'\\xff'  # no UTF-8", b"\xff", {"bytes": b"\xff"}),
        case("bytearray(b'cat')", bytearray(b"cat"), {"text": "cat", "bytes": b"cat"}),
        case("memoryview(b'cat')", memoryview(b"cat"), {"text": "cat", "bytes": b"cat"}),
        case("object()", object()),
    ],
    "Lists and mappings": [
        case("[1, 2]", [1, 2], TWO),
        case("(1, 2)", (1, 2), TWO),
        case("[1, 2.5]", [1, 2.5], {"floats": [1, 2.5], "sparse": {0: 1, 1: 2.5}, "steps": [1, 2.5]}),
        case("[]", [], {"floats": [], "shaped": [], "texts": [], "steps": []}),
        case("[1, None]", [1, None]),
        case("[1, 'a']", [1, "a"]),
        case("[[1, 2], [3, 4]]", [[1, 2], [3, 4]], SQUARE),
        case("[[1], [2, 3]]", [[1], [2, 3]]),
        case("[array([1., 2.]), array([3., 4.])]", [np.array([1.0, 2.0]), np.array([3.0, 4.0])], SQUARE),
        case("['cat', 'dog']", ["cat", "dog"], CATS),
        case("[b'cat', 'dog']", [b"cat", "dog"], CATS),
        case("['cat', None]", ["cat", None]),
        case("([0], [1.5])  # indices, values", ([0], [1.5]), {"sparse": {0: 1.5}, "shaped": [[0.0], [1.5]]}),
        case("{0: 1.5}", {0: 1.5}, {"sparse": {0: 1.5}}),
        case("{'a': 1, 'b': [1, 2]}", {"a": 1, "b": [1, 2]}, PARTS),
        case("{}", {}, {"sparse": {}}),
        case("range(1, 3)", range(1, 3), {"floats": [1.0, 2.0], "sparse": {0: 1.0, 1: 2.0}}),
        case("{1, 2}  # a set", {1, 2}),
        made("(n for n in (1, 2))", lambda: (n for n in (1, 2))),
    ],
    "Numbers with digits, dates and times": [
        case("Decimal('1')", decimal.Decimal(1), ONE),
        case("Decimal('0.5')", decimal.Decimal("0.5"), HALF),
        case("Decimal('0.1')  # no float", decimal.Decimal("0.1")),
        case("Fraction(1, 2)", fractions.Fraction(1, 2)),
        case("datetime(2024, 1, 31)", dt.datetime(2024, 1, 31, tzinfo=dt.UTC)),
        case("date(2024, 1, 31)", dt.date(2024, 1, 31)),
        case("time(12, 30)", dt.time(12, 30)),
        case("timedelta(days=1)", dt.timedelta(days=1)),
        case("np.datetime64('2024-01-31')", np.datetime64("2024-01-31")),
        case("np.timedelta64(1, 's')", np.timedelta64(1, "s")),
        case("pd.Timestamp('2024-01-31')", pd.Timestamp("2024-01-31")),
    ],
    "numpy": [
        case("np.int8(1)", np.int8(1), ONE),
        case("np.bool_(True)", np.bool_(True), ONE),
        case("np.uint64(2**63)", np.uint64(2**63), {"float32": 2.0**63}),
        case("np.float16(0.5)", np.float16(0.5), HALF),
        case("np.float64(1e300)", np.float64(1e300)),
        case("np.str_('cat')", np.str_("cat"), CAT_TEXT),
        case("np.bytes_(b'cat')", np.bytes_(b"cat"), CAT_BYTES),
        case("np.array(1)  # 0-d", np.array(1), ONE),
        case("np.array('cat')  # 0-d", np.array("cat"), CAT_TEXT),
        case("np.array([1, 2], '>i4')  # big-endian", np.array([1, 2], ">i4"), TWO),
        case("np.arange(4)[1:3]  # a view", np.arange(4)[1:3], TWO),
        case("np.array([1, 9, 2, 9])[::2]  # not contiguous", np.array([1, 9, 2, 9])[::2], TWO),
        case("np.asfortranarray([[1., 2.], [3., 4.]])", np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]), SQUARE),
        case("np.array([])  # empty", np.array([]), {"floats": [], "shaped": [], "steps": []}),
        case("np.array([1, 2], object)", np.array([1, 2], object), TWO),
        case("np.array([1, None], object)", np.array([1, None], object)),
        case("np.array(['cat', 'dog'])", np.array(["cat", "dog"]), CATS),
        case("np.array(['cat', 'dog'], object)", np.array(["cat", "dog"], object), CATS),
        case(
            "np.array([97, 98], 'uint8')",
            np.array([97, 98], np.uint8),
            {"floats": [97, 98], "bytes": b"ab", "sparse": {0: 97, 1: 98}, "steps": [97, 98]},
        ),
        case("np.array([1j, 2])", np.array([1j, 2])),
        case("np.array(['2024-01-31'], 'M8[D]')", np.array(["2024-01-31"], "M8[D]")),
        case("np.ma.masked", np.ma.masked, missing=True),
        case("np.ma.array([1, 2], mask=True)", np.ma.array([1, 2], mask=True), missing=True),
        case("np.ma.array([1, 2], mask=[1, 0])", np.ma.array([1, 2], mask=[True, False])),
        case(
            "np.array([(1, [1, 2])], 'u1, 2f4')[0]  # with the names a, b",
            np.array([(1, [1, 2])], [("a", "u1"), ("b", "f4", 2)])[0],
            PARTS,
        ),
    ],
    "Files and images": [
        case("Path('cat.txt')  # no such file", Path("cat.txt"), {"text": "cat.txt"}),
        RowCase("Path('cat.png')  # an image", png_file, {**IMAGE, "text": "cat.png"}),
        case("Path('cat.png').read_bytes()", PNG, {**IMAGE, "bytes": PNG}),
        case("np.zeros((1, 2, 3), 'uint8')", np.zeros((1, 2, 3), np.uint8), IMAGE),
        case("np.zeros((1, 2, 3))  # float64", np.zeros((1, 2, 3))),
        case("np.zeros((3, 1, 2), 'uint8')  # channels first", np.zeros((3, 1, 2), np.uint8)),
        made("PIL.Image.new('RGB', (2, 1))", lambda: Pil.new("RGB", (2, 1)), IMAGE),
        made(
            "PIL.Image.new('L', (2, 2))",
            lambda: Pil.new("L", (2, 2)),
            {"image": "PNG of 2×2", "matrix": [[0, 0], [0, 0]], "shaped": [[0, 0], [0, 0]]},
        ),
        made("PIL.Image.new('P', (2, 1))", lambda: Pil.new("P", (2, 1)), IMAGE),
        made("PIL.Image.new('RGBA', (2, 1))", lambda: Pil.new("RGBA", (2, 1))),
    ],
    "pandas, Arrow and scipy": [
        case("pd.NA", pd.NA, missing=True),
        case("pd.NaT", pd.NaT, missing=True),
        case("pd.Series([1., 2.])", pd.Series([1.0, 2.0]), TWO),
        case("pd.Series(['cat', 'dog'])", pd.Series(["cat", "dog"]), CATS),
        case("pa.scalar(1)", pa.scalar(1), ONE),
        case("pa.scalar('cat')", pa.scalar("cat"), CAT_TEXT),
        case("pa.scalar(b'cat')", pa.scalar(b"cat"), CAT_BYTES),
        case("pa.scalar(None)", pa.scalar(None, pa.int64()), missing=True),
        case("pa.scalar([1, 2])", pa.scalar([1, 2]), TWO),
        case("pa.scalar(Decimal('0.5'))", pa.scalar(decimal.Decimal("0.5")), HALF),
        case("pa.scalar(datetime(2024, 1, 31))", pa.scalar(dt.datetime(2024, 1, 31, tzinfo=dt.UTC))),
        case("pa.scalar({'a': 1, 'b': [1, 2]})", pa.scalar({"a": 1, "b": [1.0, 2.0]}), PARTS),
        case("pa.array([1, 2])", pa.array([1, 2]), TWO),
        case("scipy.sparse.csr_array([[0, 1.5]])", sp.csr_array(np.array([[0, 1.5]])), {"sparse": {1: 1.5}}),
        case("scipy.sparse.coo_array([0, 1.5])", sp.coo_array(np.array([0, 1.5])), {"sparse": {1: 1.5}}),
    ],
    "PyTorch": [
        made("torch.tensor(1)", lambda: torch().tensor(1), ONE),
        made("torch.tensor([1., 2.])", lambda: torch().tensor([1.0, 2.0]), TWO),
        made("torch.tensor([1., 2.], requires_grad=True)", lambda: torch().tensor([1.0, 2.0], requires_grad=True), TWO),
        made(
            "torch.tensor([1., 2.], dtype=torch.bfloat16)",
            lambda: torch().tensor([1.0, 2.0], dtype=torch().bfloat16),
            TWO,
        ),
        made("torch.tensor([[1., 3.], [2., 4.]]).T", lambda: torch().tensor([[1.0, 3.0], [2.0, 4.0]]).t(), SQUARE),
        made("[torch.tensor(1.), torch.tensor(2.)]", lambda: [torch().tensor(1.0), torch().tensor(2.0)], TWO),
        made(
            "[torch.tensor([1., 2.], requires_grad=True), torch.tensor([3., 4.], requires_grad=True)]",
            lambda: [torch().tensor(row, requires_grad=True) for row in ([1.0, 2.0], [3.0, 4.0])],
            SQUARE,
        ),
        made("torch.zeros((1, 2, 3), dtype=uint8)", lambda: torch().zeros((1, 2, 3), dtype=torch().uint8), IMAGE),
        made("torch.tensor([0., 1.]).to_sparse()", lambda: torch().tensor([0.0, 1.0]).to_sparse()),
    ],
    "TensorFlow": [
        made("tf.constant(1)", lambda: tf().constant(1), ONE),
        made("tf.constant([1., 2.])", lambda: tf().constant([1.0, 2.0]), TWO),
        made("tf.constant([1., 2.], tf.bfloat16)", lambda: tf().constant([1.0, 2.0], tf().bfloat16), TWO),
        made("tf.Variable([1., 2.])", lambda: tf().Variable([1.0, 2.0]), TWO),
        made("tf.constant('cat')", lambda: tf().constant("cat"), CAT_BYTES),
        made("tf.constant(['cat', 'dog'])", lambda: tf().constant(["cat", "dog"]), CATS),
        made(
            "tf.ragged.constant([[1., 2.], [3., 4.]])", lambda: tf().ragged.constant([[1.0, 2.0], [3.0, 4.0]]), SQUARE
        ),
        made("tf.ragged.constant([[1.], [2., 3.]])", lambda: tf().ragged.constant([[1.0], [2.0, 3.0]])),
        made("tf.sparse.from_dense([0., 1.5])", lambda: tf().sparse.from_dense([0.0, 1.5]), {"sparse": {1: 1.5}}),
        made("tf.keras.Input((2,))  # symbolic", lambda: tf().keras.Input((2,))),
    ],
}

BITS = {"int64": [1, 0], "uint8": [1, 0], "float32": [1.0, 0.0], "bool": [True, False], "label": [1, 0]}
NAMES = {"text": ["cat", "dog"], "label": [0, 1]}
STRINGS = {**NAMES, "bytes": [b"cat", b"dog"]}

COLUMN_CASES: list[ColumnCase] = [
    ColumnCase("[1, 0]", lambda: [1, 0], BITS),
    ColumnCase("(1, 0)", lambda: (1, 0), BITS),
    ColumnCase("range(1, -1, -1)", lambda: range(1, -1, -1), BITS),
    ColumnCase("np.array([1, 0], '>u2')", lambda: np.array([1, 0], ">u2"), BITS),
    ColumnCase(
        "np.arange(4)[::2]", lambda: np.arange(4)[::2], {"int64": [0, 2], "uint8": [0, 2], "float32": [0.0, 2.0]}
    ),
    ColumnCase(
        "np.array([[1., 2.], [3., 0.]])",
        lambda: np.array([[1.0, 2.0], [3.0, 0.0]]),
        {"floats": [[1, 2], [3, 0]], "sparse": [{0: 1, 1: 2}, {0: 3}], "steps": [[1, 2], [3, 0]]},
    ),
    ColumnCase("np.array(['cat', 'dog'])", lambda: np.array(["cat", "dog"]), NAMES),
    ColumnCase("np.array(['cat', 'dog'], object)", lambda: np.array(["cat", "dog"], object), NAMES),
    ColumnCase(
        "np.zeros((2, 1, 2, 3), 'uint8')", lambda: np.zeros((2, 1, 2, 3), np.uint8), {"image": ["PNG of 2×1"] * 2}
    ),
    ColumnCase("pd.Series([1, 0])", lambda: pd.Series([1, 0]), BITS),
    ColumnCase("pd.Series([1, 0], dtype='Int8')", lambda: pd.Series([1, 0], dtype="Int8"), BITS),
    ColumnCase("pd.Series(['cat', 'dog'])", lambda: pd.Series(["cat", "dog"]), NAMES),
    ColumnCase(
        "pd.Series(['cat', 'dog'], dtype='category')",
        lambda: pd.Series(["cat", "dog"], dtype="category"),
        NAMES,
    ),
    ColumnCase("pa.array([1, 0])", lambda: pa.array([1, 0]), BITS),
    ColumnCase(
        "pa.array(['cat', 'dog']).dictionary_encode()",
        lambda: pa.array(["cat", "dog"]).dictionary_encode(),
        NAMES,
    ),
    ColumnCase("pa.array([b'cat', b'dog'])", lambda: pa.array([b"cat", b"dog"]), STRINGS),
    ColumnCase(
        "pa.array([[1., 2.], [3.]])",
        lambda: pa.array([[1.0, 2.0], [3.0]]),
        {"floats": [[1, 2], [3]], "steps": [[1, 2], [3]]},
    ),
    ColumnCase(
        "pa.array([['cat', 'dog'], []])", lambda: pa.array([["cat", "dog"], []]), {"texts": [["cat", "dog"], []]}
    ),
    ColumnCase("pa.array([Decimal('0.5')])", lambda: pa.array([decimal.Decimal("0.5")]), {"float32": [0.5]}),
    ColumnCase(
        "rs.Ragged(…)", lambda: rs.Ragged(np.arange(3.0), [0, 1, 3]), {"floats": [[0], [1, 2]], "steps": [[0], [1, 2]]}
    ),
    ColumnCase("rs.ByteColumn(…)", lambda: rs.ByteColumn(b"catdog", [0, 3, 6]), STRINGS),
    ColumnCase(
        "scipy.sparse.csr_array([[0, 1.5], [0, 0]])",
        lambda: sp.csr_array(np.array([[0, 1.5], [0, 0]])),
        {"sparse": [{1: 1.5}, {}]},
    ),
    ColumnCase(
        "{'a': [1, 2], 'b': np.ones((2, 2))}",
        lambda: {"a": [1, 2], "b": np.ones((2, 2))},
        {"packed": [{"a": 1, "b": [1, 1]}, {"a": 2, "b": [1, 1]}]},
    ),
    ColumnCase("torch.tensor([1, 0])", lambda: torch().tensor([1, 0]), BITS),
    ColumnCase(
        "torch.ones((2, 2), dtype=bfloat16)",
        lambda: torch().ones((2, 2), dtype=torch().bfloat16),
        {"floats": [[1, 1], [1, 1]], "sparse": [{0: 1, 1: 1}] * 2, "steps": [[1, 1], [1, 1]]},
    ),
    ColumnCase("tf.constant([1, 0])", lambda: tf().constant([1, 0]), BITS),
    ColumnCase("tf.constant(['cat', 'dog'])", lambda: tf().constant(["cat", "dog"]), STRINGS),
    ColumnCase(
        "tf.ragged.constant([[1.], [2., 3.]])",
        lambda: tf().ragged.constant([[1.0], [2.0, 3.0]]),
        {"floats": [[1], [2, 3]], "steps": [[1], [2, 3]]},
    ),
    ColumnCase(
        "tf.ragged.constant([['cat'], []])",
        lambda: tf().ragged.constant([["cat"], []]),
        {"texts": [["cat"], []]},
    ),
]

# Value, dtype, what cast=True makes of it; without, each is refused.
CAST_CASES: list[tuple[str, Any, str, Any]] = [
    ("1e300", 1e300, "float32", INF),
    ("2**24 + 1", 2**24 + 1, "float32", 2.0**24),
    ("Decimal('0.1')", decimal.Decimal("0.1"), "float64", 0.1),
    ("2**63", 2**63, "int64", 2**63 - 1),
    ("1.5", 1.5, "int64", 1),
    ("-1.5", -1.5, "int64", -1),
    ("float('-inf')", -INF, "int64", -(2**63)),
    ("300", 300, "uint8", 255),
    ("-1", -1, "uint8", 0),
    ("0.5", 0.5, "bool", True),
    ("3 + 4j", 3 + 4j, "float32", 3.0),
]

"""Schema.to_tf and Schema.parse_tf: plain TensorFlow gets dtype and shape back."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
import tensorflow as tf

import recordsmith as rs
from tests.schema.export.tensors import assert_rows_same, written

DTYPES: tuple[Any, ...] = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
LISTED = [dtype for dtype in DTYPES if dtype not in ("float64", "complex64", "complex128")]


def numbers(dtype: Any, shape: tuple[int, ...], *, listed: bool = False) -> Any:
    """Values at both ends of the dtype, and NaN and infinities where there are any."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        pool: list[Any] = [True, False]
    elif kind in "iu":
        limits = np.iinfo(dtype)
        pool = [int(limits.min), min(int(limits.max), 2**63 - 1) if listed else int(limits.max), 1, 0]
    else:
        pool = [0.5, -2.0, np.inf, np.nan, -0.0, 3.0]
        pool = [complex(entry, 1.5) for entry in pool] if kind == "c" else pool
    size = int(np.prod(shape))
    return np.array([pool[n % len(pool)] for n in range(size)], dtype=dtype).reshape(shape)


def png(height: int, width: int, *, shade: int = 7, mode: str = "RGB", encoding: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    PIL.Image.fromarray(np.full((height, width, 3), shade, np.uint8)).convert(mode).save(buffer, encoding)
    return buffer.getvalue()


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (None,), (None, 2), (2, None), (2, None, 3)], ids=str)
@pytest.mark.parametrize("listed", [False, True], ids=["as stored by default", "in lists"])
def test_every_dtype_and_shape(shape: tuple[int | None, ...], listed: bool):  # noqa: FBT001 - a case
    features: dict[str, Any] = {}
    for dtype in LISTED if listed else DTYPES:
        storage: Any = "list" if listed else None
        features[dtype] = rs.Tensor(dtype, shape, storage=storage) if shape else rs.Scalar(dtype, storage=storage)
    schema = rs.Schema(features)
    sizes = [tuple(n if size is None else size for size in shape) for n in (2, 0, 5)]
    payloads, rows = written(
        schema, ({dtype: numbers(dtype, size, listed=listed) for dtype in schema} for size in sizes)
    )
    assert_rows_same(schema, payloads, rows)


def test_strings_labels_and_images():
    schema = rs.Schema(
        {
            "text": rs.Text(),
            "words": rs.Text((None,)),
            "pair": rs.Bytes((2,)),
            "one": rs.Text((1,)),
            "label": rs.Label(["cat", "dog"]),
            "image": rs.Image(encoding="png"),
        }
    )
    payloads, rows = written(
        schema,
        (
            {
                "text": "naïve" * n,
                "words": ["ü", ""][:n],
                "pair": [b"\x00", b"\xff"],
                "one": ["x"],
                "label": "dog",
                "image": png(2, 3),
            }
            for n in range(3)
        ),
    )
    assert_rows_same(schema, payloads, rows)


def test_several_free_dimensions():
    schema = rs.Schema(
        {
            "image": rs.Tensor("uint8", (None, None, 3)),
            "listed": rs.Tensor("float32", (None, 2, None), storage="list"),
            "maybe": rs.Tensor("int64", (2, None, None), optional=True),
            "default": rs.Tensor("int64", (None, None), default=[[1, 2]]),
        }
    )
    payloads, rows = written(
        schema,
        (
            {
                "image": np.full((height, width, 3), 7),
                "listed": np.ones((height, 2, width)),
                "maybe": np.ones((2, height, width)) if width else None,
                "default": None if height else np.zeros((height, width)),
            }
            for height, width in [(2, 3), (0, 4), (3, 0), (1, 1)]
        ),
    )
    assert_rows_same(schema, payloads, rows)
    # A row without values keeps its sizes when it is alone.
    assert schema.parse_tf(payloads[1])["image"].shape == (0, 4, 3)
    mapped = tf.data.Dataset.from_tensor_slices(payloads).map(schema.parse_tf)
    assert mapped.element_spec["image"].shape.as_list() == [None, None, 3]
    assert mapped.batch(2).element_spec["maybe"].shape.as_list() == [None, 2, None, None]
    batched = tf.data.Dataset.from_tensor_slices(payloads).batch(2).map(schema.parse_tf)
    assert batched.element_spec["image"].shape.as_list() == [None, None, None, 3]


def test_packed_bytes():
    parts: dict[str, Any] = {"pixels": ("uint8", (32, 16, 1)), "label": ("int64", ()), "flags": ("bool", (3,))}
    schema = rs.Schema({"blob": rs.Packed(parts), "maybe": rs.Packed({"a": ("float16", (2,))}, optional=True)})
    payloads, rows = written(
        schema,
        (
            {
                "blob": {"pixels": np.full((32, 16, 1), n), "label": -n, "flags": [True, False, True]},
                "maybe": {"a": [n, 0.5]} if n % 2 else None,
            }
            for n in range(3)
        ),
    )
    assert_rows_same(schema, payloads, rows)
    mapped = tf.data.Dataset.from_tensor_slices(payloads).map(schema.parse_tf)
    assert mapped.element_spec["blob"]["pixels"] == tf.TensorSpec([32, 16, 1], tf.uint8)
    assert [int(row["blob"]["label"]) for row in mapped] == [0, -1, -2]
    longer = rs.encode_example({"blob": bytes(524)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not contain 523 bytes"):
        schema.select(["blob"]).parse_tf([longer])


def test_sparse_vectors():
    schema = rs.Schema(
        {
            "tfidf": rs.Sparse("float32", 20_000),
            "counts": rs.Sparse("int64", 5, optional=True),
        }
    )
    payloads, rows = written(
        schema, [{"tfidf": {19_999: 0.5, 3: 0.25}, "counts": {0: 2}}, {"tfidf": {}, "counts": None}]
    )
    assert_rows_same(schema, payloads, rows)
    batch = schema.parse_tf(payloads)
    assert isinstance(batch["tfidf"], tf.SparseTensor)
    assert batch["tfidf"].shape == (2, 20_000)
    assert batch["tfidf"].indices.numpy().tolist() == [[0, 3], [0, 19_999]]
    theirs = tf.io.parse_example(payloads, schema.to_tf())["tfidf"]
    assert theirs.indices.numpy().tolist() == batch["tfidf"].indices.numpy().tolist()
    assert theirs.values.numpy().tolist() == batch["tfidf"].values.numpy().tolist()
    mapped = tf.data.Dataset.from_tensor_slices(payloads).map(schema.parse_tf)
    assert mapped.element_spec["tfidf"].shape.as_list() == [20_000]
    batched = tf.data.Dataset.from_tensor_slices(payloads).batch(2).map(schema.parse_tf)
    assert batched.element_spec["tfidf"].shape.as_list() == [None, 20_000]


@pytest.mark.parametrize(
    ("indices", "values", "message"),
    [
        ([0, 1], [0.5], "different numbers of values"),
        ([1, 0], [1.0, 2.0], "sorted"),
        ([4], [1.0], "below 4"),
        ([-1], [1.0], "below 4"),
    ],
)
def test_sparse_vectors_that_are_none(indices: list[int], values: list[float], message: str):
    payload = rs.encode_example({"x/indices": indices, "x/values": values})
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        rs.Schema({"x": rs.Sparse("float32", 4)}).parse_tf([payload])


def test_a_sparse_vector_beside_steps():
    schema = rs.Schema({"words": rs.Sparse("float32", 9), "scores": rs.Steps(rs.Scalar("float32"))})
    payloads, rows = written(schema, [{"words": {8: 1.5}, "scores": [1, 2]}, {"words": {}, "scores": []}])
    assert_rows_same(schema, payloads, rows)
    assert list(schema.to_tf().context_features) == ["words/indices", "words/values"]


def test_absence_is_seen_and_never_a_value():
    schema = rs.Schema(
        {
            "scalar": rs.Scalar("float32", optional=True),
            "small": rs.Scalar("uint8", optional=True),
            "matrix": rs.Tensor("int64", (2, 2), optional=True),
            "list": rs.Tensor("int64", (None,), optional=True),
            "raw": rs.Tensor("float64", (None,), optional=True),
            "text": rs.Text(optional=True),
            "label": rs.Label(3, optional=True),
        }
    )
    there = {
        "scalar": 1.5,
        "small": 3,
        "matrix": [[1, 2], [3, 4]],
        "list": [1],
        "raw": [2.5],
        "text": "here",
        "label": 2,
    }
    payloads, rows = written(schema, [there, dict.fromkeys(there), there])
    assert_rows_same(schema, payloads, rows)
    batch = schema.parse_tf(payloads)
    assert batch["scalar"].to_list() == [[1.5], [], [1.5]]
    assert batch["matrix"].to_list() == [[[[1, 2], [3, 4]]], [], [[[1, 2], [3, 4]]]]
    assert batch["list"].to_list() == [[1], [], [1]]
    assert schema.parse_tf(payloads[1])["text"].shape == (0,)


def test_defaults_are_those_of_the_schema():
    schema = rs.Schema(
        {
            "scalar": rs.Scalar("float32", default=0.1),
            "small": rs.Scalar("uint8", default=200),
            "matrix": rs.Tensor("int64", (2, 2), default=[[1, 2], [3, 4]]),
            "raw": rs.Tensor("float64", (None,), default=[0.5, np.nan]),
            "text": rs.Text(default="nothing"),
            "pair": rs.Text((2,), default=["a", "b"]),
            "label": rs.Label(["cat", "dog"], default="dog"),
            "nothing": rs.Tensor("int64", (None,), default=[]),
        }
    )
    payloads, rows = written(schema, [dict.fromkeys(schema)])
    assert_rows_same(schema, payloads, rows)


@pytest.mark.parametrize(
    "feature", [rs.Tensor("int64", (None,), default=[1]), rs.Text((None,), default=["a"])], ids=repr
)
def test_a_default_that_tensorflow_could_not_tell_from_an_empty_list_is_refused(feature: Any):
    for attempt in (lambda s: s.to_tf(), lambda s: s.parse_tf([b""]), lambda s: s.to_tf_code()):
        with pytest.raises(rs.SchemaError, match="from an empty one") as caught:
            attempt(rs.Schema({"x": feature}))
        assert caught.value.feature == "x"


def test_steps():
    schema = rs.Schema(
        {
            "title": rs.Text(),
            "scores": rs.Steps(rs.Scalar("float32")),
            "frames": rs.Steps(rs.Image(encoding="png")),
            "pixels": rs.Steps(rs.Tensor("uint8", (2, 2))),
            "tokens": rs.Steps(rs.Tensor("int64", (None,))),
            "waves": rs.Steps(rs.Tensor("float64", (None, 2))),
            "small": rs.Steps(rs.Tensor("int8", (2,), storage="list")),
            "kinds": rs.Steps(rs.Label(["a", "b"])),
            "maybe": rs.Steps(rs.Text(), optional=True),
        }
    )
    payloads, rows = written(
        schema,
        (
            {
                "title": f"clip {n}",
                "scores": [0.5] * n,
                "frames": [png(2, 3, shade=step) for step in range(n)],
                "pixels": [numbers("uint8", (2, 2))] * n,
                "tokens": [list(range(step)) for step in range(n)],
                "waves": [np.ones((step, 2)) for step in range(n)],
                "small": [[-1, 2]] * n,
                "kinds": ["b"] * n,
                "maybe": None if n == 2 else ["x"] * n,
            }
            for n in (2, 0, 3)
        ),
    )
    assert_rows_same(schema, payloads, rows)
    context, lists = schema.to_tf()
    assert list(context) == ["title"]
    parsed, steps, _ = tf.io.parse_sequence_example(payloads, context, lists)
    assert parsed["title"].numpy().tolist() == [b"clip 2", b"clip 0", b"clip 3"]
    assert steps["scores"].shape == (3, 3)


def test_a_list_of_steps_that_should_be_there_and_is_not():
    payloads, _ = written(rs.Schema({"maybe": rs.Steps(rs.Text(), optional=True)}), [{"maybe": None}])
    with pytest.raises(tf.errors.InvalidArgumentError, match="maybe"):
        rs.Schema({"maybe": rs.Steps(rs.Text())}).parse_tf(payloads)


def test_to_tf_is_what_parse_example_takes():
    schema = rs.Schema(
        {
            "label": rs.Label(3),
            "box": rs.Tensor("float32", (2, 2)),
            "tokens": rs.Tensor("int64", (None,)),
            "score": rs.Scalar("float32", default=0.5),
        }
    )
    payloads, _ = written(
        schema,
        [{"label": 1, "box": [[1, 2], [3, 4]], "tokens": [5, 6]}, {"label": 0, "box": [[0, 0], [0, 0]], "tokens": []}],
    )
    parsed = tf.io.parse_example(payloads, schema.to_tf())
    assert parsed["box"].numpy().tolist() == [[[1, 2], [3, 4]], [[0, 0], [0, 0]]]
    assert parsed["tokens"].to_list() == [[5, 6], []]
    assert parsed["score"].numpy().tolist() == [0.5, 0.5]
    assert schema.to_tf()["label"] == tf.io.FixedLenFeature((), tf.int64)


def test_one_schema_of_nearly_everything():
    schema = rs.Schema(
        {
            "image": rs.Image(height=None, width=None, channels=3, encoding="jpeg"),
            "label": rs.Label(["cat", "dog"]),
            "boxes": rs.Tensor("float32", (None, 4)),
            "tokens": rs.Tensor("int64", (None,)),
            "score": rs.Scalar("float32", min=0, max=1, optional=True, default=0.0),
            "caption": rs.Text(),
            "tfidf": rs.Sparse("float32", size=20_000),
            "blob": rs.Packed({"pixels": ("uint8", (32, 16, 1)), "label": ("int64", ())}),
            "frames": rs.Steps(rs.Image(encoding="jpeg")),
        }
    )
    jpeg = png(4, 6, encoding="JPEG")
    payloads, rows = written(
        schema,
        (
            {
                "image": jpeg,
                "label": "dog",
                "boxes": np.ones((n, 4)),
                "tokens": range(n),
                "score": 0.5 if n else None,
                "caption": "ü" * n,
                "tfidf": {19_999: n} if n else {},
                "blob": {"pixels": np.full((32, 16, 1), n), "label": n},
                "frames": [jpeg] * n,
            }
            for n in range(3)
        ),
    )
    assert_rows_same(schema, payloads, rows)
    dataset = tf.data.Dataset.from_tensor_slices(payloads).batch(3).map(schema.parse_tf)
    (batch,) = dataset
    assert batch["frames"].row_lengths().numpy().tolist() == [0, 1, 2]
    assert batch["score"].numpy().tolist() == [0.0, 0.5, 0.5]
    context, steps = schema.to_tf()
    assert list(steps) == ["frames"]
    assert len(context) == 9
    assert rs.Schema.from_tfmd(schema.to_tfmd()) == schema
    without_steps = schema.select([name for name in schema if name != "frames"])
    assert list(without_steps.to_tfds()["featuresDict"]["features"]) == list(without_steps)


def every_kind() -> tuple[rs.Schema, list[bytes]]:
    schema = rs.Schema(
        {
            "fixed": rs.Tensor("uint16", (2, 3)),
            "free": rs.Tensor("float32", (None, 4)),
            "inner": rs.Tensor("uint8", (3, None)),
            "maybe": rs.Scalar("bool", optional=True),
            "text": rs.Text(),
            "image": rs.Image(4, 6, encoding="png"),
        }
    )
    payloads, _ = written(
        schema,
        (
            {
                "fixed": np.full((2, 3), n),
                "free": np.ones((n, 4)),
                "inner": np.ones((3, n)),
                "maybe": None if n else True,
                "text": "x",
                "image": png(4, 6),
            }
            for n in range(6)
        ),
    )
    return schema, payloads


def test_inside_tf_data_with_static_shapes():
    schema, payloads = every_kind()
    one = tf.data.Dataset.from_tensor_slices(payloads).map(schema.parse_tf)
    assert {name: (spec.dtype, spec.shape.as_list()) for name, spec in one.element_spec.items()} == {
        "fixed": (tf.uint16, [2, 3]),
        "free": (tf.float32, [None, 4]),
        "inner": (tf.uint8, [3, None]),
        "maybe": (tf.bool, [None]),
        "text": (tf.string, []),
        "image": (tf.string, []),
    }
    assert [row["fixed"].numpy()[0, 0] for row in one] == [0, 1, 2, 3, 4, 5]
    batched = tf.data.Dataset.from_tensor_slices(payloads).batch(2, drop_remainder=True).map(schema.parse_tf)
    shapes = {name: spec.shape.as_list() for name, spec in batched.element_spec.items()}
    assert shapes == {
        "fixed": [2, 2, 3],
        "free": [2, None, 4],
        "inner": [2, 3, None],
        "maybe": [2, None],
        "text": [2],
        "image": [2],
    }
    assert [batch["free"].row_lengths().numpy().tolist() for batch in batched] == [[0, 1], [2, 3], [4, 5]]


def test_inside_a_function_without_a_word_from_autograph(caplog: pytest.LogCaptureFixture):
    schema, payloads = every_kind()
    parse = tf.function(schema.parse_tf, input_signature=[tf.TensorSpec([None], tf.string)])
    assert parse(tf.constant(payloads))["fixed"].shape == (6, 2, 3)
    assert not [record for record in caplog.records if "AutoGraph" in record.getMessage()]


def test_no_records_at_all():
    schema, _ = every_kind()
    batch = schema.parse_tf(tf.zeros([0], tf.string))
    assert batch["fixed"].shape == (0, 2, 3)
    assert batch["free"].shape[0] == 0
    assert rs.Schema({}).parse_tf([b"", b""]) == {}


@pytest.mark.parametrize(
    ("stored", "feature", "message"),
    [
        ({"x": b"abc"}, rs.Tensor("uint8", (2, 2)), "does not contain the 4 bytes"),
        ({"x": b"abcdefgh"}, rs.Tensor("uint8", (2, 2)), "does not contain the 4 bytes"),
        ({"x": b"\x02"}, rs.Scalar("bool"), "outside bool"),
        ({"x": b"abc"}, rs.Tensor("int16", (None,)), "not a multiple of the size of int16"),
        ({"x": b"abcd"}, rs.Tensor("uint8", (None, 3)), "does not fill the shape"),
        ({"x": [1, 2, 3]}, rs.Tensor("int64", (None, 2)), "does not fill the shape"),
        ({"x": [300]}, rs.Scalar("uint8", storage="list"), "outside uint8"),
        ({"x": [-1]}, rs.Scalar("uint64", storage="list"), "outside uint64"),
        ({"x": [2]}, rs.Scalar("bool", storage="list"), "outside bool"),
        ({"x": [1e6]}, rs.Scalar("float16", storage="list"), "outside float16"),
        ({"x": [1, 2]}, rs.Scalar("int64", optional=True), "have no value or 1 values"),
        ({"y": [1]}, rs.Scalar("int64"), "x"),
        ({"x": [1.5]}, rs.Scalar("int64"), "x"),
    ],
    ids=lambda value: repr(value) if hasattr(value, "plan") else None,
)
def test_records_that_do_not_fit_are_an_error_that_names_the_feature(
    stored: dict[str, Any], feature: Any, message: str
):
    payload = rs.encode_example(stored)
    for records in ([payload, payload], payload):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message) as caught:
            rs.Schema({"x": feature}).parse_tf(records)
        assert "x" in caught.value.message


def test_images_are_decoded_on_request():
    schema = rs.Schema({"image": rs.Image(encoding="png"), "fixed": rs.Image(4, 6, channels=1)})
    rows = [{"image": png(n, 3), "fixed": png(4, 6, mode="L", shade=n)} for n in (2, 5)]
    payloads, _ = written(schema, rows)
    one = schema.parse_tf(payloads[1], decode_images=True)
    assert (one["image"].dtype, one["image"].shape) == (tf.uint8, (5, 3, 3))
    assert one["fixed"].numpy().tolist() == np.full((4, 6, 1), 5).tolist()
    batch = schema.parse_tf(payloads, decode_images=True)
    assert batch["fixed"].shape == (2, 4, 6, 1)
    assert batch["image"].shape.as_list() == [2, None, None, 3]
    assert batch["image"][0].to_tensor().shape == (2, 3, 3)
    mapped = tf.data.Dataset.from_tensor_slices(payloads).map(
        lambda record: schema.parse_tf(record, decode_images=True)
    )
    assert mapped.element_spec["image"].shape.as_list() == [None, None, 3]
    assert mapped.element_spec["fixed"].shape.as_list() == [4, 6, 1]
    wrong = rs.Schema({"image": rs.Image(9, 9)})
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="9"):
        wrong.parse_tf(payloads, decode_images=True)


def test_images_that_may_be_absent_and_images_in_steps_are_decoded():
    schema = rs.Schema(
        {"maybe": rs.Image(optional=True), "fixed": rs.Image(4, 6, optional=True), "frames": rs.Steps(rs.Image())}
    )
    rows = [
        {"maybe": png(n, 3) if n else None, "fixed": png(4, 6) if n else None, "frames": [png(2, 2)] * n}
        for n in (0, 2)
    ]
    payloads, _ = written(schema, rows)
    shapes = [
        {name: tensor.shape.as_list() for name, tensor in schema.parse_tf(records, decode_images=True).items()}
        for records in (payloads, payloads[:1], payloads[0], payloads[1])
    ]
    assert shapes == [
        {"maybe": [2, None, None, None, 3], "fixed": [2, None, 4, 6, 3], "frames": [2, None, None, None, 3]},
        {"maybe": [1, None, None, None, 3], "fixed": [1, None, 4, 6, 3], "frames": [1, None, None, None, 3]},
        {"maybe": [0, None, None, 3], "fixed": [0, 4, 6, 3], "frames": [0, None, None, 3]},
        {"maybe": [1, None, None, 3], "fixed": [1, 4, 6, 3], "frames": [2, None, None, 3]},
    ]
    frames = schema.parse_tf(payloads[1], decode_images=True)["frames"]
    assert frames[1].to_tensor().numpy().tolist() == np.full((2, 2, 3), 7).tolist()


@pytest.mark.parametrize("encoding", ["jpeg", "png", "webp", "bmp", "gif"])
def test_every_encoding_is_decoded_to_one_image(encoding: str):
    schema = rs.Schema({"image": rs.Image(4, 6, encoding=encoding)})
    payloads, _ = written(schema, [{"image": png(4, 6, encoding=encoding.upper())}])
    assert schema.parse_tf(payloads, decode_images=True)["image"].shape == (1, 4, 6, 3)


def test_the_code_as_text_does_the_same(tmp_path: Path):
    schema, payloads = every_kind()
    code = schema.to_tf_code()
    assert "recordsmith" not in code.partition("import tensorflow")[2]
    space: dict[str, Any] = {}
    exec(compile(code, "parsing.py", "exec"), space)
    expected = schema.parse_tf(payloads)
    for records in (payloads, payloads[3]):
        found, expected = space["parse"](records), schema.parse_tf(records)
        assert list(found) == list(expected)
        for name, tensor in expected.items():
            assert found[name].dtype == tensor.dtype
            assert repr(found[name]) == repr(tensor)
    mapped = tf.data.Dataset.from_tensor_slices(payloads).map(space["parse"])
    assert mapped.element_spec["fixed"].shape.as_list() == [2, 3]


def test_the_code_as_text_with_steps_odd_names_and_odd_defaults():
    schema = rs.Schema(
        {
            "a\"\n'b": rs.Scalar("float32", default=float("inf")),
            "nan": rs.Tensor("float32", (2,), default=[float("nan"), 0.1]),
            "words": rs.Steps(rs.Text()),
            "tokens": rs.Steps(rs.Tensor("uint16", (None,))),
        }
    )
    payloads, _ = written(schema, [{"a\"\n'b": None, "nan": None, "words": ["a", "b"], "tokens": [[1], []]}])
    space: dict[str, Any] = {}
    exec(schema.to_tf_code(), space)
    found, expected = space["parse"](payloads), schema.parse_tf(payloads)
    assert {name: repr(tensor) for name, tensor in found.items()} == {
        name: repr(tensor) for name, tensor in expected.items()
    }


def test_the_code_as_text_runs_on_a_machine_without_recordsmith(tmp_path: Path):
    schema = rs.Schema({"x": rs.Tensor("uint32", (2,)), "image": rs.Image()})
    payloads, _ = written(schema, [{"x": [1, 2**32 - 1], "image": png(2, 3)}])
    (tmp_path / "parsing.py").write_text(schema.to_tf_code(decode_images=True))
    (tmp_path / "record").write_bytes(payloads[0])
    script = (
        "import sys; sys.modules['recordsmith'] = None; import parsing;"
        "row = parsing.parse(open('record', 'rb').read()); print(row['x'].numpy().tolist(), row['image'].shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=200
    )
    assert done.stdout.strip() == "[1, 4294967295] (2, 3, 3)"


def test_without_tensorflow_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    schema = rs.Schema({"x": rs.Scalar("int64")})
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    for attempt in (schema.to_tf, lambda: schema.parse_tf([b""]), schema.to_tf_code):
        with pytest.raises(rs.MissingExtraError, match=r"pip install .tensorflow"):
            attempt()

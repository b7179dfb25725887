"""TFRecords that cannot be generated: what plain TensorFlow does, and what recordsmith does instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import recordsmith as rs

BytesList, FloatList, Int64List = tf.train.BytesList, tf.train.FloatList, tf.train.Int64List


def example(**features: Any) -> bytes:
    """Serialize a tf.train.Example, the usual way."""
    kinds = {BytesList: "bytes_list", FloatList: "float_list", Int64List: "int64_list"}
    feature = {name: tf.train.Feature(**{kinds[type(values)]: values}) for name, values in features.items()}
    serialized: bytes = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    return serialized


def parsed_by_tensorflow(folder: Path, schema: rs.Schema) -> dict[str, Any]:
    """Read a whole dataset with plain TensorFlow and the schema's own parsing, in one batch."""
    files = sorted(str(path) for path in folder.glob("*.tfrecord-*"))
    (batch,) = tf.data.TFRecordDataset(files).batch(10_000).map(schema.parse_tf)
    return dict(batch)


# --- D1: str instead of bytes ---


def test_d1_plain_tensorflow_names_neither_row_nor_feature():
    with pytest.raises(TypeError) as caught:
        example(image=BytesList(value=[b"..."]), label=BytesList(value=["cat"]))
    assert "label" not in str(caught.value)


def test_d1_text_is_encoded(tmp_path: Path):
    schema = rs.Schema({"label": rs.Text(), "n": rs.Scalar("int64")})
    names = ["cat", "chien", "猫", ""]
    with rs.write(tmp_path, schema) as writer:
        for n, name in enumerate(names):
            writer.add({"label": name, "n": n})
    batch = parsed_by_tensorflow(tmp_path, schema)
    assert [text.decode() for text in batch["label"].numpy()] == names


def test_d1_a_class_name_becomes_its_number(tmp_path: Path):
    schema = rs.Schema({"label": rs.Label(["cat", "dog"])})
    with rs.write(tmp_path, schema) as writer:
        writer.extend({"label": ["dog", "cat", "dog"]})
    assert parsed_by_tensorflow(tmp_path, schema)["label"].numpy().tolist() == [1, 0, 1]


@pytest.mark.parametrize(("feature", "value"), [(rs.Text(), 5), (rs.Bytes(), "str"), (rs.Text(), b"\xff")], ids=repr)
def test_d1_anything_else_is_an_error_with_row_feature_value_and_remedy(feature, value, tmp_path: Path):
    schema = rs.Schema({"n": rs.Scalar("int64"), "name": feature})
    fine = {rs.Text: "fine", rs.Bytes: b"fine"}[type(feature)]
    with rs.write(tmp_path / "out", schema) as writer:
        writer.extend({"n": n, "name": fine} for n in range(20))
        with pytest.raises(rs.EncodeError) as caught:
            writer.extend([{"n": 20, "name": fine}, {"n": 21, "name": value}])
    error = caught.value
    assert (error.row, error.feature) == (21, "name")
    assert error.found is not None
    assert error.expected is not None or error.advice is not None


# --- D2: arrays, lists of arrays, matrices, bool, float64, uint8, None, numpy scalars ---


def test_d2_plain_tensorflow_turns_a_large_number_into_infinity_without_a_word():
    assert FloatList(value=[1e300]).value[0] == float("inf")


@pytest.mark.parametrize(
    "values",
    [lambda: FloatList(value=np.eye(2)), lambda: FloatList(value=[np.zeros(2)]), lambda: FloatList(value=[None])],
    ids=["matrix", "list of arrays", "None"],
)
def test_d2_plain_tensorflow_refuses_most(values):
    with pytest.raises(TypeError):
        values()


D2: dict[str, tuple[Any, Any, np.ndarray[Any, Any]]] = {
    "array": (rs.Tensor("float32", (3,)), np.arange(3, dtype=np.float32), np.arange(3, dtype=np.float32)),
    "matrix": (rs.Tensor("float32", (2, 2)), np.eye(2), np.eye(2, dtype=np.float32)),
    "list of arrays": (rs.Tensor("int64", (2, 2)), [np.array([1, 2]), np.array([3, 4])], np.array([[1, 2], [3, 4]])),
    "bool": (rs.Scalar("bool"), True, np.array(True)),
    "float64": (rs.Scalar("float64"), 1e300, np.array(1e300)),
    "uint8": (rs.Tensor("uint8", (2,)), [0, 255], np.array([0, 255], np.uint8)),
    "numpy scalar": (rs.Scalar("int64"), np.int8(-3), np.array(-3)),
    "not contiguous": (rs.Tensor("int32", (2,)), np.arange(8, dtype=np.int32)[::4], np.array([0, 4], np.int32)),
    "big-endian": (rs.Scalar("float32"), np.array(1.5, ">f4"), np.array(1.5, np.float32)),
}


@pytest.mark.parametrize("case", D2)
def test_d2_each_value_has_one_meaning(case: str, tmp_path: Path):
    feature, value, expected = D2[case]
    schema = rs.Schema({"x": feature})
    with rs.write(tmp_path, schema) as writer:
        writer.add({"x": value})
    row = rs.open(tmp_path)[0]["x"]
    assert np.asarray(row).dtype == expected.dtype
    assert np.array_equal(row, expected)
    tensor = parsed_by_tensorflow(tmp_path, schema)["x"].numpy()[0]
    assert np.asarray(tensor).dtype == expected.dtype
    assert np.array_equal(tensor, expected)


@pytest.mark.parametrize(
    ("feature", "value"),
    [
        (rs.Scalar("float32"), 1e300),
        (rs.Scalar("int64"), 2**63),
        (rs.Scalar("int64"), 1.5),
        (rs.Scalar("uint8"), 256),
        (rs.Scalar("float32"), None),
        (rs.Scalar("float32"), "1.5"),
        (rs.Tensor("float32", (3,)), [1, 2]),
    ],
    ids=repr,
)
def test_d2_what_would_lose_something_is_refused(feature, value, tmp_path: Path):
    with rs.write(tmp_path / "out", rs.Schema({"x": feature})) as writer, pytest.raises(rs.EncodeError) as caught:
        writer.add({"x": value})
    assert (caught.value.row, caught.value.feature) == (0, "x")


def test_d2_unless_it_is_allowed(tmp_path: Path):
    schema = rs.Schema({"x": rs.Scalar("float32"), "n": rs.Scalar("int64")})
    with rs.write(tmp_path, schema, cast=True) as writer:
        writer.add({"x": 1e300, "n": 1.5})
    batch = parsed_by_tensorflow(tmp_path, schema)
    assert np.isinf(batch["x"].numpy()[0])
    assert batch["n"].numpy()[0] in (1, 2)


# --- D3: written as int64, read as float32 ---


@pytest.fixture
def ints(tmp_path: Path) -> Path:
    path = tmp_path / "ints.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for n in range(3):
            writer.write(example(feature_1=Int64List(value=[n, n + 1])))
    return path


def test_d3_plain_tensorflow_names_no_file_and_no_record(ints: Path):
    dataset = tf.data.TFRecordDataset(str(ints)).map(
        lambda record: tf.io.parse_single_example(record, {"feature_1": tf.io.FixedLenFeature([2], tf.float32)})
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Data types don't match") as caught:
        list(dataset)
    assert "ints.tfrecord" not in str(caught.value)


def test_d3_another_schema_says_found_and_expected(ints: Path):
    with pytest.raises(rs.SchemaMismatchError) as caught:
        list(rs.open(ints, schema=rs.Schema({"feature_1": rs.Tensor("float32", (2,))})))
    text = str(caught.value)
    assert "ints.tfrecord" in text
    assert "record 0" in text
    assert caught.value.feature == "feature_1"
    assert "int64" in str(caught.value.found)
    assert "float" in str(caught.value.expected)


def test_d3_one_schema_for_both_sides_cannot_differ(tmp_path: Path):
    schema = rs.Schema({"feature_1": rs.Tensor("float32", (2,))})
    rs.make({"feature_1": np.array([[1, 2], [3, 4]])}, tmp_path / "out", schema=schema, shuffle=False)
    batch = parsed_by_tensorflow(tmp_path / "out", rs.open(tmp_path / "out").schema)
    assert batch["feature_1"].dtype == tf.float32
    assert batch["feature_1"].numpy().tolist() == [[1, 2], [3, 4]]


# --- D4: variable length against a fixed shape ---

SEQUENCES = [[1, 2, 3], [4], [], [5, 6, 7, 8]]


def test_d4_plain_tensorflow_speaks_of_slices():
    serialized = example(feature_2=Int64List(value=[1, 2, 3, 4]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Some int64_list slice was not parsed"):
        tf.io.parse_single_example(serialized, {"feature_2": tf.io.FixedLenFeature([3], tf.int64)})


def test_d4_declared_free_it_is_ragged_and_padded_on_demand(tmp_path: Path):
    schema = rs.Schema({"tokens": rs.Tensor("int64", (None,))})
    rs.make([{"tokens": sequence} for sequence in SEQUENCES], tmp_path / "out", schema=schema, shuffle=False)
    (batch,) = rs.open(tmp_path / "out").batch(10)
    assert isinstance(batch["tokens"], rs.Ragged)
    assert [row.tolist() for row in batch["tokens"]] == SEQUENCES
    padded = batch["tokens"].to_padded()
    assert padded.tolist() == [[1, 2, 3, 0], [4, 0, 0, 0], [0, 0, 0, 0], [5, 6, 7, 8]]
    tensor = parsed_by_tensorflow(tmp_path / "out", schema)["tokens"]
    assert tensor.to_list() == SEQUENCES


def test_d4_a_fixed_shape_says_which_row_is_longer(tmp_path: Path):
    with rs.write(tmp_path / "out", rs.Schema({"tokens": rs.Tensor("int64", (3,))})) as writer:
        writer.add({"tokens": [1, 2, 3]})
        with pytest.raises(rs.EncodeError) as caught:
            writer.add({"tokens": [4]})
    assert (caught.value.row, caught.value.feature) == (1, "tokens")
    assert "1" in str(caught.value.found)
    assert "3" in str(caught.value.expected)


# --- D5: the shape of a matrix is lost ---


def test_d5_plain_tensorflow_gives_a_row_of_numbers():
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    serialized = example(x=FloatList(value=matrix.flatten()))
    parsed = tf.io.parse_single_example(serialized, {"x": tf.io.VarLenFeature(tf.float32)})["x"]
    assert tf.sparse.to_dense(parsed).shape == (6,)


@pytest.mark.parametrize(
    "shape", [(2, 3), (None, 3), (2, None), (None, None), (2, None, 3)], ids=lambda shape: "x".join(map(str, shape))
)
@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
def test_d5_the_schema_gives_it_back(shape, dtype: Any, tmp_path: Path):
    rng = np.random.default_rng(0)
    matrices = [
        rng.integers(0, 9, [rng.integers(1, 4) if size is None else size for size in shape]).astype(dtype)
        for _ in range(8)
    ]
    schema = rs.Schema({"x": rs.Tensor(dtype, shape)})
    rs.make([{"x": matrix} for matrix in matrices], tmp_path / "out", schema=schema, shuffle=False)
    stored = rs.open(tmp_path / "out")
    assert stored.schema == schema
    for row, matrix in zip(stored, matrices, strict=True):
        assert row["x"].shape == matrix.shape
        assert row["x"].dtype == matrix.dtype
        assert np.array_equal(row["x"], matrix)
    for record, matrix in zip(
        tf.data.TFRecordDataset([str(path) for path in sorted((tmp_path / "out").glob("*.tfrecord-*"))]),
        matrices,
        strict=True,
    ):
        tensor = schema.parse_tf(tf.reshape(record, [1]))["x"][0]
        values = tensor.to_tensor() if isinstance(tensor, tf.RaggedTensor) else tensor
        assert np.array_equal(values.numpy(), matrix)

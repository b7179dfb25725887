"""Schemas to and from TensorFlow Metadata, compared with its own protobuf messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.schema.export.prototext import read_prototext, write_prototext

EVERYTHING = rs.Schema(
    {
        "image": rs.Image(encoding="jpeg"),
        "label": rs.Label(["cat", "dog"], description='what it "shows"\nand where'),
        "grade": rs.Label(5, optional=True),
        "age": rs.Scalar("int64", min=0, max=150),
        "share": rs.Scalar("float32", min=0, max=1, finite=True),
        "ratio": rs.Scalar("float32", default=0.5),
        "choice": rs.Scalar("int64", one_of=[1, 5, 3]),
        "kind": rs.Text(one_of=["a", "b\\c"]),
        "title": rs.Text(optional=True),
        "words": rs.Text((None,), min_length=1, max_length=9),
        "blob": rs.Bytes(),
        "box": rs.Tensor("float32", (2, 2)),
        "maybe": rs.Tensor("float32", (4,), optional=True),
        "tokens": rs.Tensor("int64", (None,), max_length=512),
        "pairs": rs.Tensor("int64", (None, 2), min_length=1, max_length=3),
        "raw": rs.Tensor("uint8", (2, 3)),
        "small": rs.Scalar("int8", storage="list"),
        "flag": rs.Scalar("bool", storage="list"),
        "map": rs.Tensor("float32", (None, None, 3)),
        "blob2": rs.Packed({"a": ("uint8", (2,))}),
        "tfidf": rs.Sparse("float32", 100, optional=True),
        "nested/name ü": rs.Scalar("uint64", storage="list"),
    }
)
STEPS = rs.Schema(
    {"title": rs.Text(), "scores": rs.Steps(rs.Scalar("float32", min=0)), "words": rs.Steps(rs.Text((None,)))}
)


@pytest.fixture(scope="module")
def tfmd() -> Any:
    pytest.importorskip("tensorflow_metadata")
    from google.protobuf import text_format
    from tensorflow_metadata.proto.v0 import schema_pb2

    class Tfmd:
        pb2 = schema_pb2

        @staticmethod
        def parse(text: str) -> Any:
            return text_format.Parse(text, schema_pb2.Schema())

        @staticmethod
        def text(message: Any) -> str:
            return str(text_format.MessageToString(message))

    return Tfmd


def by_name(schema: Any) -> dict[str, Any]:
    return {feature.name: feature for feature in schema.feature}


def test_their_parser_reads_what_is_written(tfmd: Any):
    parsed = tfmd.parse(EVERYTHING.to_tfmd())
    found = by_name(parsed)
    stored = [column.key for column in EVERYTHING.plan()]
    assert list(found) == stored
    assert {name: tfmd.pb2.FeatureType.Name(feature.type) for name, feature in found.items()} == {
        **dict.fromkeys(["image", "kind", "title", "words", "blob", "raw", "map/value", "blob2"], "BYTES"),
        **dict.fromkeys(["share", "ratio", "box", "maybe", "tfidf/values"], "FLOAT"),
        **dict.fromkeys(
            [
                "label",
                "grade",
                "age",
                "choice",
                "tokens",
                "pairs",
                "small",
                "flag",
                "nested/name ü",
                "map/shape",
                "tfidf/indices",
            ],
            "INT",
        ),
    }
    for column in EVERYTHING.plan():
        required = column.presence == "required"
        assert found[column.key].presence.min_fraction == (1.0 if required else 0.0)
        assert found[column.key].presence.min_count == (1 if required else 0)
    (sparse,) = parsed.sparse_feature
    assert (sparse.name, sparse.is_sorted, sparse.value_feature.name) == ("tfidf", True, "tfidf/values")
    assert [index.name for index in sparse.index_feature] == ["tfidf/indices"]
    assert found["tfidf/indices"].int_domain.max == 99
    assert (found["age"].int_domain.min, found["age"].int_domain.max) == (0, 150)
    assert (found["share"].float_domain.min, found["share"].float_domain.max) == (0, 1)
    assert found["share"].float_domain.disallow_nan
    assert found["share"].float_domain.disallow_inf
    assert (found["choice"].int_domain.min, found["choice"].int_domain.max) == (1, 5)
    assert list(found["kind"].string_domain.value) == ["a", "b\\c"]
    assert (found["small"].int_domain.min, found["small"].int_domain.max) == (-128, 127)
    assert found["flag"].HasField("bool_domain")
    assert found["image"].HasField("image_domain")
    assert [dim.size for dim in found["box"].shape.dim] == [2, 2]
    assert found["raw"].HasField("shape")
    assert not found["raw"].shape.dim
    assert (found["maybe"].value_count.min, found["maybe"].value_count.max) == (4, 4)
    assert (found["words"].value_count.min, found["words"].value_count.max) == (1, 9)
    assert (found["tokens"].value_count.min, found["tokens"].value_count.max) == (0, 512)
    assert (found["pairs"].value_count.min, found["pairs"].value_count.max) == (2, 6)
    assert found["label"].annotation.comment == ['what it "shows"\nand where']
    assert (found["label"].int_domain.min, found["label"].int_domain.max) == (0, 1)
    assert found["label"].int_domain.is_categorical
    domains = {domain.name: list(domain.value) for domain in parsed.string_domain}
    assert domains[found["label"].int_domain.name] == ["cat", "dog"]


def test_steps_are_where_tfx_has_them(tfmd: Any):
    parsed = by_name(tfmd.parse(STEPS.to_tfmd()))
    assert list(parsed) == ["title", "##SEQUENCE##"]
    inner = by_name(parsed["##SEQUENCE##"].struct_domain)
    assert list(inner) == ["scores", "words"]
    assert [count.max for count in inner["scores"].value_counts.value_count] == [0, 1]
    assert inner["scores"].float_domain.min == 0


@pytest.mark.parametrize("schema", [EVERYTHING, STEPS, rs.Schema({})], ids=["everything", "steps", "nothing"])
def test_there_and_back(schema: rs.Schema, tmp_path: Path):
    assert rs.Schema.from_tfmd(schema.to_tfmd()) == schema
    assert list(rs.Schema.from_tfmd(schema.to_tfmd())) == list(schema)
    (tmp_path / "schema.pbtxt").write_text(schema.to_tfmd(), encoding="utf-8")
    assert rs.Schema.from_tfmd(tmp_path / "schema.pbtxt") == schema
    assert rs.Schema.from_tfmd(str(tmp_path / "schema.pbtxt")) == schema


@pytest.mark.parametrize("schema", [EVERYTHING, STEPS], ids=["everything", "steps"])
def test_there_and_back_through_their_writer(tfmd: Any, schema: rs.Schema):
    assert rs.Schema.from_tfmd(tfmd.text(tfmd.parse(schema.to_tfmd()))) == schema


def test_what_somebody_changed_counts_and_not_the_tag():
    text = rs.Schema({"age": rs.Scalar("uint8", storage="list"), "kind": rs.Label(["cat", "dog"])}).to_tfmd()
    changed = rs.Schema.from_tfmd(text.replace("max: 255", "max: 99"))
    assert changed["age"] == rs.Scalar("int64", min=0, max=99)
    assert changed["kind"] == rs.Label(["cat", "dog"])
    renamed = rs.Schema.from_tfmd(text.replace('value: "cat"', 'value: "lion"'))
    assert renamed["kind"] == rs.Label(["lion", "dog"])
    sparse = rs.Schema({"x": rs.Sparse("float32", 100)}).to_tfmd()
    assert rs.Schema.from_tfmd(sparse.replace("max: 99", "max: 49"))["x"] == rs.Sparse("float32", 50)


def test_a_schema_of_tfdv():
    text = """
    # As StatisticsGen and SchemaGen leave it.
    feature {
      name: "pickup_community_area"  type: INT
      presence < min_fraction: 1.0, min_count: 1 >
      shape { dim { size: 1 } }
    }
    feature: {
      name: 'payment' "_type"; type: BYTES
      domain: "payment_type"
      presence { min_fraction: 1 min_count: 1 }
      shape { dim { size: 1 } }
      in_environment: ["TRAINING", "SERVING"]
    }
    feature { name: "tips" type: FLOAT value_count { min: 1 max: 1 } presence { min_count: 1 }
              float_domain { min: -1.5e1 max: inf } drift_comparator { jensen_shannon_divergence { threshold: 0.01 } } }
    feature { name: "tokens" type: INT value_count { min: 1 } int_domain { min: 0 max: 0x7fff } }
    feature { name: "raw" type: BYTES annotation { comment: "\\303\\274ber" } }
    string_domain { name: "payment_type" value: "Cash" value: "Credit Card" }
    default_environment: "TRAINING"
    """
    assert dict(rs.Schema.from_tfmd(text)) == {
        "pickup_community_area": rs.Tensor("int64", (1,)),
        "payment_type": rs.Text((1,), one_of=["Cash", "Credit Card"]),
        "tips": rs.Scalar("float32", min=-15.0, optional=True),
        "tokens": rs.Tensor("int64", (None,), min=0, max=32767, min_length=1, optional=True),
        "raw": rs.Bytes((None,), optional=True, description="über"),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("feature { name: 'x' type: STRUCT }", "STRUCT"),
        ("feature { name: 'x' }", "TYPE_UNKNOWN"),
        (
            "feature { name: 'x' type: INT value_counts { value_count { min: 1 } value_count { min: 1 } } }",
            "Nested lists",
        ),
        ("feature { name: 'x' type: BYTES shape { dim { size: 2 } dim { size: 2 } } }", "one dimension"),
        ("feature { name: 'x' type: INT", "line 1"),
        ("feature {\n name: 'x' }\n }", "line 3"),
        ("feature {\n name: \x00 }", "line 2"),
        ("{ 3 }", "line 1"),
        ("a {" * 200, "nested messages"),
        ("feature: 3\n", "not a schema"),
        ("feature { name: 'x' type: INT shape: 3 }", "not a schema"),
        ("feature { name: 'x' type: INT value_count { min: MANY } }", "not a schema"),
    ],
)
def test_what_cannot_be_read_says_so(text: str, reason: str):
    with pytest.raises(rs.SchemaError, match=reason):
        rs.Schema.from_tfmd(text)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    (tmp_path / "schema.pbtxt").write_text("feature { name }")
    with pytest.raises(rs.SchemaError) as caught:
        rs.Schema.from_tfmd(tmp_path / "schema.pbtxt")
    assert str(caught.value.path).endswith("schema.pbtxt")
    with pytest.raises(FileNotFoundError):
        rs.Schema.from_tfmd("nowhere/schema.pbtxt")


@pytest.mark.parametrize("text", ["plain", "quotes \" and ' and \\", "\x00\x01\x7f\n\t\r", "ü €  😀", ""])
def test_strings_come_back_and_mean_the_same_to_protobuf(tfmd: Any, text: str):
    written = write_prototext({"feature": [{"name": [text]}]})
    assert read_prototext(written) == {"feature": [{"name": [text]}]}
    assert tfmd.parse(written).feature[0].name == text
    assert read_prototext(tfmd.text(tfmd.parse(written))) == {"feature": [{"name": [text]}]}

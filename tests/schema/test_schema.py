"""Schema: a mapping that does not change, its JSON form, and whole batches."""

from __future__ import annotations

import copy
import json
import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.errors import EncodeError, SchemaError, SchemaMismatchError
from recordsmith.schema import Bytes, Feature, PlanColumn, Scalar, Schema, Steps, Tensor, Text

WHOLE = Schema(
    {
        "image": Bytes(description="a JPEG"),
        "boxes": Tensor("float32", (None, 4)),
        "pixels": Tensor("uint8", (2, 2), optional=True),
        "score": Scalar("float32", default=float("nan")),
        "größe": Scalar("float64", optional=True),
        "raw": Bytes((2,), default=[b"\xff", b""]),
        "phase": Scalar("complex64", default=1 - 2j),
        "flag": Scalar("bool", storage="list"),
        "words": Steps(Text((None,)), optional=True),
    }
)


class TestMapping:
    def test_it_is_a_mapping(self) -> None:
        assert isinstance(WHOLE, Mapping)
        assert list(WHOLE)[:2] == ["image", "boxes"]
        assert len(WHOLE) == 9
        assert WHOLE["image"] == Bytes(description="a JPEG")
        assert "image" in WHOLE
        assert "img" not in WHOLE
        assert WHOLE.get("img") is None
        assert dict(WHOLE.items())["flag"] == Scalar("bool", storage="list")
        assert len(Schema({})) == 0

    def test_a_wrong_name_is_answered_with_the_nearest(self) -> None:
        with pytest.raises(KeyError, match="Did you mean 'image'"):
            WHOLE["imgae"]

    def test_it_does_not_change(self) -> None:
        features: dict[str, Feature] = {"a": Text()}
        schema = Schema(features)
        features["b"] = Text()
        assert list(schema) == ["a"]
        with pytest.raises(AttributeError, match="cannot be changed"):
            schema.a = 1
        with pytest.raises(AttributeError, match="cannot be changed"):
            del schema._features
        with pytest.raises(TypeError):
            schema["b"] = Text()  # type: ignore[index]

    def test_equality(self) -> None:
        one = Schema({"a": Text(), "b": Scalar("int64")})
        assert one == Schema({"b": Scalar("int64"), "a": Text()})
        assert hash(one) == hash(Schema({"b": Scalar("int64"), "a": Text()}))
        assert one != Schema({"a": Text()})
        assert one != Schema({"a": Text(), "b": Scalar("int32")})
        assert one != {"a": Text(), "b": Scalar("int64")}
        assert pickle.loads(pickle.dumps(WHOLE)) == copy.deepcopy(WHOLE) == WHOLE
        assert list(pickle.loads(pickle.dumps(WHOLE))) == list(WHOLE)

    def test_the_repr_is_aligned_and_builds_it_again(self) -> None:
        schema = Schema({"a": Text(), "longer": Tensor("int64", (None,))})
        assert repr(schema) == "Schema({\n    'a':      Text(),\n    'longer': Tensor('int64', (None,)),\n})"
        names = {kind.__name__: kind for kind in (Schema, Bytes, Scalar, Steps, Tensor, Text)}
        assert eval(repr(WHOLE), {**names, "nan": float("nan")}) == WHOLE
        assert repr(Schema({})) == "Schema({})"

    def test_select(self) -> None:
        assert list(WHOLE.select(["flag", "image"])) == ["flag", "image"]
        assert list(WHOLE.select("image")) == ["image"]
        assert WHOLE.select(iter(["image"])) == Schema({"image": WHOLE["image"]})
        with pytest.raises(SchemaError, match=r"no feature 'flags'\. Did you mean 'flag'"):
            WHOLE.select(["flags"])


class TestDeclaring:
    @pytest.mark.parametrize(
        ("features", "said"),
        [
            ([("a", Text())], "needs a mapping"),
            ({3: Text()}, "must be a string"),
            ({"\ud800": Text()}, "UTF-8"),
            ({"a": "float32"}, "must be a feature"),
            ({"a": Text}, r"Call it: Text\(\.\.\.\)"),
            ({"a": np.float32}, "must be a feature"),
        ],
    )
    def test_refusals(self, features: Any, said: str) -> None:
        with pytest.raises(SchemaError, match=said):
            Schema(features)

    def test_any_utf8_name_is_allowed(self) -> None:
        assert len(Schema({"": Text(), "a/b": Text(), "x y\0": Text(), "größe": Text()})) == 4

    def test_two_features_cannot_share_what_is_stored(self) -> None:
        class Pair(Text):
            def plan(self, name: str) -> tuple[PlanColumn, ...]:
                return PlanColumn(f"{name}/a", "bytes", 1), PlanColumn(f"{name}/b", "bytes", 1)

        assert [column.key for column in Schema({"p": Pair(), "q": Text()}).plan()] == ["p/a", "p/b", "q"]
        with pytest.raises(SchemaError, match="same name 'p/b'"):
            Schema({"p": Pair(), "p/b": Text()})


class TestJson:
    def test_round_trip(self, tmp_path: Path) -> None:
        path = tmp_path / "schema.json"
        WHOLE.save(path)
        again = Schema.load(path)
        assert again == WHOLE
        assert list(again) == list(WHOLE)
        assert again["image"].description == "a JPEG"
        json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)  # no NaN, which JSON has not
        assert Schema.load(str(path)) == WHOLE
        assert os.listdir(tmp_path) == ["schema.json"]

    def test_the_form_is_pinned(self) -> None:
        # Files with this form exist: a change needs a new version number, and code that still reads this one.
        schema = Schema(
            {
                "a": Tensor("float32", (None, 4), description="boxes"),
                "b": Scalar("uint8", optional=True, storage="list"),
                "c": Bytes((None,), default=[b"\xff"]),
                "d": Steps(Text(), optional=True),
            }
        )
        assert schema.to_json() == {
            "format": "recordsmith-schema",
            "version": 1,
            "features": {
                "a": {"type": "tensor", "dtype": "float32", "shape": [None, 4], "description": "boxes"},
                "b": {"type": "scalar", "dtype": "uint8", "optional": True, "storage": "list"},
                "c": {"type": "bytes", "shape": [None], "default": ["/w=="]},
                "d": {"type": "steps", "feature": {"type": "text"}, "optional": True},
            },
        }

    def test_saving_replaces_and_leaves_nothing_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "schema.json"
        Schema({"a": Text()}).save(path)

        def fail(*_: object) -> None:
            raise OSError("disk full")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="disk full"):
                WHOLE.save(path)
        assert os.listdir(tmp_path) == ["schema.json"]
        assert Schema.load(path) == Schema({"a": Text()})
        WHOLE.save(path)
        assert Schema.load(path) == WHOLE
        with pytest.raises(FileNotFoundError):
            WHOLE.save(tmp_path / "no such folder" / "schema.json")

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"format": "something"}, "not a recordsmith schema"),
            ({"version": 2}, "version 2"),
            ({"version": None}, "version"),
            ({"extra": 1}, "unknown or missing entries"),
            ({"features": None}, "unknown or missing entries"),
            ({"features": {"a": {"type": "txet"}}}, r"type 'txet'\. Did you mean 'text'"),
            ({"features": {"a": {}}}, "Unknown feature type None"),
            ({"features": {"a": "text"}}, "Unknown feature type"),
            ({"features": {"a": {"type": "text", "encoding": "x"}}}, "no setting 'encoding'"),
            ({"features": {"a": {"type": "scalar", "dtype": "float33"}}}, "Did you mean 'float32'"),
            ({"features": {"a": {"type": "scalar"}}}, "incomplete"),
            ({"features": {"a": {"type": "scalar", "dtype": "uint8", "default": 300}}}, "default does not fit"),
        ],
    )
    def test_what_is_unknown_is_refused(self, change: dict[str, Any], said: str, tmp_path: Path) -> None:
        document = {"format": "recordsmith-schema", "version": 1, "features": {}, **change}
        path = tmp_path / "schema.json"
        path.write_text(json.dumps(document))
        with pytest.raises(SchemaError, match=said) as caught:
            Schema.load(path)
        assert caught.value.path == str(path)
        if change.get("features"):
            assert caught.value.feature == "a"

    @pytest.mark.parametrize(
        "content", [b"", b"{", b"[1]", b"3", b"\xff\xfe\xff", b'{"format": 1, "format": 2}', b"not json"]
    )
    def test_what_is_no_schema_is_refused(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "schema.json"
        path.write_bytes(content)
        with pytest.raises(SchemaError) as caught:
            Schema.load(path)
        assert caught.value.path == str(path)


class TestBatches:
    def test_assemble(self) -> None:
        schema = Schema({"a": Scalar("int64"), "b": Text(), "c": Tensor("int16", (None,))})
        assert [column.key for column in schema.plan()] == ["a", "b", "c"]
        batch = schema.assemble(
            [
                (np.array([1, 2]), None, None, None),
                (np.frombuffer(b"xyz", np.uint8), np.array([0, 1, 3]), None, None),
                (np.array([1, 0, 2, 0], np.uint8), np.array([0, 4, 4]), None, None),
            ]
        )
        assert list(batch) == ["a", "b", "c"]
        assert batch["a"].tolist() == [1, 2]
        assert batch["b"] == ["x", "yz"]
        assert batch["c"] == [[1, 2], []]

    def test_a_mismatch_names_the_feature(self) -> None:
        with pytest.raises(SchemaMismatchError) as caught:
            Schema({"c": Tensor("int16", (None,))}).assemble([(np.zeros(3, np.uint8), np.array([0, 3]), None, None)])
        assert caught.value.feature == "c"

    def test_columns_to_parts(self, through_core: Any) -> None:
        columns = {
            "image": [b"a", b"b"],
            "boxes": [np.zeros((1, 4)), []],
            "pixels": np.ma.array(np.ones((2, 2, 2), np.uint8), mask=[[[True] * 2] * 2, [[False] * 2] * 2]),
            "größe": [1.5, None],
            "raw": [None, [b"x", b"y"]],
            "flag": np.array([True, False]),
            "words": [[["a"], []], None],
        }
        rows, parts = WHOLE.columns_to_parts(columns)
        assert rows == 2
        assert len(parts) == len(WHOLE.plan())
        decoded = [
            part
            for (name, feature), given in zip(WHOLE.items(), parts, strict=True)
            for part in through_core(feature, [given])
        ]
        batch = WHOLE.assemble(decoded)
        assert batch["image"] == [b"a", b"b"]
        assert [len(row) for row in batch["boxes"]] == [1, 0]
        assert batch["pixels"].tolist() == [[[None] * 2] * 2, [[1] * 2] * 2]
        assert np.isnan(batch["score"]).all()
        assert batch["größe"].tolist() == [1.5, None]
        assert batch["raw"] == [[b"\xff", b""], [b"x", b"y"]]
        assert batch["phase"].tolist() == [1 - 2j] * 2
        assert batch["flag"].dtype == np.bool_
        assert batch["words"].to_list() == [[["a"], []], None]

    @pytest.mark.parametrize(
        ("columns", "said", "feature"),
        [
            (
                {"labl": [1], "text": ["a"]},
                "column 'labl', but the schema has no such feature. Did you mean 'label'",
                None,
            ),
            ({"label": [1]}, "column for the feature 'text' is missing", "text"),
            ({"label": [1], "text": ["a"], "x": [1]}, "column 'x', but the schema has no such feature", None),
            ({"label": [1, 2], "text": ["a"]}, "'label' has 2 rows, 'text' has 1", None),
            ({"label": 1, "text": ["a"]}, "must have a length", "label"),
            ({"label": np.array(1), "text": ["a"]}, "must have a length", "label"),
            ({"label": (n for n in [1]), "text": ["a"]}, "must have a length", "label"),
            ({"label": ["x"], "text": ["a"]}, "not a number", "label"),
            ({"label": [1], "text": "a"}, "as a column", "text"),
            ([[1]], "given by name", None),
            (np.zeros(3), "given by name", None),
        ],
    )
    def test_refusals(self, columns: Any, said: str, feature: str | None) -> None:
        schema = Schema({"label": Scalar("int64"), "text": Text()})
        with pytest.raises(EncodeError, match=said) as caught:
            schema.columns_to_parts(columns)
        assert caught.value.feature == feature

    def test_the_error_says_everything(self) -> None:
        with pytest.raises(EncodeError) as caught:
            Schema({"age": Scalar("uint8")}).columns_to_parts({"age": [1, 2, 300]})
        assert str(caught.value) == (
            "A value does not fit the feature's type.\n"
            "  where:    row 2, feature 'age'\n"
            "  found:    300 (int64)\n"
            "  expected: uint8, an integer from 0 to 255\n"
            "  to do:    Declare a type that can hold it, change the value, or allow the loss with cast=True."
        )

    def test_nothing_at_all(self) -> None:
        assert Schema({}).columns_to_parts({}) == (0, [])
        rows, parts = Schema({"a": Text(optional=True)}).columns_to_parts({})
        assert (rows, len(parts)) == (0, 1)

    def test_columns_of_our_own_go_in_again(self) -> None:
        schema = Schema({"a": Bytes(), "b": Tensor("int64", (None,))})
        rows, _ = schema.columns_to_parts({"a": ByteColumn(b"xy", [0, 1, 2]), "b": Ragged(np.arange(3), [0, 3, 3])})
        assert rows == 2

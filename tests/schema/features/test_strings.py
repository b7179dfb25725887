"""Text and Bytes: one string a row, several, or a number that varies."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsmith.columns import ByteColumn, Ragged
from recordsmith.errors import EncodeError, SchemaError, SchemaMismatchError
from recordsmith.schema import Bytes, Feature, Text


def only(parts: tuple[Any, ...]) -> Any:
    (part,) = parts
    return part


class TestDeclaring:
    def test_plans(self) -> None:
        column = only(Text().plan("x"))
        assert (column.kind, column.count, column.row_bytes, column.presence) == ("bytes", 1, None, "required")
        assert only(Bytes((3,)).plan("x")).count == 3
        assert only(Bytes((None,)).plan("x")).count is None

    def test_defaults(self) -> None:
        assert only(Text(default="é").plan("x")).default == "é".encode()
        assert only(Bytes(default=b"").plan("x")).default == b""
        assert only(Text((1,), default=["a"]).plan("x")).default == b"a"
        assert only(Text((2,), default=["a", "b"]).plan("x")).default == [b"a", b"b"]
        assert only(Text((None,), default=[]).plan("x")).default == []
        assert Text((None,), default=["a"]).default == ("a",)
        assert Text(default="").presence == "default"

    @pytest.mark.parametrize(
        ("kind", "shape", "default"),
        [
            (Text, (), 3),
            (Text, (), ["a"]),
            (Text, (), b"\xff"),
            (Bytes, (), "a"),
            (Text, (2,), "ab"),
            (Text, (2,), ["a"]),
            (Bytes, (None,), [b"a", "b"]),
        ],
    )
    def test_a_default_must_fit(self, kind: Any, shape: Any, default: Any) -> None:
        with pytest.raises(SchemaError, match="default does not fit"):
            kind(shape, default=default)

    def test_shapes(self) -> None:
        with pytest.raises(SchemaError, match="at most one dimension"):
            Text((2, 3))
        with pytest.raises(SchemaError, match="must be a tuple"):
            Bytes(3)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            Text((), True)  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            Text(encoding="latin-1")  # type: ignore[call-arg]

    @pytest.mark.parametrize(
        ("feature", "shown"),
        [
            (Text(), "Text()"),
            (Bytes((None,)), "Bytes((None,))"),
            (Text(default="x"), "Text(default='x')"),
            (Bytes((2,), optional=True), "Bytes((2,), optional=True)"),
            (Bytes(default=b"\xff"), "Bytes(default=b'\\xff')"),
            (Text((2,), default=["a", "b"]), "Text((2,), default=('a', 'b'))"),
            (Bytes((2,), default=[b"a", b"\xff"]), "Bytes((2,), default=(b'a', b'\\xff'))"),
        ],
    )
    def test_repr_json_and_pickle_build_it_again(self, feature: Feature, shown: str) -> None:
        assert repr(feature) == shown
        settings = feature.to_json()
        del settings["type"]
        assert type(feature).from_json(settings) == feature
        assert pickle.loads(pickle.dumps(feature)) == feature

    def test_text_and_bytes_differ(self) -> None:
        assert Text() != Bytes()

    @pytest.mark.parametrize("default", ["not base64!", 3, [3], ["é"]])
    def test_bad_json(self, default: Any) -> None:
        with pytest.raises(SchemaError, match="base64"):
            Bytes.from_json({"default": default})


class TestAssemble:
    def test_one_string(self) -> None:
        data, offsets = np.frombuffer(b"catdog", np.uint8), np.array([0, 3, 3, 6])
        column = Text(optional=True).assemble([(data, offsets, np.array([True, False, True]), None)])
        assert column == ["cat", None, "dog"]
        assert isinstance(column, ByteColumn)
        assert np.shares_memory(column.data, data)
        assert Text(optional=True).row(column, 0) == "cat"
        assert Text(optional=True).row(column, 1) is None
        assert Bytes().assemble([(data, offsets, None, None)]) == [b"cat", b"", b"dog"]

    @pytest.mark.parametrize("shape", [(None,), (2,)])
    def test_several(self, shape: Any) -> None:
        values = (np.frombuffer(b"catdog", np.uint8), np.array([0, 1, 3, 5, 6]))
        column = Text(shape).assemble([(values, np.array([0, 2, 4]), None, None)])
        assert column == [["c", "at"], ["do", "g"]]
        assert Text(shape).row(column, 1) == ["do", "g"]

    def test_exactly_one_in_a_list(self) -> None:
        data, offsets = np.frombuffer(b"catdog", np.uint8), np.array([0, 3, 3, 6])
        assert Bytes((1,)).assemble([(data, offsets, None, None)]) == [[b"cat"], [b""], [b"dog"]]
        present = np.array([True, False, True])
        column = Bytes((1,), optional=True).assemble([(data, offsets, present, None)])
        assert column == [[b"cat"], None, [b"dog"]]
        assert Bytes((1,)).row(column, 1) is None

    def test_text_that_is_not_utf8(self) -> None:
        column = Text().assemble([(np.array([255], np.uint8), np.array([0, 1]), None, None)])
        with pytest.raises(SchemaMismatchError, match="not UTF-8"):
            Text().row(column, 0)


WORDS = ["cat", "", "né€😀", "dog\0"]


class TestColumns:
    def forms(self, words: list[str]) -> list[Any]:
        encoded = [word.encode() for word in words]
        data = b"--" + b"".join(encoded)
        offsets = 2 + np.cumsum([0, *map(len, encoded)])
        return [
            words,
            tuple(words),
            np.array(words, object),
            [np.str_(word) if "\0" not in word else word for word in words],
            encoded,
            [bytearray(word) for word in encoded],
            [memoryview(word) for word in encoded],
            ByteColumn(data, offsets, text=True),
            ByteColumn(data, offsets),
        ]

    def test_text_in_every_form(self, through_core: Any) -> None:
        for form in [*self.forms(WORDS), *self.forms(["plain", "ascii"])]:
            words = ["plain", "ascii"] if len(form) == 2 else WORDS
            assert Text().assemble(through_core(Text(), Text().column_to_parts(form, len(words)))) == words

    def test_numpy_strings(self, through_core: Any) -> None:
        for form in (np.array(["cat", "né"]), np.array([b"cat", "né".encode()])):
            assert Text().assemble(through_core(Text(), Text().column_to_parts(form, 2))) == ["cat", "né"]
        assert only(Bytes().column_to_parts(np.array([b"cat", b"x"])))[0] == [b"cat", b"x"]

    def test_bytes_are_passed_on_without_a_copy(self) -> None:
        values = [b"cat", b"\xff"]
        assert only(Bytes().column_to_parts(values))[0] is values
        column = ByteColumn(b"catdog", [0, 3, 6])
        data, offsets, present = only(Bytes().column_to_parts(column))
        assert np.shares_memory(data, column.data)
        assert offsets is column.offsets
        assert present is None
        data, offsets, _ = only(Bytes().column_to_parts(column[1:]))
        assert np.shares_memory(data, column.data)
        assert offsets.tolist() == [0, 3]

    def test_byte_likes(self) -> None:
        pixels = np.arange(3, dtype=np.uint8)
        values = only(Bytes().column_to_parts([bytearray(b"a"), memoryview(b"bcd")[::2], pixels, np.bytes_(b"x")]))[0]
        assert values == [b"a", b"bd", b"\0\1\2", b"x"]
        data, offsets, _ = only(Bytes().column_to_parts(Ragged(pixels, [1, 2, 3])))
        assert (data.tolist(), offsets.tolist()) == ([1, 2], [0, 1, 2])

    def test_paths_are_text(self) -> None:
        assert only(Text().column_to_parts([pathlib.PurePosixPath("a/b.jpg")]))[0] == [b"a/b.jpg"]
        with pytest.raises(EncodeError, match="not a byte string") as caught:
            Bytes().column_to_parts([pathlib.Path("a")])
        assert "read_bytes" in str(caught.value.advice)

    def test_absent_rows(self, through_core: Any) -> None:
        rows = ["cat", None, "", "dog"]
        column = ByteColumn(b"catdog", [0, 3, 3, 3, 6], present=[True, False, True, True])
        masked = np.ma.array(np.array(["cat", "junk", "", "dog"], object), mask=[False, True, False, False])
        for form in (rows, column, np.array(rows, object), masked):
            feature: Feature = Text(optional=True)
            assert feature.assemble(through_core(feature, feature.column_to_parts(form, 4))) == rows
            feature = Text(default="?")
            filled = ["cat", "?", "", "dog"]
            assert feature.assemble(through_core(feature, feature.column_to_parts(form, 4))) == filled
            with pytest.raises(EncodeError, match="required feature") as caught:
                Text().column_to_parts(form)
            assert caught.value.row == 1

    @pytest.mark.parametrize(
        ("value", "advice"),
        [(3, "str()"), (1.5, "str()"), (["a"], "str()"), (np.zeros(2), "str()"), (object(), "str()")],
        ids=lambda value: type(value).__name__,
    )
    def test_what_is_no_text(self, value: Any, advice: str) -> None:
        for form in (["a", value], ["a", None, value][::2]):
            with pytest.raises(EncodeError, match="not a string") as caught:
                Text().column_to_parts(form)
            assert caught.value.row == 1
            assert advice in str(caught.value.advice)
        with pytest.raises(EncodeError, match="not a string") as caught:
            Text(optional=True).column_to_parts([None, "a", value])
        assert caught.value.row == 2

    def test_str_is_not_bytes(self) -> None:
        for form in ([b"a", "b"], np.array(["a", "b"]), ByteColumn(b"ab", [0, 1, 2], text=True)):
            with pytest.raises(EncodeError, match="not a byte string") as caught:
                Bytes().column_to_parts(form)
            assert "encode()" in str(caught.value.advice)

    def test_arrays_of_numbers_are_not_strings(self) -> None:
        for form in (np.zeros(3), np.zeros((3, 2), np.uint8), np.array([["a"]]), Ragged(np.arange(3), [0, 1, 3])):
            for feature in (Text(), Bytes()):
                with pytest.raises(EncodeError, match=r"not a (byte )?string"):
                    feature.column_to_parts(form)

    def test_bytes_that_are_not_utf8(self) -> None:
        column = ByteColumn(b"ok\xffok", [0, 2, 3, 5])
        for form in ([b"ok", b"\xff", b"ok"], column, column[:], ["ok", b"\xff"]):
            with pytest.raises(EncodeError, match="not UTF-8") as caught:
                Text().column_to_parts(form)
            assert caught.value.row == 1
        split = ByteColumn("é".encode(), [0, 1, 2])
        with pytest.raises(EncodeError, match="not UTF-8"):
            Text().column_to_parts(split)

    def test_lone_surrogates(self) -> None:
        for form in (["a", "b\ud800"], ["\ud800", "\udc00"][::-1], np.array(["a", "b\ud800"], object)):
            with pytest.raises(EncodeError, match="UTF-8") as caught:
                Text().column_to_parts(form)
            assert caught.value.row in (0, 1)
            assert str(caught.value).isascii()

    @pytest.mark.parametrize("values", ["abc", b"abc", {"a": 1}, None, 3])
    def test_things_that_are_no_column(self, values: Any) -> None:
        with pytest.raises(EncodeError, match="as a column"):
            Text().column_to_parts(values)

    def test_no_rows(self, through_core: Any) -> None:
        for feature in (Text(), Bytes(), Text((2,)), Bytes((None,)), Bytes((1,))):
            assert len(feature.assemble(through_core(feature, feature.column_to_parts([], 0)))) == 0

    def test_the_length_is_checked(self) -> None:
        for feature in (Text(), Text((1,))):
            with pytest.raises(EncodeError, match="wrong length"):
                feature.column_to_parts(["a"] if feature == Text() else [["a"]], 2)


class TestSeveral:
    @pytest.mark.parametrize("shape", [(2,), (None,)])
    def test_every_form(self, shape: Any, through_core: Any) -> None:
        rows = [["a", "né"], ["", "d"]]
        column = ByteColumn("--anéd".encode(), [2, 3, 6, 6, 7], text=True)
        forms: list[Any] = [
            rows,
            [tuple(row) for row in rows],
            np.array(rows),
            np.array(rows, object),
            [np.array(row) for row in rows],
            [[word.encode() for word in row] for row in rows],
            Ragged(column, [0, 2, 4]),
            [column[:2], column[2:]],
        ]
        for form in forms:
            feature = Text(shape)
            assert feature.assemble(through_core(feature, feature.column_to_parts(form, 2))) == rows

    def test_uneven_and_absent(self, through_core: Any) -> None:
        rows = [[b"a"], None, [], [b"b", b"c"]]
        feature: Feature = Bytes((None,), optional=True)
        ragged = Ragged(ByteColumn(b"xabc", [0, 1, 2, 3, 4]), [1, 2, 2, 2, 4], present=[True, False, True, True])
        for form in (rows, ragged):
            assert feature.assemble(through_core(feature, feature.column_to_parts(form, 4))) == rows
        feature = Bytes((None,), default=[b"?", b"!"])
        filled = [[b"a"], [b"?", b"!"], [], [b"b", b"c"]]
        assert feature.assemble(through_core(feature, feature.column_to_parts(rows, 4))) == filled

    def test_exactly_one(self, through_core: Any) -> None:
        for feature, missing in ((Text((1,), optional=True), None), (Text((1,), default=["?"]), ["?"])):
            parts = feature.column_to_parts([["a"], None, ["bc"]])
            assert feature.assemble(through_core(feature, parts)) == [["a"], missing, ["bc"]]

    def test_fixed_with_absent_rows(self, through_core: Any) -> None:
        feature = Text((2,), optional=True)
        parts = feature.column_to_parts([["a", "b"], None])
        assert feature.assemble(through_core(feature, parts)) == [["a", "b"], None]

    @pytest.mark.parametrize(
        ("shape", "rows", "row", "said"),
        [
            ((2,), [["a", "b"], ["a"]], 1, "wrong number of strings"),
            ((2,), Ragged(ByteColumn(b"abc", [0, 1, 2, 3]), [0, 2, 3]), 1, "wrong number of strings"),
            ((None,), [["a"], "abc"], 1, "must be a list of strings"),
            ((None,), [["a"], {"b"}], 1, "must be a list of strings"),
            ((None,), [["a"], 3], 1, "must be a list of strings"),
            ((None,), ["abc"], 0, "must be a list of strings"),
            ((None,), ByteColumn(b"abc", [0, 3]), 0, "must be a list of strings"),
            ((None,), np.array(["a", "b"]), 0, "must be a list of strings"),
            ((None,), [["a"], [], ["b", 3]], 2, "not a string"),
            ((None,), [["a"], ["b", None]], 1, "not a string"),
            ((None,), [["a"], [b"\xff"]], 1, "not UTF-8"),
            ((None,), Ragged(ByteColumn(b"ab\xff", [0, 1, 2, 3]), [0, 1, 3]), 1, "not UTF-8"),
            ((None,), np.zeros((2, 2)), None, "not a string"),
            ((None,), Ragged(np.arange(3), [0, 3]), None, "not a string"),
        ],
    )
    def test_refusals(self, shape: Any, rows: Any, row: int | None, said: str) -> None:
        with pytest.raises(EncodeError, match=said) as caught:
            Text(shape).column_to_parts(rows)
        assert caught.value.row == row


class TestValues:
    @pytest.mark.parametrize("value", ["né", "né".encode(), bytearray("né".encode()), np.str_("né"), np.array("né")])
    def test_text(self, value: Any) -> None:
        canonical = Text().value_to_canonical(value)
        assert canonical == "né".encode()
        assert type(canonical) is bytes

    @pytest.mark.parametrize(
        "value", [b"a\0", bytearray(b"a\0"), memoryview(b"a\0"), np.array([97, 0], np.uint8), np.array(b"a\0", object)]
    )
    def test_bytes(self, value: Any) -> None:
        canonical = Bytes().value_to_canonical(value)
        assert canonical == b"a\0"
        assert type(canonical) is bytes

    def test_several(self) -> None:
        for value in (["a", "b"], ("a", b"b"), np.array(["a", "b"])):
            assert Text((None,)).value_to_canonical(value) == [b"a", b"b"]
            assert Text((2,)).value_to_canonical(value) == [b"a", b"b"]
        assert Text((None,)).value_to_canonical([]) == []

    def test_missing(self) -> None:
        assert Text(optional=True).value_to_canonical(None) is None
        with pytest.raises(EncodeError, match="no value"):
            Bytes().value_to_canonical(None)

    @pytest.mark.parametrize("value", [3, 1.5, [1], "\ud800", b"\xff"])
    def test_errors_have_no_row(self, value: Any) -> None:
        with pytest.raises(EncodeError) as caught:
            Text().value_to_canonical(value)
        assert caught.value.row is None


@given(st.lists(st.text(max_size=8), max_size=8))
def test_joined_text_equals_one_by_one(words: list[str]) -> None:
    values, offsets, _ = only(Text().column_to_parts(words, len(words)))
    if not words:
        assert values == []
        return
    assert ByteColumn(values, offsets) == [word.encode() for word in words]

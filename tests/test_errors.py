"""The error tree: what a message says, that generic code catches it, and that it survives a process border."""

from __future__ import annotations

import copy
import importlib.metadata
import pickle
import sys
from pathlib import Path

import pytest

from recordsmith import errors
from recordsmith.errors import (
    CorruptRecordError,
    EncodeError,
    MissingExtraError,
    RecordsmithError,
    SchemaMismatchError,
    did_you_mean,
    import_extra,
    list_names,
)

READING_AND_USE = [
    errors.CorruptRecordError,
    errors.TruncatedFileError,
    errors.CompressionError,
    errors.NotTFRecordError,
    errors.ChangedFileError,
    errors.SchemaError,
    errors.SchemaMismatchError,
    errors.EncodeError,
    errors.PipelineError,
]


def test_the_tree_is_complete():
    found = {
        thing.__name__
        for thing in vars(errors).values()
        if isinstance(thing, type) and issubclass(thing, RecordsmithError)
    }
    assert found == {"RecordsmithError", "MissingExtraError", *(kind.__name__ for kind in READING_AND_USE)}
    assert all(name in errors.__all__ for name in found)
    assert all(name in errors.__doc__ for name in found)


@pytest.mark.parametrize("kind", READING_AND_USE)
def test_generic_code_catches_them_as_value_errors(kind):
    with pytest.raises(ValueError, match="wrong"):
        raise kind("Something is wrong.")
    assert issubclass(kind, RecordsmithError)


def test_a_full_message_has_one_order():
    error = CorruptRecordError(
        "The data does not match its checksum.",
        path=Path("data/train.tfrecord"),
        record=17,
        offset=2048,
        feature="image",
        found="0x1234",
        expected="0x5678",
        advice="Run `recordsmith repair`.",
    )
    assert str(error) == (
        "The data does not match its checksum.\n"
        "  where:    data/train.tfrecord, record 17, byte 2048, feature 'image'\n"
        "  found:    0x1234\n"
        "  expected: 0x5678\n"
        "  to do:    Run `recordsmith repair`."
    )


def test_a_bare_message_is_one_line():
    assert str(RecordsmithError("No.")) == "No."


def test_zero_is_a_place():
    assert "record 0, byte 0, row 0" in str(RecordsmithError("x", record=0, offset=0, row=0))


def test_facts_are_kept_to_one_short_line():
    error = RecordsmithError("x", found="a\nb", expected=list(range(10_000)))
    lines = str(error).split("\n")
    assert lines[1] == "  found:    a b"
    assert len(lines[2]) < 400
    assert lines[2].endswith("...")


def test_unknown_facts_are_rejected():
    with pytest.raises(TypeError):
        RecordsmithError("x", file="a")  # type: ignore[call-arg]


def test_at_fills_in_only_what_is_unknown():
    error = EncodeError("x", row=3)
    assert error.at(row=9, feature="label", path=Path("a")) is error
    assert (error.row, error.feature, error.path) == (3, "label", "a")
    assert "feature 'label'" in str(error)
    error.at(feature="other", record=5, offset=6)
    assert (error.feature, error.record, error.offset) == ("label", 5, 6)


@pytest.mark.parametrize("kind", [RecordsmithError, *READING_AND_USE])
@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_errors_are_pickled_whole(kind, again):
    error = kind("x", path="a", record=1, offset=2, row=3, feature="f", found=[1], expected="e", advice="do")
    error.add_note("seen in a worker")
    same = again(error)
    assert type(same) is kind
    assert str(same) == str(error)
    assert same.args == error.args
    assert same.found == [1]
    assert same.__notes__ == ["seen in a worker"]


def test_a_missing_extra_names_the_command():
    error = MissingExtraError("pyarrow", "arrow", purpose="Dataset.to_arrow")
    assert 'pip install "pyarrow>=15.0"' in str(error)
    assert isinstance(error, ImportError)
    assert error.name == "pyarrow"
    same = pickle.loads(pickle.dumps(error))
    assert type(same) is MissingExtraError
    assert (str(same), same.name, same.msg) == (str(error), "pyarrow", error.msg)


def test_the_command_works_without_pip_and_without_an_installed_package(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)  # as in the environments that uv makes
    assert 'to do:    uv pip install "pyarrow>=15.0"' in str(MissingExtraError("pyarrow", "arrow"))

    def not_installed(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.requires", not_installed)
    assert str(MissingExtraError("sklearn.svm", "text")).endswith("pip install scikit-learn")


def test_import_extra(monkeypatch, tmp_path):
    assert import_extra("json", "arrow", purpose="A test").__name__ == "json"
    with pytest.raises(MissingExtraError, match="A test needs no_such_package_here"):
        import_extra("no_such_package_here", "arrow", purpose="A test")
    with pytest.raises(MissingExtraError, match=r"A test needs no_such_package_here\.part"):
        import_extra("no_such_package_here.part", "arrow", purpose="A test")
    # A package that is there and fails to find a need of its own is not a missing extra.
    (tmp_path / "half_installed.py").write_text("import no_such_package_here\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError) as caught:
        import_extra("half_installed", "arrow", purpose="A test")
    assert not isinstance(caught.value, MissingExtraError)
    sys.modules.pop("half_installed", None)


@pytest.mark.parametrize(
    ("name", "said"),
    [("imgae", " Did you mean 'image'?"), ("IMAGE", " Did you mean 'image'?"), ("zzz", ""), ("", "")],
)
def test_did_you_mean(name, said):
    assert did_you_mean(name, ["image", "label"]) == said
    assert did_you_mean(name, []) == ""
    assert did_you_mean(name, iter(["image", "label"])) == said


def test_list_names():
    assert list_names([]) == "none"
    assert list_names(["a"]) == "'a'"
    assert list_names("abcdefgh") == "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'"
    assert list_names("abcdefghi").endswith("'h' and 1 more")


def test_the_module_imports_nothing_of_ours_but_what_makes_text_visible():
    lines = Path(errors.__file__).read_text().splitlines()
    ours = [line for line in lines if line.startswith(("from recordsmith", "import recordsmith"))]
    assert ours == ["from recordsmith.wording.visible_text import printable"]


def test_a_message_has_no_character_that_steers_a_terminal():
    hostile = "a\x1b[31m\n\x9b\u202e"
    error = RecordsmithError(hostile, path=hostile, feature=hostile, found=hostile, expected=hostile, advice=hostile)
    assert len(str(error).split("\n")) == 5
    assert all(line.isprintable() for line in str(error).split("\n"))


def test_mismatch_is_not_an_encode_error():
    assert not issubclass(SchemaMismatchError, EncodeError)


def test_options_are_named_as_the_caller_knows_them():
    advice = errors.advise("Give {on_error}, or {resume}.", on_error="skip", resume=True)
    error = EncodeError("It does not fit.", advice=advice)
    for one in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert "Give on_error='skip', or resume=True." in str(one)
        assert "Give --on-error skip, or --resume." in one.on_command_line()
    assert "{" not in errors.advise("Choose {kind}.", kind=("rs.sources.csv", "--kind csv"))
    problem = EncodeError(errors.advise("{sample} and {take} cannot be used together.", sample=..., take=...))
    assert str(problem) == "sample and take cannot be used together."
    assert problem.on_command_line() == "--sample and --take cannot be used together."

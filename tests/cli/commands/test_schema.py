"""`recordsmith schema`."""

from __future__ import annotations

import json

import pytest

import recordsmith as rs
from tests.cli.conftest import PETS, pets


def test_inferred(run, pets_file):
    result = run("schema", pets_file)
    assert result.exit_code == 0
    first, rest = result.stdout.split("\n", 1)
    assert first == "# inferred from all 10 records of 1 file"
    found = eval(rest, vars(rs).copy() | {name: getattr(rs, name) for name in rs.__all__})
    assert found == rs.infer_schema(pets_file)


def test_declared(run, pets_folder):
    shards = [{"file": path.name} for path in sorted(pets_folder.iterdir())]
    manifest = {
        "format": "recordsmith-dataset",
        "version": 1,
        "schema": PETS.to_json(),
        "splits": {"train": {"shards": shards[1:]}, "test": {"shards": shards[:1]}},
    }
    (pets_folder / "recordsmith.json").write_text(json.dumps(manifest))
    assert f"# declared by {pets_folder / 'recordsmith.json'}" in run("schema", pets_folder).stdout
    inferred = run("schema", pets_folder, "--infer", "--split", "train").stdout
    assert "# inferred from all 10 records of 2 files" in inferred


def test_a_limit_is_told(run, pets_folder):
    assert "# inferred from the first 9 records of 3 files" in run("schema", pets_folder, "--records", 3).stdout
    assert run("schema", pets_folder, "--records", 0).exit_code == 2


def test_json_can_be_loaded(run, pets_file, tmp_path):
    result = run("schema", pets_file, "--format", "json")
    (tmp_path / "schema.json").write_text(result.stdout)
    assert rs.Schema.load(tmp_path / "schema.json") == rs.infer_schema(pets_file)
    assert "inferred from all 10 records" in result.stderr


def test_into_a_file(run, pets_file, tmp_path):
    place = tmp_path / "schema.json"
    result = run("schema", pets_file, "-o", place)
    assert result.exit_code == 0
    assert f"Wrote {place}: 5 features" in result.stderr
    assert rs.Schema.load(place) == rs.infer_schema(pets_file)


def test_a_file_is_not_replaced_unasked(run, pets_file, tmp_path):
    place = tmp_path / "schema.json"
    place.write_text("mine")
    result = run("schema", pets_file, "-o", place)
    assert result.exit_code == 2
    assert "--overwrite" in result.stderr
    assert place.read_text() == "mine"
    assert run("schema", pets_file, "-o", place, "--overwrite").exit_code == 0
    assert rs.Schema.load(place)


def test_steps(run, sequence_file):
    assert "Steps(Tensor('float32', (2,)))" in run("schema", sequence_file).stdout


def test_what_is_not_an_example(run, elwc_file):
    result = run("schema", elwc_file)
    assert result.exit_code == 2
    assert "ExampleListWithContext" in result.stderr
    assert not result.stdout


def test_records_that_disagree(run, tmp_path):
    path = tmp_path / "disagree.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"x": 3})
        writer.write_example({"x": "three"})
    result = run("schema", path)
    assert result.exit_code == 2
    assert "has different types" in result.stderr


def test_compressed(run, tmp_path):
    path = tmp_path / "pets.tfrecord.gz"
    with rs.RecordWriter(path, "gzip") as writer:
        writer.write_rows(pets(10), PETS)
    assert "Text()" in run("schema", path).stdout


def test_no_name_can_steer_the_terminal(run, tmp_path):
    path = tmp_path / "odd.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"\x1b[31m": 1})
    assert "\x1b" not in run("schema", path).stdout


TYPED = rs.Schema(
    {
        "image": rs.Image(24, 32, encoding="png", description="what it shows"),
        "label": rs.Label(["cat", "dog"]),
        "score": rs.Scalar("float32", min=0, max=1, default=0.5),
        "raw": rs.Tensor("uint8", (2, 3)),
        "blob": rs.Packed({"a": ("uint8", (2,))}),
        "tfidf": rs.Sparse("float32", 100),
    }
)


@pytest.fixture
def typed(tmp_path):
    path = tmp_path / "typed.json"
    TYPED.save(path)
    return path


@pytest.mark.parametrize("steps", [False, True], ids=["example", "with steps"])
def test_python_declares_it(run, tmp_path, steps):
    schema = rs.Schema({**TYPED, "frames": rs.Steps(rs.Image())}) if steps else TYPED
    schema.save(tmp_path / "schema.json")
    result = run("schema", tmp_path / "schema.json", "--format", "python")
    space: dict[str, object] = {}
    exec(result.stdout, space)
    assert space["schema"] == schema


def test_forms_of_other_libraries(run, typed):
    assert json.loads(run("schema", typed, "--format", "tfds").stdout) == TYPED.to_tfds()
    assert run("schema", typed, "--format", "tfmd").stdout == TYPED.to_tfmd()
    code = run("schema", typed, "--format", "tf").stdout
    assert code == TYPED.to_tf_code()
    compile(code, "parsing.py", "exec")


def test_a_table(run, typed):
    result = run("schema", typed, "--format", "table")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["raw", "uint8", "(2,", "3)", "required", "6", "bytes"] in lines
    assert "what it shows" in result.stdout
    assert "2 classes: cat, dog" in result.stdout
    assert "default 0.5" in result.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("schema.json", lambda: json.dumps(TYPED.to_json())),
        ("schema.pbtxt", TYPED.to_tfmd),
        (
            "recordsmith.json",
            lambda: json.dumps(
                {"format": "recordsmith-dataset", "version": 1, "schema": TYPED.to_json(), "splits": {}}
            ),
        ),
    ],
)
def test_files_that_hold_a_schema(run, tmp_path, name, text):
    (tmp_path / name).write_text(text())
    result = run("schema", tmp_path / name, "--format", "json")
    assert rs.Schema.from_json(json.loads(result.stdout)) == TYPED
    assert f"declared by {tmp_path / name}" in result.stderr.replace("\n", " ").replace("  ", " ")


def test_a_features_json_is_a_schema_too(run, tmp_path):
    schema = rs.Schema({"x": rs.Tensor("uint8", (2, 3))})
    (tmp_path / "features.json").write_text(json.dumps(schema.to_tfds()))
    result = run("schema", tmp_path / "features.json", "--format", "json")
    assert rs.Schema.from_json(json.loads(result.stdout)) == schema


def test_a_json_file_that_is_no_schema(run, tmp_path):
    (tmp_path / "other.json").write_text('{"a": 1}')
    result = run("schema", tmp_path / "other.json")
    assert result.exit_code == 2
    assert "not a recordsmith schema" in result.stderr


def test_into_a_file_in_another_form(run, typed, tmp_path):
    place = tmp_path / "schema.pbtxt"
    assert run("schema", typed, "--format", "tfmd", "-o", place).exit_code == 0
    assert rs.Schema.from_tfmd(place) == TYPED
    assert run("schema", typed, "--format", "table", "-o", tmp_path / "table").exit_code == 2


def test_a_difference(run, typed, tmp_path):
    rs.Schema({**TYPED, "label": rs.Label(["dog", "cat"]), "\x1b[31m": rs.Text()}).save(tmp_path / "other.json")
    for arguments in ([typed, "--diff", tmp_path / "other.json"], [typed, tmp_path / "other.json"]):
        result = run("schema", *arguments)
        assert result.exit_code == 1
        assert "~ label: Label(['cat', 'dog'])" in result.stdout
        assert "class 0 was 'cat' and is now 'dog'" in result.stdout
        assert "\x1b" not in result.stdout
    document = json.loads(run("schema", typed, tmp_path / "other.json", "--format", "json").stdout)
    assert document["compatible"] is False
    assert list(document["changed"]) == ["label"]


def test_no_difference(run, typed, pets_file, tmp_path):
    result = run("schema", typed, "--diff", typed)
    assert (result.exit_code, result.stdout) == (0, "The schemas are the same.\n")
    rs.infer_schema(pets_file).save(tmp_path / "pets.json")
    assert run("schema", pets_file, "--diff", tmp_path / "pets.json").exit_code == 0
    assert run("schema", tmp_path / "pets.json", "--diff", pets_file).exit_code == 0


def test_two_files_of_records_are_still_one_dataset(run, pets_folder):
    first, second = sorted(pets_folder.iterdir())[:2]
    assert "records of 2 files" in run("schema", first, second).stdout


def test_a_difference_goes_nowhere_else(run, typed, tmp_path):
    assert run("schema", typed, typed, "-o", tmp_path / "x").exit_code == 2
    assert run("schema", typed, typed, "--format", "tfmd").exit_code == 2

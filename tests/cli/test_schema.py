"""`recordsmith schema`."""

from __future__ import annotations

import json

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
    assert "--force" in result.stderr
    assert place.read_text() == "mine"
    assert run("schema", pets_file, "-o", place, "--force").exit_code == 0
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
    assert "same kind of value" in result.stderr


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

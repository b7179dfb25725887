"""`recordsmith show`."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from tests.cli.conftest import PETS, pets
from tests.made_reports import png as made_image

KEYS = {"name", "records", "bytes", "payload", "splits", "files", "schema", "features", "rows", "problems"}


def shown(run, *arguments):
    result = run("show", *arguments, "--format", "json")
    assert result.exit_code in (0, 2)
    return json.loads(result.stdout)


def test_a_file(run, pets_file):
    result = run("show", pets_file)
    assert result.exit_code == 0
    assert not result.stderr
    for words in ("10", "not compressed", "tf.train.Example", "inferred from all 10 records"):
        assert words in result.stdout
    for words in ("image", "PNG 32×24, 33 bytes", "(0..3,)", '"pet 0"', "50 %", "0..2  0, 1, 2"):
        assert words in result.stdout
    assert '"pet 4"' in result.stdout.partition("record ")[2]
    assert '"pet 5"' not in result.stdout.partition("record ")[2]
    assert all(line == line.rstrip() for line in result.stdout.splitlines())


def test_a_folder_counts_its_splits(run, pets_folder):
    result = run("show", pets_folder)
    assert "13 (test 3, train 10)" in result.stdout
    assert "in 3 files" in result.stdout
    assert shown(run, pets_folder)["splits"] == {"test": 3, "train": 10}


def test_a_split(run, pets_folder):
    assert shown(run, pets_folder, "--split", "train")["records"] == 10
    result = run("show", pets_folder, "--split", "trian")
    assert result.exit_code == 2
    assert "Did you mean 'train'?" in result.stderr


def test_several_paths_and_a_glob(run, pets_folder):
    files = sorted(map(str, pets_folder.iterdir()))
    assert shown(run, *files[:2])["records"] == 9
    assert shown(run, pets_folder / "pets-train*")["records"] == 10


def test_the_keys_of_the_json(run, pets_file):
    document = shown(run, pets_file, "-n", 2)
    assert set(document) == KEYS
    assert document["records"] == 10
    assert document["bytes"] == os.path.getsize(pets_file)
    assert document["payload"] == "example"
    assert document["files"] == [
        {
            "path": str(pets_file),
            "records": 10,
            "bytes": os.path.getsize(pets_file),
            "compression": None,
            "damaged": False,
        }
    ]
    assert document["schema"] == {
        "declared_by": None,
        "looked_at": 10,
        "looked_at_all": True,
        "payloads": {"example": 10},
    }
    features = {feature["name"]: feature for feature in document["features"]}
    assert features["tokens"] == {
        "name": "tokens",
        "type": "int64",
        "shape": [None],
        "steps": False,
        "declared": False,
        "records": 10,
        "kinds": {"int64": 10},
        "values": [0, 3],
        "value_bytes": None,
    }
    assert features["weight"]["records"] == 5
    assert features["image"]["value_bytes"] == [33, 33]
    assert [row["record"] for row in document["rows"]] == [0, 1]
    assert document["rows"][1]["features"] == {
        "image": {
            "bytes": 33,
            "image": {"format": "png", "width": 33, "height": 24},
            "base64": base64.b64encode(pets(2)[1]["image"]).decode(),
        },
        "label": 1,
        "name": "pet 1",
        "tokens": [0],
    }
    assert document["problems"] == []


def test_the_keys_of_the_json_are_documented(run, pets_file, sequence_file):
    reference = (Path(__file__).resolve().parents[3] / "docs" / "cli.md").read_text()
    for path in (pets_file, sequence_file):
        document = shown(run, path)
        keys = {*document, *document["files"][0], *document["schema"], *document["features"][0], *document["rows"][0]}
        assert not [key for key in keys if f"`{key}`" not in reference]


@pytest.mark.parametrize(
    ("rows", "numbers"),
    [
        ("2:4", [2, 3]),
        ("-2:", [8, 9]),
        ("7", [7]),
        ("-1", [9]),
        ("::4", [0, 4, 8]),
        (":", list(range(10))),
        ("20:", []),
    ],
)
def test_rows(run, pets_file, rows, numbers):
    document = shown(run, pets_file, "--rows", rows)
    assert [row["record"] for row in document["rows"]] == numbers
    assert [row["features"]["name"] for row in document["rows"]] == [f"pet {number}" for number in numbers]


def test_rows_of_several_files_know_their_place(run, pets_folder):
    row = shown(run, pets_folder, "--split", "train", "--rows", "7")["rows"][0]
    assert (row["record"], row["record_in_file"], row["features"]["name"]) == (7, 1, "pet 7")
    assert row["file"].endswith("pets-train.tfrecord-00001-of-00002")


@pytest.mark.parametrize("rows", ["a", "1:2:0", "1:2:3:4", "", "1.5"])
def test_rows_that_are_none(run, pets_file, rows):
    result = run("show", pets_file, "--rows", rows)
    assert result.exit_code == 2
    assert "--rows" in result.stderr


def test_n_and_rows_exclude_each_other(run, pets_file):
    assert run("show", pets_file, "-n", 3, "--rows", "1:2").exit_code == 2
    assert run("show", pets_file, "-n", -1).exit_code == 2
    assert shown(run, pets_file, "-n", 0)["rows"] == []


def test_some_features(run, pets_file):
    document = shown(run, pets_file, "--features", "name,label")
    assert [feature["name"] for feature in document["features"]] == ["name", "label"]
    assert set(document["rows"][0]["features"]) == {"name", "label"}
    result = run("show", pets_file, "--features", "lable")
    assert result.exit_code == 2
    assert "Did you mean 'label'?" in result.stderr


def test_features_of_text(run, tmp_path):
    path = tmp_path / "text.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write(b"plain text")
    result = run("show", path, "--features", "label")
    assert result.exit_code == 2
    assert "not tf.train.Example" in result.stderr


def test_raw(run, pets_file):
    result = run("show", pets_file, "--raw", "-n", 1)
    assert "00000000  0a" in result.stdout
    assert "|" in result.stdout
    row = shown(run, pets_file, "--raw", "-n", 1)["rows"][0]
    assert base64.b64decode(row["base64"]) == rs.open(pets_file).raw(0)
    assert "features" not in row


@pytest.mark.parametrize("compression", ["gzip", "zlib"])
def test_compressed(run, tmp_path, compression):
    path = tmp_path / "pets.tfrecord"
    with rs.RecordWriter(path, compression) as writer:
        writer.write_rows(pets(10), PETS)
    document = shown(run, path, "--rows", "8:")
    assert document["files"][0]["compression"] == compression
    assert [row["features"]["name"] for row in document["rows"]] == ["pet 8", "pet 9"]
    assert compression in run("show", path).stdout


def test_a_sequence_example(run, sequence_file):
    document = shown(run, sequence_file)
    assert document["payload"] == "sequence_example"
    assert {feature["name"]: feature["steps"] for feature in document["features"]} == {
        "id": False,
        "frame": True,
        "word": True,
        "at": True,
    }
    row = document["rows"][1]
    assert row["features"] == {"id": 1}
    assert row["steps"]["word"] == ["a", "b"]
    assert row["steps"]["at"] == [[0.5, 1.0], [1.5, 1.0]]
    assert [step["image"]["width"] for step in row["steps"]["frame"]] == [8, 8]
    text = run("show", sequence_file).stdout
    for words in ("tf.train.SequenceExample", "(steps,)", "(steps, 2)", "2 steps", "PNG 8×8"):
        assert words in text


def test_what_is_not_an_example_is_not_shown_as_one(run, elwc_file):
    result = run("show", elwc_file)
    assert result.exit_code == 0
    assert "ELWC" in result.stdout
    assert "00000000  0a" in result.stdout
    assert "feature " not in result.stdout
    document = shown(run, elwc_file)
    assert (document["payload"], document["features"], document["records"]) == ("example_list", [], 4)
    assert set(document["rows"][0]) == {"record", "file", "record_in_file", "bytes", "payload", "base64"}


def test_text_payloads(run, tmp_path):
    path = tmp_path / "text.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write(b'say "hi"\n')
    assert '"say \\"hi\\"\\n"' in run("show", path).stdout
    assert shown(run, path)["rows"][0]["text"] == 'say "hi"\n'


def test_mixed_payloads(run, tmp_path):
    path = tmp_path / "mixed.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"label": 3})
        writer.write(b"plain text, and a long one")
        writer.write(b"\xff\xfe\xfd\xfc" * 10)
    text = run("show", path).stdout
    for words in ("mixed: 1 tf.train.Example", "1 plain text", "1 unknown", '"plain text, and', "00000000  ff fe"):
        assert words in text
    assert [row["payload"] for row in shown(run, path)["rows"]] == ["example", "text", "unknown"]


def test_records_that_disagree_about_a_feature(run, tmp_path):
    path = tmp_path / "disagree.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"x": 3, "y": 1})
        writer.write_example({"x": "three", "y": 2})
    result = run("show", path)
    assert result.exit_code == 0
    assert "bytes or int64" in result.stdout
    feature = shown(run, path)["features"][0]
    assert (feature["kinds"], feature["shape"]) == ({"int64": 1, "bytes": 1}, None)


def test_an_empty_file(run, tmp_path):
    path = tmp_path / "empty.tfrecord"
    path.touch()
    assert run("show", path).exit_code == 0
    document = shown(run, path)
    assert (document["records"], document["payload"], document["rows"]) == (0, "empty", [])


def test_an_example_without_features(run, tmp_path):
    path = tmp_path / "nothing.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write(b"")
    assert run("show", path).exit_code == 0
    assert shown(run, path)["rows"][0]["features"] == {}


def test_numbers_that_json_lacks(run, tmp_path):
    path = tmp_path / "odd.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"x": [float("nan"), float("inf"), -float("inf"), 0.5]})
    assert shown(run, path)["rows"][0]["features"]["x"] == ["NaN", "Infinity", "-Infinity", 0.5]
    assert "1 NaN" in run("show", path).stdout


def test_a_cut_file_is_shown_up_to_the_damage(run, pets_file):
    with open(pets_file, "r+b") as file:
        file.truncate(os.path.getsize(pets_file) - 5)
    result = run("show", pets_file)
    assert result.exit_code == 2
    assert "9 before the damage" in result.stdout
    assert '"pet 4"' in result.stdout
    assert "error: The file ends inside record 9" in result.stderr
    document = shown(run, pets_file, "--rows", "7:")
    assert (document["records"], document["files"][0]["damaged"]) == (9, True)
    assert [row["record"] for row in document["rows"]] == [7, 8]
    assert [problem["error"] for problem in document["problems"]] == ["TruncatedFileError"]
    assert document["problems"][0]["record"] == 9


def test_a_damaged_record_is_left_out(run, pets_file):
    offset = 200
    data = bytearray(pets_file.read_bytes())
    data[offset] ^= 1
    pets_file.write_bytes(data)
    document = shown(run, pets_file)
    assert document["records"] == 10
    assert [problem["error"] for problem in document["problems"]] == ["CorruptRecordError"]
    damaged = document["problems"][0]["record"]
    assert [row["record"] for row in document["rows"]] == [number for number in range(5) if number != damaged]


def test_a_damaged_file_beside_sound_ones(run, pets_folder):
    victim = max(pets_folder.iterdir())
    with open(victim, "r+b") as file:
        file.truncate(os.path.getsize(victim) - 5)
    document = shown(run, pets_folder)
    assert document["records"] == 12
    assert len(document["problems"]) == 1


def test_a_cut_compressed_file(run, tmp_path):
    path = tmp_path / "pets.tfrecord.gz"
    with rs.RecordWriter(path, "gzip") as writer:
        for number in range(2000):
            writer.write_example({"n": np.random.default_rng(number).integers(0, 1 << 40, 20)})
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) // 2)
    document = shown(run, path)
    assert 0 < document["records"] < 2000
    assert [problem["error"] for problem in document["problems"]] == ["CompressionError"]
    assert len(document["rows"]) == 5


def test_a_declared_schema(run, tmp_path):
    schema = rs.Schema({"pixels": rs.Tensor("uint8", (4, 4)), "label": rs.Scalar("int64")})
    path = tmp_path / "digits.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_columns({"pixels": np.arange(32, dtype=np.uint8).reshape(2, 4, 4), "label": [0, 1]}, schema)
    schema.save(tmp_path / "schema.json")
    stored = {feature["name"]: feature["type"] for feature in shown(run, path)["features"]}
    assert stored == {"pixels": "bytes", "label": "int64"}
    declared = shown(run, path, "--schema", tmp_path / "schema.json")
    assert declared["schema"]["declared_by"] == str(tmp_path / "schema.json")
    assert declared["features"][0]["type"] == "uint8"
    assert declared["features"][0]["shape"] == [4, 4]
    assert declared["rows"][1]["features"]["pixels"][0] == [16, 17, 18, 19]
    assert "4×4 uint8, 0..15" in run("show", path, "--schema", tmp_path / "schema.json").stdout


def test_a_manifest_declares_the_schema(run, pets_folder):
    shards = [{"file": path.name} for path in sorted(pets_folder.iterdir())]
    manifest = {
        "format": "recordsmith-dataset",
        "version": 1,
        "schema": PETS.to_json(),
        "splits": {"train": {"shards": shards[1:]}, "test": {"shards": shards[:1]}},
    }
    (pets_folder / "recordsmith.json").write_text(json.dumps(manifest))
    document = shown(run, pets_folder)
    assert document["schema"]["declared_by"] == str(pets_folder / "recordsmith.json")
    assert document["rows"][1]["features"]["weight"] is None
    assert "declared by" in run("show", pets_folder).stdout


def test_a_schema_that_does_not_fit(run, pets_file, tmp_path):
    schema = rs.Schema({"label": rs.Scalar("float32"), "breed": rs.Text(optional=True)})
    schema.save(tmp_path / "schema.json")
    result = run("show", pets_file, "--schema", tmp_path / "schema.json")
    assert result.exit_code == 2
    assert "contains a different kind of value" in result.stderr
    assert result.stderr.count("error:") == 1
    assert "none" in result.stdout  # of the records have a breed
    assert "* is stored, and not in the schema." in result.stdout
    assert '"pet 0"' in result.stdout


def test_no_record_can_steer_the_terminal(run, tmp_path):
    path = tmp_path / "\x1b[31mred.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"\u202etxet": "\x1b[2J", "b": b"\x1b[2J", "long": "\x07" * 1000})
    for arguments in ([], ["--raw"], ["--features", "b"], ["--features", "\x1b[31m"], ["--split", "\x1b[31m"]):
        result = run("show", path, *arguments)
        assert result.exit_code == (2 if "\x1b[31m" in arguments else 0)
        assert not {"\x1b", "\x07", "\u202e"} & set(result.output)


@pytest.mark.parametrize("width", [20, 40, 80, 120, 300])
def test_lines_fit_their_terminal(run, pets_folder, sequence_file, elwc_file, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for path in (pets_folder, sequence_file):
        assert max(map(len, run("show", path).stdout.splitlines()[5:])) <= width
    assert run("show", elwc_file).exit_code == 0


def test_one_record_in_full(run, pets_folder):
    result = run("show", pets_folder, "--record", 12)
    assert result.exit_code == 0
    for words in ("record 12 of 13", "PNG 41×24, colour, 8 bits, 33 bytes", '"pet 9"', "[0]", "absent"):
        assert words in result.stdout
    assert "present" not in result.stdout
    assert shown(run, pets_folder, "--record", -1)["rows"] == shown(run, pets_folder, "--rows", 12)["rows"]


def test_one_record_has_all_of_its_bytes_and_numbers(run, tmp_path):
    path = tmp_path / "long.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"data": bytes(range(256)) * 20, "many": np.arange(999), "text": "word " * 100})
    row = shown(run, path, "--record", 0)["rows"][0]["features"]
    assert base64.b64decode(row["data"]["base64"]) == bytes(range(256)) * 20
    text = run("show", path, "--record", 0).stdout
    assert "998]" in text
    assert "word " * 100 in " ".join(text.split())
    assert "… 4,608 more bytes" in text


def test_a_record_that_is_not_there(run, pets_file):
    for number in (10, -11):
        result = run("show", pets_file, "--record", number)
        assert result.exit_code == 2
        assert f"There is no record {number}: there are 10 records, numbered from 0." in result.stderr


def test_rows_that_fit_a_condition(run, pets_folder):
    result = run("show", pets_folder, "--where", "label == 1 and name != 'pet 4'", "-n", 2)
    assert result.exit_code == 0
    assert "The first 2 records that match label == 1 and name != 'pet 4'; -n shows more" in result.stdout
    document = shown(run, pets_folder, "--where", "weight is not missing and weight > 3")
    assert [row["features"]["name"] for row in document["rows"]] == ["pet 10", "pet 12", "pet 8"]
    assert document["where"] == {"condition": "weight is not missing and weight > 3", "searched_all": True}
    assert "None of 13 records matches label == 77" in run("show", pets_folder, "--where", "label == 77").stdout


def test_a_condition_that_cannot_be(run, pets_file):
    result = run("show", pets_file, "--where", "lable == 1")
    assert result.exit_code == 2
    assert "Did you mean 'label'?" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("-n", 3, "--rows", "1:"),
        ("-n", 3, "--record", 1),
        ("--rows", "1:", "--record", 1),
        ("--record", 1, "--where", "x"),
    ],
)
def test_only_one_way_to_ask_for_rows(run, pets_file, arguments):
    result = run("show", pets_file, *arguments)
    assert result.exit_code == 2
    assert "Give either" in result.stderr


def test_classes_have_their_names(run, tmp_path):
    schema = rs.Schema({"label": rs.Label(["cat", "dog"]), "digit": rs.Label(10)})
    path, described = tmp_path / "a.tfrecord", tmp_path / "schema.json"
    with rs.RecordWriter(path) as writer:
        writer.write_rows([{"label": "dog", "digit": 7}, {"label": "cat", "digit": 0}], schema)
    schema.save(described)
    result = run("show", path, "--schema", described)
    assert '0  1 "dog"      7' in result.stdout
    rows = shown(run, path, "--schema", described)["rows"]
    assert rows[0]["features"] == {"label": 1, "digit": 7}
    assert rows[0]["classes"] == {"label": "dog", "digit": "7"}
    assert '  1 "dog"' in run("show", path, "--schema", described, "--record", 0).stdout


def test_images_do_not_go_into_pipes(run, pets_file, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-kitty")
    plain = run("show", pets_file).stdout
    assert "\x1b" not in plain
    assert run("show", pets_file, "--thumbnails").stdout == plain


@pytest.mark.parametrize(
    ("environment", "arguments", "sent"),
    [
        ({"TERM": "xterm-kitty"}, (), "\x1b_Ga=T"),
        ({"TERM": "xterm-kitty"}, ("--no-thumbnails",), None),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, (), "\x1b]1337;File="),
        ({"TERM": "foot"}, ("--record", "0"), "\x1bPq"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, ("--thumbnails",), "m▀"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, (), None),
    ],
)
def test_images_on_terminals(run, tmp_path, monkeypatch, environment, arguments, sent):
    path = tmp_path / "a.tfrecord"
    with rs.RecordWriter(path) as writer:
        for _ in range(2):
            writer.write_example({"image": made_image(48, 32), "label": 1})
    for name in ("TMUX", "TERM_PROGRAM", "LC_TERMINAL", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "COLORTERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**environment, "TTY_COMPATIBLE": "1", "FORCE_COLOR": "1", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    output = run("show", path, *arguments).stdout
    marks = ("\x1b_G", "\x1b]1337", "\x1bPq", "▀")
    assert [mark for mark in marks if mark in output] == [mark for mark in marks if sent is not None and mark in sent]
    assert sent is None or sent in output


def test_of_many_features_some_are_shown_and_the_others_counted(tmp_path: Path, run):
    path = tmp_path / "wide.tfrecord"
    with rs.RecordWriter(path) as writer:
        for _ in range(2):
            writer.write_example({f"feature {n:05}": n for n in range(2500)})
    for more in ((), ("--record", "0")):
        shown = run("show", path, *more)
        assert "and 2,300 more features" in shown.stdout
        assert "feature 00199" in shown.stdout
        assert "feature 00200" not in shown.stdout
    assert "feature 02499" in run("show", path, "--features", "feature 02499").stdout
    assert len(json.loads(run("show", path, "--format", "json").stdout)["features"]) == 2500
    for form in ("text", "table"):
        assert "and 500 more features" in run("schema", path, "--format", form).stdout
    assert "feature 02499" in run("schema", path, "--format", "python").stdout

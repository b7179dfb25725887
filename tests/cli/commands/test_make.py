"""`recordsmith make`."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click.testing
import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image, read_header
from recordsmith.workers import progress_display as progress
from tests.mounted_disk import mounted_disk

Make = Callable[..., click.testing.Result]
OUTCOMES = ["ill", "well", "well", "well"]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def make(run: Callable[..., click.testing.Result]) -> Make:
    """Runs `recordsmith make SOURCE -o out OPTIONS`, and expects it to end with this code."""

    def invoke(*words: object, code: int = 0) -> click.testing.Result:
        result = run("make", words[0], "-o", "out", *words[1:])
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture
def visits() -> str:
    """A table of forty rows, ten of them of the class "ill", by eight patients."""
    with open("visits.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["patient", "age", "weight", "note", "outcome"])
        for n in range(40):
            writer.writerow([f"p{n % 8}", 20 + n, 50 + n / 4, f"note number {n}", OUTCOMES[n % 4]])
    return "visits.csv"


def draw(folder: str, counts: dict[str, int], size: tuple[int, int] = (12, 16)) -> str:
    random = np.random.default_rng(7)
    for name, count in counts.items():
        os.makedirs(f"{folder}/{name}")
        for number in range(count):
            pixels = random.integers(0, 256, (*size, 3), dtype=np.uint8)
            Path(f"{folder}/{name}/{number:03}.png").write_bytes(encode_image(pixels, "png"))
    return folder


@pytest.fixture
def photos() -> str:
    return draw("photos", {"cat": 12, "dog": 8})


@pytest.fixture
def many_photos() -> str:
    """Three chunks of them."""
    return draw("photos", {"cat": 90, "dog": 60})


def summary(result: click.testing.Result) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def rows(split: str | None = "train", folder: str = "out") -> list[dict[str, Any]]:
    return list(rs.open(folder, split=split))


def shape(image: bytes) -> tuple[str, int, int, int]:
    header = read_header(image)
    assert header is not None
    return header.format, header.height, header.width, header.channels


def digests(folder: str = "out") -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).glob("*-of-*"))}


# --- what it prints ---


def test_the_summary(make, photos):
    Path("photos/cat/cut.png").write_bytes(Path("photos/cat/000.png").read_bytes()[:100])
    Path("photos/dog/empty.png").touch()
    said = make(photos, "--split", "train=0.5,test=0.5", "--stratify", code=1).stdout
    lines = [" ".join(line.split()) for line in said.splitlines()]
    source = sum(path.stat().st_size for path in Path(photos).rglob("*.png"))
    assert lines[0].startswith("out: 20 rows, ")
    assert lines[0].endswith(f" from {source / 1000:.1f} KB")
    assert any(line.startswith("train 10 50.0 % 1 ") for line in lines)
    assert any(line.startswith("test 10 50.0 % 1 ") for line in lines)
    assert "label train test weight" in lines
    assert "cat 6 6 0.833" in lines
    assert "dog 4 4 1.250" in lines
    assert "rejected: 2 of 22 rows were left out; each is in out/rejected.jsonl" in lines
    assert any(line.startswith("1 x ") and line.endswith("as in photos/cat/cut.png") for line in lines)
    assert lines[-2:] == ["next: recordsmith show out", 'rs.open("out", split="train")']


def test_the_keys_of_the_json(make, visits):
    with open(visits, "a") as file:
        file.write("p1,old\n")
    result = make(visits, "--label", "outcome", "--split", "train=20,test=10", "--format", "json", code=1)
    document = summary(result)
    assert set(document) == {
        *("ok", "folder", "name", "rows", "bytes", "splits", "source", "label", "class_weights"),
        *("rejects", "rejected_file", "reasons", "dropped", "unassigned", "left_out", "warnings"),
        *("unlabelled", "splits_kept"),
    }
    assert document["ok"] is False
    assert document["folder"] == os.path.abspath("out")
    assert (document["rows"], document["unassigned"], document["rejects"]) == (30, 10, 1)
    assert document["source"] == {"rows": 41, "bytes": os.path.getsize(visits)}
    assert document["label"] == "outcome"
    assert set(document["splits"]["train"]) == {"rows", "bytes", "shards", "classes"}
    assert sum(document["splits"]["train"]["classes"].values()) == 20
    assert set(document["class_weights"]) == {"ill", "well"}
    assert document["bytes"] == sum(path.stat().st_size for path in Path("out").glob("*-of-*"))
    (reason,) = document["reasons"]
    assert set(reason) == {"count", "feature", "reason", "example"}
    assert reason["example"].startswith("visits.csv, line 42")
    with open(document["rejected_file"]) as file:
        assert len(file.readlines()) == 1


def test_lines_where_there_is_no_terminal(make, visits, monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_TO_FIRST_LINE", 0)
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0)
    result = make(visits, "--format", "json")
    assert summary(result)["ok"]
    said = result.stderr.splitlines()
    assert list(dict.fromkeys(line.partition(":")[0] for line in said)) == [
        "reading",
        "ordering",
        "writing",
        "checking",
    ]
    assert said[0].startswith("reading: 100 %, 40 rows, ")
    assert said[-1].startswith("checking: 100 %, 40 rows")


def test_a_quick_run_says_nothing_on_the_way(make, visits):
    assert make(visits).stderr == ""


def test_a_bar_on_a_terminal(visits):
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "recordsmith", "make", visits, "-o", "out", "--format", "json"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=end, env=environment) as process:
        os.close(end)
        assert process.stdout is not None
        shown = b""
        with open(terminal, "rb", buffering=0) as screen:
            while True:
                try:
                    part = screen.read(1 << 16)
                except OSError:  # how Linux says that the other end is closed
                    break
                shown += part
        assert json.loads(process.stdout.read())["rows"] == 40
    assert process.returncode == 0
    assert b"looking" in shown
    assert b"checking" in shown
    assert b"40 rows" in shown


# --- each option ---


def test_name_seed_and_order(make, visits):
    make(visits, "--name", "clinic", "--no-shuffle")
    assert list(digests()) == ["clinic-train.tfrecord-00000-of-00001"]
    assert [row["age"] for row in rows()] == list(range(20, 60))
    make(visits, "--overwrite", "--seed", "1")
    first = [row["age"].item() for row in rows()]
    make(visits, "--overwrite", "--seed", "2")
    second = [row["age"].item() for row in rows()]
    assert first != second
    assert sorted(first) == sorted(second) == list(range(20, 60))


def test_kind(make, visits):
    os.rename(visits, "visits.dat")
    make("visits.dat", "--kind", "csv")
    assert len(rows()) == 40


def test_schema_and_columns_that_it_does_not_have(make, visits):
    rs.Schema({"age": rs.Scalar("float32"), "outcome": rs.Label(["well", "ill"])}).save("schema.json")
    make(visits, "--schema", "schema.json")
    assert rs.open("out").schema["outcome"] == rs.Label(["well", "ill"])
    assert rows()[0]["age"].dtype == np.float32
    os.rename("out", "first")
    for path in ("first", "first/features.json", "first/recordsmith.json"):
        make(visits, "--schema", path, "--overwrite")
        assert rs.open("out").schema == rs.open("first").schema


def test_label_and_text(make, visits):
    make(visits, "--label", "outcome", "--text", "age", "--text", "weight")
    schema = rs.open("out").schema
    assert schema["outcome"] == rs.Label(["ill", "well"])
    assert (type(schema["age"]), type(schema["weight"])) == (rs.Text, rs.Text)


def test_images_of_a_column(make, photos):
    Path("list.csv").write_text("file,kind\nphotos/cat/001.png,a\nphotos/dog/002.png,b\n")
    make("list.csv", "--images", "file", "--label", "kind", "--resize", "4x6", "--no-shuffle")
    assert [shape(row["file"]) for row in rows()] == [("png", 4, 6, 3)] * 2


def test_labels_from_a_file(make, photos):
    names = sorted(str(path.relative_to(photos)) for path in Path(photos).rglob("*.png"))
    lines = [f"{name},{'even' if number % 2 == 0 else 'odd'}" for number, name in enumerate(names)]
    Path("labels.csv").write_text("\n".join(["filename,label", *lines]))
    make(photos, "--labels", "labels.csv")
    assert rs.open("out").schema["label"] == rs.Label(["even", "odd"])
    assert Counter(row["label"].item() for row in rows()) == {0: 10, 1: 10}


def test_splits_stratified_and_in_percent(make, photos):
    result = make(photos, "--split", "train=75%,test=25%", "--stratify=label", "--format", "json")
    assert {name: split["classes"] for name, split in summary(result)["splits"].items()} == {
        "train": {"cat": 9, "dog": 6},
        "test": {"cat": 3, "dog": 2},
    }


def test_groups_stay_together(make, visits):
    make(visits, "--group", "patient", "--split", "train=0.5,test=0.5")
    train, test = ({row["patient"] for row in rows(split)} for split in ("train", "test"))
    assert train
    assert test
    assert not train & test


@pytest.mark.parametrize(
    ("how", "classes"),
    [
        ("oversample", {"ill": 30, "well": 30}),
        ("undersample", {"ill": 10, "well": 10}),
        ("ill=20,well=25", {"ill": 20, "well": 25}),
        ("RandomOverSampler", {"ill": 30, "well": 30}),
    ],
)
def test_balance(make, visits, how, classes):
    result = make(visits, "--label", "outcome", "--balance", how, "--format", "json")
    assert summary(result)["splits"]["train"]["classes"] == classes


MINE = """
def clean(row):
    if row["age"] < 30:
        return None
    if row["age"] > 58:
        raise ValueError("too old")
    return {"age": row["age"], "heavy": bool(row["weight"] > 55)}
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_map_from_the_current_folder(make, visits, workers):
    Path("mine.py").write_text(MINE)
    result = make(visits, "--map", "mine:clean", "--workers", workers, "--format", "json", code=1)
    document = summary(result)
    assert (document["rows"], document["dropped"], document["rejects"]) == (29, 10, 1)
    assert "too old" in document["reasons"][0]["reason"]
    assert set(rows()[0]) == {"age", "heavy"}


def test_a_schema_is_that_of_the_records(make, visits, photos):
    Path("mine.py").write_text(MINE)
    rs.Schema({"age": rs.Scalar("int8"), "heavy": rs.Scalar("bool")}).save("schema.json")
    make(visits, "--map", "mine:clean", "--schema", "schema.json", "--workers", "1", code=1)
    assert rs.open("out").schema["age"] == rs.Scalar("int8")
    features = {"image": rs.Image(12, 16), "label": rs.Label(["dog", "cat"])}
    rs.Schema(features).save("schema.json")
    result = make(photos, "--schema", "schema.json", "--overwrite")
    assert rs.open("out").schema == rs.Schema(features)
    assert Counter(row["label"].item() for row in rows()) == {0: 8, 1: 12}  # by the names, and not by their places
    assert "left out: columns that the schema does not have: filename" in result.stdout


def test_vocabulary(make, visits):
    make(visits, "--vocabulary", "note=4", "--no-shuffle")
    assert [row["note"].tolist() for row in rows()][7:9] == [[3, 2, 1], [3, 2, 1]]
    assert rs.Vocabulary.load("out/vocabulary.note.json").words[2:] == ["number", "note"]
    os.rename("out/vocabulary.note.json", "words.json")
    make(visits, "--vocabulary", "note=words.json", "--no-shuffle", "--overwrite")
    assert rows()[7]["note"].tolist() == [3, 2, 1]


def test_tokenize(make, visits):
    make(visits, "--tokenize", "note=270")
    assert all(row["note"].dtype == np.int64 for row in rows())
    os.rename("out/tokenizer.note.json", "tokenizer.json")
    first = digests()
    make(visits, "--tokenize", "note=tokenizer.json", "--overwrite")
    assert digests() == first


def test_tfidf(make, visits):
    make(visits, "--tfidf", "note=5")
    assert rs.open("out").schema["note"].to_json()["size"] == 5
    assert Path("out/tfidf.note.json").exists()


def test_images_are_resized_to_height_and_width(make, photos):
    make(photos, "--resize", "8x10", "--channels", "1", "--encoding", "jpeg", "--quality", "40")
    assert {shape(row["image"]) for row in rows()} == {("jpeg", 8, 10, 1)}
    small = os.path.getsize("out/out-train.tfrecord-00000-of-00001")
    make(photos, "--resize", "8x10", "--channels", "1", "--encoding", "jpeg", "--quality", "100", "--overwrite")
    assert os.path.getsize("out/out-train.tfrecord-00000-of-00001") > small


def test_shards(make, visits):
    make(visits, "--shards", "3")
    assert len(digests()) == 3
    size = sum(path.stat().st_size for path in Path("out").glob("*-of-*"))
    make(visits, "--shard-size", f"{size // 2 + 1}", "--overwrite")
    assert len(digests()) == 2


@pytest.mark.parametrize(("kind", "start"), [("gzip", b"\x1f\x8b"), ("zlib", b"\x78")])
def test_compress(make, visits, kind, start):
    make(visits, "--compression", kind)
    (name,) = digests()
    assert Path("out", name).read_bytes().startswith(start)
    assert len(rows()) == 40


def test_cast(make):
    Path("weights.jsonl").write_text("".join(f'{{"weight": {50 + n / 4}}}\n' for n in range(40)))
    rs.Schema({"weight": rs.Scalar("int64")}).save("schema.json")
    make("weights.jsonl", "--schema", "schema.json", "--max-rejects", "1", code=1)
    assert len(rows()) == 10
    make("weights.jsonl", "--schema", "schema.json", "--cast", "--overwrite", "--no-shuffle")
    assert [row["weight"] for row in rows()] == [50 + n // 4 for n in range(40)]


def test_rows_that_do_not_fit(make, visits):
    rs.Schema({"age": rs.Scalar("int64", max=57)}).save("schema.json")
    make(visits, "--schema", "schema.json", code=1)
    lines = [json.loads(line) for line in Path("out/rejected.jsonl").read_text().splitlines()]
    assert [line["source"] for line in lines] == ["visits.csv, line 40", "visits.csv, line 41"]
    assert {line["feature"] for line in lines} == {"age"}
    said = make(visits, "--schema", "schema.json", "--on-error", "skip", "--overwrite", code=1).stdout
    assert "rejected: 2 of 40 rows" in said
    assert not Path("out/rejected.jsonl").exists()
    said = make(visits, "--schema", "schema.json", "--on-error", "stop", "--overwrite", code=2).stderr
    assert "58" in said
    assert "age" in said


def test_too_many_that_do_not_fit(make, visits):
    rs.Schema({"age": rs.Scalar("int64", max=40)}).save("schema.json")
    result = make(visits, "--schema", "schema.json", "--max-rejects", "0.4", code=2)
    assert "19 of 40 rows" in result.stderr
    assert not digests()
    result = make(visits, "--schema", "schema.json", "--max-rejects", "0.5", "--resume", code=1)
    assert "rejected: 19 of 40 rows" in result.stdout


def test_the_files_do_not_depend_on_the_workers(make, many_photos):
    make(many_photos, "--workers", "1", "--shards", "2")
    first = digests()
    make(many_photos, "--workers", "3", "--shards", "2", "--overwrite")
    assert digests() == first


def test_several_sources(run, visits):
    os.mkdir("more")
    Path("more/visits.csv").write_bytes(Path(visits).read_bytes().replace(b"note", b"word"))
    Path("more/visits.csv").write_text(Path("more/visits.csv").read_text().replace("word,outcome", "note,outcome"))
    assert run("make", visits, "more/visits.csv", "-o", "out").exit_code == 0
    assert len(rows()) == 80


# --- refusals, and what is mistyped ---


def test_it_refuses_to_overwrite(make, visits):
    make(visits)
    before = digests()
    said = make(visits, "--seed", "3", code=2).stderr
    assert "The output folder already contains a dataset." in said
    assert "--overwrite" in said
    assert digests() == before
    make(visits, "--seed", "3", "--overwrite")
    assert digests() != before


def test_resuming_what_is_done_does_nothing(make, visits):
    make(visits)
    before = os.stat(Path("out", *digests()))
    make(visits, "--resume")
    assert os.stat(Path("out", *digests())) == before


MISTYPED = [
    (["--compression", "gzpi"], "Did you mean 'gzip'?"),
    (["--on-error", "quarantaine"], "Did you mean 'quarantine'?"),
    (["--encoding", "jpg"], "Did you mean 'jpeg'?"),
    (["--kind", "cvs"], "Did you mean 'csv'?"),
    (["--label", "outcom"], "Did you mean 'outcome'?"),
    (["--stratify", "outcom"], "Did you mean 'outcome'?"),
    (["--group", "pateint"], "Did you mean 'patient'?"),
    (["--balance", "oversmaple", "--label", "outcome"], "Did you mean 'oversample'?"),
    (["--balance", "SMOTEE", "--label", "outcome"], "Did you mean 'SMOTE'?"),
    (["--balance", "il=5", "--label", "outcome"], "Did you mean 'ill'?"),
    (["--balance", "ill=few", "--label", "outcome"], "'ill=few' is not a class and a count"),
    (["--split", "train:0.8,test:0.2"], "Did you mean 'train=0.8,test=0.2'?"),
    (["--split", "train=0.8,test=0.3"], "do not add up to 1"),
    (["--resize", "8by8"], "is not a height and a width, such as 224x320"),
    (["--vocabulary", "nota"], "Did you mean 'note'?"),
    (["--vocabulary", "note=none.json"], "neither a size nor an existing file"),
    (["--tfidf", "note=many"], "a feature, or a feature and a size"),
    (["--map", "mien:clean"], "There is no module 'mien'. Did you mean 'mine'?"),
    (["--map", "mine:claen"], "Did you mean 'clean'?"),
    (["--map", "mine"], "A function must be given as MODULE:FUNCTION."),
    (["--shard-size", "large"], "The size cannot be parsed."),
    (["--name", "a/b"], "A dataset name"),
    (["--strtify"], "--stratify"),
    (["--schema", "none.json"], "There is no such file or folder"),
    (["--resize", "8x8", "--kind", "tfrecords"], "has no option --resize"),
    (["--vocabulary", "note", "--tfidf", "note"], "can be replaced in only one way"),
]


@pytest.mark.parametrize(("words", "answer"), MISTYPED, ids=[" ".join(words) for words, _ in MISTYPED])
def test_what_is_mistyped(make, visits, words, answer):
    Path("mine.py").write_text(MINE)
    result = make(visits, *words, code=2)
    assert answer in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert not digests()


def test_a_module_that_fails(make, visits):
    Path("broken.py").write_text("import no_such_module_at_all\n")
    said = " ".join(make(visits, "--map", "broken:f", code=2).stderr.split())
    assert "The module 'broken' cannot be imported." in said
    assert "No module named 'no_such_module_at_all'" in said


def test_a_source_that_is_not_there(make, visits):
    assert "There is no such file or folder" in make("visit.csv", code=2).stderr
    assert "Did you mean 'visits.csv'?" in make("visit.csv", code=2).stderr
    assert not os.path.exists("out")


def test_no_source_is_wrong_use(run, photos):
    result = run("make", "--stratify", photos, "-o", "out")
    assert result.exit_code == 2
    assert "--stratify used 'photos' as its value" in result.stderr


def test_no_output_is_wrong_use(run, visits):
    result = run("make", visits)
    assert result.exit_code == 2
    assert "--output" in result.stderr


# --- runs that do not end ---

SLOW = """
import os, time

def slowly(row):
    if os.path.exists("slow"):
        time.sleep(0.02)
    return row
"""


def begin(photos: str, *words: str, out: str = "out") -> subprocess.Popen[str]:
    """Start a slow run, and return when it has finished its first chunk."""
    Path("slow_mapping.py").write_text(SLOW)
    Path("slow").touch()
    command = [sys.executable, "-m", "recordsmith", "make", photos, "-o", out, "--map", "slow_mapping:slowly"]
    process = subprocess.Popen(
        [*command, "--name", "pets", "--workers", "1", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    pieces = Path(out, ".recordsmith-making", "pieces")
    while process.poll() is None and not any(path.stat().st_size for path in pieces.glob("*/*.records")):
        time.sleep(0.01)
    return process


def go_on(run: Callable[..., click.testing.Result], photos: str, *words: str) -> click.testing.Result:
    os.remove("slow")
    mapping = ["--map", "slow_mapping:slowly"]
    return run("make", photos, "-o", "out", *mapping, "--name", "pets", "--workers", "1", *words)


def whole_run(run: Callable[..., click.testing.Result], photos: str) -> dict[str, str]:
    """Make the dataset without a break, elsewhere."""
    mapping = ["--map", "slow_mapping:slowly", "--name", "pets", "--split", "train=0.7,test=0.3"]
    assert run("make", photos, "-o", "whole", *mapping).exit_code == 0
    return digests("whole")


def test_resume_after_a_kill(run, many_photos):
    with begin(many_photos, "--split", "train=0.7,test=0.3") as process:
        os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not digests()
    result = run("make", many_photos, "-o", "out")
    assert result.exit_code == 2
    assert "The output folder contains an unfinished run." in result.stderr
    assert "--resume" in result.stderr
    other = go_on(run, many_photos, "--resume", "--split", "train=0.6,test=0.4")
    assert other.exit_code == 2
    assert "options.split.train was 0.7 and is 0.6" in " ".join(other.stderr.split())
    Path("slow").touch()
    assert go_on(run, many_photos, "--resume", "--split", "train=0.7,test=0.3").exit_code == 0
    assert digests() == whole_run(run, many_photos)
    assert not Path("out/.recordsmith-making").exists()


def test_stopped_by_hand(run, many_photos):
    with begin(many_photos, "--split", "train=0.7,test=0.3", "--workers", "2") as process:
        os.killpg(process.pid, signal.SIGINT)
        output, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    assert " ".join(said.split()).endswith(
        "Stopped. Finished work is kept: run the same command with --resume to continue."
    )
    assert not digests()
    assert go_on(run, many_photos, "--resume", "--split", "train=0.7,test=0.3").exit_code == 0
    assert digests() == whole_run(run, many_photos)


def test_a_full_disk(run, tmp_path):
    source = draw("photos", {"cat": 90, "dog": 60}, (40, 50))  # about 900 KB
    with mounted_disk(tmp_path / "disk", "600k"):
        result = run("make", source, "-o", "disk/out", "--name", "pets")
        assert result.exit_code == 2
        said = " ".join(result.stderr.split())
        assert said.startswith("error: The disk is full. where: disk/out")
        assert "run the same command with --resume" in said
        assert result.stdout == ""
        assert not digests("disk/out")
        subprocess.run(["mount", "-o", "remount,size=8m", str(tmp_path / "disk")], check=True)
        assert run("make", source, "-o", "disk/out", "--name", "pets", "--resume").exit_code == 0
        resumed = digests("disk/out")
    assert run("make", source, "-o", "whole", "--name", "pets").exit_code == 0
    assert resumed == digests("whole")


def test_an_exception_of_the_map_function_is_no_fault_of_ours(run, tmp_path, monkeypatch) -> None:
    (tmp_path / "mine.py").write_text("def fail(row):\n    raise ValueError('not today')\n")
    (tmp_path / "table.csv").write_text("x\n1\n")
    monkeypatch.chdir(tmp_path)
    schema = tmp_path / "schema.json"
    rs.Schema({"x": rs.Scalar("int64")}).save(schema)
    options = ["--map", "mine:fail", "--on-error", "stop", "--workers", "1", "--schema", schema]
    done = run("make", "table.csv", "-o", "out", *options)
    assert done.exit_code == 2
    assert "The map function raised ValueError: not today" in done.stderr
    assert "table.csv, line 2" in done.stderr
    assert "bug in recordsmith" not in done.stderr

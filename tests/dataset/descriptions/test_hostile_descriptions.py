"""Descriptions that are wrong, by accident or on purpose, end in words: never in a crash or outside of the output.

The long run: RECORDSMITH_FUZZ_SECONDS=600 pytest -m proof tests/dataset/descriptions/test_hostile_descriptions.py
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import random
import resource
import shutil
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click.testing
import numpy as np
import pytest

import recordsmith as rs
from recordsmith.cli import main
from recordsmith.images import encode_image
from recordsmith.records.shards import IncompleteShardsWarning
from recordsmith.repairing import repair
from recordsmith.rules import Baseline
from recordsmith.schema.native import compile_plan
from recordsmith.storage.json_descriptions import parse_json
from recordsmith.text import Vocabulary

from .hostile_documents import mutated

SCHEMA = rs.Schema(
    {
        "n": rs.Scalar("int64", min=0, max=100),
        "label": rs.Label(["cat", "dog"]),
        "text": rs.Text(one_of=["a", "b"]),
        "pixels": rs.Tensor("uint8", (2, 2)),
        "list": rs.Tensor("float32", (None,)),
        "image": rs.Image(2, 2, channels=3),
    }
)
PNG = encode_image(np.zeros((2, 2, 3), np.uint8), "png")
DESCRIPTIONS = ("recordsmith.json", "features.json", "dataset_info.json")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source") / "data"
    row = {"n": 1, "label": 1, "text": "a", "pixels": [[1, 2], [3, 4]], "list": [1.0, 2.0], "image": PNG}
    for split in ("train", "test"):
        with rs.write(folder, SCHEMA, name="pets", split=split) as writer:
            for n in range(4):
                writer.add({**row, "n": n})
    (folder / "vocabulary.json").write_text(Vocabulary(["cat"]).to_text())
    manifest = json.loads((folder / "recordsmith.json").read_text())
    manifest["made"]["files"].append("vocabulary.json")
    manifest["made"]["outcome"] = {"source_rows": 8, "reasons": [{"count": 1, "reason": "a", "example": "b"}]}
    manifest["provenance"] = ["n"]
    (folder / "recordsmith.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(autouse=True)
def _no_endless_work() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError("a description leads to endless work")

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def everything(folder: Path, out: Path, rng: random.Random, steps: int | None) -> None:
    """Do what one does with a dataset, or some of it; only errors of recordsmith and of the system may come."""

    def command(*arguments: object) -> None:
        result = click.testing.CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert "a bug in recordsmith" not in result.stderr, (arguments, result.stderr)
        assert "rule-failed" not in result.stdout, (arguments, result.stdout)
        assert result.exit_code in (0, 1, 2), (arguments, result.exception)

    def read() -> None:
        dataset = rs.open(folder)
        for number, _ in zip(range(3), dataset, strict=False):
            dataset[number]
        dataset.schema.diff(SCHEMA)

    known = out / "known.json"
    actions: list[Any] = [
        read,
        lambda: rs.Schema.from_tfds(folder),
        lambda: rs.check(folder),
        lambda: rs.copy(folder, out / "copied"),
        lambda: rs.copy(folder, out / "shuffled", shuffle=True, split="train=0.5,test=0.5"),
        lambda: rs.export(folder, out / "exported", to=rng.choice(["csv", "jsonl", "parquet", "webdataset"])),
        lambda: repair(folder, out / "repaired"),
        lambda: Baseline.load(known),
        lambda: Vocabulary.load(folder / "vocabulary.json"),
        lambda: command("show", folder, "--format", rng.choice(["text", "json"])),
        lambda: command("check", folder, "--format", "json"),
        lambda: command("schema", folder, "--format", rng.choice(["text", "table", "json", "tfds", "tfmd", "python"])),
        lambda: command("schema", folder / rng.choice(DESCRIPTIONS)),
        lambda: command("copy", folder, "-o", out / "copied2"),
        lambda: command("export", folder, "-o", out / "exported2", "--to", "jsonl"),
        lambda: command("repair", folder, "-o", out / "repaired2"),
        lambda: command("make", folder, "-o", out / "made"),
        lambda: command("check", folder, "--baseline", known),
    ]
    for action in actions if steps is None else rng.sample(actions, steps):
        signal.alarm(120)
        error: Exception | None = None
        try:
            action()
        except (rs.RecordsmithError, OSError) as raised:
            error = raised
        assert not isinstance(error, TimeoutError), action
        assert all(line.isprintable() for line in str(error).split("\n"))


def tree(folder: Path) -> dict[str, float]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def attack(dataset: Path, place: Path, seed: int, steps: int | None) -> None:
    rng = random.Random(seed)
    folder, out = place / "data", place / "out"
    shutil.copytree(dataset, folder)
    out.mkdir()
    name = rng.choice([*DESCRIPTIONS, "recordsmith.json", "vocabulary.json", "known.json"])
    if name in DESCRIPTIONS[1:] or rng.random() < 0.05:
        (folder / "recordsmith.json").unlink()
    known = {"recordsmith-baseline": 1, "findings": [{"fingerprint": "a", "code": "V001", "times": 1}]}
    target = out / name if name == "known.json" else folder / name
    if name != "recordsmith.json" or target.exists():
        document = known if name == "known.json" else json.loads((dataset / name).read_text())
        target.write_text(mutated(document, rng), encoding="utf-8", errors="surrogatepass")
    before = tree(place)
    try:
        everything(folder, out, rng, steps)
    except BaseException as error:
        error.add_note(f"seed {seed}, {name}: {target.read_text(errors='replace')[:3000] if target.exists() else ''}")
        raise
    written = {path for path, time in tree(place).items() if before.get(path) != time}
    outside = [path for path in written if not Path(path).is_relative_to(out) and "/.recordsmith/" not in path]
    assert outside == [], seed
    shutil.rmtree(folder)
    shutil.rmtree(out)


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@pytest.mark.parametrize(
    "name", ["../evil", "/tmp/evil", "a/b", "a\\b", "..", ".", "", ".hidden", "a\0", "a\n", "x" * 101, "-a"]
)
@pytest.mark.parametrize("described_by", ["recordsmith.json", "dataset_info.json"])
def test_the_name_of_a_split_is_no_path(name: str, described_by: str, dataset: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(dataset, folder)
    document = json.loads((folder / described_by).read_text())
    if described_by == "recordsmith.json":
        document["splits"][name] = document["splits"].pop("train")
    else:
        document["splits"][0]["name"] = name
        (folder / "recordsmith.json").unlink()
    (folder / described_by).write_text(json.dumps(document))
    with pytest.raises(rs.SchemaError, match="not a valid split name"):
        rs.export(folder, tmp_path / "out", to="csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


@pytest.mark.parametrize("name", ["train", "Test_2", "validation-de.v2", "größe", "0"])
def test_splits_of_other_libraries_keep_their_names(name: str, dataset: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(dataset, folder)
    document = json.loads((folder / "recordsmith.json").read_text())
    document["splits"] = {name: document["splits"]["train"]}
    (folder / "recordsmith.json").write_text(json.dumps(document))
    assert list(rs.copy(folder, tmp_path / "copy").splits) == [name]
    assert len(rs.open(tmp_path / "copy", split=name)) == 4
    assert list(rs.export(folder, tmp_path / "out", to="jsonl").files) == [str(tmp_path / "out" / f"{name}.jsonl")]


@pytest.mark.parametrize("name", ["/etc/passwd", "../data/x", "sub/x", "a\0b", "..", "", "y" * 256])
def test_a_shard_is_a_file_of_its_folder(name: str, dataset: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(dataset, folder)
    document = json.loads((folder / "recordsmith.json").read_text())
    document["splits"]["train"]["shards"][0]["file"] = name
    (folder / "recordsmith.json").write_text(json.dumps(document))
    with pytest.raises(rs.SchemaError, match="only list files in its own folder"):
        rs.open(folder)


def test_a_shard_may_be_a_link(dataset: Path, tmp_path: Path) -> None:
    """People link datasets, and the cache of Hugging Face is made of links."""
    (tmp_path / "data").mkdir()
    for path in dataset.iterdir():
        if path.is_file():
            (tmp_path / "data" / path.name).symlink_to(path)
    assert len(rs.open(tmp_path / "data")) == 8
    assert rs.copy(tmp_path / "data", tmp_path / "copy").rows == 8


@pytest.mark.parametrize("splits", [255, 256, 300])
def test_a_copy_has_all_splits_or_refuses(splits: int, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    described = {}
    for number in range(splits):
        with rs.RecordWriter(folder / f"{number}.tfrecord") as writer:
            writer.write_example({"n": number})
        described[f"s{number}"] = {"shards": [{"file": f"{number}.tfrecord"}]}
    manifest = {"format": "recordsmith-dataset", "version": 1, "splits": described}
    (folder / "recordsmith.json").write_text(json.dumps(manifest))
    if splits > 255:
        with pytest.raises(rs.RecordsmithError, match="too many splits"):
            rs.copy(folder, tmp_path / "copy")
        with pytest.raises(rs.RecordsmithError, match="too many splits"):
            rs.make([{"n": 1}], tmp_path / "made", split=dict.fromkeys(described, 1))
    else:
        copied = rs.copy(folder, tmp_path / "copy")
        assert [split.rows for split in copied.splits.values()] == [1] * 255


def test_a_dataset_without_files_is_told_in_words(dataset: Path, tmp_path: Path) -> None:
    document = json.loads((dataset / "recordsmith.json").read_text())
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "recordsmith.json").write_text(json.dumps({**document, "splits": {}}))
    everything(tmp_path / "data", tmp_path, random.Random(0), None)
    with pytest.raises(rs.RecordsmithError, match="no split 'x'"):
        rs.open(tmp_path / "data", split="x")


@pytest.mark.parametrize(
    "text", ["tool = 5", "[tool]\nrecordsmith = 7", f"a = {'[' * 5000}", '[tool.recordsmith]\nbaseline = "a\\u0000b"']
)
def test_a_wrong_configuration_is_told_in_words(
    text: str, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    result = click.testing.CliRunner().invoke(main, ["check", str(dataset)])
    assert "a bug in recordsmith" not in result.stderr
    assert result.exit_code in (0, 1, 2)


def numbered(folder: Path, count: str) -> Path:
    folder.mkdir()
    for shard in ("00000", "00003"):
        with rs.RecordWriter(folder / f"x-{shard}-of-{count}.tfrecord") as writer:
            writer.write_example({"n": 1})
    return folder


@pytest.mark.parametrize("count", ["9999999999", "9" * 18, "9" * 200])
def test_a_count_in_a_name_is_only_a_number(count: str, tmp_path: Path) -> None:
    folder = numbered(tmp_path / "data", count)
    before = peak_memory()
    if len(count) <= 18:
        with pytest.warns(IncompleteShardsWarning, match=f"{int(count) - 2} of {int(count)} .numbers 1, 2, 4, 5, 6, "):
            assert len(rs.open(folder)) == 2
    findings = [one for one in rs.check(folder).findings if one.code == "F009"]
    assert [one.count for one in findings] == ([int(count) - 2] if len(count) <= 18 else [])
    assert peak_memory() - before < 200 << 20


def test_a_number_of_classes_is_only_a_number(dataset: Path) -> None:
    features = json.loads((dataset / "features.json").read_text())
    features["featuresDict"]["features"]["label"]["classLabel"]["numClasses"] = "3000000000"
    assert rs.Schema.from_tfds(features)["label"] == rs.Scalar("int64")
    with pytest.raises(rs.SchemaError, match="too many classes"):
        rs.Label(3_000_000_000)


@pytest.mark.parametrize("template", ["{SPLIT:>3000000000}", "{SPLIT.__class__}", "{SPLIT!r}", "{0}", "{", "{{SPLIT}}"])
def test_a_template_has_placeholders_and_nothing_else(template: str, dataset: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(dataset, folder)
    (folder / "recordsmith.json").unlink()
    info = json.loads((folder / "dataset_info.json").read_text())
    info["splits"][0]["filepathTemplate"] = template
    (folder / "dataset_info.json").write_text(json.dumps(info))
    with pytest.raises(rs.SchemaError, match="template that is not supported"):
        rs.open(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("[" * 70 + "]" * 70, "nested too deeply"),
        ("[NaN]", "NaN, which is not a JSON number"),
        ("[-Infinity]", "-Infinity, which is not a JSON number"),
        ("[1e400]", "not fit in a float64"),
        ("[18446744073709551616]", "fit in 64 bits"),
        (f"[{'9' * 5000}]", "not JSON"),
        ('["\\ud800"]', "half a character"),
        ('{"a": {"b": 1, "b": 1}}', "the key 'b' twice"),
        (f'["{"x" * ((1 << 20) + 1)}"]', "a string that is too long"),
        ("[" + "," * 8_000_001 + "]", "too many values"),
        ("", "not JSON"),
        ("\0", "not JSON"),
    ],
)
def test_what_a_description_may_be(text: str, said: str) -> None:
    with pytest.raises(rs.SchemaError, match=said):
        parse_json(text, "manifest")


def test_a_file_may_not_be_larger_than_the_limit(tmp_path: Path) -> None:
    with open(tmp_path / "recordsmith.json", "wb") as file:
        file.truncate(200 << 20)
    before = peak_memory()
    with pytest.raises(rs.SchemaError, match="too large"):
        rs.open(tmp_path)
    assert peak_memory() - before < 300 << 20


def test_a_schema_has_shapes_that_a_record_can_hold() -> None:
    for shape in ((10**30,), (2**31,), (2**16, 2**16), (1,) * 65):
        with pytest.raises(rs.SchemaError, match="No record can hold"):
            rs.Tensor("int64", shape)


def with_secret(dataset: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    shutil.copytree(dataset, folder)
    (tmp_path / "secret").write_text('{"private": "key"}')
    names = ["NOTES.md", "mine.txt", "pipe", "nothing.txt"]
    (folder / "NOTES.md").symlink_to(tmp_path / "secret")
    (folder / "mine.txt").write_text("private")
    (folder / "mine.txt").chmod(0o600)
    os.mkfifo(folder / "pipe")
    document = json.loads((folder / "recordsmith.json").read_text())
    document["made"]["files"] += names
    (folder / "recordsmith.json").write_text(json.dumps(document))
    return folder


@pytest.mark.parametrize("command", ["copy", "repair"])
def test_only_files_of_the_folder_go_along(command: str, dataset: Path, tmp_path: Path) -> None:
    folder = with_secret(dataset, tmp_path)
    umask = os.umask(0o022)
    try:
        result = click.testing.CliRunner().invoke(main, [command, str(folder), "-o", str(tmp_path / "out")])
    finally:
        os.umask(umask)
    assert result.exit_code == 0, result.output
    out = tmp_path / "out"
    assert not (out / "NOTES.md").exists()
    assert not (out / "pipe").exists()
    assert "NOTES.md" in result.output
    assert "left out" in result.output
    assert (out / "vocabulary.json").read_text() == (dataset / "vocabulary.json").read_text()
    assert stat.S_IMODE((out / "mine.txt").stat().st_mode) == 0o600
    assert stat.S_IMODE((out / "vocabulary.json").stat().st_mode) == 0o644
    assert not [
        path for path in out.rglob("*") if path.is_file() and '"private": "key"' in path.read_text(errors="ignore")
    ]


def test_a_linked_description_goes_along_only_if_it_is_one(dataset: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(dataset, folder)
    (tmp_path / "secret").write_text('{"private": "key"}')
    (folder / "dataset_info.json").unlink()
    (folder / "dataset_info.json").symlink_to(tmp_path / "secret")
    repair(folder, tmp_path / "out")
    assert not (tmp_path / "out" / "dataset_info.json").exists()


def test_wrong_schemas_end_in_words() -> None:
    documents = [
        rs.Schema({**SCHEMA, "sparse": rs.Sparse("float32", 9), "steps": rs.Steps(rs.Scalar("int64"))}).to_json(),
        rs.Schema({"a": rs.Text(), "p": rs.Packed({"a": ("uint8", (2,)), "b": ("float32", ())})}).to_json(),
        SCHEMA.to_tfds(),
        Vocabulary(["cat"]).to_json(),
    ]
    for seed in range(2000):
        rng = random.Random(seed)
        number = rng.randrange(len(documents))
        text = mutated(documents[number], rng)
        with contextlib.suppress(rs.RecordsmithError):
            document = parse_json(text, "schema")
            if number == 3:
                Vocabulary.from_json(document)
                continue
            schema = rs.Schema.from_tfds(document) if number == 2 else rs.Schema.from_json(document)
            for form in (repr, rs.Schema.to_json, rs.Schema.to_tfmd, rs.Schema.to_tfds, compile_plan, schema.diff):
                with contextlib.suppress(rs.RecordsmithError):
                    form(schema)


@pytest.mark.filterwarnings("ignore::recordsmith.dataset.descriptions.tfds_folder.UnusedSchemaWarning")
def test_wrong_descriptions_end_in_words(dataset: Path, tmp_path: Path) -> None:
    everything(dataset, tmp_path, random.Random(0), None)
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    before = peak_memory()
    for seed in range(60):
        attack(dataset, tmp_path, seed, steps=2)
    assert peak_memory() - before < 500 << 20


@pytest.mark.proof
def test_many_wrong_descriptions_end_in_words(dataset: Path, tmp_path: Path) -> None:
    before = peak_memory()
    end = time.monotonic() + float(os.environ.get("RECORDSMITH_FUZZ_SECONDS", "600"))
    faulthandler.cancel_dump_traceback_later()  # which would take a long run for one that hangs
    seed = 1_000_000
    while time.monotonic() < end:
        attack(dataset, tmp_path, seed, steps=6)
        seed += 1
    print(f"{seed - 1_000_000:,} descriptions")  # noqa: T201 - the figure to report
    assert peak_memory() - before < 1 << 30

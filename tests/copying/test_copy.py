"""Copies: the same bytes where nothing changes, what was asked for where something does, and a count of the rest."""

from __future__ import annotations

import collections
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith import _core
from recordsmith.dataset import find_layout
from recordsmith.images import decode_image, encode_image
from recordsmith.run.shards import shuffling
from recordsmith.run.splits import external_sort
from tests.copying.conftest import SCHEMA, pets
from tests.formats.made_sources import file_digests

ROOT = Path(__file__).resolve().parents[2]


def payloads(path: Path, split: str | None = None) -> list[bytes]:
    return [payload for file in find_layout(path).select(split).files for payload in rs.RecordReader(file)]


def numbers(path: Path, split: str | None = None) -> list[int]:
    return [int(row["n"]) for row in rs.open(path, split=split)]


# --- the same bytes ---


def test_a_copy_in_other_shards_has_the_same_records(folder: Path, quick_path: Path) -> None:
    out = quick_path / "out"
    copied = rs.copy(folder, out, shards=5)
    assert copied.verbatim
    assert copied.rows == copied.source_rows == 60
    for split in ("train", "test"):
        assert payloads(out, split) == payloads(folder, split)
        assert len(list(out.glob(f"*-{split}.tfrecord-*-of-00005"))) == 5
    assert rs.open(out).schema == SCHEMA
    manifest = json.loads((out / "recordsmith.json").read_text())
    assert manifest["splits"]["train"]["classes"] == {"cat": 39, "dog": 9}
    assert {"features.json", "dataset_info.json"} <= {path.name for path in out.iterdir()}


def test_whatever_records_hold_is_copied(quick_path: Path) -> None:
    """No Examples, in files that are plain and compressed, one behind the other."""
    written = []
    for number, compression in enumerate((None, "gzip", "zlib")):
        some = [bytes([number, n]) * n for n in range(20)]
        with rs.RecordWriter(quick_path / f"{number}.tfrecord", compression) as writer:
            for payload in some:
                writer.write(payload)
        written += some
    files = [quick_path / f"{number}.tfrecord" for number in range(3)]
    copied = rs.copy(files, quick_path / "all.tfrecord.gz")
    assert list(rs.RecordReader(quick_path / "all.tfrecord.gz")) == written
    assert copied.rows == 60
    assert (quick_path / "all.tfrecord.gz").read_bytes()[:2] == b"\x1f\x8b"
    rs.copy(files, quick_path / "divided", split="a=0.5,b=0.5", shuffle=True)
    assert sorted(payloads(quick_path / "divided")) == sorted(written)
    assert "schema" not in json.loads((quick_path / "divided" / "recordsmith.json").read_text())


def test_compression_is_kept_or_changed(plain_file: Path, quick_path: Path) -> None:
    expected = list(rs.RecordReader(plain_file))
    rs.copy(plain_file, quick_path / "zipped", compression="gzip", shards=2)
    rs.copy(quick_path / "zipped", quick_path / "kept")
    rs.copy(quick_path / "zipped", quick_path / "plain", compression="none")
    for name, suffix in (("zipped", ".gz"), ("kept", ".gz"), ("plain", "")):
        files = sorted((quick_path / name).glob("*.tfrecord*"))
        assert all(f".tfrecord{suffix}-" in file.name for file in files)
        assert payloads(quick_path / name) == expected


def test_frames_are_copied_and_not_decoded(folder: Path, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def decoded(*_: object, **__: object) -> None:
        raise AssertionError("a record was decoded")

    rs.copy(folder, quick_path / "plain.tfrecord")  # without a label to count
    monkeypatch.setattr(_core, "decode_frames", decoded)
    monkeypatch.setattr(_core, "decode_payloads", decoded)
    rs.copy(quick_path / "plain.tfrecord", quick_path / "out", dedupe=True, sample=0.5, shuffle=True)


# --- choosing ---


def test_where(folder: Path, quick_path: Path) -> None:
    copied = rs.copy(folder, quick_path / "out", where="label == 'dog' and name is not missing")
    expected = [row["n"] for row in pets(60) if row["label"] == 1 and row["name"] is not None]
    assert sorted(numbers(quick_path / "out")) == expected
    assert copied.unmatched == 60 - len(expected)
    assert copied.verbatim


def test_where_without_a_description(plain_file: Path, quick_path: Path) -> None:
    rs.copy(plain_file, quick_path / "out.tfrecord", where="max(tokens) == 2 and n > 10")
    assert numbers(quick_path / "out.tfrecord") == [11, 15, 19, 23, 27]


def test_where_beside_features_of_mixed_types(quick_path: Path) -> None:
    with rs.RecordWriter(quick_path / "in.tfrecord") as writer:
        for n, value in enumerate((1, "text", 2.5)):
            writer.write_example({"n": n, "value": value})
    copied = rs.copy(quick_path / "in.tfrecord", quick_path / "out.tfrecord", where="n > 0")
    assert copied.rows == 2
    with pytest.raises(rs.SchemaError, match=r"different types in different records(.|\n)*'value'"):
        rs.copy(quick_path / "in.tfrecord", quick_path / "other.tfrecord", where="value == 1")


def test_where_that_fails_names_the_record(plain_file: Path, quick_path: Path) -> None:
    with pytest.raises(rs.PipelineError, match="record 1") as caught:
        rs.copy(plain_file, quick_path / "out", where="n > 0 and tokens > 1")
    assert caught.value.path == str(plain_file)
    assert not (quick_path / "out").exists()


def test_nothing_left_is_an_error(folder: Path, quick_path: Path) -> None:
    with pytest.raises(rs.RecordsmithError, match=r"no record(.|\n)*60 do not meet"):
        rs.copy(folder, quick_path / "out", where="n > 100")
    assert not (quick_path / "out").exists()


def test_take_and_sample(folder: Path, quick_path: Path) -> None:
    copied = rs.copy(folder, quick_path / "taken", take=5)
    for split in ("train", "test"):
        assert payloads(quick_path / "taken", split) == payloads(folder, split)[:5]
    assert copied.not_sampled == 50
    for amount, train, test in ((0.25, 12, 3), (20, 16, 4)):
        out = quick_path / f"sampled-{amount}"
        copied = rs.copy(folder, out, sample=amount)
        for split, rows in (("train", train), ("test", test)):
            chosen = numbers(out, split)
            assert len(chosen) == rows
            whole = numbers(folder, split)
            assert chosen == [number for number in whole if number in chosen], "the order stays"
        assert copied.not_sampled == 60 - train - test
    other = rs.copy(folder, quick_path / "other", sample=0.25, seed=1)
    assert other.rows == 15
    assert numbers(quick_path / "other") != numbers(quick_path / "sampled-0.25")


def test_dedupe_keeps_the_first(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_sort, "_BUCKET_ENTRIES", 16)  # through files, as many records would go
    values = [b"a", b"b", b"a", b"", b"c", b"b", b"a", b""] * 5 + [b"d"]
    with rs.RecordWriter(quick_path / "in.tfrecord") as writer:
        for value in values:
            writer.write(value)
    copied = rs.copy(quick_path / "in.tfrecord", quick_path / "out.tfrecord", dedupe=True)
    assert list(rs.RecordReader(quick_path / "out.tfrecord")) == [b"a", b"b", b"", b"c", b"d"]
    assert copied.duplicates == len(values) - 5


def test_records_with_one_digest_and_other_bytes_are_no_duplicates(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with rs.RecordWriter(quick_path / "in.tfrecord") as writer:
        for value in (b"a", b"b", b"a"):
            writer.write(value)
    monkeypatch.setattr(_core, "digest_frames", lambda _, offsets, __: np.zeros(len(offsets) - 1, np.uint64))
    rs.copy(quick_path / "in.tfrecord", quick_path / "out.tfrecord", dedupe=True)
    assert list(rs.RecordReader(quick_path / "out.tfrecord")) == [b"a", b"b"]


# --- dividing and ordering ---


def test_splits_with_groups_and_classes(folder: Path, quick_path: Path) -> None:
    rs.copy(folder, quick_path / "out", split="train=0.5,val=0.5", group="who", merge_splits=True)
    parts = {split: {int(row["who"]) for row in rs.open(quick_path / "out", split=split)} for split in ("train", "val")}
    assert not parts["train"] & parts["val"]
    rs.copy(folder, quick_path / "without", split="train=0.5,val=0.5", group="who", drop=["who"], merge_splits=True)
    owners = {row["n"]: 7 if row["who"] is None else row["who"] for row in pets(60)}
    train, val = ({owners[number] for number in numbers(quick_path / "without", split)} for split in ("train", "val"))
    assert train
    assert val
    assert not train & val
    rs.copy(folder, quick_path / "even", split="train=0.75,val=0.25", stratify=True, merge_splits=True)
    counts = {
        split: collections.Counter(int(row["label"]) for row in rs.open(quick_path / "even", split=split))
        for split in ("train", "val")
    }
    assert counts == {"train": {0: 36, 1: 9}, "val": {0: 12, 1: 3}}
    copied = rs.copy(folder, quick_path / "some", split="a=10,b=20", merge_splits=True)
    assert (copied.unassigned, copied.rows) == (30, 30)


def test_shuffle_is_over_all_files_and_by_the_seed(
    folder: Path, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shuffling, "BUCKETS_ABOVE_BYTES", 100)  # as if the records were too many to be read anywhere
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        rs.copy(folder, quick_path / name, shuffle=True, seed=seed)
    first, again, other = (numbers(quick_path / name, "train") for name in "abc")
    assert first == again
    assert first != other
    assert sorted(first) == sorted(numbers(folder, "train"))
    assert first != sorted(first)


@pytest.mark.parametrize("changed", [False, True])
def test_files_do_not_depend_on_workers(
    folder: Path, quick_path: Path, monkeypatch: pytest.MonkeyPatch, *, changed: bool
) -> None:
    from recordsmith.making.sources import tfrecord_files

    monkeypatch.setattr(tfrecord_files, "_CHUNK_ROWS", 7)
    options: dict[str, Any] = {"split": "train=0.7,test=0.3", "merge_splits": True, "shuffle": True, "shards": 3}
    options["where"] = "n != 5"
    if changed:
        options |= {"drop": ["tokens"], "rename": {"who": "owner"}}
    for workers in (1, 4):
        rs.copy(folder, quick_path / str(workers) / "out", workers=workers, **options)
    assert file_digests(quick_path / "1" / "out") == file_digests(quick_path / "4" / "out")


# --- changing ---


def test_features_are_chosen_dropped_and_renamed(folder: Path, quick_path: Path) -> None:
    copied = rs.copy(
        folder, quick_path / "out", features=["label", "n", "who", "name"], drop=["name"], rename={"label": "class"}
    )
    assert not copied.verbatim
    assert copied.left_out == ("x", "tokens", "name")
    dataset = rs.open(quick_path / "out", split="test")
    assert list(dataset.schema) == ["class", "n", "who"]
    for new, old in zip(dataset, rs.open(folder, split="test"), strict=True):
        assert (new["class"], new["n"], new["who"]) == (old["label"], old["n"], old["who"])
    first = rs.decode_example(payloads(quick_path / "out", "test")[1])
    assert ("who" in first) == (pets(60)[50]["who"] is not None), "what is absent stays absent"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": ["lable"]}, "no feature 'lable' to keep. Did you mean 'label'"),
        ({"drop": ["nam"]}, "to leave out. Did you mean 'name'"),
        ({"rename": {"who": "n"}}, "Two features would have the name 'n'"),
        ({"rename": {"whom": "n"}}, "to rename"),
        ({"drop": list(SCHEMA)}, "No feature is left"),
        ({"sample": 0.0}, "share between 0 and 1"),
        ({"sample": 0.5, "take": 3}, "cannot be used together"),
        ({"take": 0}, "at least 1"),
        ({"on_error": "skipp"}, "Did you mean 'skip'"),
        ({"stratify": True}, "stratify and group need split"),
        ({"split": "train=0.5,test=0.5", "merge_splits": True, "stratify": "nam"}, "to stratify by"),
        ({"split": "train=0.5,test=0.5", "merge_splits": True, "group": "nam"}, "to group by"),
        ({"split": "train=0.5,test=0.5"}, "already has splits"),
        ({"from_split": "tset"}, "Did you mean 'test'"),
        ({"schema": rs.Schema({"n": rs.Scalar("int64"), "age": rs.Scalar("int64")})}, "the input does not have: 'age'"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value,
)
def test_refused_before_anything_is_written(
    options: dict[str, Any], words: str, folder: Path, quick_path: Path
) -> None:
    with pytest.raises(rs.RecordsmithError, match=words):
        rs.copy(folder, quick_path / "out", **options)
    assert not (quick_path / "out").exists()


def test_another_schema(folder: Path, quick_path: Path) -> None:
    schema = rs.Schema(
        {
            "n": rs.Scalar("uint8"),
            "x": rs.Tensor("float64", (2,)),
            "label": rs.Label(["dog", "cow", "cat"]),
            "note": rs.Text(optional=True),
        }
    )
    copied = rs.copy(folder, quick_path / "out", schema=schema)
    assert copied.left_out == ("tokens", "name", "who")
    assert rs.open(quick_path / "out").schema == schema
    for new, old in zip(rs.open(quick_path / "out"), rs.open(folder), strict=True):
        assert new["n"] == old["n"]
        assert new["n"].dtype == np.uint8
        assert new["x"].tolist() == old["x"].tolist()
        assert schema["label"].names[new["label"]] == ("cat", "dog")[old["label"]]


def test_pixels_become_images_and_labels_texts(quick_path: Path) -> None:
    schema = rs.Schema({"image": rs.Tensor("uint8", (8, 8, 3)), "label": rs.Label(["cat", "dog"]), "name": rs.Text()})
    pixels = np.random.default_rng(0).integers(0, 256, (4, 8, 8, 3), np.uint8)
    with rs.write(quick_path / "in", schema) as writer:
        writer.extend({"image": pixels, "label": [0, 1, 1, 0], "name": ["dog", "cat", "cat", "dog"]})
    other = {"label": rs.Text(), "name": rs.Label(["dog", "cat"])}
    rs.copy(quick_path / "in", quick_path / "out", schema=rs.Schema({"image": rs.Image(encoding="png"), **other}))
    for row, image in zip(rs.open(quick_path / "out"), pixels, strict=True):
        assert (decode_image(row["image"]) == image).all()
        assert row["label"] == ["dog", "cat"][1 - row["name"]]
    jpeg = rs.Schema({"image": rs.Image(encoding="jpeg")})
    with pytest.raises(rs.SchemaError, match="cast=True"):
        rs.copy(quick_path / "in", quick_path / "jpeg", schema=jpeg)
    assert rs.copy(quick_path / "in", quick_path / "jpeg", schema=jpeg, cast=True).rows == 4


def test_casts_that_lose_something_need_consent(folder: Path, quick_path: Path) -> None:
    schema = rs.Schema({"x": rs.Tensor("int64", (2,))})
    with pytest.raises(rs.RecordsmithError, match="'x'"):
        rs.copy(folder, quick_path / "out", schema=schema)
    assert not (quick_path / "out").exists()
    copied = rs.copy(folder, quick_path / "skipped", schema=schema, on_error="skip")
    assert (copied.rows, copied.rejects) == (30, 30)
    assert not copied.ok
    rs.copy(folder, quick_path / "cast", schema=schema, cast=True)
    assert rs.open(quick_path / "cast", split="test")[0]["x"].tolist() == [24, -48]


def test_a_schema_for_files_that_had_none(quick_path: Path) -> None:
    with rs.RecordWriter(quick_path / "in.tfrecord") as writer:
        for n in range(4):
            writer.write_example({"matrix": [n, 1, 2, 3], "label": n % 2, "s/indices": [n], "s/values": [0.5]})
    schema = rs.Schema(
        {"matrix": rs.Tensor("int64", (2, 2)), "label": rs.Label(["no", "yes"]), "s": rs.Sparse("float32", 9)}
    )
    copied = rs.copy(quick_path / "in.tfrecord", quick_path / "out", schema=schema)
    assert copied.left_out == ()
    row = rs.open(quick_path / "out")[3]
    assert row["matrix"].tolist() == [[3, 1], [2, 3]]
    copied = rs.copy(quick_path / "in.tfrecord", quick_path / "inferred", infer_schema=True)
    assert copied.verbatim
    manifest = json.loads((quick_path / "inferred" / "recordsmith.json").read_text())
    assert list(manifest["schema"]["features"]) == ["label", "matrix", "s/indices", "s/values"]


def test_images_are_encoded_anew(quick_path: Path) -> None:
    from recordsmith.images import read_header

    images = [encode_image(np.full((8, 10 + n, 3), 40 * n, np.uint8), "jpeg") for n in range(4)]
    with rs.write(quick_path / "in", rs.Schema({"image": rs.Image(encoding="jpeg")})) as writer:
        writer.extend({"image": images})
    png = rs.Schema({"image": rs.Image(encoding="png")})
    rs.copy(quick_path / "in", quick_path / "png", schema=png)
    headers = [read_header(row["image"]) for row in rs.open(quick_path / "png")]
    assert [(header.format, header.height, header.width) for header in headers if header] == [
        ("png", 8, 10 + n) for n in range(4)
    ]
    small = rs.Schema({"image": rs.Image(4, 4, encoding="jpeg")})
    with pytest.raises(rs.RecordsmithError, match="needs cast=True"):
        rs.copy(quick_path / "in", quick_path / "small", schema=small)
    rs.copy(quick_path / "in", quick_path / "small", schema=small, cast=True)
    headers = [read_header(row["image"]) for row in rs.open(quick_path / "small")]
    assert {(header.format, header.height, header.width) for header in headers if header} == {("jpeg", 4, 4)}
    copied = rs.copy(
        quick_path / "in", quick_path / "some", schema=small, on_error="skip", where="len(image) > 1", cast=True
    )
    assert copied.rows == 4


# --- several inputs ---


def test_inputs_with_different_schemas_are_refused(folder: Path, quick_path: Path) -> None:
    with rs.write(quick_path / "other", rs.Schema({"n": rs.Scalar("float32")})) as writer:
        writer.add({"n": 1.0})
    with pytest.raises(rs.SchemaError, match=r"different schemas(.|\n)*'n'"):
        rs.copy([folder, quick_path / "other"], quick_path / "out")


def test_an_input_without_a_description_must_fit_that_of_the_others(
    folder: Path, plain_file: Path, quick_path: Path
) -> None:
    copied = rs.copy([folder, plain_file], quick_path / "out", merge_splits=True)
    assert copied.rows == 90
    with rs.RecordWriter(quick_path / "foreign.tfrecord") as writer:
        writer.write_example({"n": "text"})
    with pytest.raises(rs.RecordsmithError, match="feature"):
        rs.copy([folder, quick_path / "foreign.tfrecord"], quick_path / "bad", merge_splits=True)
    with pytest.raises(rs.RecordsmithError, match="belong to a split, and others do not"):
        rs.copy([folder, plain_file], quick_path / "bad")
    with pytest.raises(rs.RecordsmithError, match="given twice"):
        rs.copy([plain_file, plain_file], quick_path / "bad")


def test_a_vocabulary_goes_along(quick_path: Path) -> None:
    rows = [{"text": f"word{n % 3} again", "n": n} for n in range(12)]
    rs.make(rows, quick_path / "in", preprocess=rs.preprocessing.VocabularyIds("text", 10))
    rs.copy(quick_path / "in", quick_path / "out", name="in")
    extra = [path.name for path in (quick_path / "in").iterdir() if "vocabulary" in path.name]
    assert extra
    for name in extra:
        assert (quick_path / "out" / name).read_bytes() == (quick_path / "in" / name).read_bytes()


def test_where_records_come_from_does_not_tell_them_apart(quick_path: Path) -> None:
    """The same image in two files is one, and stays in one split; no record is a duplicate of the other's bytes."""
    for n in range(40):
        folder = quick_path / "photos" / "ab"[n % 2]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{n}.png").write_bytes(encode_image(np.full((2, 2, 3), n // 4, np.uint8), "png"))
    rs.make(quick_path / "photos", quick_path / "in")
    assert json.loads((quick_path / "in" / "recordsmith.json").read_text())["provenance"] == ["filename"]
    changes: dict[str, dict[str, Any]] = {"same": {}, "changed": {"rename": {"filename": "path"}, "drop": ["label"]}}
    for name, options in changes.items():
        copied = rs.copy(quick_path / "in", quick_path / name, split="train=0.5,test=0.5", dedupe=True, **options)
        assert copied.duplicates == 0
        manifest = json.loads((quick_path / name / "recordsmith.json").read_text())
        assert manifest["provenance"] == ["path" if options else "filename"]
        images = [{row["image"] for row in rs.open(quick_path / name, split=split)} for split in ("train", "test")]
        if options:  # without labels, which tell images of the two folders apart
            assert not images[0] & images[1]


# --- damage, refusals, kills ---


def test_damage_stops_or_is_counted(plain_file: Path, quick_path: Path) -> None:
    data = bytearray(plain_file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    plain_file.write_bytes(data)
    with pytest.raises(rs.RecordsmithError, match="repair") as caught:
        rs.copy(plain_file, quick_path / "out")
    assert str(plain_file) in str(caught.value)
    assert not (quick_path / "out").exists()
    copied = rs.copy(plain_file, quick_path / "out", on_error="quarantine")
    assert (copied.rows, copied.rejects, copied.source_rows) == (29, 1, 30)
    assert "record" in (quick_path / "out" / "rejected.jsonl").read_text()
    assert len(payloads(quick_path / "out")) == 29


def test_nothing_is_overwritten_unless_asked(folder: Path, plain_file: Path, quick_path: Path) -> None:
    rs.copy(folder, quick_path / "out")
    rs.copy(plain_file, quick_path / "one.tfrecord")
    before = file_digests(quick_path)
    for source, out in ((plain_file, "out"), (folder, "one.tfrecord")):
        with pytest.raises(rs.RecordsmithError, match="overwrite"):
            rs.copy(source, quick_path / out)
    for source in (folder, plain_file):
        with pytest.raises(rs.RecordsmithError, match="the same file or folder as the input"):
            rs.copy(source, source, overwrite=True)
    assert file_digests(quick_path) == before
    rs.copy(plain_file, quick_path / "out", overwrite=True)
    rs.copy(folder, quick_path / "one.tfrecord", overwrite=True)
    assert (len(payloads(quick_path / "out")), len(payloads(quick_path / "one.tfrecord"))) == (30, 60)


def test_what_one_file_cannot_have_is_refused(folder: Path, quick_path: Path) -> None:
    for options in ({"split": "a=0.5,b=0.5"}, {"shards": 2}, {"infer_schema": True}):
        with pytest.raises(rs.RecordsmithError, match="single file"):
            rs.copy(folder, quick_path / "out.tfrecord", **options)
    with pytest.raises(rs.RecordsmithError, match="does not match the compression"):
        rs.copy(folder, quick_path / "out.tfrecord.gz", compression="none")


TO_KILL = """
import json, os, signal, sys
import recordsmith as rs
from recordsmith.storage import atomic_file
from recordsmith.run.publishing import publishing
from recordsmith.making.sources import tfrecord_files

tfrecord_files._CHUNK_ROWS = 20
source, out, moment = sys.argv[1], sys.argv[2], int(sys.argv[3])
met = 0

def step(*_):
    global met
    met += 1
    if met == moment:
        os.kill(os.getpid(), signal.SIGKILL)

def moved(*arguments, **named):
    step()
    atomic_file.put_in_place(*arguments, **named)

publishing.put_in_place = moved
rs.copy(source, out, on_progress=step, workers=1, **json.loads(sys.argv[4]))
print(met)
"""


@pytest.mark.parametrize(
    "options", [{"shards": 2}, {"shards": 2, "drop": ["x"], "shuffle": True}], ids=["same", "changed"]
)
def test_killed_runs_leave_nothing_under_final_names_and_go_on(
    options: dict[str, Any], folder: Path, quick_path: Path
) -> None:
    def run(out: Path, moment: int) -> subprocess.CompletedProcess[str]:
        some = {} if out.suffix else options
        command = [sys.executable, "-c", TO_KILL, str(folder), str(out), str(moment), json.dumps(some)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)

    whole = run(quick_path / "whole", 0)
    assert whole.returncode == 0, whole.stderr
    expected = file_digests(quick_path / "whole")
    steps = int(whole.stdout)
    for moment in (
        (2, steps - 3) if "drop" in options else (steps // 2, steps - 2)
    ):  # reading, writing, and while files are given their names
        out = quick_path / "whole"
        for path in sorted(out.iterdir()):
            path.unlink()
        assert run(out, moment).returncode == -signal.SIGKILL
        for name, digest in file_digests(out).items():
            assert name.startswith(".") or digest == expected[name]
        assert not (out / "recordsmith.json").exists()
        from recordsmith.making.sources import tfrecord_files

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tfrecord_files, "_CHUNK_ROWS", 20)
            rs.copy(folder, out, resume=True, **options)
        assert file_digests(out) == expected
    assert run(quick_path / "one.tfrecord", 3).returncode == -signal.SIGKILL
    assert not (quick_path / "one.tfrecord").exists()


def test_records_that_stay_as_they_are_take_no_room_but_their_own(
    folder: Path, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recordsmith.run.staging import pieces, staged_files

    written: dict[str, int] = {}
    real = staged_files.write_all

    def counting(file: Any, data: Any) -> None:
        kind = os.path.splitext(file.name)[1]
        written[kind] = written.get(kind, 0) + len(data)
        real(file, data)

    monkeypatch.setattr(pieces, "write_all", counting)
    rs.copy(folder, quick_path / "same", where="n != 3", dedupe=True, sample=0.9)
    assert written[".records"] == 0
    rs.copy(folder, quick_path / "changed", drop=["x"])
    assert written[".records"] > 0


def test_an_input_that_changes_meanwhile_is_noticed(plain_file: Path, quick_path: Path) -> None:
    def change(progress: Any) -> None:
        if progress.phase == "ordering":
            plain_file.write_bytes(plain_file.read_bytes() + b"more")

    with pytest.raises(rs.RecordsmithError, match="changed"):
        rs.copy(plain_file, quick_path / "out", on_progress=change)
    assert not (quick_path / "out").exists()


def test_a_failing_disk_leaves_nothing(folder: Path, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recordsmith.run.staging import pieces, staged_files

    real = staged_files.write_all
    calls = 0

    def failing(file: Any, data: Any) -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise OSError(28, os.strerror(28))
        real(file, data)

    monkeypatch.setattr(pieces, "write_all", failing)
    with pytest.raises(OSError, match="space"):
        rs.copy(folder, quick_path / "one.tfrecord")
    assert sorted(path.name for path in quick_path.iterdir()) == ["pets"]
    calls = 0
    with pytest.raises(OSError, match="space"):
        rs.copy(folder, quick_path / "out")
    assert all(path.name.startswith(".") for path in (quick_path / "out").iterdir())

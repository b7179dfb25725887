"""Folders of sounds become datasets: the bytes, the classes, the splits; what is damaged is a named reject."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from tests.audio.made_sounds import decoded, made_folder, samples_of, sound


@pytest.mark.source("audio", keeps="the encoded sound, its rate, channels and format, classes, splits, file names")
def test_sounds_are_kept_encoded(tmp_path: Path):
    folder = made_folder(tmp_path / "words", encodings=("wav", "flac", "ogg", "mp3"), per_class=4)
    made = rs.make(folder, tmp_path / "out")
    assert made.ok
    ds = rs.open(tmp_path / "out")
    assert ds.schema["audio"] == rs.Audio(rate=8000, channels=1)
    assert ds.schema["label"] == rs.Label(["no", "yes"])
    assert len(ds) == 8
    for row in ds:
        assert row["audio"] == (folder / row["filename"]).read_bytes()
        assert row["label"] == row["filename"].startswith("yes")


@pytest.mark.source("audio", keeps="the encoded sound, its rate, channels and format, classes, splits, file names")
def test_splits_are_kept(tmp_path: Path):
    made_folder(tmp_path / "words" / "train", per_class=2)
    made_folder(tmp_path / "words" / "test", per_class=1)
    made = rs.make(rs.sources.audio(tmp_path / "words"), tmp_path / "out")
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 4, "test": 2}
    assert rs.open(tmp_path / "out", split="test").schema["audio"] == rs.Audio(rate=8000, channels=1, encoding="wav")


def test_sounds_that_are_cut_short_are_rejects(tmp_path: Path):
    folder = made_folder(tmp_path / "words", encodings=("wav", "flac", "ogg", "mp3"), per_class=4)
    for file in sorted((folder / "no").iterdir()):
        file.write_bytes(file.read_bytes()[:-700])
    (folder / "yes" / "9.wav").write_text("no sound at all")
    (folder / "yes" / "9.m4a").write_bytes(b"\0\0\0\x20ftypM4A ")
    rs.make(folder, tmp_path / "out", max_rejects=1)
    assert len(rs.open(tmp_path / "out")) == 4
    rejects = map(json.loads, (tmp_path / "out" / "rejected.jsonl").read_text().splitlines())
    reasons = {Path(reject["source"]).name: reject["reason"] for reject in rejects}
    assert sorted(reasons) == ["0.wav", "1.flac", "2.ogg", "3.mp3", "9.m4a", "9.wav"]
    assert "cut short" in reasons["0.wav"]
    assert "cut short" in reasons["2.ogg"]
    assert "not a WAV" in reasons["9.m4a"]


def test_sounds_are_converted_on_request(tmp_path: Path):
    folder = made_folder(tmp_path / "words", rate=16_000, channels=2)
    rs.make(rs.sources.audio(folder, rate=8000, channels=1, encoding="flac"), tmp_path / "out")
    ds = rs.open(tmp_path / "out")
    assert ds.schema["audio"] == rs.Audio(rate=8000, channels=1, encoding="flac")
    assert [decoded(row["audio"]).shape for row in ds] == [(800, 1)] * 6


def test_the_same_bytes_whatever_the_workers(tmp_path: Path):
    folder = made_folder(tmp_path / "words", per_class=4)
    for workers in (1, 3):
        rs.make(rs.sources.audio(folder, rate=4000), tmp_path / f"out{workers}", workers=workers, name="words")
    first, second = (sorted((tmp_path / f"out{workers}").glob("*.tfrecord*")) for workers in (1, 3))
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]


def test_folders_without_sounds_and_wrong_options(tmp_path: Path):
    (tmp_path / "readme.md").write_text("nothing")
    with pytest.raises(rs.PipelineError, match="No sounds"):
        rs.sources.audio(tmp_path).schema()
    (tmp_path / "a.m4a").write_bytes(b"\0\0\0\x20ftypM4A ")
    with pytest.raises(rs.PipelineError, match="None of the files is a sound") as caught:
        rs.make(tmp_path, tmp_path / "out")
    assert "ffmpeg" in str(caught.value)
    with pytest.raises(rs.PipelineError, match="only as WAV or FLAC"):
        rs.sources.audio(tmp_path, encoding="mp3")  # type: ignore[arg-type]
    with pytest.raises(rs.SchemaError, match="rate"):
        rs.sources.audio(tmp_path, rate=0)


@pytest.mark.source("parquet", keeps="sounds of Hugging Face datasets")
def test_sounds_of_hugging_face_parquet_files(tmp_path: Path):
    datasets = pytest.importorskip("datasets")
    rows = {"audio": [{"bytes": sound(n), "path": f"{n}.wav"} for n in range(4)], "text": list("abcd")}
    features = datasets.Features({"audio": datasets.Audio(sampling_rate=8000), "text": datasets.Value("string")})
    datasets.Dataset.from_dict(rows).cast(features).to_parquet(tmp_path / "a.parquet")
    rs.make(tmp_path / "a.parquet", tmp_path / "out", shuffle=False)
    ds = rs.open(tmp_path / "out")
    assert isinstance(ds.schema["audio"], rs.Audio)
    assert [row["audio"] for row in ds] == [sound(n) for n in range(4)]
    rs.export(tmp_path / "out", tmp_path / "back.parquet", to="parquet")
    back = datasets.load_dataset("parquet", data_files=str(tmp_path / "back.parquet"), cache_dir=tmp_path / "cache")
    assert isinstance(back["train"].features["audio"], datasets.Audio)
    again = back["train"].cast_column("audio", datasets.Audio(decode=False))
    assert [row["bytes"] for row in again["audio"]] == [sound(n) for n in range(4)]
    rs.make(tmp_path / "back.parquet", tmp_path / "again", shuffle=False)
    assert rs.open(tmp_path / "again").schema == ds.schema


def test_exported_and_back(tmp_path: Path):
    folder = made_folder(tmp_path / "words", encodings=("wav", "flac"))
    rs.make(folder, tmp_path / "out", shuffle=False)
    wanted = [row["audio"] for row in rs.open(tmp_path / "out")]
    for kind, name in (("jsonl", "a.jsonl"), ("csv", "a.csv"), ("webdataset", "a.tar")):
        rs.export(tmp_path / "out", tmp_path / name, to=kind)
        rs.make(tmp_path / name, tmp_path / f"from_{kind}", shuffle=False)
        back = rs.open(tmp_path / f"from_{kind}")
        assert isinstance(back.schema["audio"], rs.Audio), kind
        assert [row["audio"] for row in back] == wanted, kind


class TestLoading:
    @pytest.fixture
    def dataset(self, tmp_path: Path) -> rs.Dataset:
        schema = rs.Schema({"audio": rs.Audio(rate=8000), "n": rs.Scalar("int64")})
        with rs.write(tmp_path / "data", schema, name="noise") as writer:
            for n in range(12):
                samples = samples_of(n, 400 + 10 * n, channels=2)
                writer.add({"audio": samples if n % 2 else sound(n, length=400 + 10 * n, channels=2), "n": n})
        return rs.open(tmp_path / "data")

    def test_rows_and_batches(self, dataset: rs.Dataset):
        seen = {}
        for batch in dataset.audio(channels=1).shuffle(seed=3).batch(5):
            assert isinstance(batch["audio"], rs.Ragged)
            for n, samples in zip(batch["n"], batch["audio"], strict=True):
                seen[int(n)] = samples
        for n in range(12):
            stereo = samples_of(n, 400 + 10 * n, channels=2).astype(np.float32) / 32768
            np.testing.assert_array_equal(seen[n], stereo.mean(axis=1, dtype=np.float32))
        padded = next(iter(dataset.audio(rate=16_000, channels=1).padded_batch(12)))["audio"]
        assert (padded.shape, padded.dtype) == ((12, 2 * 510), np.float32)
        assert next(iter(dataset.audio().batch(3)))["audio"][0].shape == (400, 2)

    def test_threads_make_no_difference(self, dataset: rs.Dataset):
        found = [
            [batch["audio"].values for batch in dataset.audio(rate=11_025, channels=1).batch(4, threads=threads)]
            for threads in (1, 3)
        ]
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)

    def test_frameworks(self, dataset: rs.Dataset):
        pytest.importorskip("torch", reason="PyTorch is not installed")
        tensor = next(iter(dataset.audio(channels=1).padded_batch(4).to_torch()))["audio"]
        assert tuple(tensor.shape) == (4, 430)

    def test_a_damaged_sound_names_its_record(self, tmp_path: Path):
        path = tmp_path / "bad.tfrecord"
        with rs.RecordWriter(path) as writer:
            for n in range(3):
                writer.write_example({"audio": sound(n)[: 3000 if n == 1 else None]})
        ds = rs.open(path, schema=rs.Schema({"audio": rs.Audio()}))
        with pytest.raises(rs.PipelineError, match="cut short") as caught:
            list(ds.audio().batch(3))
        assert (caught.value.record, caught.value.feature) == (1, "audio")
        assert [len(batch["audio"]) for batch in ds.audio().batch(3, on_error="skip")] == [2]

    def test_wrong_use(self, dataset: rs.Dataset):
        with pytest.raises(rs.PipelineError, match="has none"):
            dataset.audio(feature="n")
        with pytest.raises(rs.PipelineError, match="no feature of sounds"):
            dataset.select("n").audio()
        with pytest.raises(rs.PipelineError, match="decoded already"):
            dataset.audio().audio(feature="audio")
        with pytest.raises(rs.PipelineError, match="at least 1"):
            dataset.audio(rate=0)

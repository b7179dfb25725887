"""rs.repair: files, folders and their descriptions; what is refused; what is left when it fails."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import resource
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith import _core
from tests.made_records import file_bytes, starts

PAYLOADS = [b"record %03d" % number for number in range(100)]  # 26 bytes each with their framing
WHOLE = file_bytes(PAYLOADS)
SCHEMA = rs.Schema({"number": rs.Scalar("int64"), "kind": rs.Label(["even", "odd"])})


def damaged() -> bytes:
    content = bytearray(WHOLE)
    content[26 * 10] ^= 1  # a length
    content[26 * 20 + 14] ^= 1  # data
    return bytes(content[:-3])


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.tfrecord"
    path.write_bytes(damaged())
    return path


def test_a_file_is_repaired(bad: Path, tmp_path: Path) -> None:
    good = tmp_path / "good.tfrecord"
    result = rs.repair(bad, good)
    expected = [payload for number, payload in enumerate(PAYLOADS) if number not in (20, 99)]
    assert list(rs.RecordReader(good)) == expected
    assert good.read_bytes() == file_bytes(expected)
    assert bad.read_bytes() == damaged()
    assert (result.records, result.repaired_headers, result.lost_records, result.ok) == (98, 1, 2, False)
    assert [(loss.begin, loss.end, loss.reason) for loss in result.losses] == [
        (520, 546, "data-checksum"),
        (2574, 2597, "cut-off"),
    ]
    assert str(result).splitlines() == [
        f"{bad} -> {good}: 98 records kept, 1 of them with a new header, about 2 lost in 49 bytes",
        "  bytes 520 to 546: the data of one record does not match its checksum",
        "  bytes 2,574 to 2,597: the file ends inside a record",
    ]


def test_tensorflow_reads_what_was_repaired(bad: Path, tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    plain, packed = tmp_path / "good.tfrecord", tmp_path / "good.tfrecord.gz"
    rs.repair(bad, plain)
    (tmp_path / "bad.gz").write_bytes(gzip.compress(damaged())[:-9])
    rs.repair(tmp_path / "bad.gz", packed)
    expected = [payload for number, payload in enumerate(PAYLOADS) if number not in (20, 99)]
    assert [record.numpy() for record in tf.data.TFRecordDataset(str(plain))] == expected
    read = [record.numpy() for record in tf.data.TFRecordDataset(str(packed), compression_type="GZIP")]
    assert read == expected[: len(read)]
    assert len(read) > 90


def test_bytes_that_belong_to_no_record_are_not_a_lost_record(tmp_path: Path) -> None:
    path = tmp_path / "stray.tfrecord"
    path.write_bytes(WHOLE + b"abc")
    result = rs.repair(path, tmp_path / "good.tfrecord")
    assert (result.records, result.lost_records, result.lost_bytes, result.ok) == (100, 0, 3, False)
    assert "100 records kept, none lost, but 3 bytes belong to no record" in str(result)


def test_a_dry_run_writes_nothing(bad: Path, tmp_path: Path) -> None:
    result = rs.repair(bad, dry_run=True)
    assert (result.records, result.dry_run, result.files[0].output) == (98, True, None)
    rs.repair(bad, tmp_path / "good.tfrecord", dry_run=True, keep_suspect=tmp_path / "suspect")
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.tfrecord"]


def test_suspect_records_are_kept_apart(bad: Path, tmp_path: Path) -> None:
    result = rs.repair(bad, tmp_path / "good.tfrecord", keep_suspect=tmp_path / "suspect.tfrecord")
    (suspect,) = rs.RecordReader(tmp_path / "suspect.tfrecord")
    assert len(suspect) == 10
    assert suspect != PAYLOADS[20]
    assert sum(a != b for a, b in zip(suspect, PAYLOADS[20], strict=True)) == 1
    assert result.files[0].suspects == 1


def test_a_sound_file_is_copied(tmp_path: Path) -> None:
    sound = tmp_path / "sound.tfrecord.gz"
    sound.write_bytes(gzip.compress(WHOLE))
    result = rs.repair(sound, tmp_path / "copy.tfrecord.gz")
    assert (tmp_path / "copy.tfrecord.gz").read_bytes() == sound.read_bytes()
    assert result.ok
    assert result.files[0].is_undamaged
    linked = rs.repair(sound, tmp_path / "linked.tfrecord.gz", link=True)
    assert linked.files[0].action == "linked"
    assert (tmp_path / "linked.tfrecord.gz").samefile(sound)


def test_an_empty_file_is_sound(tmp_path: Path) -> None:
    (tmp_path / "empty.tfrecord").touch()
    result = rs.repair(tmp_path / "empty.tfrecord", tmp_path / "good.tfrecord")
    assert result.ok
    assert (tmp_path / "good.tfrecord").read_bytes() == b""


def test_nothing_left(tmp_path: Path) -> None:
    bad = tmp_path / "bad.tfrecord"
    bad.write_bytes(bytes(1000))
    result = rs.repair(bad, tmp_path / "good.tfrecord")
    assert (result.records, result.losses[0].reason, result.losses[0].bytes) == (0, "zeros", 1000)
    assert (result.files[0].action, result.files[0].output, result.output, result.ok) == ("lost", None, None, False)
    assert os.listdir(tmp_path) == ["bad.tfrecord"]
    bad.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(1000))
    with pytest.raises(rs.NotTFRecordError, match="PNG"):
        rs.repair(bad, tmp_path / "other.tfrecord")
    assert not (tmp_path / "other.tfrecord").exists()


def test_nothing_left_of_one_shard_among_several(tmp_path: Path) -> None:
    with rs.RecordWriter(tmp_path / "a.tfrecord-00000-of-00002") as writer:
        writer.write(b"kept")
    (tmp_path / "a.tfrecord-00001-of-00002").write_bytes(bytes(1000))
    result = rs.repair(tmp_path, tmp_path / "good")
    assert [file.action for file in result.files] == ["copied", "repaired"]
    assert (tmp_path / "good" / "a.tfrecord-00001-of-00002").read_bytes() == b""
    assert (result.records, result.output) == (1, str(tmp_path / "good"))


def test_the_input_is_never_the_output(bad: Path, tmp_path: Path) -> None:
    (tmp_path / "link.tfrecord").symlink_to(bad)
    os.link(bad, tmp_path / "hard.tfrecord")
    for target in (bad, tmp_path / "link.tfrecord", tmp_path / "hard.tfrecord", tmp_path):
        with pytest.raises(rs.RecordsmithError, match="damaged file itself"):
            rs.repair(bad, target, overwrite=True)
    with pytest.raises(rs.RecordsmithError, match="damaged file itself"):
        rs.repair(bad, tmp_path / "good.tfrecord", keep_suspect=bad, overwrite=True)
    assert bad.read_bytes() == damaged()


def test_nothing_is_replaced_unasked(bad: Path, tmp_path: Path) -> None:
    good = tmp_path / "good.tfrecord"
    good.write_bytes(b"precious")
    with pytest.raises(rs.RecordsmithError, match="already exists"):
        rs.repair(bad, good)
    assert good.read_bytes() == b"precious"
    rs.repair(bad, good, overwrite=True)
    assert len(list(rs.RecordReader(good))) == 98


def test_a_failure_leaves_nothing(bad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = tmp_path / "good.tfrecord"
    good.write_bytes(b"older")
    monkeypatch.setattr(_core, "verify_files", lambda *_: 7)
    with pytest.raises(rs.CorruptRecordError, match="differs from what was written"):
        rs.repair(bad, good, overwrite=True)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bad.tfrecord", "good.tfrecord"]
    assert good.read_bytes() == b"older"


def test_where_to_is_needed(bad: Path) -> None:
    with pytest.raises(rs.RecordsmithError, match="The output is missing"):
        rs.repair(bad)


def test_several_files_go_to_a_folder(bad: Path, tmp_path: Path) -> None:
    (tmp_path / "sound.tfrecord").write_bytes(WHOLE)
    seen: list[tuple[int, int]] = []
    result = rs.repair(
        [tmp_path / "sound.tfrecord", bad],
        tmp_path / "repaired",
        keep_suspect=tmp_path / "aside",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert [file.action for file in result.files] == ["copied", "repaired"]
    assert sorted(os.listdir(tmp_path / "repaired")) == ["bad.tfrecord", "sound.tfrecord"]
    assert os.listdir(tmp_path / "aside") == ["bad.tfrecord.suspect"]
    assert seen[-1] == (2 * len(WHOLE) - 3,) * 2
    with pytest.raises(rs.RecordsmithError, match="Give a folder as the output"):
        rs.repair([tmp_path / "sound.tfrecord", bad], bad)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    with rs.write(tmp_path / "data", SCHEMA, name="numbers", split="train", shards=3) as writer:
        writer.extend({"number": list(range(300)), "kind": [number % 2 for number in range(300)]})
    (tmp_path / "data" / "README.md").write_text("About the numbers.")
    (tmp_path / "data" / "numbers-train.tfrecord-00001-of-00003.idx").write_text("0 1\n")
    shard = tmp_path / "data" / "numbers-train.tfrecord-00001-of-00003"
    content = bytearray(shard.read_bytes())
    content[starts(list(rs.RecordReader(shard)))[5] + 14] ^= 1
    shard.write_bytes(bytes(content))
    return tmp_path / "data"


def test_a_folder_is_repaired_with_its_description(dataset: Path, tmp_path: Path) -> None:
    repaired = tmp_path / "repaired"
    result = rs.repair(dataset, repaired)
    assert (result.records, result.lost_records) == (299, 1)
    assert len(rs.open(repaired)) == 299
    assert rs.open(repaired).schema == SCHEMA
    assert "numbers-train.tfrecord-00001-of-00003.idx" not in os.listdir(repaired)
    assert (repaired / "README.md").read_text() == "About the numbers."
    before = json.loads((dataset / "recordsmith.json").read_text())
    after = json.loads((repaired / "recordsmith.json").read_text())
    split = after["splits"]["train"]
    assert after["schema"] == before["schema"]
    assert (split["records"], [shard["records"] for shard in split["shards"]]) == (299, [100, 99, 100])
    for shard in split["shards"]:
        content = (repaired / shard["file"]).read_bytes()
        assert (shard["bytes"], shard["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert split["bytes"] == sum(shard["bytes"] for shard in split["shards"])
    assert "classes" not in split
    assert after["repaired"] == {"lost_records": 1, "splits": ["train"]}
    info = json.loads((repaired / "dataset_info.json").read_text())
    assert info["splits"][0]["shardLengths"] == ["100", "99", "100"]
    assert any("Class counts of train" in note for note in result.notes)


def test_what_is_no_record_file_is_left_out_of_a_folder(dataset: Path, tmp_path: Path) -> None:
    (dataset / "numbers-train.tfrecord-00002-of-00003").write_text("version https://git-lfs.github.com/spec/v1\n")
    result = rs.repair(dataset, tmp_path / "repaired")
    assert len(result.files) == 2
    assert any("Git LFS" in note for note in result.notes)
    assert len(rs.open(tmp_path / "repaired")) == 199


@pytest.mark.parametrize("description", ["recordsmith.json", "dataset_info.json"])
def test_lost_records_are_counted_by_the_description_of_the_folder(dataset, description, tmp_path: Path) -> None:
    if description == "dataset_info.json":
        (dataset / "recordsmith.json").unlink()
    shards = sorted(dataset.glob("*-of-00003"))
    ends = [*starts(list(rs.RecordReader(shards[0]))), shards[0].stat().st_size]
    os.truncate(shards[0], ends[60])  # between two records: nothing is wrong with the file itself
    shards[2].unlink()
    result = rs.repair(dataset, tmp_path / "repaired")
    assert [(file.records, file.lost_records, file.ok) for file in result.files] == [(60, 40, False), (99, 1, False)]
    assert (result.missing, result.records, result.lost_records, result.ok) == ((shards[2].name,), 159, 141, False)
    assert f"{shards[0]} -> {tmp_path / 'repaired' / shards[0].name}: 60 records kept, 40 lost\n" in str(result)
    assert f"'{shards[2].name}': listed in the description of the folder, and missing." in result.notes


def test_a_broken_manifest_does_not_stop_a_repair(dataset: Path, tmp_path: Path) -> None:
    (dataset / "recordsmith.json").write_text("{")
    result = rs.repair(dataset, tmp_path / "repaired")
    assert result.records == 299
    assert any("recordsmith.json: left out" in note for note in result.notes)


def test_large_records_and_little_memory(tmp_path: Path) -> None:
    """A record header that is damaged before 200 MB of data: memory does not follow the records while looking."""
    path = tmp_path / "large.tfrecord"
    large = np.random.default_rng(0).integers(0, 256, 100 << 20, np.uint8).tobytes()
    with rs.RecordWriter(path, sync=False) as writer:
        writer.write(b"small")
        writer.write(large)
        writer.write(large)
        writer.write(b"last")
    del large
    with path.open("r+b") as file:
        file.seek(21)
        file.write(b"\xff")
        file.seek(-50, os.SEEK_END)
        file.write(b"\xff\x00")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = rs.repair(path, dry_run=True)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (result.records, result.repaired_headers, result.lost_records) == (3, 1, 1)
    assert result.losses[0].begin == starts([b"small"])[1] + (100 << 20) + 16
    assert after - before < 20 << 10  # KiB

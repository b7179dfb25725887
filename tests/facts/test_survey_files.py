from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.facts.survey import survey
from recordsmith.records.index import build_index, save_index
from tests.facts.surveying import timeless, write_rows

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"


def made(folder: Path) -> Path:
    schema = rs.Schema({"n": rs.Scalar("int64")})
    for split, count in (("train", 7), ("test", 3)):
        with rs.write(folder, schema, name="numbers", split=split, shards=2) as writer:
            writer.extend({"n": list(range(count))})
    return folder


def test_shards_have_what_the_manifest_promises(tmp_path: Path) -> None:
    facts = survey(made(tmp_path))
    assert {name: split.records for name, split in facts.splits.items()} == {"train": 7, "test": 3}
    assert sum(shard.records for shard in facts.shards) == facts.records == 10
    for shard in facts.shards:
        content = Path(shard.path).read_bytes()
        assert shard.promised is not None
        assert shard.promised.records == shard.records
        assert shard.promised.bytes == shard.bytes == len(content)
        assert shard.sha256 == hashlib.sha256(content).hexdigest() == shard.promised.sha256
    train = facts.splits["train"].features[0]
    assert train.numbers is not None
    assert (train.records, train.numbers.max) == (7, 6)
    only = survey(tmp_path, split="test")
    assert (only.records, only.split, list(only.splits)) == (3, "test", ["test"])


def test_a_file_that_a_manifest_promises_may_be_missing(tmp_path: Path) -> None:
    first = survey(made(tmp_path)).files[0]
    os.remove(first)
    facts = survey(tmp_path)
    assert first not in facts.files
    assert facts.manifest is not None


def test_a_tfds_description_promises_numbers_of_records(tmp_path: Path) -> None:
    made(tmp_path)
    os.remove(tmp_path / "recordsmith.json")
    assert (tmp_path / "dataset_info.json").is_file()
    facts = survey(tmp_path)
    assert [shard.promised and shard.promised.records for shard in facts.shards] == [
        shard.records for shard in facts.shards
    ]
    info = json.loads((tmp_path / "dataset_info.json").read_text())
    assert {split["name"] for split in info["splits"]} == set(facts.splits)


def test_an_index_of_another_state_is_stale(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.tfrecord", [{"n": 1}, {"n": 2}])
    assert not survey(path).shards[0].stale_index
    save_index(build_index(path))
    assert not survey(path).shards[0].stale_index
    write_rows(path, [{"n": 1}])
    assert survey(path).shards[0].stale_index


def test_missing_shards_raise_no_warning(tmp_path: Path) -> None:
    write_rows(tmp_path / "a-00001-of-00003", [{"n": 1}])
    write_rows(tmp_path / "a-00002-of-00003", [{"n": 1}])
    assert len(survey(tmp_path).files) == 2


def test_names_that_are_no_utf8_are_carried_through(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.tfrecord")
    write_rows(Path(path), [{"n": 1}])
    assert survey(path).shards[0].path == path


def test_surveys_may_run_side_by_side(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a", ({"n": number, "label": number % 3} for number in range(3000)))
    expected = timeless(survey(path))
    results = []
    threads = [threading.Thread(target=lambda: results.append(timeless(survey(path)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real files is not beside the project")
def test_real_files_are_surveyed_and_counted_as_they_read() -> None:
    files = sorted(path for path in CORPUS.glob("*/*") if path.is_file())
    assert files
    for path in files:
        facts = survey(path, decode="none")
        payloads = list(rs.RecordReader(path))
        assert facts.records == len(payloads)
        assert facts.damages == ()
        assert facts.shards[0].payload_bytes == sum(map(len, payloads))
        if facts.shards[0].payloads == {"example": len(payloads)}:
            rows = [rs.decode_example(payload) for payload in payloads[:200]]
            names = {name for row in rows for name in row}
            assert names <= {feature.name for feature in facts.features}
            if len(payloads) <= 200:
                for feature in facts.features:
                    assert feature.records == sum(feature.name in row for row in rows)

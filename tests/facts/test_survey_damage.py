from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.errors import RecordsmithError
from recordsmith.facts.survey import survey
from tests.facts.surveying import same_for_all_threads, small_units, timeless
from tests.made_records import file_bytes, header, starts

PAYLOADS = [rs.encode_example({"n": number, "text": "x" * (number % 7)}) for number in range(30)]
WHOLE = file_bytes(PAYLOADS)
STARTS = starts(PAYLOADS)


def damages(path: Path) -> list[tuple[str, int | None, int | None, int | None]]:
    facts = same_for_all_threads(path)
    return [(damage.kind, damage.offset, damage.record, damage.bytes) for damage in facts.damages]


def test_a_changed_byte_costs_one_record(tmp_path: Path, monkeypatch) -> None:
    small_units(monkeypatch, 200)
    path = tmp_path / "a.tfrecord"
    for place, kind in ((STARTS[7] + 3, "length-crc"), (STARTS[7] + 14, "data-crc"), (STARTS[8] - 1, "data-crc")):
        content = bytearray(WHOLE)
        content[place] ^= 0x40
        path.write_bytes(content)
        assert damages(path) == [(kind, STARTS[7], 7, STARTS[8] - STARTS[7])]
        facts = survey(path)
        assert facts.records == 29
        feature = facts.feature("n")
        assert feature is not None
        assert feature.records == 29
        assert facts.shards[0].damage_count == 1


def test_the_end_may_be_cut_or_have_strays(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(WHOLE[: STARTS[29] + 15])
    assert damages(path) == [("truncated", STARTS[29], 29, 15)]
    path.write_bytes(WHOLE + b"abc")
    assert damages(path) == [("stray-tail", STARTS[30], 30, 3)]
    path.write_bytes(WHOLE[: STARTS[10]])
    assert damages(path) == []


def test_removed_inserted_and_zeroed_bytes_are_passed(tmp_path: Path, monkeypatch) -> None:
    small_units(monkeypatch, 300)
    path = tmp_path / "a.tfrecord"
    path.write_bytes(WHOLE[: STARTS[9] + 20] + WHOLE[STARTS[9] + 25 :])
    assert damages(path) == [("data-crc", STARTS[9], 9, STARTS[10] - STARTS[9] - 5)]
    path.write_bytes(WHOLE[: STARTS[9]] + b"garbage in between" + WHOLE[STARTS[9] :])
    assert damages(path) == [("length-crc", STARTS[9], 9, 18)]
    assert survey(path).records == 30
    path.write_bytes(WHOLE[: STARTS[9]] + bytes(STARTS[12] - STARTS[9]) + WHOLE[STARTS[12] :])
    assert damages(path) == [("length-crc", STARTS[9], 9, STARTS[12] - STARTS[9])]
    assert survey(path).records == 27


def test_a_wrong_first_header_is_damage_if_records_follow(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(b"\0" + WHOLE[1:])
    (damage,) = survey(path).damages
    assert (damage.kind, damage.looks_like) == ("length-crc", None)


@pytest.mark.parametrize(
    ("content", "looks_like"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "is a Git LFS pointer"),
        (b"PAR1" + bytes(100), "is a Parquet file"),
        (b"a,b\n1,2\n" * 20, "is text"),
        (b"abc", "is text"),
    ],
)
def test_what_is_no_tfrecord_is_told(tmp_path: Path, content: bytes, looks_like: str) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(content)
    facts = survey(path)
    (damage,) = facts.damages
    assert damage.kind == "not-a-tfrecord"
    assert damage.looks_like is not None
    assert damage.looks_like.startswith(looks_like)
    assert facts.records == 0


def test_a_claim_of_exabytes_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(WHOLE[: STARTS[3]] + header(2**62) + WHOLE[STARTS[3] :])
    assert damages(path) == [("length-crc", STARTS[3], 3, 12)]
    assert survey(path).records == 30


def test_compressed_files_are_told_apart_from_their_damage(tmp_path: Path) -> None:
    plain = tmp_path / "plain.tfrecord"
    plain.write_bytes(WHOLE)
    reference = survey(plain).features
    for name, packed in (("gzip", gzip.compress(WHOLE)), ("zlib", zlib.compress(WHOLE))):
        path = tmp_path / name
        path.write_bytes(packed)
        facts = same_for_all_threads(path)
        assert facts.shards[0].compression == name
        assert facts.damages == ()
        assert [one.numbers for one in facts.features] == [one.numbers for one in reference]
        path.write_bytes(packed[: len(packed) // 2])
        assert [damage.kind for damage in survey(path).damages] == ["compression"]
        assert 0 < survey(path).records < 30
    content = bytearray(WHOLE)
    content[STARTS[7] + 14] ^= 1
    path.write_bytes(gzip.compress(bytes(content)))
    assert damages(path) == [("data-crc", STARTS[7], 7, STARTS[8] - STARTS[7])]


def test_records_ends_early_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(WHOLE)
    some = survey(path, records=10)
    assert (some.records, some.looked_at_all) == (10, False)
    assert survey(path, records=30).looked_at_all


def test_wrong_use_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        survey(tmp_path / "nothing")
    path = tmp_path / "a.tfrecord"
    path.write_bytes(WHOLE)
    with pytest.raises(RecordsmithError, match="no split 'train'"):
        survey(path, split="train")
    with pytest.raises(RecordsmithError, match="decode"):
        survey(path, decode="some")  # type: ignore[arg-type]
    with pytest.raises(RecordsmithError, match="pipe"):
        survey("/dev/null")


def test_progress_is_told_up_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(WHOLE)
    seen: list[tuple[str, int, int]] = []
    survey(path, progress=lambda phase, done, total: seen.append((phase, done, total)))
    assert seen[-1] == ("checking", len(WHOLE), len(WHOLE))


def test_wire_oddities_have_their_places(tmp_path: Path) -> None:
    entry = rs.encode_example({"a": 7})
    twice = b"\x0a" + bytes([2 * (len(entry) - 2)]) + entry[2:] * 2
    path = tmp_path / "a.tfrecord"
    path.write_bytes(file_bytes([entry, twice, b"hello there", entry + b"\x4a\x01x"]))
    facts = timeless(survey(path))
    found = {anomaly.kind: anomaly for anomaly in facts.anomalies}
    assert set(found) == {"duplicate-key", "not-an-example", "unknown-field"}
    assert found["duplicate-key"].feature == "a"
    assert [place.record for place in found["duplicate-key"].places] == [1]
    assert found["not-an-example"].places[0].detail == "looks like text"
    assert facts.shards[0].payloads == {"example": 3, "text": 1}

"""`recordsmith repair`: what it prints and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from recordsmith.cli import main
from tests.made_records import file_bytes

WHOLE = file_bytes([b"record %03d" % number for number in range(100)])  # 26 bytes each with their framing


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["repair", *map(str, arguments)])


@pytest.fixture
def bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    content = bytearray(WHOLE)
    content[26 * 10] ^= 1  # a length
    content[26 * 20 + 14] ^= 1  # data
    Path("bad.tfrecord").write_bytes(bytes(content[:-3]))
    return Path("bad.tfrecord")


def test_the_table(bad: Path) -> None:
    result = run(bad, "-o", "good.tfrecord")
    assert result.exit_code == 1
    lines = [" ".join(line.split()) for line in result.output.splitlines()]
    assert "bad.tfrecord 98 1 ~2 49 bytes" in lines
    assert "260-286 repaired 1 its length was damaged; its end was found from the data" in lines
    assert "520-546 lost 1 the data of one record does not match its checksum" in lines
    assert "2,574-2,597 lost ~1 the file ends inside a record" in lines
    assert lines[-1] == (
        "98 records kept, 1 of them with a new header, about 2 lost. Written to good.tfrecord, and verified."
    )


def test_the_exit_code_says_whether_something_is_lost(bad: Path) -> None:
    Path("sound.tfrecord").write_bytes(WHOLE)
    assert run("sound.tfrecord", "--dry-run").exit_code == 0
    bad.write_bytes(b"\xff" + WHOLE[1:])
    repaired = run(bad, "-o", "good.tfrecord")
    assert repaired.exit_code == 0
    assert Path("good.tfrecord").read_bytes() == WHOLE
    assert run(bad, "-o", "good.tfrecord").exit_code == 2
    assert run(bad, "-o", bad).exit_code == 2
    assert run(bad).exit_code == 2
    assert run("nowhere.tfrecord", "--dry-run").exit_code == 2


def test_where_nothing_is_left_it_says_why_nothing_is_written(bad: Path) -> None:
    bad.write_bytes(bytes(1000))
    result = run(bad, "-o", "good.tfrecord")
    assert result.exit_code == 1
    assert result.output.endswith("No records can be saved. Nothing was written.\n")
    assert not Path("good.tfrecord").exists()


def test_a_dry_run(bad: Path) -> None:
    result = run(bad, "--dry-run", "-o", "good.tfrecord")
    assert result.exit_code == 1
    assert result.output.endswith("Nothing was written.\n")
    assert not Path("good.tfrecord").exists()


def test_json(bad: Path) -> None:
    result = run(bad, "-o", "good.tfrecord", "--format", "json", "--keep-suspect", "suspect.tfrecord")
    document = json.loads(result.output)
    keys = ["ok", "dry_run", "output", "records", "repaired_headers", "lost", "files", "missing", "notes"]
    assert list(document) == keys
    assert document["lost"] == {"records": 2, "bytes": 49}
    (file,) = document["files"]
    assert file["repaired_headers"] == [
        {
            "begin": 260,
            "end": 286,
            "reason": "length",
            "record": 10,
            "message": "its length was damaged; its end was found from the data",
        }
    ]
    assert file["losses"][0] == {
        "begin": 520,
        "end": 546,
        "reason": "data-checksum",
        "records": 1,
        "after": 20,
        "inside": 0,
        "message": "the data of one record does not match its checksum",
        "bytes": 26,
    }
    assert file["suspect_file"] == "suspect.tfrecord"
    assert Path("suspect.tfrecord").exists()

"""Words that every command shares: counted nouns, and how an error begins."""

from __future__ import annotations

import re
from pathlib import Path

import recordsmith as rs

from .conftest import Run

ONE_OF_MANY = re.compile(
    r"(?<![\d.,])\b1 (rows|records|files|features|findings|values|classes|shards|times|bytes|batches|columns|splits|"
    r"rejects|lines|errors|warnings|images|more \w+s)\b"
)


def test_one_is_counted_as_one(tmp_path: Path, run: Run) -> None:
    (tmp_path / "one.csv").write_text("name,n\ncat,1\n")
    (tmp_path / "bad.jsonl").write_text('{"n": 1}\n{"n": {"a": 1}}\n')
    one = tmp_path / "one"
    file = tmp_path / "one.tfrecord"
    with rs.RecordWriter(file) as writer:
        writer.write_example({"n": 1, "text": "a"})
    damaged = bytearray(file.read_bytes())
    damaged[-5] ^= 1
    (tmp_path / "damaged.tfrecord").write_bytes(damaged)
    (tmp_path / "empty.tfrecord").write_bytes(b"")
    commands: list[tuple[object, ...]] = [
        ("make", tmp_path / "one.csv", "-o", one),
        ("make", tmp_path / "bad.jsonl", "-o", tmp_path / "two"),
        ("show", one),
        ("show", file, "--record", "0"),
        ("show", file, "--where", "n == 1"),
        ("schema", file),
        ("schema", file, "--format", "table"),
        ("index", file),
        ("check", one),
        ("check", tmp_path / "damaged.tfrecord"),
        ("check", one, "--write-baseline", "--baseline", tmp_path / "known.json"),
        ("copy", one, "-o", tmp_path / "copy"),
        ("copy", file, "-o", tmp_path / "copy.tfrecord"),
        ("copy", file, "-o", tmp_path / "none", "--where", "n == 2"),
        ("copy", tmp_path / "damaged.tfrecord", "-o", tmp_path / "copy2", "--on-error", "skip"),
        ("export", one, "-o", tmp_path / "again.csv"),
        ("repair", file, "--dry-run"),
        ("repair", tmp_path / "damaged.tfrecord", "-o", tmp_path / "repaired.tfrecord"),
    ]
    for command in commands:
        result = run(*command)
        text = " ".join((result.stdout + result.stderr).split())
        assert ONE_OF_MANY.search(text) is None, (command, text)


def test_every_error_begins_alike_and_says_where_once(tmp_path: Path, run: Run) -> None:
    (tmp_path / "text.tfrecord").write_text("no records at all, but a text")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "recordsmith.json").write_text("{")
    for command in (
        (),
        ("shwo",),
        ("show",),
        ("--nothing",),
        ("show", "--nothing"),
        ("show", tmp_path / "nothing"),
        ("show", tmp_path / "text.tfrecord"),
        ("show", tmp_path / "bad"),
        ("copy", tmp_path / "bad", "-o", tmp_path / "out"),
        ("repair", tmp_path / "text.tfrecord"),
        ("rule", "V999"),
    ):
        result = run(*command)
        if not command:
            continue
        assert result.exit_code == 2
        lines = result.stderr.split("\n")
        assert [line for line in lines if line.startswith("error: ")], result.stderr
        assert not [line for line in lines if line.startswith("Error")], result.stderr
        assert len([line for line in lines if line.lstrip().startswith("where:")]) <= 1, result.stderr

"""Whoever reads the output may go before its end: the exit code is the same."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import recordsmith as rs

COMMAND = [sys.executable, "-m", "recordsmith"]


def damaged(path: Path) -> Path:
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    bad = path.with_name("bad.tfrecord")
    bad.write_bytes(data)
    return bad


def code_of(*arguments: object, closed: str = "", kind: str = "pipe") -> int:
    """The exit code with these streams ("stdout", "stderr") going to a reader that has gone."""
    if kind == "pipe":
        reading, writing = os.pipe()
        os.close(reading)
    else:
        ours, theirs = socket.socketpair()
        ours.close()
        writing = theirs.detach()
    out, err = (writing if name in closed else subprocess.DEVNULL for name in ("stdout", "stderr"))
    try:
        return subprocess.run([*COMMAND, *map(str, arguments)], check=False, stdout=out, stderr=err).returncode
    finally:
        os.close(writing)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check", "{bad}"], 1),
        (["check", "{bad}", "--format", "json"], 1),
        (["show", "{good}"], 0),
        (["schema", "{good}", "--diff", "{other}"], 1),
        (["show", "/no/such/file"], 2),
        (["--help"], 0),
        (["rule", "no-such-rule"], 2),
    ],
)
def test_the_exit_code_is_that_of_a_file(tmp_path, pets_file, arguments, code) -> None:
    other = tmp_path / "other.json"
    rs.Schema({"another": rs.Text()}).save(other)
    names = {"good": pets_file, "bad": damaged(Path(pets_file)), "other": other}
    given = [one.format(**names) for one in arguments]
    assert code_of(*given, closed="stdout and stderr") == code


def test_only_one_stream_is_closed(pets_file) -> None:
    bad = damaged(Path(pets_file))
    assert [code_of("check", bad, closed=closed) for closed in ("", "stdout", "stderr")] == [1, 1, 1]


def test_a_socket_is_as_a_pipe(pets_file) -> None:
    assert code_of("check", damaged(Path(pets_file)), closed="stdout", kind="socket") == 1

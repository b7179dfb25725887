"""`recordsmith view`: it says where it is, serves, and ends with Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

import recordsmith as rs
from recordsmith.cli import main

pytest.importorskip("uvicorn", reason="the extra 'view' is not installed")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with rs.RecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        writer.write_example({"n": 1})
    return tmp_path / "a.tfrecord"


@contextmanager
def viewer(*words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "recordsmith", "view", *words]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_it_prints_the_link_serves_and_ends_cleanly_with_ctrl_c(data):
    with viewer(str(data), "--no-browser") as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", url)
        with urllib.request.urlopen(url) as answer:
            assert "HttpOnly" in answer.headers["Set-Cookie"]
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(url.partition("?")[0])
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
        assert process.returncode == 0
        assert re.search(r"ssh -L (\d+):127\.0\.0\.1:\1 ", said)
        assert said.endswith("Stopped.\n")
        assert "Traceback" not in said


def test_the_browser_gets_a_file_that_only_the_user_can_read_and_not_the_token(data, tmp_path):
    browser = tmp_path / "browser"
    seen = tmp_path / "seen"
    browser.write_text(
        "#!/bin/sh\n"
        f'cp "${{1#file://}}" {seen}.page\n'
        f'stat -c %a "${{1#file://}}" > {seen}.mode\n'
        f'echo "$@" > {seen}.new && mv {seen}.new {seen}\n'
    )
    browser.chmod(0o755)
    with viewer(str(data), BROWSER=f"{browser} %s", TMPDIR=str(tmp_path)) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        for _ in range(200):
            if seen.exists():
                break
            assert process.poll() is None
            subprocess.run(["sleep", "0.1"], check=True)
        token = url.partition("token=")[2]
        assert token not in seen.read_text()
        assert token in Path(f"{seen}.page").read_text()
        assert Path(f"{seen}.mode").read_text().strip() == "600"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert not list(tmp_path.glob("recordsmith-view-*"))


def test_beyond_loopback_it_says_what_that_means(data):
    with viewer(str(data), "--no-browser", "--host", "0.0.0.0") as process:
        assert process.stdout is not None
        assert "token=" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
    assert "everybody who can reach this machine and has this link can read the data" in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["none.tfrecord"], "There is no such file or folder"),
        (["--host", "203.0.113.1"], "cannot listen on 203.0.113.1"),
        (["--split", "nosuch"], "There is no split 'nosuch'"),
    ],
)
def test_what_cannot_be_shown_is_said(data, words, expected):
    paths = words if words[0].endswith(".tfrecord") else [str(data), *words]
    done = CliRunner().invoke(main, ["view", *paths, "--no-browser"])
    assert done.exit_code == 2
    assert expected in done.output


def test_too_many_datasets_are_refused(data):
    done = CliRunner().invoke(main, ["view", *[str(data)] * 21, "--no-browser"])
    assert done.exit_code == 2
    assert "--together" in done.output


def test_a_program_that_is_not_there_is_an_error(data):
    result = CliRunner().invoke(main, ["view", str(data), "--program", str(data.parent / "none.py")])
    assert result.exit_code == 2
    assert "There is no such program" in result.output

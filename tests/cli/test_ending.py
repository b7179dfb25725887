"""How commands end after a signal, and what they say and keep when the operating system refuses something."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.storage import publication
from recordsmith.storage.atomic_file import write_text_atomically
from recordsmith.terminal.error_block import error_lines
from tests.cli.conftest import PETS, Run, pets
from tests.mounted_disk import make_read_only, mounted_disk

SLOW = """
import time
def slowly(row):
    time.sleep(0.02)
    return row
"""
SIGNALS = pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "recordsmith", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process: subprocess.Popen[str], pattern: str, folder: Path) -> None:
    while process.poll() is None and not any(path.stat().st_size for path in folder.glob(pattern)):
        time.sleep(0.01)


@SIGNALS
def test_make_is_told_to_end(number: signal.Signals, code: int, tmp_path: Path, run: Run):
    """As with Ctrl-C: what is finished is kept and said, and nothing else is left; also none of its processes."""
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "a.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(2000)))
    words = ["make", "a.csv", "-o", "out", "--map", "slow:slowly", "--workers", "1"]
    with started(tmp_path, *words) as process:
        wait_for(process, "out/.recordsmith-making/plan.json", tmp_path)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert "run the same command with --resume" in " ".join(said.split())
    assert os.listdir(tmp_path / "out") == [publication.FOLDER]
    assert not list(tmp_path.rglob("*.partial"))


@SIGNALS
def test_a_command_that_writes_one_file_is_told_to_end(number: signal.Signals, code: int, tmp_path: Path):
    pipe = tmp_path / "in.tfrecord"
    os.mkfifo(pipe)
    with started(tmp_path, "schema", str(pipe), "-o", "schema.json") as process:
        descriptor = os.open(pipe, os.O_WRONLY)
        time.sleep(0.3)
        process.send_signal(number)
        os.close(descriptor)
        process.communicate(timeout=60)
    assert process.returncode == code
    assert os.listdir(tmp_path) == ["in.tfrecord"]


def test_a_hangup_that_is_ignored_stays_so(tmp_path: Path):
    """As under nohup."""
    pipe = tmp_path / "in.tfrecord"
    os.mkfifo(pipe)
    program = (
        "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); from recordsmith.cli import main; main()"
    )
    with subprocess.Popen([sys.executable, "-c", program, "schema", str(pipe)], stderr=subprocess.PIPE) as process:
        descriptor = os.open(pipe, os.O_WRONLY)
        time.sleep(0.3)
        process.send_signal(signal.SIGHUP)
        os.close(descriptor)
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_what_killed_writers_leave_goes_with_the_next_one(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    kill = "import os; kill = lambda: os.kill(os.getpid(), 9)\n"
    killed_writer = f"import recordsmith as rs; w = rs.RecordWriter({str(path)!r}); w.write(b'x'); w.flush(); kill()"
    killed_block = (
        "from recordsmith.storage.atomic_file import write_atomically\n"
        f"with write_atomically({str(path)!r}) as temporary: kill()"
    )
    for program in (kill + killed_writer, kill + killed_block):
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
        assert os.listdir(tmp_path) == [".data.tfrecord.partial"]
        with rs.RecordWriter(path) as writer:
            writer.write(b"payload")
        assert os.listdir(tmp_path) == ["data.tfrecord"]
        path.unlink()


def test_writers_at_work_do_not_disturb_each_other(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    first, second = rs.RecordWriter(path), rs.RecordWriter(path)
    write_text_atomically(path, "third")
    first.write(b"first")
    second.write(b"second")
    first.close()
    assert list(rs.RecordReader(path)) == [b"first"]
    second.close()
    assert list(rs.RecordReader(path)) == [b"second"]
    assert os.listdir(tmp_path) == ["data.tfrecord"]


def test_a_link_in_place_of_the_temporary_file_is_not_written_through(tmp_path: Path):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / ".data.tfrecord.partial").symlink_to("precious")
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        writer.write(b"payload")
    write_text_atomically(tmp_path / "data.tfrecord", "text")
    assert (tmp_path / "precious").read_text() == "precious"


# --- what the system refuses ---


@pytest.mark.parametrize("style", ["text", "json"])
def test_findings_are_not_lost_with_the_report(style: str, run: Run, tmp_path: Path):
    bad = tmp_path / "bad.tfrecord"
    bad.write_bytes(b"junk" * 100)
    (tmp_path / "report.html").mkdir()
    (tmp_path / "known.json").mkdir()
    result = run("check", bad, "--html", tmp_path / "report.html", "--format", style)
    assert result.exit_code == 2
    assert "F0" in result.stdout
    said = " ".join(result.stderr.split())
    assert "This is a folder, but a file is expected." in said
    assert str(tmp_path / "report.html") in said.replace(" ", "")
    result = run("check", bad, "--write-baseline", "--baseline", tmp_path / "known.json", "--html", tmp_path / "r.html")
    assert result.exit_code == 2
    assert (tmp_path / "r.html").exists(), "one that cannot be written is no reason to leave out the other"


COMMANDS: dict[str, tuple[str, ...]] = {
    "make": ("make", "a.csv", "-o", "disk/out"),
    "copy": ("copy", "pets", "-o", "disk/out"),
    "copy to a file": ("copy", "pets", "-o", "disk/out.tfrecord"),
    "export": ("export", "pets", "-o", "disk/out.csv"),
    "repair": ("repair", "pets", "-o", "disk/out"),
    "repair a file": ("repair", "pets/data-train.tfrecord-00000-of-00001", "-o", "disk/out.tfrecord"),
    "schema": ("schema", "pets", "-o", "disk/schema.json"),
    "index": ("index", "pets", "--format", "dali", "-o", "disk"),
    "check": ("check", "pets", "--html", "disk/report.html", "--fail-on", "never"),
}


@pytest.fixture
def some_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(200)))
    with rs.write("pets", PETS, name="data") as writer:
        writer.extend(pets(300))


@pytest.mark.parametrize("kind", ["full", "read-only"])
@pytest.mark.usefixtures("some_data")
def test_every_command_says_what_the_system_refuses(kind: str, run: Run, tmp_path: Path):
    with mounted_disk(tmp_path / "disk", "8k") as disk:
        (disk / "ballast").write_bytes(bytes(8192))
        if kind == "read-only":
            make_read_only(disk)
        for name, words in COMMANDS.items():
            result = run(*words)
            said = " ".join(result.stderr.split())
            assert result.exit_code == 2, f"{name}: {result.output}"
            problem = "The disk is full." if kind == "full" else "The file system is read-only."
            assert problem in said, f"{name}: {said}"
            assert "disk" in said.split("where:")[1], f"{name}: {said}"
            assert "to do:" in said or "note:" in said, f"{name}: {said}"
            left = [path.name for path in disk.rglob("*") if path.is_file() and publication.FOLDER not in str(path)]
            assert left == ["ballast"], name
            if kind == "full":
                subprocess.run(["rm", "-rf", str(disk / "out")], check=True)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EIO, errno.EMFILE])
def test_system_errors_have_words_and_advice(number: int):
    problem, facts = error_lines(OSError(number, os.strerror(number), "data/a.tfrecord"))
    labels: dict[str, Any] = dict(facts)
    assert os.strerror(number) not in problem
    assert labels["where"] == "data/a.tfrecord"
    assert labels["to do"].endswith(".")

"""Long work shows a bar on a terminal, plain lines of a command elsewhere, and nothing of a library elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image
from recordsmith.workers import progress_display
from recordsmith.workers.progress_display import phase_progress

CALLS = {
    "make": "rs.make(dict(n=np.arange(50)), folder + '/out', progress={shown})",
    "check": "rs.check(folder + '/a.tfrecord', progress={shown})",
    "repair": "rs.repair(folder + '/a.tfrecord', folder + '/b.tfrecord', progress={shown})",
    "diagnose": "rs.diagnose([(np.zeros((4, 2)), np.arange(4))] * 5, progress={shown})",
}
WORDS = {"make": b"checking", "check": b"checking", "repair": b"repairing", "diagnose": b"sampling epoch 0"}
SCRIPT = """
    import sys, tempfile
    import numpy as np
    import recordsmith as rs
    from recordsmith.workers import progress_display

    progress_display._SECONDS_TO_FIRST_BAR = 0
    folder = tempfile.mkdtemp()
    with rs.RecordWriter(folder + "/a.tfrecord") as writer:
        writer.write_example({{"x": 1}})
    {call}
"""


def shown_on_terminal(script: str) -> bytes:
    """What a script writes to standard error, where that is a terminal."""
    terminal, end = pty.openpty()
    command = [sys.executable, "-c", textwrap.dedent(script)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    shown = b""
    with subprocess.Popen(command, stderr=end, env=environment) as process, open(terminal, "rb", buffering=0) as screen:
        os.close(end)
        while True:
            try:
                part = screen.read(1 << 16)
            except OSError:  # how Linux says that the other end is closed
                break
            shown += part
    assert process.returncode == 0, shown
    return shown


@pytest.mark.parametrize("call", CALLS)
def test_the_library_shows_a_bar_on_a_terminal(call: str) -> None:
    assert WORDS[call] in shown_on_terminal(SCRIPT.format(call=CALLS[call].format(shown=True)))


def test_the_library_shows_no_bar_where_that_is_not_wanted_or_seen() -> None:
    quiet = "; ".join(call.format(shown=False) for call in CALLS.values())
    assert shown_on_terminal(SCRIPT.format(call=quiet)) == b""
    others = "rs.copy(folder + '/a.tfrecord', folder + '/c'); rs.export(folder + '/a.tfrecord', folder + '/d.csv')"
    usual = textwrap.dedent(SCRIPT.format(call="; ".join(call.format(shown="'auto'") for call in CALLS.values())))
    usual += others
    environment = {**os.environ, "FORCE_COLOR": "1"}
    piped = subprocess.run([sys.executable, "-c", usual], capture_output=True, check=True, env=environment)
    assert (piped.stdout, piped.stderr) == (b"", b"")


def test_a_command_writes_lines_where_there_is_no_terminal(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress_display, "_SECONDS_BETWEEN_LINES", 0)
    with phase_progress() as on_phase:
        on_phase("checking", 512, 1024)
        on_phase("decoding images", 3, 12)
        on_phase("comparing images", 0, 0)
    assert capsys.readouterr().err.splitlines() == [
        "checking: 50 %, 512 bytes of 1.02 KB",
        "decoding images: 25 %, 3 of 12",
        "comparing images",
    ]


def test_every_phase_of_a_check_is_told_of(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    schema = rs.Schema({"image": rs.Image(encoding="png"), "name": rs.Text(max_length=3)})
    with rs.write(tmp_path / "data", schema) as writer:
        for number in range(12):
            pixels = random.integers(0, 255, (32, 32, 3)).astype(np.uint8)
            writer.add({"image": encode_image(pixels, "png"), "name": str(number)})
    seen: dict[str, tuple[int, int]] = {}

    def note(phase: str, done: int, total: int) -> None:
        assert done >= seen.get(phase, (0, 0))[0]
        seen[phase] = done, total

    rs.check(tmp_path / "data", decode="all", similar_images=True, progress=note)
    assert list(seen) == ["checking", "verifying", "decoding images", "comparing images", "reading 'name' again"]
    assert seen["checking"][0] == seen["checking"][1] == seen["verifying"][0] == seen["verifying"][1]
    assert seen["decoding images"] == seen["reading 'name' again"] == (12, 12)

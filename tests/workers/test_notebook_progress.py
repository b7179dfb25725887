"""Progress in a real kernel of a notebook, and in the log where nobody sees a bar."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from recordsmith.errors import RecordsmithError
from recordsmith.run.progress import Progress
from recordsmith.workers import progress_display
from recordsmith.workers.notebook_progress import in_notebook
from recordsmith.workers.progress_display import making_progress, phase_progress

CELL = """
import tempfile, recordsmith as rs
folder = tempfile.mkdtemp()
made = rs.make([{"n": n, "text": "<b>"} for n in range(9)], folder + "/data", progress=True)
report = rs.check(folder + "/data", progress=True)
rs.open(folder + "/data")
"""


def test_a_cell_shows_a_bar_and_the_dataset():
    jupyter = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    manager, client = jupyter.start_new_kernel(startup_timeout=120)
    messages: list[dict[str, Any]] = []
    try:
        reply = client.execute_interactive(CELL, timeout=120, output_hook=messages.append)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok", reply["content"]
    by_kind: dict[str, list[Any]] = {}
    for message in messages:
        by_kind.setdefault(message["msg_type"], []).append(message["content"])
    assert "stream" not in by_kind, by_kind["stream"]
    (shown,) = by_kind["execute_result"]
    assert "9 records" in shown["data"]["text/html"]
    assert "<b>" not in shown["data"]["text/html"]
    bars = [content["data"].get("text/html", "") for content in by_kind["display_data"]]
    assert len(bars) == 2
    assert all("<progress" in bar for bar in bars)
    assert by_kind["update_display_data"][-1]["data"]["text/html"] == ""  # the bar is gone


def test_what_nobody_asked_to_see_is_in_the_log(monkeypatch, caplog, capsys):
    monkeypatch.setattr(progress_display, "_SECONDS_BETWEEN_LINES", 0)
    monkeypatch.setattr(progress_display, "_SECONDS_TO_FIRST_LINE", 0)
    assert not in_notebook()
    caplog.set_level(logging.INFO, logger="recordsmith")
    with phase_progress(shown="auto") as on_phase, making_progress(shown=False) as on_progress:
        time.sleep(0.01)
        on_phase("checking", 512, 1024)
        on_progress(Progress("reading", 5, 10, "rows", 5, 100, 0))
    assert [record.name for record in caplog.records] == ["recordsmith"] * 2
    assert caplog.messages[0] == "checking: 50 %, 512 bytes of 1.02 KB"
    assert caplog.messages[1].startswith("reading: 50 %, 5 rows")
    assert capsys.readouterr() == ("", "")


def test_other_values_are_refused():
    with pytest.raises(RecordsmithError, match="True, False or 'auto'"), phase_progress(shown="yes"):  # type: ignore[arg-type] # wrong
        pass

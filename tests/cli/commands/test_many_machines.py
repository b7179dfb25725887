"""`--part`, `--finish` and `--engine` of `make` and `copy`."""

from __future__ import annotations

import builtins
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click.testing
import pytest

from tests.formats.made_sources import file_digests

Run = Callable[..., click.testing.Result]


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text("n,label\n" + "".join(f"{n},{n % 3}\n" for n in range(300_000)))


def test_parts_and_finish(run: Run) -> None:
    words = ("make", "table.csv", "--name", "data", "--split", "train=0.9,test=0.1", "--shards", "2", "-o")
    assert run(*words, "whole").exit_code == 0
    done = run(*words, "out", "--part", "2/2")
    assert done.exit_code == 0
    assert done.stdout.startswith("Part 2/2 is done: ")
    assert done.stdout.endswith(" rows read. Not done yet: part 1 of 2.\n")
    missing = run(*words, "out", "--finish")
    assert missing.exit_code == 2
    assert "One part has not been done yet." in missing.stderr
    assert "--part 1/2" in missing.stderr
    assert "--resume" in missing.stderr
    done = run(*words, "out", "--part", "1/2", "--format", "json")
    assert json.loads(done.stdout)["part"]["missing"] == []
    done = run(*words, "out", "--part", "1/2")
    assert "All parts have been read." in done.stdout
    assert "--finish" in done.stdout
    assert run(*words, "out", "--finish").exit_code == 0
    assert file_digests("out") == file_digests("whole")
    copying = ("copy", "out", "--shuffle", "--name", "data", "-o")
    assert run(*copying, "copied").exit_code == 0
    for part in ("1/2", "2/2"):
        assert f"Part {part} is done" in run(*copying, "copy", "--part", part).stdout
    assert run(*copying, "copy", "--finish").exit_code == 0
    assert file_digests("copy") == file_digests("copied")


@pytest.mark.parametrize("words", [["--part", "3/2"], ["--part", "1/2", "--finish"], ["--address", "auto"]])
def test_wrong_use(words: list[str], run: Run) -> None:
    result = run("make", "table.csv", "-o", "out", *words)
    assert result.exit_code == 2
    assert not Path("out").exists()


def test_without_ray_the_error_names_the_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_ray(name: str, *given: Any, **named: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "ray":
            raise ModuleNotFoundError("No module named 'ray'", name="ray")
        return real(name, *given, **named)

    monkeypatch.setattr(builtins, "__import__", without_ray)
    monkeypatch.setitem(sys.modules, "ray", None)
    result = run("make", "table.csv", "-o", "out", "--engine", "ray")
    assert result.exit_code == 2
    assert "The engine 'ray' needs ray, which is not installed." in result.stderr
    assert 'pip install "ray[data]>=2.50"' in result.stderr

"""Names and values of somebody else's making do not steer the terminal, the log or GitHub's annotations."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.cli.consoles import output_console
from recordsmith.wording.visible_text import json_text

from .conftest import Run, png

STEERING = "\x1b]0;TITLE\x07\x1b[31m\x9b31m\x7f\u202eevil\u2028"
LINES = "\r\n::error::pwned\n::set-output name=a::b\x85"
HOSTILE = f"{STEERING}{LINES}[red]x[/red] ##[error]y"
FORMS = ("text", "table", "python", "json", "tf", "tfds", "tfmd")
FILE = HOSTILE.replace("/", "")  # what a file may be called
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[0-9]*[AK]|\r")  # colours and progress bars


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder, a file, features, classes and values with such names; the second file is damaged."""
    folder = tmp_path / f"data{FILE}"
    folder.mkdir()
    rows = [
        {
            f"text {HOSTILE}": HOSTILE,
            f"number {HOSTILE}": float(n) if n else float("nan"),
            f"image {HOSTILE}": png(3, 2),
            f"list {HOSTILE}": [HOSTILE, b"\x1b\xff"],
        }
        for n in range(3)
    ]
    for name in (f"{FILE}-train-00000-of-00003.tfrecord", f"{FILE}-train-00001-of-00003.tfrecord"):
        with rs.RecordWriter(folder / name) as writer:
            for row in rows:
                writer.write_example(row)
    damaged = bytearray((folder / name).read_bytes())
    damaged[-20] ^= 1
    (folder / name).write_bytes(damaged)
    return folder


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """A dataset with a manifest whose feature and class have such names."""
    folder = tmp_path / f"described{FILE}"
    label = rs.Label([f"cat {STEERING[:-1]}[red]", f"dog {STEERING[:-1]}"], description=HOSTILE)
    schema = rs.Schema({f"label {HOSTILE}": label, "text": rs.Text(description=HOSTILE)})
    with rs.write(folder, schema, name="pets") as writer:
        for n in range(5):
            writer.add({f"label {HOSTILE}": n % 2, "text": HOSTILE})
    return folder


def check_harmless(result: Any, *, annotations: bool = False) -> None:
    for text in (result.stdout, result.stderr):
        lines = text.split("\n")
        for line in lines:
            assert line.isprintable(), ascii(line)
            assert annotations or not line.lstrip().startswith("::"), ascii(line)
            assert annotations or "##[" not in line, ascii(line)
            if line.startswith("::"):
                assert re.match(r"::(error|warning|notice) [^:]*::", line), ascii(line)


Commands = list[tuple[object, ...]]


def commands_on(folder: Path, described: Path, out: Path) -> Commands:
    some = min(folder.iterdir())
    return [
        ("show", folder),
        ("show", folder, "--format", "json"),
        ("show", folder, "--record", "0"),
        ("show", folder, "--raw"),
        ("show", some, "--features", f"no {HOSTILE}"),
        ("show", folder, "--split", HOSTILE),
        ("show", folder, "--where", HOSTILE),
        ("show", described),
        ("show", described, "--record", "1"),
        ("show", described, "--record", "1", "--format", "json"),
        *(("schema", folder, "--format", form) for form in FORMS if form != "tfds"),
        *(("schema", described, "--format", form) for form in FORMS),
        ("schema", described, "-o", out / f"schema{FILE}.json"),
        ("schema", described, "--diff", folder),
        ("schema", described, "--diff", folder, "--format", "json"),
        ("index", folder, "--rebuild"),
        ("index", some, "--rebuild"),
        ("index", some, "--format", "json"),
        ("index", some, "--format", "dali", "-o", out),
        *(("check", folder, "--format", form) for form in ("text", "json", "sarif")),
        ("check", described, "--html", out / f"{FILE}.html", "--format", "text"),
        ("check", folder, "--write-baseline", "--baseline", out / f"{FILE}.json"),
        ("check", out / "no such thing" / FILE),
        ("copy", described, "-o", out / f"copy{FILE}"),
        ("copy", folder, "-o", out / "copy2", "--on-error", "quarantine"),
        ("copy", some, "-o", out / "copy3", "--format", "json"),
        ("copy", folder, "-o", out / "copy4"),
        ("copy", described, "-o", out / f"copy{FILE}"),
        ("export", described, "-o", out / f"{FILE}.jsonl"),
        ("export", described, "-o", out / "exported", "--to", "webdataset", "--format", "json"),
        ("export", folder, "-o", out / f"{FILE}2.jsonl", "--on-error", "skip"),
        ("repair", folder, "--dry-run"),
        ("repair", folder, "-o", out / f"repaired{FILE}"),
        ("repair", folder, "-o", out / "repaired2", "--format", "json"),
        ("make", out / f"{FILE}.jsonl", "-o", out / f"made{FILE}"),
        ("make", out / f"rows{FILE}.jsonl", "-o", out / "made2", "--label", f"label {HOSTILE}"),
        ("make", out / f"rows{FILE}.csv", "-o", out / "made3", "--format", "json"),
        ("doctor", out / f"{FILE}.py"),
        ("doctor", out / f"{FILE}.py", "--format", "json"),
        ("doctor", out / f"bad{FILE}.py"),
        (HOSTILE,),
        ("show", f"--{HOSTILE}", folder),
        ("show", "-n", HOSTILE, folder),
    ]


def write_sources(out: Path) -> None:
    out.mkdir()
    row = {f"label {HOSTILE}": f"cat {HOSTILE}", f"text {HOSTILE}": HOSTILE}
    broken = json_text({**row, f"label {HOSTILE}": [HOSTILE]}, indent=None)
    (out / f"rows{FILE}.jsonl").write_text("\n".join([json_text(row, indent=None)] * 20 + [broken]) + "\n")
    cell = '"' + HOSTILE.replace('"', '""') + '"'
    (out / f"rows{FILE}.csv").write_text(f"{cell},n\n{cell},1\n{cell},x\n")
    code = (
        f"import tensorflow as tf\nds = tf.data.TFRecordDataset({HOSTILE!r}).repeat().shuffle(10)  # {STEERING[:-1]}\n"
    )
    (out / f"{FILE}.py").write_text(code)
    (out / f"bad{FILE}.py").write_text(f"x = (  # {STEERING}\n")


def test_no_command_lets_names_steer_anything(folder: Path, described: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "out"
    write_sources(out)
    for command in commands_on(folder, described, out):
        check_harmless(run(*command))
    for command in (("check", folder), ("doctor", out / f"{FILE}.py")):
        result = run(*command, "--format", "github")
        assert "::error" in result.stdout or "::warning" in result.stdout
        check_harmless(result, annotations=True)
    page = (out / f"{FILE}.html").read_text()
    assert not [char for char in set(page) if not char.isprintable() and char != "\n"]
    assert "[red]" in page


def test_no_command_lets_names_steer_a_terminal(
    folder: Path, described: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert output_console().is_terminal
    out = tmp_path / "out"
    write_sources(out)
    commands = commands_on(folder, described, out)
    for command in [command for command in commands if command[0] in ("show", "check", "copy", "index", "repair")]:
        result = run(*command)
        for line in OURS.sub("", result.stdout + result.stderr).split("\n"):
            assert line.isprintable(), ascii(line)


def test_a_trace_is_harmless_too(folder: Path, run_alone: Callable[..., Any]) -> None:
    result = run_alone("--debug", "show", folder, "--features", f"no {HOSTILE}")
    assert "Traceback" in result.stderr
    check_harmless(result)


def test_errors_and_reports_in_python_are_harmless_too(folder: Path) -> None:
    with pytest.raises(rs.RecordsmithError) as caught:
        rs.open(folder, split=HOSTILE)
    assert all(line.isprintable() for line in str(caught.value).split("\n"))
    report = rs.check(folder)
    assert report.findings
    assert all(line.isprintable() for line in str(report).split("\n"))


def test_all_that_commands_print_goes_through_the_consoles() -> None:
    """What prints in another way would have to be made safe there, and could be forgotten."""
    folder = Path(output_console.__code__.co_filename).parent
    found = []
    for path in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if path.name == "consoles.py" or not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called in ("print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"):
                found.append(f"{path.name}:{node.lineno} {called}")
    assert [place for place in found if not place.startswith("completion.py")] == []  # which prints click's own script

"""The program around the commands: help, exit codes, errors, pipes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

import recordsmith
import recordsmith as rs
from docs import refresh_cli
from recordsmith.cli import main

READING = ["show", "index", "schema"]
WRITING = ["make", "copy", "export", "repair"]
COMMANDS = [
    "cache",
    "card",
    "check",
    "compare",
    "completion",
    "demo",
    "diagnose",
    "doctor",
    "rule",
    "view",
    *READING,
    *WRITING,
]


def test_every_command_is_listed(run):
    result = run("--help")
    assert result.exit_code == 0
    assert set(COMMANDS) == set(main.commands)
    for name, command in main.commands.items():
        assert name in result.output
        assert str(command.short_help) in " ".join(result.output.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(run, name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"  recordsmith {name} " in result.output.partition("Examples:")[2]
    undocumented = [
        param.name for param in main.commands[name].params if isinstance(param, click.Option) and not param.help
    ]
    assert not undocumented


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_of_the_help_is_understood(name):
    """Their paths are nobody's, and their options are real."""
    for line in (main.commands[name].epilog or "").splitlines():
        words = re.split(r" [|>]", line.strip())[0].replace("'", "").split()
        if words[:2] == ["recordsmith", name]:
            main.commands[name].make_context(name, words[2:])


def test_the_reference_is_up_to_date():
    text = refresh_cli.REFERENCE.read_text()
    # Words only: another click may break lines elsewhere.
    assert text.split() == refresh_cli.refreshed(text).split(), "run: python docs/refresh_cli.py"
    assert {f"recordsmith {name}" for name in COMMANDS} <= {block["name"] for block in refresh_cli.BLOCK.finditer(text)}


def test_version(run):
    assert run("--version").output == f"recordsmith {recordsmith.__version__}\n"


def test_no_command_is_wrong_use(run):
    assert run().exit_code == 2
    assert run("shwo").exit_code == 2
    assert run("show").exit_code == 2
    assert run("show", "--no-such-option", "x").exit_code == 2


def test_the_installed_command_and_the_module_are_the_same(run_alone, pets_file):
    command = shutil.which("recordsmith", path=os.path.dirname(sys.executable))
    assert command is not None
    # The environment by name: readline, where pytest has loaded it, adds a width that os.environ does not know.
    installed = subprocess.run(
        [command, "show", str(pets_file)], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert installed.stdout == run_alone("show", pets_file).stdout


def test_help_imports_nothing_heavy():
    program = (
        "import sys; from recordsmith.cli import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "rich", "recordsmith._core"} & set(loaded.splitlines()[-1].split())


@pytest.mark.parametrize("command", READING)
class TestWhatCannotBeRead:
    """Exit code 2, the reason on standard error, nothing on standard output, no traceback."""

    def refused(self, run, *arguments):
        result = run(*arguments)
        assert result.exit_code == 2
        assert not result.stdout
        assert result.stderr.startswith("error: ")
        assert "Traceback" not in result.stderr
        return " ".join(result.stderr.split())

    def test_no_such_file(self, run, command, pets_file):
        said = self.refused(run, command, pets_file.parent / "pest.tfrecord")
        assert "There is no such file or folder." in said
        assert "Did you mean 'pets.tfrecord'?" in said

    def test_a_pattern_without_files(self, run, command, tmp_path):
        assert "No file matches the pattern" in self.refused(run, command, tmp_path / "*.tfrecord")

    def test_a_folder_without_records(self, run, command, tmp_path):
        assert "no TFRecord files" in self.refused(run, command, tmp_path)

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b'{"label": 3}\n' * 5, "it is text"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "git lfs pull"),
            (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(30), "it is a PNG image"),
            (b"PK\x03\x04" + bytes(40), "it is a zip archive"),
        ],
    )
    def test_another_kind_of_file(self, run, command, tmp_path, content, words):
        path = tmp_path / "data.tfrecord"
        path.write_bytes(content)
        assert words in self.refused(run, command, path)

    def test_junk_of_a_few_bytes(self, run, command, tmp_path):
        path = tmp_path / "data.tfrecord"
        path.write_bytes(b"abc")
        self.refused(run, command, path)

    def test_no_permission(self, run_alone, command, pets_file):
        if os.geteuid() == 0:
            pytest.skip("nothing is forbidden to root")
        pets_file.chmod(0)
        result = run_alone(command, pets_file)
        assert result.returncode == 2
        assert "You have no permission for this" in result.stderr

    def test_a_folder_in_place_of_a_schema(self, run, command, pets_file, tmp_path):
        if command == "show":
            assert "This is a folder, but a file is expected" in self.refused(
                run, command, pets_file, "--schema", tmp_path
            )


def test_a_traceback_on_request(run_alone, tmp_path):
    for arguments, env in ([["--debug"], {}], [[], {"RECORDSMITH_DEBUG": "1"}]):
        result = run_alone(*arguments, "show", tmp_path / "none", env=env)
        assert "Traceback (most recent call last)" in result.stderr
        assert "There is no such file or folder" in result.stderr
        assert result.returncode == 2


def test_warnings_are_said_in_words(run, pets_folder):
    (pets_folder / "pets-train.tfrecord-00001-of-00002").unlink()
    result = run("show", pets_folder)
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: Shards of")
    assert ".py" not in result.stderr


def test_a_reader_that_has_seen_enough(pets_file):
    path = str(pets_file)
    for arguments in (["show", "--rows", ":", "--raw", path], ["show", "--format", "json", path], ["--help"]):
        command = [sys.executable, "-m", "recordsmith", *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            said = process.stderr.read()
            assert process.wait() == 0
        assert said == b""


def test_stopped_by_hand(tmp_path):
    pipe = tmp_path / "endless.tfrecord"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "recordsmith", "schema", str(pipe)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        descriptor = os.open(pipe, os.O_WRONLY)  # returns once the command is reading
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        os.close(descriptor)  # the read is native and ends here; the signal is then seen
        output, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (output, said) == (b"", b"")


@pytest.mark.parametrize("command", ["show", "index"])
def test_a_pipe_is_refused_where_it_would_be_read_twice(command, pets_file):
    words = [sys.executable, "-m", "recordsmith", command, "/dev/stdin"]
    done = subprocess.run(words, input=pets_file.read_bytes(), capture_output=True, check=False)
    assert done.returncode == 2
    assert b"can be read only once" in done.stderr


def test_a_pipe_has_a_schema(pets_file):
    words = [sys.executable, "-m", "recordsmith", "schema", "/dev/stdin"]
    done = subprocess.run(words, input=pets_file.read_bytes(), capture_output=True, check=True)
    assert b"Text()" in done.stdout


def test_a_terminal_that_knows_no_more_than_ascii(run_alone, pets_file):
    result = run_alone("show", pets_file, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert result.returncode == 0
    assert "PNG 32?24" in result.stdout


def test_colours_only_where_they_belong(run_alone, pets_file):
    assert "\x1b" not in run_alone("show", pets_file).stdout
    forced = run_alone("show", pets_file, env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}).stdout
    assert "\x1b[" in forced
    plain = run_alone("show", pets_file, env={"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm-256color"}).stdout
    assert "\x1b[36m" not in plain


def test_a_name_that_is_no_utf8(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.tfrecord"))
    with rs.RecordWriter(path) as writer:
        writer.write_example({"label": 3})
    for arguments in (["show"], ["show", "--format", "json"], ["schema"], ["index"], ["index", "--format", "json"]):
        command = [os.fsencode(word) for word in (sys.executable, "-m", "recordsmith", *arguments)]
        done = subprocess.run([*command, os.fsencode(path)], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr

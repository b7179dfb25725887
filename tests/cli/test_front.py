"""What a newcomer meets first: mistyped words, the Tab key, and the same words over all commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import click
import click.testing
import pytest
from click.shell_completion import ShellComplete

from recordsmith.cli import main
from recordsmith.cli.commands.completion import PathWord
from recordsmith.cli.options.shared_options import NearChoice

OPTIONS = [
    pytest.param(option, id=f"{name} {option.opts[-1]}")
    for name, command in main.commands.items()
    for option in command.params
    if isinstance(option, click.Option)
]


class TestMistypedWords:
    @pytest.mark.parametrize(
        ("typed", "meant"),
        [
            ("chek", "check"),
            ("Show", "show"),
            ("maek", "make"),
            ("schemas", "schema"),
            ("validate", "check"),
            ("inspect", "show"),
            ("lint", "doctor"),
            ("version", "--version"),
        ],
    )
    def test_commands(self, run, typed, meant):
        result = run(typed, "data/")
        assert result.exit_code == 2
        assert f"No such command {typed!r}. Did you mean {meant!r}?" in result.stderr

    def test_a_command_like_no_other(self, run):
        result = run("xyzzy")
        assert result.exit_code == 2
        assert "No such command 'xyzzy'.\n" in result.stderr

    def test_options(self, run):
        result = run("check", "data/", "--fromat", "json")
        assert result.exit_code == 2
        assert "--format" in result.stderr

    def test_choices(self, run):
        result = run("check", "data/", "--format", "jsno")
        assert result.exit_code == 2
        assert "'jsno' is not one of text, json, sarif, github. Did you mean 'json'?" in result.stderr


class TestDebugging:
    @pytest.fixture(autouse=True)
    def broken(self, monkeypatch):
        def fails(*_args, **_options):
            raise TypeError("of our own making")

        monkeypatch.setattr("recordsmith.dataset.descriptions.schema_source.find_schema", fails)

    def invoke(self, *arguments):
        return click.testing.CliRunner().invoke(main, [str(argument) for argument in arguments])

    def test_a_fault_of_our_own_is_no_finding(self, pets_file):
        result = self.invoke("schema", pets_file)
        assert result.exit_code == 2
        assert "a bug in recordsmith" in result.stderr
        assert "TypeError: of our own making" in result.stderr
        assert "Traceback" not in result.stderr
        assert "RECORDSMITH_DEBUG=1" in result.stderr

    def test_it_is_traced_on_request(self, pets_file):
        result = self.invoke("--debug", "schema", pets_file)
        assert result.exit_code == 2
        assert "Traceback (most recent call last)" in result.stderr
        assert result.stderr.endswith("TypeError: of our own making\n")


class TestCompletion:
    def completed(self, *words):
        *before, begun = words
        return ShellComplete(main, {}, "recordsmith", "_RECORDSMITH_COMPLETE").get_completions(before, begun)

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_there_is_a_script(self, run, shell):
        result = run("completion", shell)
        assert result.exit_code == 0
        assert f"_RECORDSMITH_COMPLETE={shell}_complete" in result.stdout
        program = shutil.which(shell)
        if program is not None:
            subprocess.run([program, "-n"], input=result.stdout, text=True, check=True)

    def test_of_the_shell_at_hand(self, run, monkeypatch):
        monkeypatch.setenv("SHELL", "/usr/bin/fish")
        assert run("completion").stdout == run("completion", "fish").stdout
        monkeypatch.setenv("SHELL", "/bin/tcsh")
        result = run("completion")
        assert result.exit_code == 2
        assert "Name the shell: bash, zsh or fish." in result.stderr

    def test_the_program_answers_the_script(self):
        asked = {"_RECORDSMITH_COMPLETE": "bash_complete", "COMP_WORDS": "recordsmith ch", "COMP_CWORD": "1"}
        command = shutil.which("recordsmith", path=os.path.dirname(sys.executable))
        assert command is not None
        done = subprocess.run([command], capture_output=True, text=True, check=True, env={**os.environ, **asked})
        assert done.stdout == "plain,check\n"

    def test_options_and_choices(self):
        assert "--overwrite" in [item.value for item in self.completed("copy", "--ov")]
        assert [item.value for item in self.completed("check", "data", "--format", "s")] == ["sarif"]

    @pytest.mark.parametrize(
        "words", [["show", "da"], ["make", "pho"], ["show", "data", "--schema", "sch"], ["copy", "a", "-o", "b"]]
    )
    def test_paths(self, words):
        assert [item.type for item in self.completed(*words)] == ["file"]

    def test_rules(self):
        assert [item.value for item in self.completed("rule", "F00")][:2] == ["F001", "F002"]


class TestWords:
    """One word for one thing, whichever command it is."""

    @pytest.mark.parametrize("option", OPTIONS)
    def test_options(self, option):
        name = option.opts[-1]
        assert name not in {"--force", "--json", "--out", "--compress", "--traceback", "--verbose", "--jobs"}
        if name == "--output":
            assert option.opts == ["-o", "--output"]
            assert isinstance(option.type, PathWord)
        if name == "--format":
            assert {"text", "json"} <= set(option.type.choices)
        if name in {"--overwrite", "--resume", "--cast"}:
            assert option.is_flag
        if name == "--compression":
            assert {"none", "gzip", "zlib"} <= set(option.type.choices)
        assert not isinstance(option.type, click.Choice) or isinstance(option.type, NearChoice)

    def test_what_can_replace_can_be_told_not_to(self):
        writing = [name for name, command in main.commands.items() if any("-o" in p.opts for p in command.params)]
        assert set(writing) == {"make", "schema", "index", "copy", "export", "repair", "card"}
        for name in set(writing) - {"index"}:  # an index is derived, and always written anew
            assert any("--overwrite" in param.opts for param in main.commands[name].params), name

    @pytest.mark.parametrize("width", [60, 120])
    @pytest.mark.parametrize("name", sorted(main.commands))
    def test_help_fits_its_terminal(self, name, width):
        program = main.context_class(main, info_name="recordsmith", terminal_width=width, **main.context_settings)
        context = click.Context(main.commands[name], info_name=name, parent=program)
        text = main.commands[name].get_help(context).partition("Examples:")[0]  # these stay whole, to be copied
        assert [line for line in text.splitlines() if len(line) > width] == []

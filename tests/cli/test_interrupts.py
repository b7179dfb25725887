"""Ctrl-C ends the command quietly with 130, whatever it is just importing or doing."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

# Interrupts itself when a module is about to be imported and, where asked for, loses the KeyboardInterrupt, as the
# import of a native module does.
PROGRAM = """
    import builtins, os, signal, sys

    wanted, lost, *sys.argv[1:] = sys.argv[1:]
    usual = builtins.__import__

    def importing(name, *rest):
        if name == wanted:
            builtins.__import__ = usual
            try:
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1000): pass
            except KeyboardInterrupt:
                if lost == "lost":
                    raise ImportError("the module cannot be initialised") from None
                raise
        return usual(name, *rest)

    builtins.__import__ = importing
    from recordsmith.__main__ import run
    run()
"""


@pytest.mark.parametrize(
    ("module", "lost"),
    [("click", "kept"), ("recordsmith.cli.program", "lost"), ("recordsmith.checking.check", "kept"), ("numpy", "lost")],
)
def test_while_importing(pets_file, module: str, lost: str) -> None:
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), module, lost, "check", str(pets_file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_program_that_was_started_to_ignore_interrupts_ignores_them(pets_file) -> None:
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), "numpy", "kept", "index", str(pets_file)]
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    done = subprocess.run([sys.executable, "-c", ignoring, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

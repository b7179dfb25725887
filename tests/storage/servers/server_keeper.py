"""Keeps a server while somebody uses it: one for all workers of a test run, ended by its process id after the last.

    python server_keeper.py USERS_FILE COMMAND...

Whoever uses the server holds a shared lock on USERS_FILE, which also a killed process gives back. Once nobody holds it,
the server is ended, and so is the keeper.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

_KEEPERS: list[subprocess.Popen[bytes]] = []  # which outlive this process for a moment


@contextlib.contextmanager
def kept_server(folder: Path, name: str, begin: Callable[[Path], tuple[list[str], str]]) -> Iterator[str]:
    """Give the address of a server that all who name this folder share; it is started by the first of them.

    Args:
        folder: where its files are.
        name: a folder in it.
        begin: returns the command line of the server, for this folder, and the address at which it will answer.
    """
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    with (home / "users").open("w") as users, (home / "start").open("w") as start:
        fcntl.flock(users, fcntl.LOCK_SH)
        fcntl.flock(start, fcntl.LOCK_EX)
        note = home / "address.json"
        if not note.exists():
            command, address = begin(home)
            with (home / "log").open("wb") as log:
                keeper = [sys.executable, __file__, users.name, *command]
                _KEEPERS.append(
                    subprocess.Popen(keeper, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
                )
            _wait_for(address, home / "log")
            note.write_text(json.dumps(address))
        fcntl.flock(start, fcntl.LOCK_UN)
        yield json.loads(note.read_text())


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _wait_for(address: str, log: Path) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except urllib.error.HTTPError:
            return  # it answers, and wants a signature
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"The server does not answer: {log.read_text(errors='replace')[-2000:]}")


def _keep(users: str, command: list[str]) -> None:
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        with open(users) as file:
            while server.poll() is None:
                time.sleep(0.5)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                break
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(os.path.dirname(users), "address.json"))


if __name__ == "__main__":
    _keep(sys.argv[1], sys.argv[2:])

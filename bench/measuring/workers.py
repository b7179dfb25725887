"""The parent's side of the worker processes: start them, ask them, and report those that cannot take part."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, Self, cast

from bench.peers import PEERS, Role

PROJECT = Path(__file__).resolve().parents[2]


class PeerFailedError(Exception):
    """A peer could not do what it was asked; the message is its own."""


class WorkerProcess:
    """One running peer."""

    def __init__(self, peer: str, *, python: str, log: Path, module: str = "bench.measuring.worker") -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.peer = peer
        self._log = log.open("a")  # several processes of a peer share one log
        self._process = subprocess.Popen(
            [python, "-m", module, peer],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._requests = cast("IO[str]", self._process.stdin)
        self._answers = cast("IO[str]", self._process.stdout)
        self.unavailable: str | None = None
        self.versions: dict[str, str] = {}
        try:
            description = self._answer()
        except PeerFailedError as problem:
            self.unavailable = str(problem)
            return
        self.unavailable = description.get("unavailable")
        self.versions = description.get("versions", {})

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """Send a request and wait for the answer."""
        # Where the process is gone, waiting for its answer says how it ended.
        with contextlib.suppress(BrokenPipeError):
            self._requests.write(json.dumps({"do": do, **request}, default=str) + "\n")
            self._requests.flush()
        answer = self._answer()
        if "failed" in answer:
            raise PeerFailedError(str(answer["failed"]))
        return answer

    def _answer(self) -> dict[str, Any]:
        line = self._answers.readline()
        if not line:
            code = self._process.wait()
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
            raise PeerFailedError(f"its process {how}; see {self._log.name}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        """End the process; it leaves when its input ends."""
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._answers.close()
        self._log.close()


class Workers:
    """All peers of a run. A peer that is missing or breaks is kept in `skipped` with the reason."""

    def __init__(self, *, folder: Path, recordsmith_python: str = sys.executable) -> None:
        self._folder = folder
        self._recordsmith_python = recordsmith_python
        self._running: dict[str, WorkerProcess] = {}
        self.skipped: dict[str, str] = {}
        self.versions: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._running.values():
            worker.stop()

    def python(self, peer: str) -> str:
        """The interpreter that runs a peer."""
        return self._recordsmith_python if peer == "recordsmith" else sys.executable

    def get(self, peer: str) -> WorkerProcess | None:
        """The peer's process, started if need be; None where the peer cannot take part."""
        if peer in self.skipped:
            return None
        if peer not in self._running:
            worker = self.fresh(peer)
            if worker.unavailable is not None:
                worker.stop()
                self.skipped[peer] = worker.unavailable
                return None
            self._running[peer] = worker
            self.versions |= worker.versions
        return self._running[peer]

    def fresh(self, peer: str) -> WorkerProcess:
        """A new process of a peer that the caller stops itself."""
        return WorkerProcess(peer, python=self.python(peer), log=self._folder / "logs" / f"{peer}.log")

    def having(self, role: Role, *, restless: bool = False) -> list[WorkerProcess]:
        """The peers that can take part in a task: the quiet ones, or the restless ones."""
        peers = [peer for peer, entry in PEERS.items() if role in entry.roles and entry.restless == restless]
        return [worker for peer in peers if (worker := self.get(peer)) is not None]

    def stop(self, peer: str) -> None:
        """End a peer's process if it runs."""
        if peer in self._running:
            self._running.pop(peer).stop()

    def forget_prepared(self) -> None:
        """Let all running peers free what they hold. One whose process has died is started again when it is needed."""
        for worker in list(self._running.values()):
            try:
                worker.ask("forget")
            except PeerFailedError:
                self.stop(worker.peer)

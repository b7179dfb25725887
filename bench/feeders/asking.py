"""Ask a new process to write or to load: the side of the benchmark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from bench.measuring.workers import PROJECT, PeerFailedError

SECONDS = 120


def ask(request: dict[str, Any], environment: dict[str, str]) -> dict[str, Any]:
    """Start a process for a request, and return its answer.

    Raises:
        PeerFailedError: it failed, or did not end in time; the message says how.
    """
    command = [sys.executable, "-m", "bench.feeders", json.dumps(request)]
    try:
        done = subprocess.run(
            command,
            cwd=PROJECT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise PeerFailedError(f"did not end within {SECONDS} seconds") from None
    if done.returncode != 0:
        raise PeerFailedError(f"ended with code {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}")
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer

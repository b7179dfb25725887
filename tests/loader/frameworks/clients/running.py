"""Clients run in processes of their own: some fork, which is not safe beside the threads of TensorFlow and JAX."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]


def run(script: str, *arguments: str, **environment: str) -> Any:
    """Run a script of the folder beside this file, and return the JSON that it writes."""
    command = [sys.executable, str(Path(__file__).parent / "scripts" / script), *arguments]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500, check=False, env=variables)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])

"""The end of a program stops background threads before Python ends them wherever they are."""

from __future__ import annotations

import subprocess
import sys

_CODE = """
import sys
import threading
import numpy as np
from recordsmith.workers.background import start_in_background

stopped, started = threading.Event(), threading.Event()
values = np.arange(200_000)

def work():
    while not stopped.is_set():
        np.unique(values)  # C++ that gives the GIL back, and aborts where it does not get it again
        started.set()
    print("ended by itself")

for number in range(4):
    start_in_background(work, name=f"worker-{number}", stop=stopped.set)
started.wait(60)
"""


def test_threads_are_told_to_stop_and_waited_for():
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=False, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("ended by itself") == 4


def test_a_thread_that_ended_is_forgotten():
    from recordsmith.workers import background

    thread = background.start_in_background(lambda: None, name="short", stop=lambda: None)
    thread.join(60)
    assert thread not in background._stops

"""Worker processes for the user's functions: started quietly, shared, renewed, and ended without a trace."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from recordsmith.errors import RecordsmithError
from recordsmith.workers import processes
from recordsmith.workers.processes import call_in_process, process_pool
from recordsmith.workers.threads import default_workers

# loky's finalizers, made slow in threads: a thread that is not waited for does not come to the end of them.
SLOW_FINALIZERS = """
import sys, threading, time
import loky.backend.synchronize as synchronize
from recordsmith.workers.processes import call_in_process, process_pool

unlink = synchronize.sem_unlink

def slowly(name):
    unlink(name)
    if threading.current_thread() is not threading.main_thread():
        time.sleep(0.3)

synchronize.sem_unlink = slowly
"""

INTERRUPTED_POOL = """
try:
    with process_pool(2, lambda: None) as pool:
        results = [pool.submit(abs, -2) for _ in range(20)]
        print(results[0].result())
        raise KeyboardInterrupt
except KeyboardInterrupt:
    print("stopped")
"""

SHARED_POOL = """
print(call_in_process(abs, -2))
"""


def run_script(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    ("script", "said"), [(INTERRUPTED_POOL, "2\nstopped\n"), (SHARED_POOL, "2\n")], ids=["interrupted", "shared"]
)
def test_no_semaphore_is_left_to_warn_of(script, said):
    ended = run_script(SLOW_FINALIZERS + script)
    assert (ended.stdout, ended.stderr, ended.returncode) == (said, "", 0)


STARTING = """
import os, time
from recordsmith.workers.processes import process_pool

def slow_start():
    time.sleep(0.2)

try:
    with process_pool(2, slow_start) as pool:
        future = pool.submit(os.getpid)
        print("started", flush=True)
        future.result()
        time.sleep(60)
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize("after", [0.0, 0.03, 0.1, 0.3])
def test_an_interrupt_while_processes_start_leaves_no_traceback(after):
    process = subprocess.Popen(
        [sys.executable, "-c", STARTING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(after)
    os.killpg(process.pid, signal.SIGINT)
    said, complaints = process.communicate(timeout=60)
    assert (said, complaints, process.returncode) == ("stopped\n", "", 0)


def test_preparing_happens_in_each_process(tmp_path):
    def prepare() -> None:
        (tmp_path / str(os.getpid())).touch()

    with process_pool(2, prepare) as pool:
        worker = pool.submit(os.getpid).result()
    assert worker != os.getpid()
    assert (tmp_path / str(worker)).exists()


def test_threads_share_their_processes():
    workers: set[int] = set()

    def call() -> None:
        for _ in range(10):
            workers.add(call_in_process(os.getpid))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.getpid() not in workers
    assert 1 <= len(workers) <= default_workers()


def test_processes_that_died_are_replaced():
    with pytest.raises(RecordsmithError, match="A worker process died"):
        call_in_process(os._exit, 3)
    assert call_in_process(abs, -2) == 2


def test_after_an_interrupt_new_processes_are_started():
    pool = processes._shared_pool()
    worker = call_in_process(os.getpid)
    os.kill(worker, signal.SIGINT)
    while processes._shared_pool() is pool:  # it takes a moment until the death is noticed
        with contextlib.suppress(RecordsmithError):
            call_in_process(os.getpid)
        time.sleep(0.01)
    assert call_in_process(os.getpid) != worker


def test_a_forked_process_has_its_own():
    call_in_process(abs, -2)
    script = (
        "import os\nfrom recordsmith.workers.processes import call_in_process\n"
        "call_in_process(abs, -2)\nchild = os.fork()\n"
        "if child == 0:\n    print(call_in_process(abs, -3), flush=True)\n    os._exit(0)\n"
        "print(os.waitpid(child, 0)[1])\n"
    )
    assert run_script(script).stdout == "3\n0\n"


def test_no_process_outlives_one_that_was_killed():
    process = subprocess.Popen([sys.executable, "-c", STARTING], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    process.kill()
    process.communicate(timeout=60)  # until the last process that holds the pipe has ended


def test_lambdas_and_functions_of_scripts_are_carried():
    offset = 5
    assert call_in_process(lambda number: number + offset, 2) == 7
    assert call_in_process(lambda: Path("x").name) == "x"


class OddlyMadeError(Exception):
    """Takes other arguments than its message, so that its pickle cannot be read."""

    def __init__(self, left: int, right: int) -> None:
        super().__init__(f"{left} is not {right}")


class LockedError(Exception):
    """Cannot be pickled."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.lock = threading.Lock()


class SpeechlessError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class ArrivesBroken:
    def __reduce__(self):
        return int, ("no number",)


def raising(error: str) -> None:
    if error == "odd":
        raise OddlyMadeError(1, 2)
    if error == "locked":
        raise LockedError("the door\nis locked")
    if error == "speechless":
        raise SpeechlessError
    sys.exit(3)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("odd", "raised OddlyMadeError: 1 is not 2"),
        ("locked", "raised LockedError: the door is locked"),
        ("speechless", "raised SpeechlessError."),
        ("exit", "raised SystemExit: 3"),
    ],
)
def test_an_exception_that_cannot_travel_is_told_all_the_same(error, words):
    with pytest.raises(RecordsmithError) as caught:
        call_in_process(raising, error)
    assert words in str(caught.value)
    assert "raised by raising in" in str(caught.value)
    assert "test_processes.py" in str(caught.value)
    assert "def raising" not in str(caught.value)
    assert "sys.exit(3)" in str(caught.value.__cause__) or "raise " in str(caught.value.__cause__)  # its traceback
    assert call_in_process(abs, -2) == 2


def test_what_cannot_be_sent_back_is_not_called_a_death():
    with pytest.raises(RecordsmithError, match="cannot be sent between processes") as caught:
        call_in_process(ArrivesBroken)
    assert "no number" in str(caught.value)
    assert call_in_process(abs, -2) == 2

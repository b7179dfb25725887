"""Diagnosing the pipeline of a user's file in a process of its own, which is stopped when its time is over.

    parent                                  child: python -m recordsmith.doctor.diagnose.child_process
      Task, as a pickle ── standard input ──►  imports the file, draws, measures
      progress, report or failure  ◄── pipe ──
      when the time is over: SIGUSR1 ────────►  faulthandler writes where it is ── pipe ──► parent
      SIGKILL, to it and its workers ────────►

A pipeline may block in native code, where no exception reaches it: only another process can stop it then. What the
user's code prints goes to standard error, so that standard output has the report and nothing else.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import re
import select
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from recordsmith.doctor.diagnose.diagnosis import diagnose
from recordsmith.doctor.diagnose.named_objects import NamedObject
from recordsmith.errors import RecordsmithError, advise, reason_of
from recordsmith.report import Report
from recordsmith.workers.progress_display import OnPhase

__all__ = ["Task", "diagnose_in_child"]

_WAIT = 0.5  # seconds between two looks at whether the child still runs
_LAST_WORDS = 2.0  # seconds for the child to write where it is
_SPARE = 10.0  # seconds after which the child ends by itself, should the parent be gone


@dataclass(frozen=True, slots=True)
class Task:
    """What to diagnose, in terms of files and names.

    >>> Task(NamedObject("train.py", "dataset"), timeout=300).files
    ['train.py']
    """

    pipeline: NamedObject
    model: NamedObject | None = None
    loss: NamedObject | None = None
    validation: NamedObject | None = None
    timeout: float = 300
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def files(self) -> list[str]:
        """The files that will be imported."""
        given = [one for one in (self.pipeline, self.model, self.loss, self.validation) if one is not None]
        return list(dict.fromkeys(one.file for one in given))

    def has(self, path: str) -> bool:
        """Say whether a file is the user's own code: it is in the folder of the pipeline, and no installed package."""
        return path.startswith(self.pipeline.folder + os.sep) and "site-packages" not in path

    def run(self, on_phase: OnPhase) -> Report:
        """Import the files, make the objects, and diagnose."""
        for named in (self.validation, self.loss, self.model, self.pipeline):
            if named is not None:
                sys.path.insert(0, named.folder)
        sys.argv = [self.pipeline.file]
        on_phase(f"importing {self.pipeline.file}", 0, 0)
        pipeline = self.pipeline.load_result()
        model = None if self.model is None else self.model.load_result()
        loss = None if self.loss is None else self.loss.load()
        validation = None if self.validation is None else self.validation.load_result()
        return diagnose(pipeline, model=model, loss=loss, validation=validation, progress=on_phase, **self.options)


def diagnose_in_child(task: Task, on_phase: OnPhase = lambda _phase, _done, _total: None) -> Report:
    """Run a task in a child process, and return its report.

    Raises:
        RecordsmithError: the user's code raised, the process ended, or the time is over.
    """
    receiver, sender = Pipe(duplex=False)
    place_reader, place_writer = os.pipe()
    command = [sys.executable, "-P", "-m", __name__, str(sender.fileno()), str(place_writer)]
    with (
        receiver,
        os.fdopen(place_reader, "rb") as places,
        subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=2,
            pass_fds=(sender.fileno(), place_writer),
            start_new_session=True,  # so that its workers are stopped with it
        ) as child,
    ):
        try:
            sender.close()
            os.close(place_writer)
            assert child.stdin is not None  # noqa: S101 - it is a pipe
            with contextlib.suppress(BrokenPipeError):  # it ended at once, which is said below
                child.stdin.write(pickle.dumps(task))
                child.stdin.close()
            deadline = time.monotonic() + task.timeout
            doing = "starting"
            while True:
                message = _next_message(receiver, child, deadline)
                if message is None:
                    raise _stopped(task, doing, _place(child, places, task))
                if isinstance(message, tuple):
                    doing = f"{message[0]}, {message[1]} of {message[2]}" if message[2] else message[0]
                    on_phase(*message)
                elif isinstance(message, Report):
                    return message
                else:
                    raise message
        except EOFError:
            raise _ended(task, child.wait()) from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def _next_message(receiver: Connection, child: subprocess.Popen[bytes], deadline: float) -> Any:
    """Return what the child says next; None when the time is over; EOFError if it ended without a word."""
    while not receiver.poll(min(_WAIT, max(deadline - time.monotonic(), 0.0))):
        if child.poll() is not None and not receiver.poll(0):  # its workers may hold the pipe open
            raise EOFError
        if time.monotonic() >= deadline:
            return None
    return receiver.recv()


def _place(child: subprocess.Popen[bytes], places: Any, task: Task) -> str:
    """Return the line at which the child is: the innermost of the user's folder, or that of the main thread."""
    child.send_signal(signal.SIGUSR1)
    written = b""
    while select.select([places], [], [], _LAST_WORDS if not written else 0.1)[0]:
        more = os.read(places.fileno(), 1 << 16)
        if not more:
            break
        written += more
    threads = re.split(r"^(?:Current thread|Thread) .*\n", written.decode(errors="replace"), flags=re.MULTILINE)
    each = [re.findall(r'^  File "(.+)", line (\d+) in (.+)$', thread, re.MULTILINE) for thread in threads]
    users = [frame for frames in each for frame in frames if task.has(frame[0])]  # batches are drawn in a thread
    file, line, function = [*users, *each[-1], ("", "", "")][0]  # the main thread is last
    return f"; at {os.path.relpath(file)}, line {line}, in {function}" if file else ""


def _stopped(task: Task, doing: str, place: str) -> RecordsmithError:
    return RecordsmithError(
        f"The diagnosis did not end within {task.timeout:g} seconds and was stopped.",
        path=task.pipeline.file,
        found=f"{doing}{place}",
        advice=advise(
            "If the pipeline waits for something, look at that line. If it is only slow, give it more time: {timeout}.",
            timeout=600,
        ),
    )


def _ended(task: Task, code: int) -> RecordsmithError:
    how = f"by the signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    return RecordsmithError(
        f"The process that ran the pipeline ended {how}.",
        path=task.pipeline.file,
        advice="Run the file alone to see why: python FILE.",
    )


def _failure(error: BaseException, task: Task) -> BaseException:
    """Return what to tell about an error; what the user's code raised is printed with its own lines first."""
    trace = error.__traceback__
    while trace is not None and not task.has(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    if trace is None and not isinstance(error, SyntaxError):
        return error
    traceback.print_exception(error.with_traceback(trace))
    sys.stderr.flush()
    if isinstance(error, RecordsmithError):
        return error
    return RecordsmithError(
        f"The code raised {type(error).__name__}: {reason_of(error)}",
        path=task.pipeline.file,
        advice="The lines above show where. Correct the code, or name another object of the file.",
    )


def _serve(sender: Connection, places: int) -> None:
    """Do what the parent asks for: the whole life of the child."""
    task: Task = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our parent
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    faulthandler.register(signal.SIGUSR1, file=places, all_threads=True)
    faulthandler.dump_traceback_later(task.timeout + _SPARE, file=places, exit=True)
    answer: Report | BaseException
    try:
        answer = task.run(lambda *phase: sender.send(phase))
    except BaseException as error:  # noqa: BLE001 - also SystemExit of a script that was meant to be run
        answer = _failure(error, task)
    sender.send(answer)
    sender.close()
    sys.stdout.flush()
    os._exit(0)  # threads of the pipeline may still run, and nobody waits for them


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1]), readable=False), int(sys.argv[2]))

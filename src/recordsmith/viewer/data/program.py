"""What `recordsmith doctor` says about a program that uses the data, worked out in the background.

The program is only read, never run. At first it is judged alone; once all records are known, together with the data.
"""

from __future__ import annotations

import os
import threading

from recordsmith.doctor.lint.lint import lint
from recordsmith.errors import RecordsmithError, reason_of
from recordsmith.report import Report
from recordsmith.viewer.data.examination import Examination
from recordsmith.workers.background import start_in_background

__all__ = ["ProgramReport"]


class ProgramReport:
    """The report about one program and one dataset.

    Attributes:
        path: the Python file, the notebook or the folder.
        report: the findings; None until they are known.
        compared: the program was compared with all records.
        error: why it could not be read.
        version: increases whenever there is something new.
        busy: more is to come.
    """

    def __init__(self, path: str, examination: Examination) -> None:
        if not os.path.exists(path):
            raise RecordsmithError(
                "There is no such program.", path=path, expected="a Python file, a notebook, or a folder of them"
            )
        self.path = path
        self.report: Report | None = None
        self.compared = False
        self.error: str | None = None
        self.version = 0
        self.busy = False
        self._examination = examination
        self._stopped = threading.Event()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Read the program, once more if it was read before."""
        with self._lock:
            if self.busy:
                return
            self.busy = True
        start_in_background(self._run, name="recordsmith-view-program", stop=self.stop)

    def stop(self) -> None:
        """End the work in the background."""
        self._stopped.set()

    def _run(self) -> None:
        examination = self._examination
        try:
            if not examination.complete:
                self._know(lint(self.path), compared=False)
                while (examination.phase or not examination.settled) and not self._stopped.wait(0.2):
                    pass
            if examination.complete and not self._stopped.is_set():
                self._know(lint(self.path, examination.facts), compared=True)
        except Exception as error:  # noqa: BLE001 - whoever waits for the report must be told, whatever went wrong
            self.error = reason_of(error)
        self.busy = False
        self.version += 1

    def _know(self, report: Report, *, compared: bool) -> None:
        self.report, self.compared, self.error = report, compared, None
        self.version += 1

"""The message after an interrupted run."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["resumable"]


@contextlib.contextmanager
def resumable(output: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Say whether and how an interrupted run can be resumed; `options` are those of the command."""
    from recordsmith.cli.consoles import error_console, print_to
    from recordsmith.errors import RecordsmithError
    from recordsmith.run.engines.execution import Execution
    from recordsmith.run.publishing.destination import shared_staging, staged_path
    from recordsmith.run.staging.run_in_store import RunInStore
    from recordsmith.run.staging.staging import Staging
    from recordsmith.storage.atomic_file import is_url
    from recordsmith.wording.numbers import bytes_text

    url = output if is_url(output) else None
    if url is not None:
        output = staged_path(url, options["staging"])

    def kept() -> bool:
        if url is not None:
            execution = Execution(options["engine"], finish=options["finish"] or options["part"] is not None)
            with contextlib.suppress(RecordsmithError, OSError):  # the network may be why the run has ended
                shared = shared_staging(url, options["staging"], execution)
                if shared is not None:
                    return RunInStore(shared, url).begun() is not None
        return Staging.exists(output) or (url is not None and os.path.isdir(output))  # finished, and not yet uploaded

    advice = "Finished work is kept: run the same command with --resume to continue."
    try:
        yield
    except KeyboardInterrupt:
        print_to(error_console(), f"Stopped. {advice if kept() else 'Nothing has been written.'}")
        raise
    except (OSError, MemoryError) as error:
        if not kept() or isinstance(error, BrokenPipeError):
            raise
        if getattr(error, "errno", None) not in (errno.ENOSPC, errno.EDQUOT):
            error.add_note(advice)
            raise
        room = os.statvfs(output)
        raise RecordsmithError(
            "The disk is full.",
            path=output,
            found=f"{bytes_text(room.f_bavail * room.f_frsize)} left",
            advice=f"Free some space. {advice}",
        ) from None

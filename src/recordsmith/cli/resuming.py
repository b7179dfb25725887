"""The message after an interrupted run."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

__all__ = ["resumable"]


@contextlib.contextmanager
def resumable(output: str, staging: str | None) -> Iterator[None]:
    """Say whether and how an interrupted run can be resumed."""
    from recordsmith.cli.consoles import error_console, print_to
    from recordsmith.errors import RecordsmithError
    from recordsmith.run.publishing.destination import staged_path
    from recordsmith.run.staging.staging import Staging
    from recordsmith.storage.atomic_file import is_url
    from recordsmith.wording.numbers import bytes_text

    remote = is_url(output)
    if remote:
        output = staged_path(output, staging)

    def kept() -> bool:
        return Staging.exists(output) or (remote and os.path.isdir(output))  # finished, and not yet uploaded

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

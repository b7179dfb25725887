"""The command `recordsmith`, also as `python -m recordsmith`.

Nothing is imported here before an interrupt (Ctrl-C) ends the program without a word: what is interrupted while it is
imported fails in many ways, most of which look like a fault of ours.
"""

import os
import signal

__all__ = ["run"]

_INTERRUPTED = 130  # as shells say it: 128 and the signal's number


def run() -> None:
    """Run the command line; the program ends with it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else whoever started us wants no interrupts
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    from recordsmith.cli import main

    main(prog_name="recordsmith")


if __name__ == "__main__":
    run()

"""Runs every fuzzer for its share of the time, and says how many inputs each has tried."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

LARGEST_INPUT = 1 << 16  # bytes; the parsers have no behaviour that needs more, and small inputs are tried faster
MEMORY_LIMIT = 2048  # MiB; a length that is believed before it is checked shows as an allocation past this
SLOWEST_INPUT = 10  # seconds


@dataclass(frozen=True)
class Outcome:
    """What one fuzzer did."""

    name: str
    executions: int
    exit_code: int
    log: Path
    artifacts: list[Path]


def run(fuzzer: Path, corpus: Path, seconds: int) -> Outcome:
    """Runs one fuzzer; its log and the inputs that break it are left beside it."""
    name = fuzzer.name.removesuffix("_fuzzer")
    found = corpus / name
    found.mkdir(parents=True, exist_ok=True)
    artifact_prefix = fuzzer.parent / f"{name}-"
    for old in fuzzer.parent.glob(f"{name}-*-*"):
        old.unlink()
    log = fuzzer.parent / f"{name}.log"
    command = [
        str(fuzzer),
        f"-max_total_time={seconds}",
        f"-max_len={LARGEST_INPUT}",
        f"-rss_limit_mb={MEMORY_LIMIT}",
        f"-timeout={SLOWEST_INPUT}",
        f"-artifact_prefix={artifact_prefix}",
        "-print_final_stats=1",
        str(found),
    ]
    with log.open("w") as output:
        exit_code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", log.read_text(errors="replace"))
    artifacts = sorted(fuzzer.parent.glob(f"{name}-*-*"))
    return Outcome(name, int(executed[1]) if executed else 0, exit_code, log, artifacts)


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fuzzers", type=Path, help="folder with the built *_fuzzer programs")
    parser.add_argument("corpus", type=Path, help="folder with one folder of inputs for each fuzzer; grows as they run")
    parser.add_argument("--seconds", type=int, default=600, help="time for all of them together")
    arguments = parser.parse_args()

    fuzzers = sorted(path for path in arguments.fuzzers.glob("*_fuzzer") if os.access(path, os.X_OK))
    if not fuzzers:
        print(f"There are no fuzzers in {arguments.fuzzers}.", file=sys.stderr)
        return 1
    at_once = min(os.cpu_count() or 1, len(fuzzers))
    share = max(1, arguments.seconds * at_once // len(fuzzers))
    print(f"{len(fuzzers)} fuzzers, {at_once} at a time, {share} seconds each", flush=True)

    with ThreadPoolExecutor(at_once) as pool:
        outcomes = list(pool.map(lambda fuzzer: run(fuzzer, arguments.corpus, share), fuzzers))

    broken = [outcome for outcome in outcomes if outcome.exit_code != 0 or outcome.executions == 0]
    for outcome in broken:
        print(f"\n--- {outcome.name}: the end of {outcome.log}")
        print("\n".join(outcome.log.read_text(errors="replace").splitlines()[-60:]))
    print()
    for outcome in outcomes:
        state = "FAILED" if outcome in broken else "clean"
        print(f"{outcome.name:20} {outcome.executions:>14,} executions  {state}")
        for artifact in outcome.artifacts:
            print(f"    {artifact}")
    print(f"{'all':20} {sum(outcome.executions for outcome in outcomes):>14,} executions")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

"""Whatever call to the operating system fails, and wherever the process is killed: the old files or the new, whole.

Each case makes one call of one run go wrong. Then what is in force is exactly the old files or exactly the new ones, a
dataset has exactly their rows, no file under a final name is half-written, and the run is resumed or repeated to the
same bytes, with nothing left of the one before.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.storage.publication import files_in_force
from tests.storage.publication.failing_runs import SCENARIOS, Runs, Scenario, runs

KINDS = (
    ("kill", errno.EIO),
    ("fail", errno.EIO),
    ("fail", errno.ENOSPC),
    ("fail on", errno.EIO),
    ("shorten", errno.EIO),
)
FEW = 3  # calls of a scenario that the thinned sweep tries in each way
# What cannot go wrong in some way is not tried: only reads and writes can be short, and only what takes room meets a
# full disk.
ONLY = {"shorten": {"read", "write"}, "ENOSPC": {"open", "write", "sync", "rename", "link", "make", "truncate"}}
Files = dict[str, str]
Case = tuple[int, str, int]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler here")
    library = tmp_path_factory.mktemp("library") / "failing_calls.so"
    source = Path(__file__).with_name("failing_calls.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    with runs(library) as started:
        yield started


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """A folder in memory, where syncing costs nothing."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="recordsmith-failing-", dir=memory) as folder:
        yield Path(folder)


@dataclass(frozen=True)
class Known:
    """What a scenario has to do with: its files before and after, and how many calls it takes."""

    scenario: Scenario
    before: Path
    old: Files
    new: Files
    kinds: list[str]  # of all calls that it makes


def in_force(folder: Path, output: str) -> Files:
    """The files of the output that are in force, with their digests; text indexes and other by-products too."""
    place = folder / output
    if not place.is_dir():
        found = {name: path for name, path in files_in_force(str(folder)).items() if name.startswith("out")}
    else:
        found = files_in_force(str(place))
    return {name: hashlib.sha256(Path(path).read_bytes()).hexdigest() for name, path in found.items()}


def under_final_names(folder: Path, output: str) -> Files:
    place = folder / output
    files = place.iterdir() if place.is_dir() else folder.glob("out*")
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.is_file() and file.name[0] != "."
    }


def known(run: Runs, name: str, quick_folder: Path) -> Known:
    scenario = SCENARIOS[name]
    before, after = quick_folder / "before", quick_folder / "case"
    after.mkdir()  # under the same name as all cases: descriptions name their sources
    scenario.prepare(after)
    after.rename(before)
    shutil.copytree(before, after)
    old = in_force(after, scenario.output)
    answer = run(name, after)
    assert answer["error"] is None, answer["error"]
    new = in_force(after, scenario.output)
    shutil.rmtree(after)
    return Known(scenario, before, old, new, answer["kinds"])


def assert_whole(about: str, fact: Known, folder: Path, answer: dict[str, Any]) -> None:
    scenario = fact.scenario
    if answer["error"] is not None:
        kinds, text = answer["error"]
        assert {"OSError", "RecordsmithError", "MemoryError"} & set(kinds), f"{about}: {text}"
    found = in_force(folder, scenario.output)
    assert found in (fact.old, fact.new) or not scenario.one_switch, f"{about}: {sorted(found)}"
    if answer["status"] == 0 and answer["error"] is None:
        assert found == fact.new, f"{about}: it said that all went well"
    for name, digest in under_final_names(folder, scenario.output).items():
        assert digest in (fact.old.get(name), fact.new.get(name)), f"{about}: {name} is half-written"
    if scenario.opens and any("tfrecord" in name for name in found):
        assert_rows(about, folder / scenario.output)


def assert_rows(about: str, place: Path) -> None:
    """It opens, and every row can be read; which rows these are, the digests tell."""
    dataset = rs.open(place)
    assert len([row["n"] for row in dataset]) == len(dataset), about


def assert_repeated(about: str, fact: Known, folder: Path) -> None:
    fact.scenario.again(folder)
    assert under_final_names(folder, fact.scenario.output) == fact.new, about
    left = [str(path.relative_to(folder)) for path in folder.rglob(".*") if path.name != ".recordsmith"]
    assert not left, f"{about}: {left}"


def tried(run: Runs, name: str, quick_folder: Path, cases: Callable[[list[str]], list[Case]]) -> Counter[str]:
    """Try all cases of a scenario; return how many calls of each kind went wrong in which way."""
    fact = known(run, name, quick_folder)
    seen: Counter[str] = Counter()
    problems: list[str] = []
    folder = quick_folder / "case"
    for nth, mode, number in cases(fact.kinds):
        shutil.copytree(fact.before, folder)
        answer = run(name, folder, mode, number, nth)
        about = f"{mode} {errno.errorcode[number]} at call {nth} of {len(fact.kinds)} ({answer['hit']})"
        try:
            # A thread that reads ahead makes a few calls more or less: the last ones may not be reached.
            was_reached = answer["kinds"] is None or len(answer["kinds"]) >= nth
            assert answer["status"] == (-9 if mode == "kill" and was_reached else 0), f"{about}: {answer['error']}"
            assert_whole(about, fact, folder, answer)
            assert_repeated(about, fact, folder)
        except Exception as problem:  # noqa: BLE001 - all of them are told together
            problems.append(f"{about}: {type(problem).__name__}: {problem}")
        shutil.rmtree(folder)
        seen[f"{mode} {answer['hit']}".strip()] += 1
    assert not problems, f"{len(problems)} of {seen.total()}:\n" + "\n".join(problems[:10])
    return seen


def calls_that_can(kind: tuple[str, int], kinds: list[str]) -> list[Case]:
    """All calls of a run that can go wrong in this way."""
    mode, number = kind
    only = ONLY.get(mode) or ONLY.get(errno.errorcode[number])
    return [(nth, mode, number) for nth, call in enumerate(kinds, 1) if only is None or call in only]


@pytest.mark.parametrize("name", SCENARIOS)
def test_some_calls(name: str, run: Runs, quick_folder: Path):
    chance = random.Random(name)

    def cases(kinds: list[str]) -> list[Case]:
        every = [(kind, calls_that_can(kind, kinds)) for kind in KINDS]
        return [case for _, calls in every for case in chance.sample(calls, min(FEW, len(calls)))]

    assert tried(run, name, quick_folder, cases)


@pytest.mark.proof
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind[0]} {errno.errorcode[kind[1]]}")
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_call(name: str, kind: tuple[str, int], run: Runs, quick_folder: Path, record_property: Any):
    seen = tried(run, name, quick_folder, lambda kinds: calls_that_can(kind, kinds))
    record_property("injections", seen.total())

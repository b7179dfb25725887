"""Machines that share nothing but object storage make the files of one machine, and leave nothing over."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.run.progress import Progress
from recordsmith.storage.objects import open_folder, read_published
from recordsmith.storage.objects.obstore_folder import ObstoreFolder
from recordsmith.storage.objects.s3_uploads import UnfinishedUploads
from recordsmith.storage.objects.store_settings import settings_for
from recordsmith.storage.objects.versions import Published
from tests.formats.made_sources import file_digests, labelled, numbers
from tests.making.making_to_kill import RECIPES
from tests.run.store_machines import ended, in_force, left_over, machine, started

pytest.importorskip("obstore")


def whole(recipe: str, folder: Path) -> dict[str, str]:
    """Return the digests of what one machine makes in a folder."""
    source, options = RECIPES[recipe](0.0)
    rs.make(source, folder / "whole", name="data", **options)
    return file_digests(folder / "whole")


def walked(url: str) -> list[str]:
    return [facts.key for facts in open_folder(url).walk()]


class Machines:
    """One machine after the other."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, url: str, staging: str | None = None) -> None:
        self._folder, self._monkeypatch = folder, monkeypatch
        self.url, self.staging = url, staging
        self._count = 0

    def make(self, recipe: str, **options: Any) -> Any:
        """Do something on a new machine."""
        source, settings = RECIPES[recipe](0.0)
        return self.do(rs.make, source, name="data", **{**settings, **options})

    def do(self, verb: Any, source: Any, **options: Any) -> Any:
        """Do anything on a new machine."""
        self._count += 1
        with machine(self._folder / f"machine-{self._count}", self._monkeypatch):
            return verb(source, self.url, staging=self.staging, **options)


@pytest.mark.parametrize(
    ("recipe", "parts"),
    [
        ("everything", ["2/2", "1/2", "2/2", "1/2"]),
        ("synthetic", ["2/2", "1/2"]),
    ],
)
def test_parts_one_after_the_other(
    recipe: str, parts: list[str], every_s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also twice: then they have written and verified the shards. Each on a machine that is gone afterwards."""
    expected = whole(recipe, quick_path)
    machines = Machines(quick_path, monkeypatch, f"{every_s3_url}/data")
    for part in parts:
        done = machines.make(recipe, part=part).part
        assert done.part == part
    assert read_published(open_folder(machines.url)) is None, "nothing is in force yet"
    if recipe == "everything":
        assert done.shards > 0
    made = machines.make(recipe, finish=True)
    assert made.folder == machines.url
    assert in_force(machines.url) == expected
    assert left_over(machines.url) == []
    assert machines.make(recipe, part=parts[0]).part.is_published
    assert machines.make(recipe, finish=True).splits == made.splits
    assert left_over(machines.url) == []


def test_parts_at_the_same_time_and_twice(s3_url: str, quick_path: Path) -> None:
    """Two machines do the same, beside others: one piece is left of each group of chunks, and nothing is doubled."""
    expected = whole("everything", quick_path)
    url, staging = f"{s3_url}/data", f"{s3_url}/staging"
    running = []
    for number, part in enumerate(["1/2", "2/2", "1/2", "2/2"]):
        folder = quick_path / f"machine-{number}"
        options = {"part": part, "staging": staging}
        running.append((folder, started(folder, recipe="everything", out=url, options=options)))
    assert [ended(*one) for one in running] == [0] * len(running)
    records = [Path(key).name.partition("-")[0] for key in walked(staging) if key.endswith(".records")]
    assert len(records) == len({*records}), "of each group one piece"
    source, settings = RECIPES["everything"](0.0)
    rs.make(source, url, name="data", staging=staging, finish=True, **settings)
    assert in_force(url) == expected
    assert left_over(url, staging) == []


def test_a_missing_part_is_named(s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rs.make(numbers(4000), quick_path / "whole", name="data")
    machines = Machines(quick_path, monkeypatch, f"{s3_url}/out")

    def make(**options: Any) -> Any:
        return machines.do(rs.make, numbers(4000), name="data", **options)

    with pytest.raises(rs.RecordsmithError, match="no part has been done"):
        make(finish=True)
    for part in ("1/5", "4/5"):
        done = make(part=part).part
    assert done.missing == (2, 3, 5)
    with pytest.raises(rs.RecordsmithError, match="Some parts have not been done yet") as caught:
        make(finish=True)
    assert caught.value.expected == "also parts 2-3, 5"
    assert caught.value.path == machines.url
    with pytest.raises(rs.RecordsmithError, match="unfinished run"):
        make()
    with pytest.raises(rs.RecordsmithError, match="started with other options") as other:
        make(part="2/5", seed=1)
    assert "To start over, remove s3://" in str(other.value.advice)
    make(resume=True)
    assert in_force(machines.url) == file_digests(quick_path / "whole"), "or the rest is done by one machine"
    assert left_over(machines.url) == []


def test_parts_of_a_copy(every_s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From one folder of the store to another."""
    data = f"{every_s3_url}/data"
    rs.make(labelled([n % 3 for n in range(3000)]), data, split="train=0.8,test=0.2", shards=4)
    every: list[dict[str, Any]] = [{"where": "label == 'cat'", "shuffle": True}, {"drop": ["n"], "shards": 3}]
    for number, options in enumerate(every):
        rs.copy(data, quick_path / f"whole-{number}", name="data", **options)
        machines = Machines(quick_path / f"machines-{number}", monkeypatch, f"{every_s3_url}/out-{number}")
        (quick_path / f"machines-{number}").mkdir()
        for part in ("2/2", "1/2", "2/2"):
            machines.do(rs.copy, data, name="data", part=part, **options)
        assert machines.do(rs.copy, data, name="data", finish=True, **options).rows > 0
        assert in_force(machines.url) == file_digests(quick_path / f"whole-{number}")
        assert left_over(machines.url) == []


def stop_at(phase: str) -> Any:
    def on_progress(progress: Progress) -> None:
        if progress.phase == phase and (progress.done or phase == "ordering"):
            raise KeyboardInterrupt

    return on_progress


@pytest.mark.parametrize("phase", ["reading", "ordering", "writing", "checking", "uploading"])
def test_what_one_machine_began_another_continues(
    phase: str, s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the first machine is needed, and finished work is not done again."""
    expected = whole("everything", quick_path)
    machines = Machines(quick_path, monkeypatch, f"{s3_url}/data", f"{s3_url}/staging")
    with pytest.raises(KeyboardInterrupt):
        machines.make("everything", on_progress=stop_at(phase))
    with pytest.raises(rs.RecordsmithError, match="unfinished run"):
        machines.make("everything")
    phases: list[str] = []
    machines.make("everything", resume=True, workers=1, on_progress=lambda progress: phases.append(progress.phase))
    assert ("reading" in phases) == (phase == "reading")
    assert in_force(machines.url) == expected
    assert left_over(machines.url, machines.staging) == []


def test_buckets_of_one_machine(s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A split that is too large for random reads: its records are read from the store from front to back."""
    from recordsmith.run.shards import shuffling
    from recordsmith.run.splits import external_sort

    for module, name in ((shuffling, "BUCKETS_ABOVE_BYTES"), (shuffling, "_BUCKET_BYTES"), (shuffling, "_PIECE_BYTES")):
        monkeypatch.setattr(module, name, getattr(module, name))  # which the recipe changes
    monkeypatch.setattr(external_sort, "_BUCKET_ENTRIES", external_sort._BUCKET_ENTRIES)
    expected = whole("dealt", quick_path)
    machines = Machines(quick_path, monkeypatch, f"{s3_url}/data", f"{s3_url}/staging")
    machines.make("dealt")
    assert in_force(machines.url) == expected
    assert left_over(machines.url, machines.staging) == []


def test_a_dataset_is_replaced(s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machines = Machines(quick_path, monkeypatch, f"{s3_url}/data")
    rs.make(numbers(100), machines.url, name="old")
    before = in_force(machines.url)
    options: dict[str, Any] = {"name": "data", "overwrite": True}
    for part in ("1/2", "2/2", "1/2"):
        machines.do(rs.make, numbers(1000), part=part, **options)
    assert in_force(machines.url) == before
    machines.do(rs.make, numbers(1000), finish=True, **options)
    rs.make(numbers(1000), quick_path / "whole", name="data")
    assert in_force(machines.url) == file_digests(quick_path / "whole")
    assert left_over(machines.url) == []
    with pytest.raises(rs.RecordsmithError, match="made with other options"):
        machines.do(rs.make, numbers(1000), name="data", part="1/2", seed=5)
    machines.staging = f"{s3_url}/staging"
    with pytest.raises(rs.RecordsmithError, match="already"):
        machines.do(rs.make, numbers(1000), name="data")


def test_starting_over_removes_what_was_begun(s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machines = Machines(quick_path, monkeypatch, f"{s3_url}/data", f"{s3_url}/staging")
    with pytest.raises(KeyboardInterrupt):
        machines.make("everything", on_progress=stop_at("checking"))
    with pytest.raises(KeyboardInterrupt):
        machines.make("everything", seed=7, overwrite=True, on_progress=stop_at("reading"))
    assert walked(machines.url) == [], "what the first run had uploaded is gone"
    with pytest.raises(rs.RecordsmithError, match="other options"):
        machines.make("everything", resume=True)
    machines.make("everything", seed=7, resume=True)
    assert left_over(machines.url, machines.staging) == []


def test_an_error_that_resuming_would_not_change_leaves_nothing(
    s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines = Machines(quick_path, monkeypatch, f"{s3_url}/data", f"{s3_url}/staging")
    with pytest.raises(rs.RecordsmithError):
        machines.make("everything", on_error="stop")
    assert left_over(machines.url, machines.staging) == []
    with pytest.raises(rs.RecordsmithError, match="rejected, more than") as caught:
        machines.make("everything", max_rejects=0)
    assert caught.value.path == machines.url, "a path of this machine would say nothing"
    machines.make("everything", resume=True)
    assert left_over(machines.url, machines.staging) == []


@pytest.mark.parametrize("damage", ["records", "keys", "json"])
def test_damaged_pieces_are_made_again(
    damage: str, s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A piece that was changed has another ETag; a description that cannot be read counts for nothing."""
    expected = whole("everything", quick_path)
    machines = Machines(quick_path, monkeypatch, f"{s3_url}/data", f"{s3_url}/staging")
    for part in ("1/2", "2/2"):
        machines.make("everything", part=part)
    folder = open_folder(f"{s3_url}/staging")
    names = [key for key in walked(folder.url) if "/pieces/" in key and key.endswith(f".{damage}")]
    data = bytearray(folder.read(names[1], longest=1 << 20)[0])
    data[len(data) // 2] ^= 1
    folder.put(names[1], b"{" if damage == "json" else bytes(data))
    with pytest.raises(rs.RecordsmithError, match="One part has not been done yet"):
        machines.make("everything", finish=True)
    machines.make("everything", resume=True)
    assert in_force(machines.url) == expected
    assert left_over(machines.url, machines.staging) == []


def test_records_that_were_damaged_on_their_way(s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their checksums say so when they are used. Then all are read, and the damaged ones are made again."""
    expected = whole("everything", quick_path)
    machines = Machines(quick_path, monkeypatch, f"{s3_url}/data", f"{s3_url}/staging")
    usual = ObstoreFolder.upload

    def upload(self: Any, key: str, path: str, **options: Any) -> Any:
        if key.startswith("00000002") and key.endswith(".records"):
            content = bytearray(Path(path).read_bytes())
            content[len(content) // 2] ^= 1
            Path(path).write_bytes(content)
        return usual(self, key, path, **options)

    with monkeypatch.context() as patched:
        patched.setattr(ObstoreFolder, "upload", upload)
        with pytest.raises(rs.RecordsmithError, match="A staged record is damaged"):
            machines.make("everything")
    machines.make("everything", resume=True)
    assert in_force(machines.url) == expected
    assert left_over(machines.url, machines.staging) == []


def test_a_shard_that_reads_back_as_other_bytes(s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = whole("everything", quick_path)
    machines = Machines(quick_path, monkeypatch, f"{s3_url}/data", f"{s3_url}/staging")
    usual = ObstoreFolder.upload

    def upload(self: Any, key: str, path: str, **options: Any) -> Any:
        if "-val.tfrecord-00001" in key:
            Path(path).write_bytes(Path(path).read_bytes()[::-1])
        return usual(self, key, path, **options)

    with monkeypatch.context() as patched:
        patched.setattr(ObstoreFolder, "upload", upload)
        with pytest.raises(rs.RecordsmithError, match="differ from those that were uploaded"):
            machines.make("everything")
    assert read_published(open_folder(machines.url)) is None
    machines.make("everything", resume=True)
    assert in_force(machines.url) == expected
    assert left_over(machines.url, machines.staging) == []


def test_two_machines_finish_at_the_same_time(s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that is second finds its version in force, and removes nothing of it."""
    expected = whole("everything", quick_path)
    machines = Machines(quick_path, monkeypatch, f"{s3_url}/data")
    other = Machines(quick_path / "others", monkeypatch, f"{s3_url}/data")
    (quick_path / "others").mkdir()
    for part in ("1/1", "1/1"):
        machines.make("everything", part=part)
    usual = Published.to_bytes

    def to_bytes(self: Published) -> bytes:
        monkeypatch.setattr(Published, "to_bytes", usual)
        other.make("everything", finish=True)
        return usual(self) + b"\n"  # as another version of recordsmith might write it

    monkeypatch.setattr(Published, "to_bytes", to_bytes)
    machines.make("everything", finish=True)
    assert in_force(machines.url) == expected
    assert left_over(machines.url) == []


def test_unfinished_uploads_are_aborted(every_s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of killed processes, to the output and to the staging folder."""
    machines = Machines(quick_path, monkeypatch, f"{every_s3_url}/data", f"{every_s3_url}/staging")
    machines.make("everything", part="1/1")
    pieces = next(key for key in walked(f"{every_s3_url}/staging") if "/pieces/" in key).rpartition("/")[0]
    for place, below in ((f"{every_s3_url}/data", pieces.split("/")[1]), (f"{every_s3_url}/staging", pieces)):
        uploads = UnfinishedUploads.of(place, settings_for("s3"))
        assert uploads is not None
        uploads._ask("POST", f"{uploads.folder}/{below}/killed", {"uploads": ""})
        assert len(list(uploads.listed(""))) == 1
    machines.make("everything", finish=True)
    assert left_over(machines.url, machines.staging) == []


def test_stores_without_conditional_writes(s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(rs.RecordsmithError, match="no conditional writes, so several machines cannot") as caught:
        rs.make(numbers(10), f"memory://{quick_path.name}/data", part="1/2")
    assert "such as S3" in str(caught.value)
    usual = ObstoreFolder.put

    def ignores(self: Any, key: str, data: bytes, **_: Any) -> Any:
        return usual(self, key, data)

    monkeypatch.setattr(ObstoreFolder, "put", ignores)  # and answers that all is well
    with pytest.raises(rs.RecordsmithError, match="no conditional writes, so several machines cannot"):
        rs.make(numbers(10), f"{s3_url}/data", staging=f"{s3_url}/staging")
    assert left_over(f"{s3_url}/data", f"{s3_url}/staging") == []


def test_what_does_not_go_together(s3_url: str, quick_path: Path) -> None:
    with pytest.raises(rs.RecordsmithError, match="is staged in object storage"):
        rs.make(numbers(10), f"{s3_url}/data", staging=quick_path, part="1/2")
    with pytest.raises(rs.RecordsmithError, match="local here"):
        rs.write(f"{s3_url}/data", rs.Schema({"n": rs.Scalar("int64")}), staging=f"{s3_url}/staging")
    with pytest.raises(rs.RecordsmithError, match="output at a URL"):
        rs.make([{"n": 1}], quick_path / "data", staging=f"{s3_url}/staging")


def test_what_a_run_with_a_folder_has_finished_is_not_made_again(
    s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines = Machines(quick_path, monkeypatch, f"{s3_url}/data", f"{s3_url}/staging")
    with pytest.raises(KeyboardInterrupt):
        machines.make("everything", on_progress=stop_at("writing"))
    source, options = RECIPES["everything"](0.0)
    made = rs.make(source, machines.url, name="data", staging=quick_path / "other", **options)
    assert machines.make("everything", resume=True).splits == made.splits
    assert left_over(machines.url, machines.staging) == []


@pytest.mark.proof
@pytest.mark.parametrize("recipe", ["everything", "synthetic"])
def test_killed_before_any_request(recipe: str, s3_url: str, quick_path: Path) -> None:
    """SIGKILL before each request that changes something, or a sample of them; another machine resumes."""
    expected = whole(recipe, quick_path)
    chance = random.Random(recipe)
    at, kills = 1, 0
    while True:
        url, staging = f"{s3_url}/{at}/data", f"{s3_url}/{at}/staging"
        first, second = quick_path / "first", quick_path / "second"
        if ended(first, started(first, recipe=recipe, out=url, options={"staging": staging}, kill_at=at)) == 0:
            break
        kills += 1
        options = {"staging": staging, "resume": True, "workers": chance.choice([1, 3])}
        assert ended(second, started(second, recipe=recipe, out=url, options=options)) == 0
        assert in_force(url) == expected
        assert left_over(url, staging) == []
        at += chance.randint(1, 8)
    assert kills > 5
    assert in_force(url) == expected


@pytest.mark.proof
def test_killed_parts(s3_url: str, quick_path: Path) -> None:
    """Parts that are killed at random, at the same time, until all of them have ended."""
    expected = whole("everything", quick_path)
    chance = random.Random(0)
    kills = 0
    for number in range(6):
        url = f"{s3_url}/{number}"
        left = ["1/3", "2/3", "3/3", "1/3", "2/3", "3/3"]
        while left:
            running = []
            for place, part in enumerate(left):
                order: dict[str, Any] = {"recipe": "everything", "out": url, "options": {"part": part}}
                if chance.random() < 0.4:
                    order["kill_at"] = chance.randint(1, 12)
                folder = quick_path / f"machine-{place}"
                running.append((part, folder, started(folder, **order)))
            codes = [(part, ended(folder, process)) for part, folder, process in running]
            left = [part for part, code in codes if code == -signal.SIGKILL]
            kills += len(left)
        folder = quick_path / "last"
        assert ended(folder, started(folder, recipe="everything", out=url, options={"finish": True})) == 0
        assert in_force(url) == expected
        assert left_over(url) == []
    assert kills > 10, os.environ.get("AWS_ENDPOINT_URL")

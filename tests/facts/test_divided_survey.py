"""A survey that other machines do gives the facts of one machine, whatever they see and send."""

from __future__ import annotations

import gzip
import pickle
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

import recordsmith as rs
from recordsmith import _core
from recordsmith.facts import divided_survey
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.survey import survey
from recordsmith.images import encode_image

T = TypeVar("T")
R = TypeVar("R")


class Machines:
    """Other machines: whatever goes to them and comes from them is pickled."""

    def __init__(self) -> None:
        self.source: list[str] = []
        self.tasks = 0

    def begin(self, plan: str, source: Sequence[str]) -> None:
        assert not plan
        self.source += source

    def in_order(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        sent = pickle.dumps(work)
        for item in items:
            self.tasks += 1
            yield pickle.loads(pickle.dumps(pickle.loads(sent)(pickle.loads(pickle.dumps(item)))))


def fields(facts: DatasetFacts) -> dict[str, Any]:
    """All facts but how long it took; of the manifest, which has functions, nothing."""
    facts = replace(facts, seconds=0, manifest=None)
    return {name: repr(getattr(facts, name)) for name in facts.__dataclass_fields__}


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset of all kinds of values, cut into many units; some records are twice there."""
    monkeypatch.setattr(divided_survey, "_UNIT_BYTES", 40_000)
    rng = np.random.default_rng(3)
    rows = 3000
    image = rng.integers(0, 255, (8, 8, 3), np.uint8)
    source = {
        "x": np.where(np.arange(rows) % 500 == 7, np.nan, rng.normal(size=rows)).astype(np.float32),
        "label": rng.integers(0, 7, rows),
        "text": [f"word {n % 2500}" for n in range(rows)],
        "wide": rng.normal(size=(rows, 2)),
        "image": [encode_image(image ^ (n % 50), "png") for n in range(rows)],
    }
    schema = rs.Schema(
        {
            "x": rs.Scalar("float32"),
            "label": rs.Label(7),
            "text": rs.Text(),
            "wide": rs.Tensor("float64", (2,)),
            "image": rs.Image(channels=3, encoding="png"),
        }
    )
    data = tmp_path / "data"
    rs.make(source, data, schema=schema, split="train=0.7,test=0.3", shards=3, name="data")
    return data


@pytest.mark.parametrize(
    "options", [{}, {"decode": "all"}, {"similar_images": True}, {"frames_only": True}, {"records": 50}]
)
def test_the_facts_are_those_of_one_machine(dataset: Path, options: dict[str, Any]) -> None:
    machines = Machines()
    assert fields(survey(dataset, machines=machines, **options)) == fields(survey(dataset, **options))
    assert machines.source == [str(dataset)]
    assert machines.tasks > 10


def test_damaged_compressed_and_foreign_files(dataset: Path) -> None:
    """Everything that is reported about files is, too."""
    files = sorted(dataset.glob("*.tfrecord-*"))
    damaged = bytearray(files[0].read_bytes())
    chance = random.Random(5)
    for _ in range(20):
        damaged[chance.randrange(len(damaged))] ^= 0x20
    files[0].write_bytes(damaged[:-5])
    files[1].write_bytes(gzip.compress(files[1].read_bytes()))
    files[2].write_bytes(b"plain text, and no record\n" * 10)
    files[3].write_bytes(b"")
    machines = Machines()
    facts = survey(dataset, machines=machines)
    assert fields(facts) == fields(survey(dataset))
    assert max(len(shard.damages) for shard in facts.shards) > 10


def test_what_machines_send_is_checked(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another unit's tallies, cut ones and other bytes are refused."""
    monkeypatch.setattr(divided_survey, "_MOST_TASKS", 2)
    real = divided_survey.SurveyWay.__call__

    def survey_with(change: Callable[[list[bytes]], list[bytes]]) -> DatasetFacts:
        monkeypatch.setattr(divided_survey.SurveyWay, "__call__", lambda way, units: change(real(way, units)))
        return survey(dataset, machines=Machines())

    for change in (
        lambda tallies: tallies[1:] + tallies[:1],
        lambda tallies: tallies[:-1],
        lambda tallies: [*tallies, tallies[0]],
        lambda tallies: [one[:-1] for one in tallies],
        lambda tallies: [one + b"x" for one in tallies],
        lambda tallies: [b"" for _ in tallies],
        lambda tallies: [bytes(len(one)) for one in tallies],
    ):
        with pytest.raises(ValueError, match="survey"):
            survey_with(change)


def test_a_unit_that_is_none_is_refused() -> None:
    way = divided_survey.SurveyWay(None, [], None, frames_only=False)
    for unit in (b"", b"RUS1", bytes(100)):
        with pytest.raises(ValueError, match="unit of a survey"):
            _core.survey_unit(unit, {}, provenance=[], options=way.options(threads=1))

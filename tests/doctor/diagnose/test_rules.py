"""The rules by themselves: each looks at facts and needs no framework."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from recordsmith.doctor.diagnose.consequences import without_consequences
from recordsmith.doctor.diagnose.observing.model_facts import (
    FirstLayerFacts,
    InputSpec,
    LossFacts,
    ModelFacts,
    OutputFacts,
    SignalFacts,
)
from recordsmith.doctor.diagnose.observing.observations import (
    ChainStep,
    ColumnFacts,
    EpochFacts,
    ImageFacts,
    LabelFacts,
    Observations,
    PairExample,
    RecordFacts,
    SourceFacts,
    WorkerFacts,
)
from recordsmith.doctor.diagnose.observing.validation_facts import ColumnDifference, ValidationFacts
from recordsmith.doctor.diagnose.rules import RULES
from recordsmith.rules import Judge

INPUT = ColumnFacts(
    "x", "input", "float32", (4,), 64, values=256, min=-2.0, max=2.0, mean=0.0, deviation=1.0, distinct=200
)
TARGET = ColumnFacts("y", "target", "int64", (), 64, values=64, min=0.0, max=1.0, integral=True, distinct=2)
LABELS = LabelFacts("classes", 64, {"0": 32, "1": 32}, 0, 1, whole=True, batches=8)
LOSS = LossFacts("sparse_categorical_crossentropy", "sparse-categorical", from_logits=False)
MODEL = ModelFacts(
    "keras",
    (InputSpec("x", (None, 4)),),
    (None, 2),
    "softmax",
    LOSS,
    output=OutputFacts((8, 2), 0.2, 0.8, sums_to_one=True),
    first_layer=FirstLayerFacts("dense", "linear", -2.0, 2.0, 1.0, 1.0),
    weights=2,
    learnt=2,
)
SIGNAL = SignalFacts(200, 0.7, 0.01, 0.69, gradient_norm=1.0, gradients=2, seconds_per_step=0.01)
HEALTHY = Observations(
    "a tf.data.Dataset",
    (EpochFacts(8, 64, whole=True, seconds=0.01), EpochFacts(8, 64, whole=True)),
    columns=(INPUT, TARGET),
    batch_sizes=(8,) * 7,
    labels=LABELS,
    chain=(ChainStep("source"), ChainStep("shuffle", buffer=64), ChainStep("batch"), ChainStep("prefetch")),
    model=MODEL,
    signal=SIGNAL,
)
RECORDS = RecordFacts(
    "a.tfrecord", 64, 64, ("x", "y"), "x", "content", found=64, elements=64, label="y", compared=64, agree=64
)


def found(observed: Observations) -> list[str]:
    return [finding.code for finding in without_consequences(Judge(RULES).find(observed))]


def test_nothing_is_found_where_all_is_well() -> None:
    assert found(HEALTHY) == []
    assert found(replace(HEALTHY, records=RECORDS)) == []
    assert found(Observations("a list")) == []
    assert found(replace(HEALTHY, workers=WorkerFacts(4, iterable=True), validation=ValidationFacts(64))) == []


def changed(part: str, **facts: Any) -> Observations:
    return replace(HEALTHY, **{part: replace(getattr(HEALTHY, part), **facts)})


def chained(*steps: ChainStep) -> Observations:
    return replace(HEALTHY, chain=(ChainStep("source"), *steps, ChainStep("prefetch")))


def validated(**facts: Any) -> Observations:
    return replace(HEALTHY, validation=ValidationFacts(64, **facts))


ZIPPED = ((ChainStep("source"), ChainStep("shuffle")), (ChainStep("source"),))
CASES = {
    "T001": replace(HEALTHY, failure="ValueError: no"),
    "T008": replace(
        HEALTHY,
        columns=(INPUT, replace(INPUT, name="z"), TARGET),
        model=replace(MODEL, inputs=(InputSpec("x", (None, 4)), InputSpec("w", (None, 4)))),
    ),
    "T009": replace(HEALTHY, columns=(ColumnFacts("x", "input", "text", (), 64, distinct=9), TARGET)),
    "T012": changed("model", activation="softmax", output=OutputFacts((8, 1), 1.0, 1.0), output_shape=(None, 1)),
    "T016": changed("model", refusal="ValueError: no"),
    "T031": replace(HEALTHY, labels=LabelFacts("classes", 64, {"0": 64}, 0, 0, whole=True, batches=8)),
    "T034": changed("model", first_layer=FirstLayerFacts("dense", "linear", 0.0, 1e5, 1e4, 1e4)),
    "T040": changed("labels", spread=0.5, chance=0.001, single_label_batches=8),
    "T041": changed("labels", spread=0.4, chance=0.001, expected_spread=0.1),
    "T052": chained(ChainStep("zip", branches=ZIPPED, ranks=(3, 0))),
    "T053": chained(ChainStep("map", random=True, parallel=True), ChainStep("cache"), ChainStep("batch")),
    "T054": replace(HEALTHY, chain=(ChainStep("source"), ChainStep("batch"))),
    "T055": chained(ChainStep("map"), ChainStep("batch")),
    "T060": replace(HEALTHY, records=replace(RECORDS, agree=20, examples=(PairExample("a.tfrecord", 3, "0", "1"),))),
    "T061": replace(HEALTHY, records=replace(RECORDS, found=3, compared=0)),
    "T062": replace(HEALTHY, records=replace(RECORDS, mapping={"1": "0", "2": "1"})),
    "T070": replace(HEALTHY, epochs=(EpochFacts(8, 64, whole=True, seconds=7.0),)),
    "T080": changed("signal", bad_step=3),
    "T081": changed("signal", zero_gradients=2),
    "T082": changed("signal", best_loss=0.69),
    "T083": changed("signal", kept_apart=300, control_steps=300, model_free=0.3),
    "T084": changed("signal", gradient_norm=1e9),
    "T019": replace(HEALTHY, hangs="feed.py, line 3, in batches: jobs.get()"),
    "T102": replace(HEALTHY, epochs=(), hangs="", time_limit=0.5),
    "T103": replace(
        HEALTHY,
        columns=(
            replace(INPUT, shape=(416, 416, 3), image=ImageFacts(8, 0, 0, 0.0, 50.0, 20.0)),
            replace(TARGET, dtype="float32", shape=(4,), corners=True, max=1900.0, integral=False, one_hot=""),
        ),
        labels=None,
        model=None,
    ),
    "T045": replace(HEALTHY, workers=WorkerFacts(4, iterable=True, same_rows=True)),
    "T048": replace(HEALTHY, workers=WorkerFacts(4, shared_generator="rng")),
    "T049": replace(HEALTHY, workers=WorkerFacts(0, needs_set_epoch="DistributedSampler")),
    "T056": chained(ChainStep("shuffle"), ChainStep("take", count=80, below=100), ChainStep("batch")),
    "T057": replace(HEALTHY, frozen_augmentation=".map()"),
    "T058": replace(HEALTHY, workers=WorkerFacts(0, subsets=(80, 20))),
    "T063": replace(HEALTHY, failure="no", source=SourceFacts("a.tfrecord", payload="sequence_example", names=("t",))),
    "T064": replace(HEALTHY, failure="no", source=SourceFacts("a", compression="zlib", expected_compression="none")),
    "T065": replace(HEALTHY, same_inputs=(("x", "z"),)),
    "T066": replace(HEALTHY, columns=(INPUT, replace(TARGET, shape=(32, 32), max=3.0, fractions=0.1)), model=None),
    "T067": changed("model", time_first="lstm (LSTM)"),
    "T089": changed("model", evaluating=True),
    "T085": replace(changed("model", batch_norm="1"), last_batch=1),
    "T086": replace(HEALTHY, columns=(replace(INPUT, dtype="int64", shape=(512,), padding=0.97), TARGET), model=None),
    "T087": changed("model", other_optimizer=True),
    "T088": replace(changed("signal", rate_loss=50.0), model=replace(MODEL, optimizer="Adam", learning_rate=10.0)),
    "T090": validated(repeated=30, different=60),
    "T091": validated(differences=(ColumnDifference("input 'x'", "x", "scale", "0 to 1", "0 to 255"),)),
    "T092": validated(differences=(ColumnDifference("input 'x'", "x", "shape", "rows of (4,)", "rows of (5,)"),)),
    "T093": validated(unknown_classes=("7",)),
    "T094": validated(changes=True),
    "T095": validated(differences=(ColumnDifference("input 'x'", "x", "colours", "red first", "blue first"),)),
    "T096": validated(reorders=True),
    "T097": validated(failure="ValueError: no"),
}


@pytest.mark.parametrize("code", CASES)
def test_a_rule_finds_what_it_is_about_and_nothing_else_does(code: str) -> None:
    assert found(CASES[code]) == [code]


@pytest.mark.parametrize(
    "steps",
    [
        (ChainStep("zip", branches=ZIPPED, ranks=(3, 3)), ChainStep("batch")),  # images and images
        (ChainStep("zip", branches=ZIPPED, ranks=(None, 0)), ChainStep("batch")),  # pairs with a counter
        (ChainStep("batch"), ChainStep("map"), ChainStep("shuffle"), ChainStep("batch")),  # windows of a text
        (ChainStep("batch"), ChainStep("unbatch"), ChainStep("shuffle"), ChainStep("batch")),
        (ChainStep("shuffle"), ChainStep("repeat"), ChainStep("shuffle"), ChainStep("batch")),
        (ChainStep("repeat"), ChainStep("interleave"), ChainStep("shuffle"), ChainStep("batch")),  # of files
        (ChainStep("shuffle"), ChainStep("cache"), ChainStep("shuffle"), ChainStep("batch")),
        (ChainStep("batch"), ChainStep("map")),
    ],
)
def test_chains_that_are_right_are_left_alone(steps: tuple[ChainStep, ...]) -> None:
    assert found(chained(*steps)) == []


@pytest.mark.parametrize("rule", list(RULES), ids=lambda rule: rule.code)
def test_a_rule_explains_itself(rule: Any) -> None:
    assert rule.code.startswith("T")
    assert rule.text.summary.endswith(".")
    assert all(part for part in (rule.text.why, rule.text.example, rule.text.fix))


def test_a_finding_that_another_explains_is_left_out() -> None:
    spoilt = replace(INPUT, nan=9, infinite=3, bits_of="bytes, such as pixels, read as float32")
    assert found(replace(HEALTHY, columns=(spoilt, TARGET))) == ["T030"]
    refused = replace(MODEL, refusal="ValueError: no")
    assert found(replace(HEALTHY, columns=(replace(INPUT, shape=(5,)), TARGET), model=refused)) == ["T007"]

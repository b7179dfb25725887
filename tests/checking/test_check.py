"""`rs.check` as a whole: what it survives, what it leaves out, and what it returns."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.checking import check as checking
from recordsmith.checking.rules import RULES
from recordsmith.dataset.index_report import keep_indexes
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.report import Report
from recordsmith.rules import Baseline, Configuration, Finding, RuleSet
from tests.checking.made_datasets import made, rows, sound, write, write_payloads
from tests.conformance import made_wire as wire


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


@pytest.fixture
def with_nan(tmp_path: Path) -> Path:
    some = rows(30)
    some[3]["x"][1] = float("nan")
    return write(tmp_path / "data.tfrecord", some)


def test_a_finding_says_where_and_what_to_do(with_nan: Path):
    report = rs.check(with_nan)
    (found,) = report.findings
    assert (found.code, found.name, found.severity) == ("V001", "not-finite", "error")
    assert (found.location.path, found.location.record, found.location.feature) == (str(with_nan), 3, "x")
    assert "1 NaN" in found.message
    assert found.advice
    assert not report.ok
    assert report.facts is not None
    assert report.facts.records == 30
    assert json.loads(json.dumps(report.to_json()))["findings"][0]["code"] == "V001"


def test_a_list_a_glob_and_a_folder_are_the_same(with_nan: Path):
    for paths in (with_nan.parent, [with_nan], str(with_nan.parent / "*.tfrecord")):
        assert codes(rs.check(paths)) == ["V001"]


def test_rules_are_selected_and_ignored(with_nan: Path):
    assert codes(rs.check(with_nan, select=["F"])) == []
    assert codes(rs.check(with_nan, select=["V", "D"])) == ["V001"]
    assert codes(rs.check(with_nan, ignore=["not-finite"])) == []
    with pytest.raises(rs.RecordsmithError, match="Did you mean"):
        rs.check(with_nan, ignore=["not-finit"])


def test_fail_on_decides_what_is_ok(tmp_path: Path):
    some = rows(120)
    path = write(tmp_path / "data.tfrecord", [dict(row, score=0.5) for row in some])
    assert codes(rs.check(path)) == ["V002"]
    assert not rs.check(path, fail_on="info").ok
    assert rs.check(path).ok
    assert rs.check(path, fail_on="info", configuration=Configuration(ignore=("V002",))).ok


def test_known_findings_are_not_told_again(with_nan: Path, tmp_path: Path):
    Baseline.of(rs.check(with_nan).findings).save(tmp_path / "known.json")
    report = rs.check(with_nan, baseline=tmp_path / "known.json")
    assert codes(report) == []
    assert report.known == 1
    assert report.ok


def test_a_rule_that_fails_is_a_finding_and_the_others_run(with_nan: Path, monkeypatch: pytest.MonkeyPatch):
    def fails(facts: DatasetFacts) -> Iterator[Finding]:
        raise ZeroDivisionError("division by zero")
        yield

    broken = replace(RULES.get("V002"), find=fails)
    monkeypatch.setattr(checking, "RULES", RuleSet([broken, *(one for one in RULES if one.code != "V002")]))
    report = rs.check(with_nan)
    assert codes(report) == ["V001", "X001"]
    failed = report.findings[1]
    assert failed.message == "Rule V002 (constant-feature) failed: ZeroDivisionError: division by zero."
    assert not report.ok


# --- folders in which something is missing ---


def test_missing_files_of_a_manifest_are_a_finding(tmp_path: Path):
    data = made(tmp_path / "data")
    (data / "pets-val.tfrecord-00000-of-00001").unlink()
    with pytest.raises(rs.RecordsmithError):
        rs.open(data)
    report = rs.check(data)
    (found,) = [one for one in report.findings if one.code == "F009"]
    assert "pets-val.tfrecord-00000-of-00001" in found.message
    assert report.facts is not None
    assert report.facts.records == 300


def test_missing_files_of_a_split_that_nobody_asked_for_are_not_missed(tmp_path: Path):
    data = made(tmp_path / "data")
    (data / "pets-val.tfrecord-00000-of-00001").unlink()
    assert codes(rs.check(data, split="train")) == []


def test_files_of_other_splits_are_not_unlisted(tmp_path: Path):
    assert codes(rs.check(made(tmp_path / "data"), split="train")) == []


def test_several_folders_one_of_which_lacks_a_file(tmp_path: Path):
    whole = made(tmp_path / "whole")
    cut = made(tmp_path / "cut", rows(300, seed=3))
    (cut / "pets-val.tfrecord-00000-of-00001").unlink()
    (found,) = rs.check([whole, cut], select=["F"]).findings
    assert (found.code, found.location.path) == ("F009", str(cut / "recordsmith.json"))


def test_a_description_of_which_every_file_is_missing(tmp_path: Path):
    data = made(tmp_path / "data")
    for shard in data.glob("*.tfrecord-*"):
        shard.unlink()
    assert codes(rs.check(data)) == ["F009"]


def test_missing_files_of_a_tfds_folder_are_a_finding(tmp_path: Path):
    data = made(tmp_path / "data")
    (data / "recordsmith.json").unlink()
    assert codes(rs.check(data)) == []
    (data / "pets-val.tfrecord-00000-of-00001").unlink()
    assert "F009" in codes(rs.check(data))


def test_shards_that_were_left_out_on_purpose_are_not_missed(tmp_path: Path):
    for shard in range(3):
        write(tmp_path / f"train-{shard:05}-of-00003", rows(60, seed=shard))
    one = tmp_path / "train-00001-of-00003"
    assert codes(rs.check(one)) == []
    os.unlink(tmp_path / "train-00002-of-00003")
    assert codes(rs.check(one)) == []  # one file, named explicitly
    (found,) = rs.check(tmp_path, select=["F"]).findings
    assert (found.code, found.evidence["missing"]) == ("F009", [2])


def test_an_index_that_was_copied_with_its_file_is_not_stale(tmp_path: Path):
    write(tmp_path / "data" / "a.tfrecord", rows(60))
    assert len(list(keep_indexes([str(tmp_path / "data" / "a.tfrecord")]))) == 1
    shutil.copytree(tmp_path / "data", tmp_path / "copy", copy_function=shutil.copyfile)  # with new times, as `cp -r`
    assert codes(rs.check(tmp_path / "copy")) == []


def test_a_sparse_mask_is_to_become_an_image(tmp_path: Path):
    some = [
        {"mask": np.eye(1, 4000, n, dtype=np.int64)[0], "counts": np.eye(1, 4000, n, dtype=np.int64)[0]}
        for n in range(40)
    ]
    path = write(tmp_path / "data.tfrecord", some)
    advice = {one.location.feature: one.advice for one in rs.check(path, select=["V018"]).findings}
    assert "PNG" in advice["mask"]
    assert "rs.Sparse('int64'" in advice["counts"]


def test_only_a_log_that_says_so_is_of_tensorboard(tmp_path: Path):
    time_first = wire.tag(1, wire.FIXED64) + bytes(8)
    log = [
        time_first + wire.delimited(3, b"brain.Event:2"),
        *[time_first + wire.delimited(5, bytes([10, 1, n])) for n in range(9)],
    ]
    (found,) = rs.check(write_payloads(tmp_path / "log.tfrecord", log)).findings
    assert found.message.endswith("but TensorBoard events.")
    (found,) = rs.check(write_payloads(tmp_path / "own.tfrecord", log[1:])).findings
    assert "TensorBoard" not in found.message


def test_the_same_shard_compressed_and_plain_is_there_twice(tmp_path: Path):
    write(tmp_path / "train-00000-of-00001", rows(60))
    write(tmp_path / "train-00000-of-00001.gz", rows(60, seed=1), compression="gzip")
    (found,) = rs.check(tmp_path).findings
    assert found.code == "F010"


def test_a_damaged_manifest_is_a_finding_and_the_files_are_checked(tmp_path: Path):
    data = made(tmp_path / "data")
    (data / "recordsmith.json").write_text("{")
    shard = data / "pets-train.tfrecord-00000-of-00001"
    damaged = bytearray(shard.read_bytes())
    damaged[40] ^= 1
    shard.write_bytes(damaged)
    assert {"F016", "F002"} <= set(codes(rs.check(data)))


def test_a_folder_without_any_tfrecord_is_an_error(tmp_path: Path):
    with pytest.raises(rs.RecordsmithError, match="contains no TFRecord files"):
        rs.check(tmp_path)


def test_a_balanced_training_split_repeats_rows_on_purpose(tmp_path: Path):
    some = [dict(row, label=int(row["label"] > 1 and number % 4 == 0)) for number, row in enumerate(rows(600))]
    schema = rs.Schema({**_schema(), "label": rs.Label(["no", "yes"])})
    data = made(tmp_path / "data", some, schema=schema, balance="oversample")
    assert codes(rs.check(data)) == []


def _schema() -> rs.Schema:
    from tests.checking.made_datasets import SCHEMA

    return SCHEMA


def test_progress_is_reported(tmp_path: Path):
    path = sound(tmp_path)
    seen: list[tuple[str, int, int]] = []
    rs.check(path, progress=lambda phase, done, total: seen.append((phase, done, total)))
    size = path.stat().st_size
    assert ("checking", size, size) in seen


@pytest.mark.parametrize("payloads", [[], [b""], [b"", b""]])
def test_files_with_hardly_anything(payloads: list[bytes], tmp_path: Path):
    from tests.checking.made_datasets import write_payloads

    report = rs.check(write_payloads(tmp_path / "data.tfrecord", payloads))
    assert "X001" not in codes(report)

"""What `rs.compare` says about pairs of datasets that differ in one known way, and about those that do not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import recordsmith as rs
from recordsmith.cli import main

NAMES = ["cat", "dog", "bird"]


def written(folder, rows, schema=None) -> str:
    schema = schema or rs.Schema(
        {"label": rs.Label(NAMES), "x": rs.Scalar("float32"), "colour": rs.Text(), "key": rs.Scalar("int64")}
    )
    with rs.write(str(folder), schema, name="d", split="train", shards=2) as writer:
        for row in rows:
            writer.add(row)
    return str(folder)


def rows(count, seed, *, shift=0.0, classes=(0.5, 0.3, 0.2), colours=("red", "green"), first_key=0):
    random = np.random.default_rng(seed)
    for number in range(count):
        yield {
            "label": int(random.choice(3, p=classes)),
            "x": float(random.normal() + shift),
            "colour": str(random.choice(colours)),
            "key": first_key + number,
        }


def codes(first, second, **options) -> list[str]:
    return [finding.code for finding in rs.compare(first, second, progress=False, **options).findings]


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> str:
    return written(tmp_path_factory.mktemp("compare") / "first", rows(800, 1))


def test_two_samples_of_one_distribution_have_no_findings(first, tmp_path):
    for seed in range(2, 6):
        second = written(tmp_path / str(seed), rows(700, seed, first_key=10_000 * seed))
        assert codes(first, second) == []


def test_other_values(first, tmp_path):
    second = written(tmp_path / "b", rows(700, 2, shift=1.5, first_key=10_000))
    report = rs.compare(first, second, progress=False)
    assert [finding.code for finding in report.findings] == ["C008"]
    finding = report.findings[0]
    assert finding.location.feature == "x"
    assert finding.evidence["measure"] == "Kolmogorov-Smirnov"
    assert 0.3 < finding.evidence["distance"] < 0.6  # the true one is 0.55
    assert not report.ok
    histograms = [section for section in report.to_json()["sections"] if section["type"] == "histograms"]
    assert [one["title"] for one in histograms] == ["x"]
    assert len(histograms[0]["histograms"]) == 2


def test_other_texts(first, tmp_path):
    second = written(tmp_path / "b", rows(700, 2, colours=("red", "blue"), first_key=10_000))
    report = rs.compare(first, second, progress=False)
    assert [(one.code, one.location.feature, one.evidence["measure"]) for one in report.findings] == [
        ("C008", "colour", "Jensen-Shannon")
    ]


def test_other_class_shares(first, tmp_path):
    assert codes(first, written(tmp_path / "b", rows(700, 2, classes=(0.2, 0.3, 0.5), first_key=10_000))) == ["C007"]


def test_a_vanished_class_and_a_new_one(first, tmp_path):
    second = written(tmp_path / "b", rows(700, 2, classes=(0.6, 0.4, 0.0), first_key=10_000))
    assert "C005" in codes(first, second)
    assert "C006" in codes(second, first)
    few = written(tmp_path / "c", rows(10, 2, classes=(0.6, 0.4, 0.0), first_key=10_000))
    assert "C005" not in codes(first, few)  # 2 of 10 may be none by chance


def test_a_feature_that_vanished_one_that_is_new_and_one_that_became_rarer(first, tmp_path):
    schema = rs.Schema(
        {
            "label": rs.Label(NAMES),
            "x": rs.Scalar("float32", optional=True),
            "key": rs.Scalar("int64"),
            "extra": rs.Scalar("int64"),
        }
    )
    made = [
        {"label": row["label"], "key": row["key"], "extra": 1, "x": row["x"] if row["key"] % 2 else None}
        for row in rows(700, 2, first_key=10_000)
    ]
    second = written(tmp_path / "b", made, schema)
    assert codes(first, second) == ["C002", "C004", "C003"]


def test_another_type(tmp_path):
    paths = [str(tmp_path / name) for name in ("a.tfrecord", "b.tfrecord")]
    for path, value in zip(paths, (1, "1"), strict=True):
        with rs.RecordWriter(path) as writer:
            writer.write_example({"x": value})
    report = rs.compare(*paths, progress=False)
    assert [finding.code for finding in report.findings] == ["C001"]
    assert report.findings[0].evidence == {"first": "int64", "second": "bytes"}


def test_class_numbers_that_mean_something_else(first, tmp_path):
    schema = rs.Schema(
        {
            "label": rs.Label(["bird", *NAMES[:2]]),
            "x": rs.Scalar("float32"),
            "colour": rs.Text(),
            "key": rs.Scalar("int64"),
        }
    )
    made = ({**row, "label": (row["label"] + 1) % 3} for row in rows(700, 2, first_key=10_000))
    assert codes(first, written(tmp_path / "b", made, schema)) == ["C009"]
    longer = rs.Schema({**schema, "label": rs.Label([*NAMES, "fish"])})
    assert codes(first, written(tmp_path / "c", rows(700, 2, first_key=10_000), longer)) == []


def test_records_in_both(first, tmp_path):
    shared = list(rows(800, 1))[:300]
    second = written(tmp_path / "b", [*shared, *rows(500, 2, first_key=10_000), shared[0]])
    report = rs.compare(first, second, progress=False)
    found = next(finding for finding in report.findings if finding.code == "C010")
    assert found.evidence == {"both": 300, "only_first": 500, "only_second": 500}
    assert found.severity.value == "info"
    assert "C010" not in codes(first, second, records=False)


def test_two_splits_of_one_dataset(tmp_path):
    schema = rs.Schema({"x": rs.Scalar("int64")})
    for split, numbers in (("train", range(200)), ("test", range(150, 200))):
        with rs.write(str(tmp_path / "d"), schema, name="d", split=split, shards=1) as writer:
            writer.extend({"x": np.array(numbers)})
    report = rs.compare(str(tmp_path / "d"), splits=("train", "test"), progress=False)
    found = next(finding for finding in report.findings if finding.code == "C010")
    assert (found.severity.value, found.count) == ("warning", 50)
    assert report.subject == "train and test"


def test_nothing_to_compare_with_is_an_error(first):
    with pytest.raises(rs.RecordsmithError, match="nothing to compare"):
        rs.compare(first)
    with pytest.raises(rs.RecordsmithError, match="found:    the same dataset"):
        rs.compare(first, first)


def test_the_command_prints_text_json_and_html_and_its_exit_code_says_what_was_found(first, tmp_path):
    second = written(tmp_path / "b", rows(700, 2, shift=1.5, first_key=10_000))
    run = CliRunner().invoke
    page = tmp_path / "report.html"
    done = run(main, ["compare", first, second, "--html", str(page)])
    assert done.exit_code == 1
    assert "changed-distribution" in done.output
    assert "Comparison of" in page.read_text()
    done = run(main, ["compare", first, second, "--format", "json", "--fail-on", "error"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["kind"] == "compare"
    assert run(main, ["compare", first, second, "--ignore", "C008"]).exit_code == 0
    assert run(main, ["compare", first]).exit_code == 2
    assert run(main, ["compare", first, str(tmp_path / "none")]).exit_code == 2


def test_hostile_names_are_text_in_the_html(tmp_path):
    paths = [str(tmp_path / name) for name in ("a.tfrecord", "b.tfrecord")]
    for path, value in zip(paths, ("<script>alert(1)</script>", "\u202ex"), strict=True):
        with rs.RecordWriter(path) as writer:
            for number in range(100):
                writer.write_example({"<img src=x>": value, "label": value, "n": number})
    rs.compare(*paths, progress=False).to_html(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert "<script>alert" not in text
    assert "<img src=x>" not in text
    assert "\u202e" not in text


def test_another_declared_shape(tmp_path):
    paths = [
        written(
            tmp_path / str(size), ({"x": np.zeros(12)} for _ in range(3)), rs.Schema({"x": rs.Tensor("float32", shape)})
        )
        for size, shape in enumerate(((12,), (12,)))
    ]
    assert codes(*paths, records=False) == []
    other = written(
        tmp_path / "o", ({"x": np.zeros((3, 4))} for _ in range(3)), rs.Schema({"x": rs.Tensor("float32", (3, 4))})
    )
    report = rs.compare(paths[0], other, progress=False, records=False)
    assert [finding.code for finding in report.findings] == ["C001"]
    assert "shape (3, 4)" in report.findings[0].message


def test_a_damaged_file_is_not_compared_as_if_it_were_whole(tmp_path):
    path = tmp_path / "whole.tfrecord"
    with rs.RecordWriter(path) as writer:
        for row in range(10):
            writer.write_example({"n": row})
    cut = tmp_path / "cut.tfrecord"
    cut.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(rs.RecordsmithError, match="A file is damaged") as caught:
        rs.compare(path, cut, progress=False)
    assert caught.value.path == str(cut)

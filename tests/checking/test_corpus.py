"""`check` over real files of other projects: what is found was looked at by hand, and each of these is true."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import recordsmith as rs

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

# What is checked together, and what is found. None of the files is damaged.
FOUND: dict[str, set[str]] = {
    # one flower is there twice, and the flowers are sorted by kind
    "ray-project+ray/iris.tfrecords": {"D003", "D007"},
    "ray-project+ray/iris.tfrecords.gz": {"D003", "D007"},
    "meta-pytorch+data/example.tfrecord": set(),
    "meta-pytorch+data/sequence_example.tfrecord": set(),
    "google+yggdrasil-decision-forests/toy.nocompress*": set(),
    "google+yggdrasil-decision-forests/toy.tfe*": {"F006"},  # gzip without .gz
    "google+yggdrasil-decision-forests/adult_test.recordio": {"V019"},  # 176 people without a native country: an info
    "google+yggdrasil-decision-forests/adult_test.recordio.gz": {"V019"},
    # 1 of 9,909 taxi trips has a pickup_census_tract; some lack the place where they ended
    "tensorflow+tfx/Split-train": {"V003", "V019"},
    "tensorflow+tfx/Split-eval": {"V014"},  # 'f' holds 1.0, 2.0, 3.0, ...
    "tensorflow+tfx/mnist.tfrecord": {"V012"},  # 784 floats an image, of 256 different values
    "tensorflow+models/pets_examples.record": {"V002"},  # ten pets, none 'difficult', none 'truncated', all 'Frontal'
    "tensorflow+ranking/train_numerical_elwc.tfrecord": {"W001"},  # records of learning to rank: an info
    "tensorflow+datasets/nsynth-test.tfrecord": set(),
    "google+deepvariant": {"D001", "V002"},  # three classes, 36 to 12 to 1 (an info); one sequencing_type
    "google+grain/morris_sequence_first_5.tfrecord": {"W001"},  # plain text: an info
    # images that a test made, all black; boxes in the training split only
    "google-research+google-research": {"D014", "V016"},
}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real files is not beside the project")
@pytest.mark.parametrize("name", FOUND)
def test_real_files(name: str, tmp_path: Path):
    copy = tmp_path / "corpus" / name
    copy.parent.mkdir(parents=True)
    for path in CORPUS.glob(name):
        if path.is_dir():
            shutil.copytree(path, copy)
        else:
            shutil.copy(path, copy.parent)
    report = rs.check(copy, decode="all")
    assert {finding.code for finding in report.findings} == FOUND[name]
    assert "error" not in {finding.severity for finding in report.findings}

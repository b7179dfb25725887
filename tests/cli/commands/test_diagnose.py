"""`recordsmith diagnose`: it imports the user's file in another process, and ends whatever that does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import recordsmith as rs

Alone = Callable[..., subprocess.CompletedProcess[str]]

NUMBERS = """
import numpy as np

images = np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32)
labels = np.repeat([0, 1], 128)
"""
PROGRAM = """
import ctypes, os
from numbers_of_mine import images, labels

print("the program prints", __name__)
batches = [(images[i : i + 16], labels[i : i + 16]) for i in range(0, 256, 16)]

def waiting():
    yield batches[0]
    ctypes.PyDLL(None).sleep(1000)  # with the GIL

def failing():
    return batches[len(batches)]

def crashing():
    os._exit(7)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "numbers_of_mine.py").write_text(NUMBERS)
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def test_findings_exit_codes_and_formats(program: Path, run_alone: Alone):
    result = run_alone("diagnose", f"{program}:batches", "--format", "json", "--html", program.with_name("report.html"))
    assert result.returncode == 1
    report = json.loads(result.stdout)  # what the program prints is not in it
    assert report["kind"] == "diagnose"
    assert [finding["code"] for finding in report["findings"]] == ["T040"]
    said, printed, *_ = result.stderr.splitlines()
    assert said == f"Importing {program}: the code in it runs now."
    assert printed == "the program prints train"
    assert "T040" in program.with_name("report.html").read_text()


def test_the_options_of_rules(program: Path, run):
    assert run("diagnose", f"{program}:batches", "--ignore", "sorted-labels").exit_code == 0
    known = program.with_name("known.json")
    assert run("diagnose", f"{program}:batches", "--baseline", known, "--write-baseline").exit_code == 0
    assert run("diagnose", f"{program}:batches", "--baseline", known, "--fail-on", "info").exit_code == 0
    assert run("diagnose", f"{program}:batches", "--select", "T999").exit_code == 2


def test_a_pipeline_that_hangs_in_native_code_is_stopped(program: Path, run):
    result = run("diagnose", f"{program}:waiting", "--timeout", 20)  # a busy machine may need most of it to begin
    assert result.exit_code == 2
    message = " ".join(result.stderr.split())
    assert "The diagnosis did not end within 20 seconds and was stopped." in message
    assert "sampling epoch 0, 1 of 100; at " in message
    assert "train.py, line 10, in waiting" in message
    assert "--timeout 600" in message


def test_a_pipeline_that_waits_is_a_finding(program: Path, run):
    program.write_text(
        PROGRAM
        + """
import queue

def starving():
    yield batches[0]
    yield queue.Queue().get()
"""
    )
    result = run("diagnose", f"{program}:starving", "--timeout", 16)
    assert result.exit_code == 1
    told = " ".join(result.output.split())
    assert "T019" in told
    assert "in starving: yield queue.Queue().get()" in told


def test_the_validation_data_is_compared(program: Path, run):
    result = run("diagnose", f"{program}:batches", "--validation", f"{program}:batches", "--select", "T090")
    assert result.exit_code == 1
    assert "are also in the training data" in " ".join(result.output.split())


def test_what_the_code_raises_is_shown_with_its_own_lines(program: Path, run_alone: Alone):
    result = run_alone("diagnose", f"{program}:failing")
    assert result.returncode == 2
    trace, _, message = result.stderr.partition("error: ")
    assert f'File "{program}", line 13, in failing\n    return batches[len(batches)]' in trace
    assert "recordsmith" not in trace.partition("Traceback")[2]
    assert message.startswith("The code raised IndexError: list index out of range\n")

    program.write_text("import numbers_of_mine\nbatches = [")
    result = run_alone("diagnose", f"{program}:batches")
    assert result.returncode == 2
    assert "line 2" in result.stderr
    assert "The code raised SyntaxError" in result.stderr


def test_a_process_that_ends_is_said(program: Path, run):
    result = run("diagnose", f"{program}:crashing")
    assert result.exit_code == 2
    assert "The process that ran the pipeline ended with exit code 7." in result.stderr


def test_names_that_do_not_exist(program: Path, run):
    result = run("diagnose", f"{program}:bathces")
    assert result.exit_code == 2
    assert "The file defines no 'bathces'. Did you mean 'batches'?" in result.stderr
    assert run("diagnose", program).exit_code == 2
    assert run("diagnose", f"{program}:batches", "--model", "absent.py:model").exit_code == 2


def test_a_tensorflow_pipeline_and_its_model(program: Path, tmp_path: Path, run):
    (tmp_path / "keras_training.py").write_text("""
import tensorflow as tf
from numbers_of_mine import images, labels

dataset = tf.data.Dataset.from_tensor_slices((images, labels + 1)).shuffle(256, seed=0).batch(32)

def make_model():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2, "softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    return model
""")
    file = tmp_path / "keras_training.py"
    result = run("diagnose", f"{file}:dataset", "--model", f"{file}:make_model", "--format", "json", "--batches", 8)
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert "T011" in [finding["code"] for finding in report["findings"]]  # labels from 1
    assert report["subject"] == "a tf.data.Dataset"


def test_a_torch_pipeline_with_workers_its_loss_and_its_records(program: Path, tmp_path: Path, run):
    (tmp_path / "torch_training.py").write_text("""
import torch
from numbers_of_mine import images, labels

rows = torch.utils.data.TensorDataset(torch.tensor(images), torch.tensor(labels).roll(64))
loader = torch.utils.data.DataLoader(rows, batch_size=32, shuffle=True, num_workers=1)
net = torch.nn.Linear(4, 2)
loss = torch.nn.functional.cross_entropy
""")
    schema = rs.Schema({"x": rs.Tensor("float32", (4,)), "label": rs.Label(2)})
    namespace: dict[str, object] = {}
    exec(NUMBERS, namespace)
    with rs.RecordWriter(tmp_path / "rows.tfrecord") as writer:
        writer.write_columns({"x": namespace["images"], "label": namespace["labels"]}, schema)
    file = tmp_path / "torch_training.py"
    model = ["--model", f"{file}:net", "--loss", f"{file}:loss"]
    records = ["--records", tmp_path / "rows.tfrecord"]
    result = run("diagnose", f"{file}:loader", *model, *records, "--format", "json", "--batches", 8)
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert [finding["code"] for finding in report["findings"]][:1] == ["T060"]  # labels of other records
    assert report["subject"] == "a PyTorch DataLoader"

"""The steps of the demo: make, check, repair, feed, train, explain. Each step shows the command that does the same."""

from __future__ import annotations

import glob
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from recordsmith.demonstration.drawing import draw_images
from recordsmith.demonstration.program import BROKEN_PROGRAM
from recordsmith.demonstration.training import frameworks, train
from recordsmith.errors import RecordsmithError, import_extra

__all__ = ["GOOD_ACCURACY", "demonstrate"]

GOOD_ACCURACY = 0.85  # of the test images; guessing is right in about half of them

Say = Callable[[str, str], None]


def demonstrate(folder: str, say: Say, *, framework: str | None = None) -> float:
    """Walk through everything in a new folder, and return the accuracy that was reached.

    Args:
        folder: where photos, dataset, reports and programs stay.
        say: is called with "chapter", "text" or "command", and what to say.
        framework: what to train with; None for the best that is installed.
    """
    import_extra("cv2", "opencv", purpose="The demo, which decodes images,")
    if os.path.exists(folder) and os.listdir(folder):
        raise RecordsmithError(
            "The folder for the demo is not empty.", path=folder, advice="Name a new one: recordsmith demo FOLDER"
        )
    os.makedirs(folder, exist_ok=True)
    walk = _Walk(folder, say)
    walk.make()
    walk.check()
    walk.repair()
    accuracy = walk.train(framework or frameworks()[0])
    walk.explain()
    walk.end()
    return accuracy


class _Walk:
    def __init__(self, folder: str, say: Say) -> None:
        self._folder = folder
        self._say = say

    def make(self) -> None:
        self._say("chapter", "1  Make a dataset of a folder of images")
        planted = draw_images(self._path("photos"))
        self._say(
            "text",
            f"{planted.images} images of shapes were written to class folders, with four deliberate faults: "
            "an image that is cut in half, one that exists twice, a folder whose name is spelt in two ways, and "
            "a class that is rare.",
        )
        options = "--split train=0.8,test=0.2 --stratify label --shards 2"
        self._run("make", "photos", "-o", "data", *options.split())
        self._say("text", "The cut image was rejected, and data/rejected.jsonl names it; nothing else is lost.")

    def check(self) -> None:
        self._say("chapter", "2  Check it: the other three faults are in the data")
        self._run("check", "data", "--html", "report.html")

    def repair(self) -> None:
        self._say("chapter", "3  Repair a damaged file")
        shard = min(glob.glob(self._path("data", "*-test.tfrecord*")))
        with open(shard, "rb") as file:
            data = bytearray(file.read())
        data[len(data) // 2] ^= 0b100  # one bit
        del data[len(data) // 4 : len(data) // 4 + 5]  # and five bytes are gone
        with open(self._path("damaged.tfrecord"), "wb") as file:
            file.write(data)
        self._say("text", "In a copy of a test file one bit is flipped, and five bytes are missing.")
        self._run("repair", "damaged.tfrecord", "-o", "repaired.tfrecord")

    def train(self, framework: str) -> float:
        self._say("chapter", f"4  Feed a model, with {framework}")
        self._say(
            "command",
            'rs.open("data", split="train").images(size=(24, 24), scale=1 / 255).shuffle(seed=0).batch(32)'
            '.pairs("image", "label")',
        )
        accuracy = train(self._path("data"), framework=framework)
        self._say(
            "text",
            f"{accuracy:.1%} of the test images are recognised. The demo expects at least {GOOD_ACCURACY:.0%}"
            f"{'.' if accuracy >= GOOD_ACCURACY else ', and did not get there.'}",
        )
        return accuracy

    def explain(self) -> None:
        self._say("chapter", "5  Why does this program not learn?")
        with open(self._path("train_broken.py"), "w", encoding="utf-8") as file:
            file.write(BROKEN_PROGRAM)
        self._run("doctor", "train_broken.py", "--data", "data")
        self._say(
            "text", "That was the code. This is what its model would really get, compared with the records on disk:"
        )
        self._say("command", 'rs.diagnose(batches, records=rs.open("data", split="train")).to_html("diagnosis.html")')
        self._diagnose()

    def end(self) -> None:
        self._say("chapter", "Look around")
        self._say(
            "text",
            f"In {self._folder}: report.html and diagnosis.html for the browser, the dataset in data/, the images in "
            "photos/, train_broken.py. Try `recordsmith view data` there, which shows the records in the browser, "
            "`recordsmith show data`, and `recordsmith rule P001`.",
        )

    def _diagnose(self) -> None:
        from recordsmith.doctor.diagnose import diagnose
        from recordsmith.loader import open_dataset

        chain = open_dataset(self._path("data"), split="train").images(size=(24, 24), scale=1 / 255)
        right = list(chain.shuffle(seed=0).batch(32, drop_last=True).pairs("image", "label"))
        report = diagnose(_two_streams(right), records=open_dataset(self._path("data"), split="train"))
        report.to_html(self._path("diagnosis.html"))
        for finding in report.findings[:2]:
            self._say("text", f"{finding.code} {finding.message}")

    def _run(self, *words: str) -> None:
        """Run recordsmith in the folder, as a user would type it. Findings and rejects are what the demo shows."""
        self._say("command", shlex.join(["recordsmith", *words]))
        sys.stdout.flush()
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "recordsmith", *words], cwd=self._folder, check=False
        )
        if done.returncode not in (0, 1):
            raise RecordsmithError(f"`recordsmith {words[0]}` ended with {done.returncode}.", path=self._folder)

    def _path(self, *names: str) -> str:
        return os.path.join(self._folder, *names)


def _two_streams(batches: list[Any]) -> Iterator[Any]:
    """Give images with the labels of other images, as two streams do that are shuffled separately."""
    for number, (images, _) in enumerate(batches):
        yield images, batches[(number + 1) % len(batches)][1][: len(images)]

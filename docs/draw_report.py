"""Draw docs/images/report.png, the image of an HTML report: `python docs/draw_report.py`. Needs Chromium."""
# ruff: noqa: INP001 - a script

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import cv2
import numpy as np

import recordsmith as rs

IMAGE = Path(__file__).resolve().parent / "images" / "report.png"
NAMES = ("circle", "square", "triangle")
SCHEMA = rs.Schema(
    {
        "image": rs.Image(encoding="png"),
        "label": rs.Label(NAMES),
        "area": rs.Scalar("float32"),
        "corners": rs.Tensor("int64", (None, 2)),
        "drawn_by": rs.Text(),
        "weight": rs.Scalar("float32", optional=True),
    }
)


def shape(rng: np.random.Generator, name: str) -> dict[str, object]:
    """Draw a shape, and say about it what a dataset would."""
    image = np.full((64, 96, 3), rng.integers(200, 250, 3), np.uint8)
    colour = tuple(int(value) for value in rng.integers(20, 200, 3))
    x, y, r = int(rng.integers(28, 68)), int(rng.integers(24, 40)), int(rng.integers(10, 22))
    corners = {
        "circle": np.empty((0, 2), np.int64),
        "square": np.array([[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r]]),
        "triangle": np.array([[x, y - r], [x + r, y + r], [x - r, y + r]]),
    }[name]
    if len(corners):
        cv2.fillPoly(image, [corners.astype(np.int32)], colour, cv2.LINE_AA)
    else:
        cv2.circle(image, (x, y), r, colour, -1, cv2.LINE_AA)
    return {
        "image": image,
        "label": name,
        "area": r * r * {"circle": 3.14, "square": 4, "triangle": 2}[name],
        "corners": corners,
    }


def main() -> None:
    """Make a dataset with some mistakes in it, check it, and take an image of the report."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("There is no chromium here to take the image with.")
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for split, records, shards in (("train", 900, 6), ("val", 120, 1), ("test", 120, 1)):
            with rs.write("shapes", SCHEMA, name="shapes", split=split, shards=shards) as writer:
                for n in range(records):
                    odds = (0.62, 0.33, 0.05) if split != "test" else (0.6, 0.4, 0.0)
                    row = shape(rng, NAMES[rng.choice(3, p=odds)])
                    row["drawn_by"] = ("Ada", "Grace", "Ada ", "Alan")[int(rng.choice(4, p=(0.4, 0.3, 0.1, 0.2)))]
                    row["weight"] = None if n % 6 == 0 else float("nan") if n == 500 else rng.gamma(3)
                    writer.add(row)
        damaged = Path("shapes") / "shapes-train.tfrecord-00002-of-00006"
        data = bytearray(damaged.read_bytes())
        data[len(data) // 2] ^= 0xFF
        damaged.write_bytes(data)
        rs.check("shapes").to_html("report.html")
        command = [
            chromium,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1180,1900",
        ]
        subprocess.run([*command, f"--screenshot={IMAGE}", Path("report.html").absolute().as_uri()], check=True)  # noqa: S603
    image = cv2.imread(str(IMAGE))
    cv2.imwrite(str(IMAGE), image, [cv2.IMWRITE_PNG_COMPRESSION, 9])


if __name__ == "__main__":
    main()

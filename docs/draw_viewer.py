"""Draw docs/images/viewer*.png: the viewer on a small dataset of shapes, in an installed Chromium.

Needs playwright and Chromium: `python docs/draw_viewer.py`.
"""
# ruff: noqa: INP001 - a script

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from playwright.sync_api import sync_playwright

import recordsmith as rs
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.server import Server
from tests.headless_browser import CHROMIUM

IMAGES = Path(__file__).resolve().parent / "images"
NAMES = ["circle", "square", "triangle", "star"]
GROUNDS = [(236, 228, 214), (214, 228, 236), (222, 236, 220), (236, 220, 228), (60, 72, 92)]
COLOURS = [(214, 92, 77), (67, 122, 181), (79, 155, 103), (232, 176, 66), (136, 96, 168), (60, 160, 160)]


def polygon(kind: int, centre: np.ndarray[Any, Any], size: float, turn: float) -> np.ndarray[Any, Any]:
    """Return the corners of a shape."""
    corners = {0: 40, 1: 4, 2: 3, 3: 10}[kind]
    angles = turn + np.arange(corners) * 2 * np.pi / corners
    radii = np.where(np.arange(corners) % 2, 0.45, 1.0) * size if kind == 3 else np.full(corners, size)
    return (centre + np.stack([np.cos(angles), np.sin(angles)], axis=1) * radii[:, None]).astype(np.int32)


def scene(random: np.random.Generator) -> dict[str, Any]:
    """Draw a scene of shapes, and say where they are."""
    height, width = int(random.integers(220, 340)), int(random.integers(280, 460))
    ground = np.array(GROUNDS[int(random.integers(len(GROUNDS)))], np.float64)
    shade = np.linspace(1.04, 0.86, height)[:, None, None]
    image = np.clip(np.ones((height, width, 3)) * ground * shade, 0, 255).astype(np.uint8)
    boxes, labels = [], []
    for _ in range(int(random.integers(1, 5))):
        kind = int(random.choice(4, p=[0.4, 0.3, 0.2, 0.1]))
        size = float(random.uniform(0.1, 0.22)) * height
        centre = random.uniform([size, size], [width - size, height - size])
        corners = polygon(kind, centre, size, float(random.uniform(0, 6)))
        cv2.fillPoly(image, [corners + 5], (ground * 0.72).tolist(), cv2.LINE_AA)
        cv2.fillPoly(image, [corners], COLOURS[int(random.integers(len(COLOURS)))], cv2.LINE_AA)
        (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
        boxes.append([top / height, left / width, bottom / height, right / width])
        labels.append(kind)
    words = " and ".join(f"a {NAMES[kind]}" for kind in labels)
    return {
        "image": image,
        "label": max(set(labels), key=labels.count),
        "objects/bbox": np.clip(np.array(boxes, np.float32), 0, 1),
        "objects/name": [NAMES[kind] for kind in labels],
        "shapes": len(labels),
        "brightness": float(image.mean() / 255),
        "caption": f"{words[0].upper()}{words[1:]} on a plain ground",
    }


def main() -> None:
    """Make the dataset, open it, and take the screenshots."""
    random = np.random.default_rng(4)
    schema = rs.Schema(
        {
            "image": rs.Image(encoding="jpeg"),
            "label": rs.Label(NAMES),
            "objects/bbox": rs.Tensor("float32", (None, 4)),
            "objects/name": rs.Text((None,)),
            "shapes": rs.Scalar("int64"),
            "brightness": rs.Scalar("float32"),
            "caption": rs.Text(),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/shapes"
        with rs.write(path, schema, name="shapes", split="train", shards=1) as writer:
            for _ in range(1200):
                writer.add(scene(random))
        opened = OpenedDataset(path)
        opened.name = "shapes"
        server = Server([opened])
        server.start()
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            for name, mode, address in (
                ("viewer", "light", "/d/0/"),
                ("viewer-dark", "dark", "/d/0/?c.label=star&c.label=triangle&r.brightness=0.5..0.9"),
                ("viewer-record", "light", "/d/0/r/13"),
            ):
                page = browser.new_page(viewport={"width": 1240, "height": 780}, color_scheme=mode)
                page.goto(server.url)
                page.wait_for_selector(".cell")
                page.goto(f"http://127.0.0.1:{server.port}{address}")
                page.wait_for_load_state("networkidle")
                page.wait_for_timeout(1_500)
                page.screenshot(path=IMAGES / f"{name}.png")
            browser.close()
        server.stop()


if __name__ == "__main__":
    main()

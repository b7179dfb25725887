"""The own JPEG decoder beside OpenCV's for the same images and the same result, by size, as JSON.

python -m bench.loaders.jpeg_paths TIMES

Both end in a float32 image of 224x224, flipped and brightened, with the same values. One thread; its CPU time counts,
and of each image the best time.
"""

from __future__ import annotations

import importlib
import io
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.data.datasets import SEED
from bench.data.images import QUALITY
from bench.loaders.contract import SIZE

SIZES = ((64, 64), (128, 128), (224, 224), (320, 240), (500, 375), (800, 600), (1600, 1200), (3000, 2000))
IMAGES = 6
GRAIN = 8.0
HOW: dict[str, Any] = {"planar": False, "flips": (True, False), "added": 12.0, "scale": 1 / 255}


def main() -> None:
    """Measure all sizes."""
    cv2: Any = importlib.import_module("cv2")
    core: Any = importlib.import_module("recordsmith._core")
    cv2.setNumThreads(1)
    decoder = core.JpegDecoder()
    flags = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION

    def own(data: Any, target: Any) -> None:
        decoder.open(data)
        assert decoder.fill(target, part=(0, 0, decoder.height, decoder.width), **HOW)

    def opencv(data: Any, target: Any) -> None:
        pixels = cv2.imdecode(data, flags)
        core.fill_image(pixels, target, part=(0, 0, *pixels.shape[:2]), **HOW)

    found = []
    for width, height in SIZES:
        images = _jpegs(width, height)
        results = [np.empty((*SIZE, 3), np.float32) for _ in range(2)]
        for image in images:
            own(image, results[0])
            opencv(image, results[1])
            assert np.array_equal(results[0], results[1])
        times = {work.__name__: _best(work, images, results[0], int(sys.argv[1])) for work in (own, opencv)}
        found.append({"width": width, "height": height, **times})
    print(json.dumps(found))


def _best(work: Callable[[Any, Any], None], images: list[Any], target: Any, times: int) -> float:
    """The mean over the images of the best seconds."""
    best = [float("inf")] * len(images)
    for _ in range(times):
        for number, image in enumerate(images):
            start = time.thread_time()
            work(image, target)
            best[number] = min(best[number], time.thread_time() - start)
    return sum(best) / len(best)


def _jpegs(width: int, height: int) -> list[Any]:
    image_module: Any = importlib.import_module("PIL.Image")
    random = np.random.default_rng([SEED, width, height])
    images = []
    for _ in range(IMAGES):
        colours = random.integers(30, 226, (9, 12, 3), dtype=np.uint8)
        smooth = image_module.fromarray(colours).resize((width, height), image_module.Resampling.BICUBIC)
        grain = random.standard_normal((height, width, 1), dtype=np.float32) * GRAIN
        encoded = io.BytesIO()
        pixels = np.clip(np.asarray(smooth, np.float32) + grain, 0, 255).astype(np.uint8)
        image_module.fromarray(pixels).save(encoded, "JPEG", quality=QUALITY)
        images.append(np.frombuffer(encoded.getvalue(), np.uint8))
    return images


if __name__ == "__main__":
    main()

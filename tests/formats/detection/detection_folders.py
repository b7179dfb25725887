"""Folders of annotated images for tests: images whose size differs, and what is on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from pycocotools import mask as coco_mask

SIZES = [(60, 80), (48, 64), (100, 50), (33, 47)]


def write_image(path: Path, size: tuple[int, int], seed: int = 0) -> None:
    """An image of noise, of this height and width."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 3), np.uint8)
    assert cv2.imwrite(str(path), pixels)


def runs_of(mask: np.ndarray[Any, Any]) -> dict[str, Any]:
    """COCO's run lengths of a mask, as pycocotools writes them."""
    encoded = coco_mask.encode(np.asfortranarray(mask.astype(np.uint8)))
    return {"size": list(encoded["size"]), "counts": encoded["counts"].decode()}


def coco_document(seed: int, count: int = 4, *, keypoints: int = 0, start: int = 1) -> dict[str, Any]:
    """Annotations of random objects: polygons, run lengths for crowds, and keypoints. The last image has none."""
    rng = np.random.default_rng(seed)
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for number in range(count):
        height, width = SIZES[number % len(SIZES)]
        images.append({"id": start + number, "file_name": f"{start + number:06}.jpg", "height": height, "width": width})
        for _ in range(int(rng.integers(1, 5)) if number < count - 1 else 0):
            left, top = round(float(rng.uniform(0, width / 2)), 2), round(float(rng.uniform(0, height / 2)), 2)
            across, down = round(float(rng.uniform(2, width / 2)), 2), round(float(rng.uniform(2, height / 2)), 2)
            crowd = bool(rng.integers(0, 2))
            outline: Any = [[left, top, left + across, top, left + across / 2, top + down]]
            if crowd:
                mask = np.zeros((height, width), np.uint8)
                mask[int(top) : int(top + down) + 1, int(left) : int(left + across) + 1] = 1
                outline = runs_of(mask)
            annotation: dict[str, Any] = {
                "id": len(annotations) + 1,
                "image_id": start + number,
                "category_id": int(rng.choice([1, 3, 90])),
                "bbox": [left, top, across, down],
                "area": round(across * down / 2, 3),
                "iscrowd": int(crowd),
                "segmentation": outline,
            }
            if keypoints:
                points = rng.uniform(0, 1, (keypoints, 3)) * [width, height, 3] // [0.01, 0.01, 1] * [0.01, 0.01, 1]
                annotation["keypoints"] = points.reshape(-1).tolist()
                annotation["num_keypoints"] = keypoints
            annotations.append(annotation)
    categories: list[dict[str, Any]] = [
        {"id": 90, "name": "toothbrush"},
        {"id": 1, "name": "person", **({"keypoints": [f"p{n}" for n in range(keypoints)]} if keypoints else {})},
        {"id": 3, "name": "car"},
    ]
    return {"info": {}, "images": images, "annotations": annotations, "categories": categories}


def write_coco(folder: Path, documents: Mapping[str, dict[str, Any]], *, place: str = "annotations") -> None:
    """A folder as COCO has it: annotations/instances_{split}.json and {split}/*.jpg."""
    for split, document in documents.items():
        path = folder / place / f"instances_{split}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document))
        for number, image in enumerate(document["images"]):
            write_image(folder / split / image["file_name"], (image["height"], image["width"]), number)


def voc_xml(name: str, size: tuple[int, int], objects: Iterable[Mapping[str, Any]]) -> str:
    """An annotation as VOC2012 has it."""
    parts = [f"<annotation><folder>VOC2012</folder><filename>{name}</filename>"]
    parts.append(f"<size><width>{size[1]}</width><height>{size[0]}</height><depth>3</depth></size>")
    for one in objects:
        box = "".join(f"<{side}>{one[side]}</{side}>" for side in ("xmin", "ymin", "xmax", "ymax"))
        parts.append(
            f"<object><name>{one['name']}</name><pose>{one['pose']}</pose><truncated>{one['truncated']}</truncated>"
            f"<difficult>{one['difficult']}</difficult><bndbox>{box}</bndbox></object>"
        )
    return "".join([*parts, "</annotation>"])


def pixels_of(png: bytes) -> np.ndarray[Any, Any]:
    """The pixels of a mask, as OpenCV decodes them."""
    pixels: Any = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED)
    assert isinstance(pixels, np.ndarray)
    return pixels


def rejects_of(path: str | None) -> list[dict[str, Any]]:
    """The rejected rows of a run."""
    assert path is not None
    return [json.loads(line) for line in Path(path).read_text().splitlines()]

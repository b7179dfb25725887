"""A function as people write it by hand; in a module of its own, because worker processes import it."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np


def normalised(row: dict[str, Any]) -> dict[str, Any]:
    """Decode, resize, scale to 0..1, and make the label one-hot."""
    image = cv2.imdecode(np.frombuffer(row["image"], np.uint8), cv2.IMREAD_COLOR_RGB)
    small = cv2.resize(image, (8, 8), interpolation=cv2.INTER_AREA)
    one_hot = np.eye(2, dtype=np.float32)[int(row["label"])]
    return {"pixels": small.astype(np.float32) / 255, "target": one_hot, "filename": row["filename"]}

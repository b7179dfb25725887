"""Outlines as masks: compared with pycocotools, and broken ones."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

from recordsmith.formats.detection.objects import AnnotationError
from recordsmith.formats.detection.segments import mask_of_polygons, mask_of_runs

PIXELS = hnp.arrays(np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=40), elements=st.integers(0, 1))


@settings(max_examples=100, deadline=None)
@given(PIXELS)
def test_run_lengths_are_those_of_pycocotools(pixels: np.ndarray[Any, Any]) -> None:
    height, width = pixels.shape
    encoded = coco_mask.encode(np.asfortranarray(pixels))
    as_text = {"size": [height, width], "counts": encoded["counts"].decode()}
    np.testing.assert_array_equal(mask_of_runs(as_text, height, width), pixels)
    edges = np.flatnonzero(np.diff(pixels.T.reshape(-1), prepend=0)).tolist()
    counts = np.diff([0, *edges, pixels.size]).tolist()
    np.testing.assert_array_equal(mask_of_runs({"size": [height, width], "counts": counts}, height, width), pixels)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools, in decode
@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.lists(st.floats(-10, 60), min_size=6, max_size=12).filter(lambda one: len(one) % 2 == 0),
        min_size=1,
        max_size=3,
    )
)
def test_polygons_are_filled_as_pycocotools_does(polygons: list[list[float]]) -> None:
    expected = coco_mask.decode(coco_mask.merge(coco_mask.frPyObjects(polygons, 40, 50)))
    np.testing.assert_array_equal(mask_of_polygons(polygons, 40, 50), expected)


@pytest.mark.parametrize(
    "runs",
    [
        None,
        {},
        {"size": [4, 5]},
        {"size": [5, 4], "counts": [20]},
        {"size": [4, 5], "counts": []},
        {"size": [4, 5], "counts": [10]},
        {"size": [4, 5], "counts": [30, -10]},
        {"size": [4, 5], "counts": [10.5, 9.5]},
        {"size": [4, 5], "counts": [float("nan"), 20]},
        {"size": [4, 5], "counts": [10**400]},
        {"size": [4, 5], "counts": "\u2603"},
        {"size": [4, 5], "counts": "oooooooooooooooooooooooooooooo"},
        {"size": [4, 5], "counts": "P"},
        {"size": [4, 5], "counts": {"a": 1}},
        {"size": [10**9, 10**9], "counts": [10**18]},
    ],
)
def test_broken_run_lengths(runs: Any) -> None:
    with pytest.raises(AnnotationError):
        mask_of_runs(runs, 4, 5)


@pytest.mark.parametrize(
    "polygon",
    [
        [1, 2, 3, 4],
        [1, 2, 3, 4, 5],
        "polygon",
        [1, 2, 3, 4, 5, 1e9],
        [1, 2, 3, 4, 5, float("inf")],
        [1, 2, 3, 4, None, 6],
    ],
)
def test_broken_polygons(polygon: Any) -> None:
    with pytest.raises(AnnotationError):
        mask_of_polygons([polygon], 40, 50)

"""Recognises images with boxes or masks: a folder, or the file that describes one."""

from __future__ import annotations

from recordsmith.errors import PipelineError
from recordsmith.formats.images.annotated_folders import (
    annotated_kind,
    annotation_file_form,
    head_and_tail,
    is_dataset_yaml,
)
from recordsmith.formats.images.folder_layout import layout_of
from recordsmith.formats.images.listing import list_folder
from recordsmith.storage.ranged.opening import is_folder, is_ranged

__all__ = ["annotated_kind_at"]


def annotated_kind_at(path: str) -> str | None:
    """Return the kind of source that reads annotated images: coco, voc, yolo or masks; None if these are none."""
    if is_ranged(path):
        return None
    if not is_folder(path):
        if path.lower().endswith((".yaml", ".yml")) and is_dataset_yaml(head_and_tail(path)):
            return "yolo"
        return "coco" if annotation_file_form(path) == "COCO" else None
    listing = list_folder(path)
    if not listing.files:
        return None
    try:
        classes = layout_of([file.name for file in listing.files], root=path).classes
    except PipelineError:  # folders with several meanings are no classes
        classes = [None] * len(listing.files)
    return annotated_kind(listing, classes)

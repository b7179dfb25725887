"""Judges what a feature is used for, from its declaration, name and values."""

from __future__ import annotations

import re

from recordsmith.facts.dataset_facts import DatasetFacts, LabelFacts
from recordsmith.facts.value_facts import FeatureFacts
from recordsmith.schema import Feature

__all__ = [
    "are_classes",
    "declared_feature",
    "describes_images",
    "is_category",
    "is_mask",
    "is_ordering",
    "label_features",
    "last_word",
    "named_like_images",
    "named_like_labels",
    "values_per_record",
]

_DESCRIBING = frozenset(
    {"height", "width", "depth", "channels", "channel", "format", "colorspace", "colourspace", "shape", "size"}
    | {"rows", "cols", "columns", "encoding", "ndim", "dtype", "version", "rate"}
)
_MASKS = frozenset({"mask", "masks", "segmentation", "segment", "seg", "annotation", "token_type_ids", "weights"})
_ORDERING = frozenset(
    {"id", "ids", "index", "idx", "key", "time", "timestamp", "date", "datetime", "year", "row", "step"}
)
_LABELS = frozenset({"label", "labels", "class", "classes", "target", "targets", "category", "y", "species", "income"})
_IMAGES = frozenset(
    {"image", "images", "img", "imgs", "picture", "pictures", "pixel", "pixels", "photo", "frame", "frames", "raw"}
)
_MOST_CATEGORIES = 1000


def last_word(name: str) -> str:
    """Return the last word of a feature's name, in small letters.

    >>> last_word("image/height"), last_word("frameHeight"), last_word("class_label")
    ('height', 'height', 'label')
    """
    words = _words(name)
    return words[-1] if words else ""


def _words(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z0-9]+", spaced.lower()) if word]


def describes_images(name: str) -> bool:
    """Tell by its name whether a feature describes another one: its height, format or the like.

    >>> describes_images("image/height"), describes_images("height_of_fall")
    (True, False)
    """
    return last_word(name) in _DESCRIBING


def is_about_objects(facts: DatasetFacts, name: str) -> bool:
    """Whether a feature is in the same group of names as boxes, as "objects/area" is, and so no input of a model."""
    groups = (boxes.feature.rpartition("/")[0] for boxes in facts.boxes)
    return any(group and name.startswith(f"{group}/") for group in groups)


def is_mask(name: str) -> bool:
    """Tell by its name whether a feature marks places in another: such may well be the same everywhere.

    >>> is_mask("attention_mask"), is_mask("masked_text")
    (True, False)
    """
    return any(word in _MASKS for word in (*_words(name), name.lower().rpartition("/")[2]))


def is_ordering(name: str) -> bool:
    """Tell by its name whether a feature numbers or dates records, and so differs between splits by its nature.

    >>> is_ordering("user_id"), is_ordering("identity")
    (True, False)
    """
    return last_word(name) in _ORDERING


def named_like_images(name: str) -> bool:
    """Tell by its name whether a feature is probably meant to hold images.

    >>> named_like_images("image_raw"), named_like_images("title")
    (True, False)
    """
    return any(word in _IMAGES for word in _words(name))


def declared_feature(facts: DatasetFacts, feature: FeatureFacts) -> Feature | None:
    """Return how the schema declares a feature; None without a schema, or if it does not."""
    return None if facts.schema is None else facts.schema.get(feature.name)


def values_per_record(feature: FeatureFacts) -> float:
    """Return how many values a record has on average (a step, in steps)."""
    return feature.lengths.mean if feature.lengths is not None else 0.0


def is_category(facts: DatasetFacts, feature: FeatureFacts) -> bool:
    """Tell whether a text feature names categories: one value a record, and the same values again and again.

    That is: at most 1000 different values, and on average each at least twice.
    """
    if any(label.feature == feature.name for label in facts.labels) and not feature.in_steps:
        return True
    strings = feature.strings
    if strings is None or feature.lengths is None or feature.lengths.max > 1 or feature.in_steps:
        return False
    return feature.distinct <= _MOST_CATEGORIES and 2 * feature.distinct <= strings.count and strings.lengths.max <= 100


def label_features(facts: DatasetFacts) -> list[LabelFacts]:
    """Return the labels that a model is probably trained on: the declared ones, else those that are named so.

    Numbers under such a name are classes if they are counted from 0 or 1 (or from -1, for "unknown") with few gaps:
    others, as ages or prices, are what a regression learns.
    """
    declared = [label for label in facts.labels if label.declared]
    return declared or [one for one in facts.labels if named_like_labels(one.feature) and are_classes(one)]


def named_like_labels(name: str) -> bool:
    """Tell by its name whether a feature is what a model learns to predict.

    >>> named_like_labels("image/class/label"), named_like_labels("labelled_by")
    (True, False)
    """
    return last_word(name) in _LABELS


def are_classes(label: LabelFacts) -> bool:
    """Tell whether the values of what looks like a label are classes, and not what a regression learns.

    >>> [are_classes(LabelFacts("y", False, (), {"": dict.fromkeys(names, 9)})) for names in ("012", ("17", "42"))]
    [True, False]
    """
    if label.declared:
        return True
    try:
        numbers = [int(name) for name in label.classes]
    except ValueError:
        return True
    span = max(numbers, default=0) - min(numbers, default=0) + 1
    return min(numbers, default=0) in (-1, 0, 1) and span <= max(10, 2 * len(numbers))

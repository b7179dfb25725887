"""Which features follow an image: its boxes, points and masks."""

from __future__ import annotations

from collections.abc import Mapping

from recordsmith.augment import Crop
from recordsmith.errors import PipelineError, list_names
from recordsmith.loader.engine.image_followers import ImageFollowers
from recordsmith.loader.engine.image_work import ImageWork
from recordsmith.loader.plan import Plan
from recordsmith.schema import Boxes, Bytes, Feature, Image, Mask, Masks, Points, Tensor

__all__ = ["decoded_followers", "followers_of", "image_names"]

_FOLLOWERS = (Boxes, Points, Mask, Masks)


def image_names(features: Mapping[str, Feature]) -> list[str]:
    """Return the names of the features that are images, and not masks."""
    return [name for name, feature in features.items() if isinstance(feature, Image) and not isinstance(feature, Mask)]


def followers_of(plan: Plan, image: str, work: ImageWork) -> ImageFollowers:
    """Return what follows an image, or raise a PipelineError if something would stay behind."""
    moves = [change for change in work.augment if change.places != "kept"]
    if plan.features is None:
        behind = [
            name
            for dataset in plan.datasets
            for name, feature in dataset.schema.items()
            if isinstance(feature, _FOLLOWERS)
        ]
        if moves and behind:
            raise PipelineError(
                f"After .map(), it is not known whether {list_names(behind)} still fit the image, which is moved.",
                advice="Write .images() before .map().",
            )
        return ImageFollowers(image, work)
    behind = [name for name, feature in plan.features.items() if isinstance(feature, _FOLLOWERS) and name != image]
    if not behind:
        return ImageFollowers(image, work)
    if not isinstance(plan.features.get(image), (Image, Bytes)):
        if moves:
            raise PipelineError(f"It is not known how {list_names(behind)} move with the images of the list {image!r}.")
        return ImageFollowers(image, work)
    unknown = [change.name for change in moves if change.places == "unknown"]
    others = [name for name in image_names(plan.features) if name != image]
    if moves and (unknown or others):
        raise PipelineError(
            f"It is not known how {list_names(behind)} move with the image.",
            found=f"the augmentation {list_names(unknown)}" if unknown else f"also the images {list_names(others)}",
            advice='Set places = "kept" or "moved" in your augmentation, with move_points and change_mask.'
            if unknown
            else "Leave out what does not belong to the image, with .select().",
        )
    if others or isinstance(plan.features.get(image), Mask):
        return ImageFollowers(image, work)
    found = {kind: tuple(name for name in behind if isinstance(plan.features[name], kind)) for kind in _FOLLOWERS}
    boxes = tuple((name, _group(plan.features, name, work)) for name in found[Boxes]) if moves else ()
    masks = found[Masks] if moves or work.size is not None else ()
    points = tuple((name, plan.features[name].shape[1] or 0) for name in found[Points]) if moves else ()
    return ImageFollowers(image, work, boxes, points, found[Mask], masks)


def decoded_followers(followers: ImageFollowers, height: int | None, width: int | None) -> dict[str, Feature]:
    """Return the features that masks become."""
    shape = (1, height, width) if followers.work.planar else (height, width, 1)
    found: dict[str, Feature] = {name: Tensor("uint8", shape) for name in followers.mask}
    if followers.work.size is not None:
        found |= {name: Tensor("uint8", (None, *followers.work.size)) for name in followers.masks}
    return found


def _group(features: Mapping[str, Feature], boxes: str, work: ImageWork) -> tuple[str, ...]:
    """Return the lists with an entry for each box: those whose names begin like that of the boxes."""
    if not any(isinstance(change, Crop) for change in work.augment):
        return ()
    prefix, slash, _ = boxes.rpartition("/")
    if not slash:
        raise PipelineError(
            f"A crop leaves objects out, and the name {boxes!r} does not say which other lists are about the objects.",
            advice="Give the boxes and the lists that belong to them the same prefix, such as 'objects/bbox' and "
            "'objects/label', or augment without rs.augment.crop().",
        )
    return tuple(
        name
        for name, feature in features.items()
        if name != boxes and name.startswith(prefix + slash) and (getattr(feature, "shape", None) or (0,))[0] is None
    )

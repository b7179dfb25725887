"""The lines of Python that read annotations without a source of their own: LabelMe, CVAT, VIA and CreateML.

Each gives rows with an image, boxes from 0 to 1 (ymin, xmin, ymax, xmax) and class names.
"""

from __future__ import annotations

import os

__all__ = ["lines_for"]

_LABELME = """import json, pathlib
for path in sorted(pathlib.Path({root!r}).rglob("*.json")):
    said = json.loads(path.read_text())
    boxes, labels = [], []
    for shape in said["shapes"]:
        xs, ys = zip(*shape["points"])
        boxes.append([min(ys) / said["imageHeight"], min(xs) / said["imageWidth"],
                      max(ys) / said["imageHeight"], max(xs) / said["imageWidth"]])
        labels.append(shape["label"])
    add((path.parent / said["imagePath"]).read_bytes(), boxes, labels)"""
_CVAT = """import pathlib, xml.etree.ElementTree
images = {{path.name: path for path in pathlib.Path({root!r}).rglob("*")}}
for image in xml.etree.ElementTree.parse({file!r}).iter("image"):
    height, width = float(image.get("height")), float(image.get("width"))
    sides = ("ytl", "xtl", "ybr", "xbr")
    found = [(one.get("label"), [float(one.get(side)) for side in sides]) for one in image.iter("box")]
    boxes = [[top / height, left / width, low / height, right / width] for _, (top, left, low, right) in found]
    add(images[pathlib.Path(image.get("name")).name].read_bytes(), boxes, [label for label, _ in found])"""
_VIA = """import json, pathlib
said = json.loads(pathlib.Path({file!r}).read_text())
for image in said.get("_via_img_metadata", said).values():
    data = (pathlib.Path({root!r}) / image["filename"]).read_bytes()
    height, width = rs.images.decode_image(data).shape[:2]
    found = [(one["shape_attributes"], one["region_attributes"]) for one in image["regions"]]
    found = [(at, about) for at, about in found if at["name"] == "rect"]
    boxes = [[at["y"] / height, at["x"] / width, (at["y"] + at["height"]) / height, (at["x"] + at["width"]) / width]
             for at, _ in found]
    add(data, boxes, [str(next(iter(about.values()))) for _, about in found])"""
_CREATEML = """import json, pathlib
for image in json.loads(pathlib.Path({file!r}).read_text()):
    data = (pathlib.Path({file!r}).parent / image["image"]).read_bytes()
    height, width = rs.images.decode_image(data).shape[:2]
    at = [one["coordinates"] for one in image["annotations"]]
    boxes = [[(one["y"] - one["height"] / 2) / height, (one["x"] - one["width"] / 2) / width,
              (one["y"] + one["height"] / 2) / height, (one["x"] + one["width"] / 2) / width] for one in at]
    add(data, boxes, [one["label"] for one in image["annotations"]])"""
_BEGIN = """rows = []
def add(image, boxes, labels):
    rows.append({"image": image, "objects/bbox": boxes, "objects/label": labels})
"""
_END = """
names = sorted({label for row in rows for label in row["objects/label"]})
boxes, labels = rs.Boxes(split=False), rs.Labels(names)
rs.make(rows, "data", schema=rs.Schema({"image": rs.Image(), "objects/bbox": boxes, "objects/label": labels}))"""
_LINES = {"LabelMe": _LABELME, "CVAT": _CVAT, "VGG Image Annotator": _VIA, "CreateML": _CREATEML}


def lines_for(form: str, root: str, file: str) -> str | None:
    """Return the lines that read annotations of this form; None if it is another form.

    Args:
        form: what the form is called, such as "a LabelMe dataset".
        root: the folder.
        file: the file with the annotations of all images, relative to the folder.

    >>> print(lines_for("a CreateML dataset", "pets", "all.json").splitlines()[4])
    for image in json.loads(pathlib.Path('pets/all.json').read_text()):
    """
    lines = next((lines for name, lines in _LINES.items() if name in form), None)
    return None if lines is None else _BEGIN + lines.format(root=root, file=os.path.join(root, file)) + _END

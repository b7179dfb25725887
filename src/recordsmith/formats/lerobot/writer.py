"""Writes episodes in the layout of LeRobot v3.0. Images stay as they are encoded, in the Parquet files."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.errors import EncodeError, PipelineError, SchemaError, import_extra, list_names
from recordsmith.formats.tables.hugging_face import HUGGING_FACE_KEY
from recordsmith.images import ImageError, decode_image
from recordsmith.schema import Feature, Image, Scalar, Schema, Sequence, Tensor, Text
from recordsmith.schema.export.tfds import STEPS, is_rlds

__all__ = ["LeRobotWriter"]

_FILE_BYTES = 100 << 20  # of values, after which the next file is begun; LeRobot's own size
_DATA = "data/chunk-000/file-{:03d}.parquet"
_WORDS = "language_instruction"
_FLAGS = ("is_first", "is_last")
_COUNTED = ("frame_index", "episode_index", "index", "task_index")


@dataclass
class _Statistics:
    """The statistics of the values of a feature, which LeRobot normalises by."""

    count: int = 0
    total: Any = 0.0
    squares: Any = 0.0
    low: Any = np.inf
    high: Any = -np.inf

    def add(self, values: npt.NDArray[Any]) -> None:
        exact = values.astype(np.float64)
        self.count += len(values)
        self.total = self.total + exact.sum(axis=0)
        self.squares = self.squares + np.square(exact).sum(axis=0)
        self.low = np.minimum(self.low, exact.min(axis=0))
        self.high = np.maximum(self.high, exact.max(axis=0))

    def to_json(self, shape: tuple[int, ...]) -> dict[str, Any]:
        mean = self.total / self.count
        std = np.sqrt(np.maximum(self.squares / self.count - np.square(mean), 0))
        found = {"min": self.low, "max": self.high, "mean": mean, "std": std}
        return {**{name: np.reshape(one, shape).tolist() for name, one in found.items()}, "count": [self.count]}


@dataclass
class _Kept:
    """What is written of a feature of steps."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    statistics: _Statistics = field(default_factory=_Statistics)


class LeRobotWriter:
    """Writes episodes, one after the other, into a folder.

    Attributes:
        left_out: features that LeRobot has no place for.
    """

    def __init__(self, folder: str, schema: Schema) -> None:
        if not is_rlds(schema):
            raise SchemaError(
                "Only episodes can be exported to LeRobot.",
                found=list_names(schema),
                expected="a feature 'steps/is_first', and a list for each feature below 'steps/'",
            )
        if f"{STEPS}timestamp" not in schema:
            raise SchemaError(
                "LeRobot needs the time of each step.",
                expected="a feature 'steps/timestamp', in seconds",
                advice="Add it with rs.make(..., map=...).",
            )
        self._folder = folder
        found = {name: _kept(name, feature) for name, feature in schema.items()}
        self._kept = {name: one for name, one in found.items() if one is not None}
        spoken = {f"{STEPS}{name}" for name in (*_FLAGS, *_COUNTED, _WORDS)} | {"episode_index"}
        self.left_out = tuple(name for name, one in found.items() if one is None and name not in spoken)
        self._tasks: dict[str, int] = {}
        self._episodes: list[dict[str, Any]] = []
        self._frames = 0
        self._rate: float | None = None
        self._file = -1
        self._size = 0
        self._parquet: Any = None

    def add(self, row: dict[str, Any]) -> None:
        """Write an episode, as a dataset gives it."""
        arrow = import_extra("pyarrow", "arrow", purpose="Exporting to LeRobot")
        length = len(row[f"{STEPS}is_first"])
        if not length:
            raise EncodeError("LeRobot has no episodes without steps.", feature=f"{STEPS}is_first")
        for name in self._kept:
            if len(row[name]) != length:
                raise EncodeError("The lists of an episode differ in length.", feature=name, found=len(row[name]))
        self._check_rate(np.asarray(row[f"{STEPS}timestamp"], np.float64))
        words = list(row.get(f"{STEPS}{_WORDS}") or [""] * length)
        numbers = [self._tasks.setdefault(str(word), len(self._tasks)) for word in words]
        columns = {kept.name: _column(row[name], kept, arrow) for name, kept in self._kept.items()}
        steps = np.arange(length, dtype=np.int64)
        columns |= {
            "frame_index": arrow.array(steps),
            "episode_index": arrow.array(np.full(length, len(self._episodes))),
            "index": arrow.array(steps + self._frames),
            "task_index": arrow.array(np.array(numbers, np.int64)),
        }
        table = arrow.table(columns)
        if self._parquet is None or self._size > _FILE_BYTES:
            self._next_file(table.schema)
        self._parquet.write_table(table)
        self._size += table.nbytes
        self._episodes.append(
            {
                "episode_index": len(self._episodes),
                "tasks": list(dict.fromkeys(map(str, words))),
                "length": length,
                "data/chunk_index": 0,
                "data/file_index": self._file,
                "dataset_from_index": self._frames,
                "dataset_to_index": self._frames + length,
                "meta/episodes/chunk_index": 0,
                "meta/episodes/file_index": 0,
            }
        )
        self._frames += length

    def finish(self, splits: dict[str, str]) -> None:
        """Write the descriptions; `splits` are ranges of episodes, such as {"train": "0:50"}."""
        if not self._episodes:
            raise PipelineError("There are no episodes to export.", path=self._folder)
        arrow = import_extra("pyarrow", "arrow", purpose="Exporting to LeRobot")
        parquet = import_extra("pyarrow.parquet", "arrow", purpose="Exporting to LeRobot")
        pandas = import_extra("pandas", "pandas", purpose="Exporting to LeRobot")
        self._parquet.close()
        os.makedirs(os.path.join(self._folder, "meta/episodes/chunk-000"))
        parquet.write_table(
            arrow.Table.from_pylist(self._episodes), self._path("meta/episodes/chunk-000/file-000.parquet")
        )
        tasks = pandas.DataFrame({"task_index": list(self._tasks.values())}, index=list(self._tasks))
        tasks.to_parquet(self._path("meta/tasks.parquet"))
        counted = {name: {"dtype": "int64", "shape": [1], "names": None} for name in _COUNTED}
        features = {
            kept.name: {"dtype": kept.dtype, "shape": list(kept.shape), "names": _AXES.get(kept.dtype)}
            for kept in self._kept.values()
        }
        described = {
            "codebase_version": "v3.0",
            "robot_type": None,
            "total_episodes": len(self._episodes),
            "total_frames": self._frames,
            "total_tasks": len(self._tasks),
            "chunks_size": 1000,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "fps": self._rate or 1,
            "splits": splits,
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": None,
            "features": {**features, **counted},
        }
        statistics = {
            kept.name: kept.statistics.to_json((3, 1, 1) if kept.dtype == "image" else kept.shape)
            for kept in self._kept.values()
            if kept.dtype != "string"
        }
        for name, document in (("info", described), ("stats", statistics)):
            with open(self._path(f"meta/{name}.json"), "w", encoding="utf-8") as file:
                json.dump(document, file, indent=4, ensure_ascii=False)

    def close(self) -> None:
        """Let go of the open file."""
        if self._parquet is not None:
            self._parquet.close()

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _next_file(self, schema: Any) -> None:
        parquet = import_extra("pyarrow.parquet", "arrow", purpose="Exporting to LeRobot")
        self.close()
        self._file, self._size = self._file + 1, 0
        path = self._path(_DATA.format(self._file))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        images = {kept.name: {"_type": "Image"} for kept in self._kept.values() if kept.dtype == "image"}
        if images:
            said = json.dumps({"info": {"features": {**_plain_types(schema), **images}}}).encode()
            schema = schema.with_metadata({HUGGING_FACE_KEY: said})
        self._parquet = parquet.ParquetWriter(path, schema)

    def _check_rate(self, times: npt.NDArray[np.float64]) -> None:
        """Take the frame rate from the times of steps; it must be the same everywhere."""
        if len(times) < 2:
            return
        rate = 1 / max(1e-9, float(np.median(np.diff(times))))
        whole = round(rate)
        rate = whole if whole and abs(rate - whole) < 0.01 * whole else rate
        if self._rate is not None and abs(rate - self._rate) > 0.02 * self._rate:
            raise EncodeError(
                "LeRobot has one frame rate for all episodes.",
                feature=f"{STEPS}timestamp",
                found=f"{rate:.4g} and {self._rate:.4g} per second",
            )
        self._rate = self._rate or rate


_AXES = {"image": ["height", "width", "channels"]}


def _kept(name: str, feature: Feature) -> _Kept | None:
    own = name.removeprefix(STEPS).replace("/", ".")
    if not name.startswith(STEPS) or own in (*_FLAGS, *_COUNTED, _WORDS):
        return None
    if isinstance(feature, Sequence):
        inner = feature.feature
        if isinstance(inner, Image):
            sized = inner.height is not None and inner.width is not None and inner.pixel_type == "uint8"
            return _Kept(own, "image", (inner.height or 0, inner.width or 0, 3)) if sized else None
        if isinstance(inner, (Scalar, Tensor)) and None not in inner.row_shape:
            return _Kept(own, inner.dtype.name, tuple(size or 0 for size in inner.row_shape) or (1,))
        return _Kept(own, "string", (1,)) if isinstance(inner, Text) else None
    if isinstance(feature, Text):
        return _Kept(own, "string", (1,))
    if isinstance(feature, Tensor) and feature.dtype.kind != "c":
        return _Kept(own, feature.dtype.name, tuple(size or 0 for size in feature.shape[1:]) or (1,))
    return None


def _column(values: Any, kept: _Kept, arrow: Any) -> Any:
    """Return the values of all steps as LeRobot stores them, and count them in."""
    if kept.dtype == "string":
        return arrow.array(list(values), arrow.string())
    if kept.dtype == "image":
        for image in values:
            try:
                pixels = decode_image(image, channels=3)
            except ImageError as error:
                raise EncodeError(str(error), feature=kept.name) from None
            kept.statistics.add(pixels.reshape(-1, 3) / 255)
        kind = arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
        return arrow.array([{"bytes": bytes(image), "path": None} for image in values], kind)
    array = np.asarray(values, np.dtype(kept.dtype))
    kept.statistics.add(array.reshape(len(array), -1) if kept.shape == (1,) else array)
    kind = arrow.from_numpy_dtype(array.dtype)
    if kept.shape == (1,):
        return arrow.array(array.reshape(len(array)), kind)
    for size in reversed(kept.shape):
        kind = arrow.list_(kind, size)
    return arrow.array(array.tolist(), kind)


def _plain_types(schema: Any) -> dict[str, Any]:
    """Return how Hugging Face's datasets calls the types of columns that are no images."""
    arrow = import_extra("pyarrow", "arrow", purpose="Exporting to LeRobot")
    names = {"float": "float32", "double": "float64", "halffloat": "float16"}

    def described(kind: Any) -> Any:
        if arrow.types.is_fixed_size_list(kind):
            return {"feature": described(kind.value_type), "length": kind.list_size, "_type": "Sequence"}
        return {"dtype": names.get(str(kind), str(kind)), "_type": "Value"}

    return {field.name: described(field.type) for field in schema}

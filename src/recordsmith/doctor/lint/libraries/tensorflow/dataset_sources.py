"""Where datasets come from: the constructors of tf.data, TFDS, Keras and recordsmith."""

from __future__ import annotations

from collections.abc import Callable

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.machine import Machine
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Function,
    Group,
    Literal,
    Many,
    Table,
    Unknown,
    Value,
)
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Source
from recordsmith.doctor.lint.libraries.torch.data import torch_loader

__all__ = ["dataset_source", "split_of_tfds"]

_PLAIN = {
    "tensorflow.data.TFRecordDataset": ("tfrecord", "record"),
    "tensorflow.data.TextLineDataset": ("lines", "line"),
    "tensorflow.data.FixedLengthRecordDataset": ("fixed", "record"),
    "tensorflow.data.experimental.CsvDataset": ("lines", ""),
    "tensorflow.data.Dataset.range": ("range", ""),
    "tensorflow.data.Dataset.from_generator": ("generator", ""),
    "tensorflow.data.Dataset.load": ("saved", ""),
    "tensorflow.data.experimental.load": ("saved", ""),
    "tensorflow.data.Dataset.random": ("generator", ""),
    "recordsmith.open": ("recordsmith", "row"),
}
_DIRECTORIES = {
    "keras.utils.image_dataset_from_directory": True,
    "keras.utils.text_dataset_from_directory": True,
    "keras.utils.audio_dataset_from_directory": True,
    "keras.utils.timeseries_dataset_from_array": False,
}
_TABLES = {
    "tensorflow.data.experimental.make_csv_dataset",
    "tensorflow.data.experimental.make_batched_features_dataset",
    "tensorflow.data.experimental.SqlDataset",
}


def dataset_source(machine: Machine, call: Call) -> Value | None:
    """Return the dataset that a call makes; None if it makes none."""
    make = _MAKERS.get(call.name)
    return None if make is None else make(machine, call)


def _plain(machine: Machine, call: Call) -> Value:
    kind, element_kind = _PLAIN[call.name]
    generator = call.argument(0, "generator") if call.name.endswith(".from_generator") else None
    if isinstance(generator, Function):
        made = machine.follow_with_unknown(generator)
        each = made.member if isinstance(made, Many) else made
        if not isinstance(each, Unknown):
            return _note(machine, Pipeline(Source(kind, call), each, node=call.node))
    return _note(machine, Pipeline(Source(kind, call), Element(element_kind, of=call), node=call.node))


def _tensors(machine: Machine, call: Call) -> Value:
    kind = "slices" if call.name.endswith("slices") else "tensors"
    element = _slices_of(call.argument(0, "tensors"), "slice" if kind == "slices" else "")
    return _note(machine, Pipeline(Source(kind, call), element, node=call.node))


def _files(machine: Machine, call: Call) -> Value:
    shuffles = _flag(call.argument(1, "shuffle"), default=True)
    return _note(machine, Pipeline(Source("files", call, shuffles=shuffles), Element("path", of=call), node=call.node))


def _table(machine: Machine, call: Call) -> Value:
    shuffles = _flag(call.argument(None, "shuffle"), default=True)
    return _note(machine, Pipeline(Source("csv", call, shuffles=shuffles, batches=True), Element(batched=True)))


def split_of_tfds(machine: Machine, call: Call, split: object) -> Value:
    """Return one split of what `tfds.load` gives where no single split was asked for."""
    shuffles = _flag(call.argument(None, "shuffle_files"), default=False)
    batches = _given(call.argument(None, "batch_size"))
    element = Group((Element(batched=batches), Element(batched=batches)))
    supervised = _flag(call.argument(None, "as_supervised"), default=False)
    pipeline = Pipeline(
        Source("tfds", call, shuffles=shuffles, batches=batches),
        element if supervised else Element(batched=batches, of=call),
        node=call.node,
    )
    pipeline.names.append(str(split))
    return _note(machine, pipeline)


def _note(machine: Machine, pipeline: Pipeline) -> Pipeline:
    machine.pipelines.append(pipeline)
    return pipeline


def _flag(value: Value | None, *, default: bool) -> bool | None:
    if value is None:
        return default
    return bool(value.value) if isinstance(value, Literal) else None


def _given(value: Value | None) -> bool:
    return value is not None and not (isinstance(value, Literal) and value.value is None)


def _slices_of(value: Value | None, kind: str) -> Value:
    if isinstance(value, Group) and not value.is_list:
        return Group(tuple(_slices_of(member, kind) for member in value.members))
    if isinstance(value, Table):
        return Table({key: _slices_of(entry, kind) for key, entry in value.entries.items()}, value.complete)
    return Element(kind, of=value)


def _zipped(machine: Machine, call: Call) -> Value:
    given = call.args[0] if len(call.args) == 1 else Group(call.args)
    given = call.argument(None, "datasets") or given
    if isinstance(given, Table):
        of = [pipeline for entry in given.entries.values() for pipeline in pipelines_in(entry)]
        element: Value = Table({key: _element(entry) for key, entry in given.entries.items()})
    elif isinstance(given, Group):
        of = [pipeline for member in given.members for pipeline in pipelines_in(member)]
        element = Group(tuple(_element(member) for member in given.members))
    else:
        of, element = [], Element()
    for pipeline in of:
        pipeline.extended = True
    known = isinstance(given, Group | Table) and len(of) == len(list(given.parts()))
    return _note(machine, Pipeline(Source("zip" if known else "unknown", call, tuple(of)), element, node=call.node))


def _element(value: Value) -> Value:
    found = pipelines_in(value)
    return found[0].element if found else Element()


def _mixed(machine: Machine, call: Call) -> Value:
    given = call.argument(0, "datasets")
    members = given.members if isinstance(given, Group) else (given.member,) if isinstance(given, Many) else ()
    of = [pipeline for member in members for pipeline in pipelines_in(member)]
    for pipeline in of:
        pipeline.extended = True
    kind = "mixed" if of and len(of) == len(members) else "unknown"
    return _note(machine, Pipeline(Source(kind, call, tuple(of)), of[0].element if of else Element(), node=call.node))


def _directory(machine: Machine, call: Call) -> Value:
    shuffles = _flag(call.argument(None, "shuffle"), default=_DIRECTORIES[call.name])
    batch_size = call.argument(None, "batch_size")
    batches = not (isinstance(batch_size, Literal) and batch_size.value is None)
    element = Group((Element(batched=batches), Element(batched=batches)))

    def one() -> Pipeline:
        return _note(
            machine, Pipeline(Source("directory", call, shuffles=shuffles, batches=batches), element, node=call.node)
        )

    subset = call.argument(None, "subset")
    if isinstance(subset, Literal) and subset.value == "both":
        return Group((one(), one()), node=call.node)
    return one()


def _tfds(machine: Machine, call: Call) -> Value:
    split = call.argument(1 if call.name == "tensorflow_datasets.load" else 0, "split")
    loaded: Value
    if split is None or (isinstance(split, Literal) and split.value is None):
        loaded = call
    elif isinstance(split, Group):
        names = [one.value if isinstance(one, Literal) else "" for one in split.members]
        loaded = Group(tuple(split_of_tfds(machine, call, name) for name in names), node=call.node)
    elif isinstance(split, Literal):
        loaded = split_of_tfds(machine, call, split.value)
    else:
        loaded = split_of_tfds(machine, call, "")
    with_info = call.argument(None, "with_info")
    if isinstance(with_info, Literal) and with_info.value:
        return Group((loaded, Unknown()), node=call.node)
    return loaded if with_info is None or isinstance(with_info, Literal) else Unknown(node=call.node)


_MAKERS: dict[str, Callable[[Machine, Call], Value]] = {
    **dict.fromkeys(_PLAIN, _plain),
    **dict.fromkeys(_DIRECTORIES, _directory),
    **dict.fromkeys(_TABLES, _table),
    "tensorflow.data.Dataset.from_tensor_slices": _tensors,
    "tensorflow.data.Dataset.from_tensors": _tensors,
    "tensorflow.data.Dataset.list_files": _files,
    "tensorflow.data.Dataset.zip": _zipped,
    "tensorflow.data.Dataset.sample_from_datasets": _mixed,
    "tensorflow.data.Dataset.choose_from_datasets": _mixed,
    "tensorflow_datasets.load": _tfds,
    ".as_dataset": _tfds,
    "torch.utils.data.DataLoader": torch_loader,
    "torch_geometric.loader.DataLoader": torch_loader,
}

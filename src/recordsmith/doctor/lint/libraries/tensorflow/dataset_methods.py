"""What the methods of datasets make of them."""

from __future__ import annotations

import ast
import re

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.machine import Arguments, Machine
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Function,
    Group,
    Item,
    Object,
    Parameter,
    Table,
    Unknown,
    Value,
)
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Source, Stage, batched

__all__ = ["dataset_method", "looks_like_dataset_method"]

_SAME_ELEMENT = {
    "shuffle", "repeat", "cache", "prefetch", "take", "skip", "shard", "concatenate", "with_options", "filter",
    "take_while", "ignore_errors", "snapshot", "unique", "fingerprint", "sparse_batch", "options",
    "copy_to_device", "prefetch_to_device", "assert_cardinality",
    "balance", "mix", "select", "to_tf", "to_torch", "to_jax", "to_numpy",
}  # fmt: skip
_OTHER_ELEMENT = {
    "scan", "group_by_window", "bucket_by_sequence_length", "rejection_resample", "window", "bucket_batch", "images",
    "vectorize", "pairs", "map_with_legacy_function", "random_shuffle",
}  # fmt: skip
_MAPS = {"map", "flat_map", "interleave", "filter"}
_ENDLESS = {"as_numpy_iterator", "make_one_shot_iterator", "make_initializable_iterator", "get_next", "__iter__"}
_APPLIED = {
    "shuffle_and_repeat": ("shuffle", "repeat"),
    "map_and_batch": ("map", "batch"),
    "parallel_interleave": ("interleave",),
    "unbatch": ("unbatch",),
    "ignore_errors": ("ignore_errors",),
    "prefetch_to_device": ("prefetch",),
    "copy_to_device": ("copy_to_device",),
    "bucket_by_sequence_length": ("bucket_by_sequence_length",),
    "dense_to_ragged_batch": ("dense_to_ragged_batch",),
    "group_by_window": ("group_by_window",),
    "rejection_resample": ("rejection_resample",),
    "assert_cardinality": ("assert_cardinality",),
    "snapshot": ("snapshot",),
    "unique": ("unique",),
}
_DATASET_NAME = re.compile(r"(^|_)(ds|dset|dataset|datasets|data|pipeline)(_|$|\d)|dataset|_ds$|^ds", re.IGNORECASE)
_SURE = {"padded_batch", "prefetch", "unbatch", "interleave", "flat_map", "with_options"}
_LIKELY = _SAME_ELEMENT | {"map", "batch", "enumerate", "window"}


def looks_like_dataset_method(receiver: Value, name: str, arguments: Arguments) -> bool:
    """Tell whether a method can only be one of a dataset, though nothing is known about the receiver.

    >>> looks_like_dataset_method(Parameter("x"), "prefetch", Arguments((Unknown(),)))
    True
    >>> looks_like_dataset_method(Parameter("pool"), "map", Arguments((Unknown(), Unknown())))
    False
    """
    if isinstance(receiver, Call) and receiver.name.startswith(("tensorflow.", "keras.", "numpy.", "torch.", "jax.")):
        return False
    if not isinstance(receiver, Parameter | Call | Item | Unknown):
        return False
    if name in _SURE or (name == "map" and "num_parallel_calls" in arguments.keywords):
        return True
    if name == "batch" and (len(arguments.positional) == 1 or "batch_size" in arguments.keywords):
        return True
    return isinstance(receiver, Parameter) and name in _LIKELY and bool(_DATASET_NAME.search(receiver.name))


def dataset_method(machine: Machine, pipeline: Pipeline, name: str, arguments: Arguments, node: ast.Call) -> Value:
    """Return what a dataset's method gives: the dataset with one more stage, where it is known."""
    call = machine.call(f".{name}", pipeline, arguments, node)
    if name == "apply":
        return _applied(machine, pipeline, call, node)
    if name in _ENDLESS:
        return pipeline
    made = _stage(machine, pipeline, Stage(name, call))
    if made is None:
        return call
    machine.pipelines.append(made)
    return made


def _stage(machine: Machine, pipeline: Pipeline, stage: Stage) -> Pipeline | None:
    name, call = stage.name, stage.call
    if name in _MAPS and pipeline.library == "tensorflow":
        return _mapped(machine, pipeline, stage)
    if name in ("map", "filter"):
        stage.function = call.argument(0, "fn", "function")
        _run(machine, stage.function, Element("row"), "map:")
        return pipeline.extend(stage, pipeline.element if name == "filter" else Element())
    if name == "concatenate":
        for other in pipelines_in(call.argument(0, "dataset")):
            other.extended = True
        return pipeline.extend(stage)
    if name in _SAME_ELEMENT:
        return pipeline.extend(stage)
    if stage.is_batch:
        return pipeline.extend(stage, batched(pipeline.element))
    if name in ("unbatch", "rebatch"):
        return pipeline.extend(stage, Element() if name == "unbatch" else pipeline.element)
    if name == "enumerate":
        return pipeline.extend(stage, Group((Unknown(), pipeline.element)))
    if name in _OTHER_ELEMENT:
        for value in (*call.args, *call.keywords.values()):
            _run(machine, value, Element(), "map:")
        return pipeline.extend(stage, Element())
    return None


def _mapped(machine: Machine, pipeline: Pipeline, stage: Stage) -> Pipeline:
    stage.function = stage.call.argument(0, "map_func", "predicate")
    result = _run(machine, stage.function, pipeline.element, "map:")
    if stage.name == "filter":
        return pipeline.extend(stage)
    if stage.name == "map":
        return pipeline.extend(stage, result if not isinstance(result, Unknown) else Element())
    if isinstance(stage.function, Value) and getattr(stage.function, "path", "") == "tensorflow.data.TFRecordDataset":
        made = machine.call("tensorflow.data.TFRecordDataset", None, Arguments((pipeline.element,)), stage.expression)
        stage.inner = Pipeline(Source("tfrecord", made), Element("record", of=made), extended=True)
        return pipeline.extend(stage, Element("record", of=made))
    inner = pipelines_in(result)
    if len(inner) == 1:
        stage.inner = inner[0]
        inner[0].extended = True
        return pipeline.extend(stage, inner[0].element)
    return pipeline.extend(stage, Element())


def _run(machine: Machine, function: Value | None, element: Value, prefix: str) -> Value:
    """Follow a function that gets an element: tuples are given as several arguments, as tf.data does."""
    if isinstance(function, Object):  # a layer, or anything callable, of the program
        members = [function.program_class.members.get(name) for name in ("call", "__call__")]
        method = next((one for one in members if isinstance(one, Function)), None)
        function = None if method is None else Function(method.definition, method.scope, owner=function)
    if not isinstance(function, Function):
        if isinstance(function, Call):  # a layer, or something that a library made
            return Element(of=function)
        return Unknown()
    element = _own_copy(element)
    signature = function.definition.args
    count = len(signature.posonlyargs) + len(signature.args) - len(function.bound) - (function.owner is not None)
    given: tuple[Value, ...] = (element,)
    if isinstance(element, Group):
        given = element.members
    elif isinstance(element, Element | Unknown) and count > 1:
        required = count - len(signature.defaults)
        parts = max(required, 1)
        batched_part = isinstance(element, Element) and element.batched
        given = tuple(Element(batched=batched_part, of=element) for _ in range(parts)) if parts > 1 else given
    return machine.follow(function, Arguments(given), label=f"{prefix}{function.name}")


def _own_copy(element: Value) -> Value:
    """The same element in dicts of its own: what a function changes in them stays as it was before the function."""
    if isinstance(element, Group):
        return Group(tuple(map(_own_copy, element.members)), element.is_list, element.grown, node=element.node)
    if isinstance(element, Table):
        entries = {key: _own_copy(entry) for key, entry in element.entries.items()}
        return Table(entries, element.complete, element.made_by, node=element.node)
    return element


def _applied(machine: Machine, pipeline: Pipeline, call: Call, node: ast.Call) -> Value:
    given = call.argument(0, "transformation_func")
    if isinstance(given, Function):
        return machine.follow(given, Arguments((pipeline,)))
    if not isinstance(given, Call):
        return Unknown(node=node)
    last = given.name.rpartition(".")[2]
    if last not in _APPLIED or not given.name.startswith("tensorflow."):
        pipeline.extended = True
        return Unknown(node=node)
    current = pipeline
    for name in _APPLIED[last]:
        made = _stage(machine, current, Stage(name, _part_of(given, last, name)))
        if made is None:
            return Unknown(node=node)
        current = made
        machine.pipelines.append(current)
    return current


def _part_of(call: Call, whole: str, name: str) -> Call:
    """The arguments of one half of a transformation that does two things."""
    position = {("shuffle_and_repeat", "repeat"): (1, "count"), ("map_and_batch", "batch"): (1, "batch_size")}
    where = position.get((whole, name))
    if where is None:
        return call
    value = call.argument(*where)
    args = () if value is None else (value,)
    return Call(f".{name}", call.receiver, args, {}, exact=call.exact, within=call.within, node=call.node)

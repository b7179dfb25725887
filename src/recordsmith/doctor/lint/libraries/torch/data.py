"""PyTorch data loading: what a DataLoader yields, by the `__getitem__` of its dataset and the collate function."""

from __future__ import annotations

import ast

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.machine import Arguments, Machine
from recordsmith.doctor.lint.interpreter.scope import Scope
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Function,
    Group,
    Item,
    Literal,
    Many,
    Object,
    Unknown,
    Value,
    options_of,
)
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Source, batched
from recordsmith.doctor.lint.libraries.torch.modules import derives_from

__all__ = ["DATASET", "ITERABLE", "base_dataset", "split_of", "torch_loader"]

DATASET = r"torch\.utils\.data\.(dataset\.)?Dataset|torchvision\.datasets\.\w+"
ITERABLE = r"torch\.utils\.data\.IterableDataset|torchdata\..*IterDataPipe"
_DRAWS = ("sampler", "batch_sampler", "worker_init_fn")


def torch_loader(machine: Machine, call: Call) -> Value:
    """Return a DataLoader: in the order of its dataset, unless it is told otherwise."""
    dataset = call.argument(0, "dataset")
    of = tuple(pipelines_in(dataset))
    for pipeline in of:
        pipeline.extended = True
    given = call.argument(2, "shuffle")
    shuffles = False if given is None else bool(given.value) if isinstance(given, Literal) else None
    drawn = any(_is_given(call.argument(None, name)) for name in _DRAWS)
    if not shuffles and (drawn or not _is_map_style(dataset)):
        shuffles = None
    before = len(machine.calls)
    element = _element(machine, dataset)
    collate = call.argument(None, "collate_fn")
    if isinstance(collate, Function | Object):
        element = machine.apply(collate, Arguments((Many(element),)), call.expression, Scope())
    elif not _is_given(collate):
        element = batched(element)
    else:
        element = Unknown()
    steps = tuple(machine.calls[before:])
    source = Source("torch", call, of, shuffles=shuffles, batches=True, steps=steps)
    pipeline = Pipeline(source, element, node=call.node)
    pipeline.names += [name for site in call.via for name in _split_names(site)]
    given_name = call.expression.args[0] if call.expression.args else None
    if isinstance(given_name, ast.Name | ast.Attribute):  # says something where the loader itself has no name
        pipeline.names.append(given_name.id if isinstance(given_name, ast.Name) else given_name.attr)
    machine.pipelines.append(pipeline)
    return pipeline


_SPLITS = ("train", "training", "val", "valid", "validation", "test", "testing", "dev", "eval")


def _split_names(site: ast.Call) -> list[str]:
    """What a call says about the data that it asks for: `get_loader("test")`, `make_loader(train=False)`."""
    texts = [one.value for one in (*site.args, *(key.value for key in site.keywords)) if isinstance(one, ast.Constant)]
    named = [one for one in texts if isinstance(one, str) and one in _SPLITS]
    for key in site.keywords:
        if key.arg in ("train", "is_train", "training") and isinstance(key.value, ast.Constant):
            named += ["train" if key.value.value is True else "test"] if isinstance(key.value.value, bool) else []
    return named if len(named) == 1 else []


def _is_given(value: Value | None) -> bool:
    return value is not None and not (isinstance(value, Literal) and value.value is None)


def _is_map_style(dataset: Value | None) -> bool:
    if isinstance(dataset, Object):
        member = dataset.program_class.members.get("__getitem__")
        given = member.definition if isinstance(member, Function) else None
        if isinstance(given, ast.FunctionDef) and len(given.args.args) == 2:
            index = given.args.args[1].arg
            if not any(isinstance(node, ast.Name) and node.id == index for node in ast.walk(given)):
                return False  # rows that do not depend on their number are made up, and have no order
        return member is not None
    known = ("torch.utils.data.TensorDataset", "torch.utils.data.ConcatDataset", "torchvision.datasets.")
    return isinstance(dataset, Call) and dataset.name.startswith(known)


def split_of(dataset: Value | None) -> Call | None:
    """Return the call that split a dataset, if it is a part of one.

    >>> split = Call("torch.utils.data.random_split", None)
    >>> split_of(Item(split, Literal(0))) is split
    True
    """
    if isinstance(dataset, Call) and dataset.name == "torch.utils.data.Subset":
        return dataset
    if isinstance(dataset, Item) and isinstance(dataset.base, Call) and not dataset.attribute:
        return dataset.base if dataset.base.name == "torch.utils.data.random_split" else None
    return None


def base_dataset(dataset: Value | None) -> Value | None:
    """Return the dataset that a part or a wrapper was taken from; itself, if it is neither."""
    for _ in range(8):
        split = split_of(dataset)
        if split is not None:
            dataset = split.argument(0, "dataset")
        elif isinstance(dataset, Item) and dataset.attribute and isinstance(dataset.index, Literal):
            if dataset.index.value != "dataset":
                return dataset
            dataset = dataset.base
        elif isinstance(dataset, Call) and dataset.name == "torch.utils.data.ConcatDataset":
            members = dataset.argument(0, "datasets")
            if not isinstance(members, Group) or not members.members:
                return dataset
            dataset = members.members[0]
        else:
            return dataset
    return dataset


def _element(machine: Machine, dataset: Value | None) -> Value:
    """Return one example of a dataset."""
    options = options_of(dataset)
    base = base_dataset(options[0]) if len(options) == 1 else None
    if isinstance(base, Object):
        member = base.program_class.members.get("__getitem__")
        if isinstance(member, Function) and not derives_from(base.program_class, ITERABLE):
            method = Function(member.definition, member.scope, owner=base)
            return machine.follow(method, Arguments((Element("index"),)), label="map:__getitem__")
        return Element()
    if isinstance(base, Call) and base.name == "torch.utils.data.TensorDataset":
        return Group(tuple(Element("slice", of=one) for one in base.args))
    if isinstance(base, Call) and base.name.startswith("torchvision.datasets."):
        transform = base.argument(1 if base.name.endswith("Folder") else 2, "transform")
        image: Value = Element("image", of=base)
        if transform is not None:
            image = Call("()", transform, (image,), node=base.node)
        return Group((image, Element("label", of=base)))
    return Element(of=base)

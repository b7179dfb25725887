"""PyTorch data loading: what a DataLoader yields, by the `__getitem__` of its dataset and the collate function."""

from __future__ import annotations

import ast
import re

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

__all__ = ["DATASET", "ITERABLE", "base_dataset", "load_for_others", "split_of", "torch_loader"]

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
    sampler = call.argument(3, "sampler")
    if isinstance(sampler, Call) and sampler.name.endswith((".RandomSampler", ".SequentialSampler")):
        shuffles = sampler.name.endswith(".RandomSampler")
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
    pipeline.names += _part_named(dataset)
    pipeline.names += [name for site in call.via for name in _split_names(site)]
    given_name = call.expression.args[0] if call.expression.args else None
    if isinstance(given_name, ast.Name | ast.Attribute):  # says something where the loader itself has no name
        pipeline.names.append(given_name.id if isinstance(given_name, ast.Name) else given_name.attr)
    machine.pipelines.append(pipeline)
    return pipeline


def load_for_others(machine: Machine, dataset: Object) -> None:
    """Read a dataset that no DataLoader of this module reads, as another module will: its examples are looked at."""
    definition = dataset.program_class.definition
    if "__getitem__" not in dataset.program_class.members or not derives_from(dataset.program_class, DATASET):
        return
    read = [one.source.call.argument(0, "dataset") for one in machine.pipelines if one.source.call is not None]
    if any(
        isinstance(base, Object) and base.program_class.definition is definition
        for one in read
        for option in options_of(one)
        for base in options_of(base_dataset(option))
    ):
        return
    node = ast.copy_location(ast.Call(ast.Name(definition.name, ast.Load()), [], []), definition)
    node.end_lineno = node.lineno
    node.end_col_offset = node.col_offset + len(f"class {definition.name}")
    for one in ast.walk(node):
        one.source, one.parent = getattr(definition, "source", None), getattr(definition, "parent", None)  # type: ignore[attr-defined]
    unknown: dict[str, Value] = {name: Unknown() for name in ("batch_size", "shuffle", "num_workers", "drop_last")}
    torch_loader(machine, machine.call("torch.utils.data.DataLoader", None, Arguments((dataset,), unknown), node))


_SPLITS = ("train", "training", "val", "valid", "validation", "test", "testing", "dev", "eval")


def _split_names(site: ast.Call) -> list[str]:
    """What a call says about the data that it asks for: `get_loader("test")`, `make_loader(train=False)`."""
    texts = [one.value for one in (*site.args, *(key.value for key in site.keywords)) if isinstance(one, ast.Constant)]
    named = [one for one in texts if isinstance(one, str) and one in _SPLITS]
    for key in site.keywords:
        if key.arg in ("train", "is_train", "training") and isinstance(key.value, ast.Constant):
            named += ["train" if key.value.value is True else "test"] if isinstance(key.value.value, bool) else []
    return named if len(named) == 1 else []


_PART = re.compile(r"(?:^|[^a-z])(train(?:ing)?|test(?:ing)?|val(?:id(?:ation)?)?|dev|eval)(?:$|[^a-z])", re.IGNORECASE)


def _part_named(dataset: Value | None) -> list[str]:
    """What a dataset is made with says which part it is: `Birds("test.txt")`, `Clouds(root, train=False)`."""
    given: dict[str, ast.expr] = {}
    if isinstance(dataset, Object) and isinstance(dataset.node, ast.Call):
        start = dataset.program_class.members.get("__init__")
        names = [one.arg for one in start.definition.args.args[1:]] if isinstance(start, Function) else []
        given = dict(zip(names, dataset.node.args, strict=False))
        given |= {one.arg: one.value for one in dataset.node.keywords if one.arg is not None}
    elif isinstance(dataset, Call) and dataset.name.startswith("torchvision.datasets."):
        given = dict(enumerate(dataset.expression.args))  # type: ignore[arg-type]
    found: set[str] = set()
    for name, node in given.items():
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, bool) and name in ("train", "is_train", "training", "is_training"):
            found.add("train" if value else "test")
        elif isinstance(value, str) and len({one.lower() for one in _PART.findall(value)}) == 1:
            found.add("train" if _PART.findall(value)[0].lower().startswith("train") else "test")
    return list(found) if len(found) == 1 else []


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
    while isinstance(base, Call) and base.name in ("builtins.list", "builtins.tuple") and base.args:
        base = base.args[0]
    if isinstance(base, Call) and base.name == "builtins.zip" and base.exact:
        return Group(tuple(Element("slice", of=one) for one in base.args))
    if isinstance(base, Many):
        return base.member
    if isinstance(base, Group) and len(base.members) == 1 and isinstance(base.members[0], Group):
        return base.members[0]  # a list of pairs that a loop has filled
    return Element(of=base)

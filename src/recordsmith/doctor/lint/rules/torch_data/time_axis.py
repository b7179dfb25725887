"""The rule on the axes of sequences: time first or the batch first."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Item, Literal, Slice, Value, walk
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["TIME_AXIS_RULES"]


@rule("P114", "batch-and-time-swapped", Severity.WARNING)
def batch_and_time_swapped(program: Program) -> Iterator[Finding]:
    """A recurrent layer or padding has time first, and the program takes the first axis for the batch.

    Why it matters:
        Without `batch_first=True`, `nn.LSTM`, `nn.GRU`, `nn.RNN` and `pad_sequence` put time first and the batch
        second. If the data has the batch first, the layer runs along the batch: examples leak into each other and
        nothing is learned along time. Where the sizes fit, no error is raised.

    Example:
        `nn.LSTM(8, 32)`, then `out, _ = self.lstm(x)` and `out[:, -1]`.

    Fix:
        Give `batch_first=True` to the layer and to `pad_sequence`.
    """
    seen: set[int] = set()
    for item in program.items:
        if not isinstance(item, Item) or item.node is None:
            continue
        layer = _recurrent_output(item.base)
        if layer is None or id(layer.node) in seen:
            continue
        batch_first = layer.argument(None, "batch_first")
        known = batch_first is None or isinstance(batch_first, Literal)
        first = bool(batch_first.value) if isinstance(batch_first, Literal) else False
        name = layer.name.rpartition(".")[2]
        if known and layer.exact and not first and _takes_last_of_second_axis(item) and not _turned(item.base):
            seen.add(id(layer.node))
            yield program.finding(
                batch_and_time_swapped,
                layer.expression,
                f"`nn.{name}` has time first, without `batch_first=True`, but its output is indexed as if the batch "
                f"came first, in `{program.text(item.node)}`: it runs along the batch.",
            )
        elif first and isinstance(item.index, Literal) and item.index.value == -1:
            seen.add(id(layer.node))
            yield program.finding(
                batch_and_time_swapped,
                item.node,
                f"`nn.{name}` has the batch first, so `{program.text(item.node)}` is the last example of the batch, "
                "not the last step.",
                advice="Take the last step with `[:, -1]`.",
            )
    for call in program.calls:
        fed = call.receiver
        if call.name != "()" or not isinstance(fed, Call) or not _is_recurrent(fed) or id(fed.node) in seen:
            continue
        if fed.exact and fed.argument(4, "batch_first") is None and call.args and _has_batch_first(call.args[0]):
            seen.add(id(fed.node))
            yield program.finding(
                batch_and_time_swapped,
                fed.expression,
                f"`nn.{fed.name.rpartition('.')[2]}` has time first, without `batch_first=True`, but is given "
                "batches of a DataLoader, which have the batch first: it runs along the batch.",
            )
    yield from _attention_time_first(program, seen)
    yield from _padded_time_first(program)
    yield from _packed_time_first(program)


_ATTENDS = ("torch.nn.TransformerEncoder", "torch.nn.TransformerEncoderLayer", "torch.nn.MultiheadAttention")
_POOLS = {".mean": 0, ".sum": 0, ".max": 0, "torch.mean": 1, "torch.sum": 1, "torch.max": 1}


def _attention_time_first(program: Program, seen: set[int]) -> Iterator[Finding]:
    """A transformer has time first too, and its output is pooled along the second axis."""
    for call in (*program.calls, *program.items):
        along = _POOLS.get(call.name) if isinstance(call, Call) else None
        if isinstance(call, Call) and along is not None:
            axis = call.argument(along, "dim")
            value = call.receiver if call.name.startswith(".") else call.argument(0)
            second = isinstance(axis, Literal) and axis.value == 1
        elif isinstance(call, Item):
            value, second = call.base, _takes_place_of_second_axis(call)
        else:
            continue
        layer = value.receiver if second and isinstance(value, Call) and value.name == "()" else None
        given = value.args[0] if layer is not None and isinstance(value, Call) and value.args else None
        first = layer
        if isinstance(layer, Call) and layer.name == "torch.nn.TransformerEncoder":
            first = layer.argument(0, "encoder_layer")
        if not isinstance(layer, Call) or not isinstance(first, Call) or layer.name not in _ATTENDS:
            continue
        if not first.exact or first.argument(None, "batch_first") is not None or id(first.node) in seen:
            continue
        if not _moved_axes(given) and first.node is not None:
            seen.add(id(first.node))
            yield program.finding(
                batch_and_time_swapped,
                first.expression,
                f"`nn.{first.name.rpartition('.')[2]}` has time first, without `batch_first=True`, but its output is "
                "pooled as if the batch came first: it attends along the batch.",
            )


def _takes_place_of_second_axis(item: Item) -> bool:
    match item.index:
        case Group(members=(Slice(lower=None, upper=None), Literal(value=0 | -1), *_)):
            return True
    return False


def _moved_axes(given: Value | None) -> bool:
    return any(isinstance(one, Call) and one.name in _TURNS for one in walk(given, 200))


def _has_batch_first(value: Value | None, depth: int = 12) -> bool:
    """It is a batch as a DataLoader makes it, and nothing has moved its axes."""
    match value:
        case Element(batched=True):
            return depth < 12 or value.of is not None
        case Call(name=".to" | ".float" | ".cuda" | ".long" | ".unsqueeze") if depth:
            return _has_batch_first(value.receiver, depth - 1)
        case Call(name="()", receiver=Call(name=name), args=(inner, *_)) if depth:
            keeps = ("torch.nn.Embedding", "torch.nn.Dropout", "torch.nn.Linear", "torch.nn.LayerNorm")
            return name in keeps and _has_batch_first(inner, depth - 1)
    return False


def _recurrent_output(value: Value) -> Call | None:
    """The recurrent layer whose output a value is."""
    if isinstance(value, Item) and isinstance(value.index, Literal) and value.index.value == 0:
        call = value.base
        if isinstance(call, Call) and call.name == "()" and _is_recurrent(call.receiver):
            return call.receiver if isinstance(call.receiver, Call) else None
    return None


def _is_recurrent(value: Value | None) -> bool:
    return isinstance(value, Call) and value.name in ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")


def _takes_last_of_second_axis(item: Item) -> bool:
    match item.index:
        case Group(members=(Slice(lower=None, upper=None), Literal(value=-1), *_)):
            return True
    return False


def _turned(output: Value) -> bool:
    """The input was turned to time first before."""
    call = output.base if isinstance(output, Item) else None
    given = call.args[0] if isinstance(call, Call) and call.args else None
    return _moved_axes(given)


_TURNS = {".transpose", ".permute", ".t", "torch.transpose", ".swapaxes", "torch.stack", "einops.rearrange"}


def _padded_time_first(program: Program) -> Iterator[Finding]:
    """Padding with time first, and a recurrent layer or packing with the batch first."""
    pads = [call for call in program.calls if call.name == "torch.nn.utils.rnn.pad_sequence" and call.exact]
    loose = [call for call in pads if call.argument(1, "batch_first") is None]
    firsts = [
        call
        for call in program.calls
        if (
            _is_recurrent(call)
            or call.name in ("torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.MultiheadAttention")
        )
        and isinstance(call.argument(None, "batch_first"), Literal)
        and call.argument(None, "batch_first").value  # type: ignore[union-attr]
    ]
    turned = any(call.name in (".transpose", ".permute", ".t", "torch.transpose") for call in program.calls)
    timed = [call for call in program.calls if _is_recurrent(call) or call.name.startswith("torch.nn.Transformer")]
    if not firsts and not timed:
        firsts = [call for call in program.calls if _reduces_second_axis(call)]
    if loose and firsts and len(loose) == len(pads) and not turned:
        yield program.finding(
            batch_and_time_swapped,
            loose[0].expression,
            "`pad_sequence` puts time first, without `batch_first=True`, but the model expects the batch first "
            f"(`{program.text(firsts[0].expression)}`): it runs along the batch.",
        )


_PACK, _UNPACK = "torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.utils.rnn.pad_packed_sequence"


def _packed_time_first(program: Program) -> Iterator[Finding]:
    """Packing or unpacking with time first, beside a recurrent layer with the batch first."""
    for call in program.calls:
        fed, layer = call.args[0] if call.args else None, call.receiver
        if call.name == "()" and isinstance(layer, Call) and isinstance(fed, Call) and _is_packed_otherwise(layer, fed):
            yield program.finding(
                batch_and_time_swapped,
                fed.expression,
                "`pack_padded_sequence` has time first, without `batch_first=True`, but "
                f"`nn.{layer.name.rpartition('.')[2]}` is made for the batch first: examples are packed along the "
                "batch.",
            )
            return
        if call.name != _UNPACK or not call.exact or _is_true(call, 1, or_unknown=True):
            continue
        packs = [one for one in walk(fed, 30) if isinstance(one, Call) and one.name == _PACK]
        if (
            packs
            and _is_true(packs[0], 2)
            and any(_takes_second_axis(one, call) for one in (*program.calls, *program.items))
        ):
            yield program.finding(
                batch_and_time_swapped,
                call.expression,
                "`pad_packed_sequence` gives time first, without `batch_first=True`, and its second axis, the batch, "
                "is then used as time.",
            )
            return


def _is_packed_otherwise(layer: Call, fed: Call) -> bool:
    if not _is_recurrent(layer) or not _is_true(layer, 4) or fed.name != _PACK or not fed.exact:
        return False
    turned = any(isinstance(one, Call) and one.name in _TURNS for one in walk(fed, 60))
    return not turned and not _is_true(fed, 2, or_unknown=True)


_TURNS = {".transpose", ".permute", ".t", "torch.transpose", ".swapaxes", "einops.rearrange"}


def _is_true(call: Call, place: int, *, or_unknown: bool = False) -> bool:
    """`batch_first` is given as True; or it may be, if what is given is not known."""
    given = call.argument(place, "batch_first")
    return bool(given.value) if isinstance(given, Literal) else or_unknown and given is not None


def _takes_second_axis(value: Value, unpacked: Call) -> bool:
    """It reduces the second axis of what was unpacked, or takes its last step there."""
    match value:
        case Item(base=Item(base=base, index=Literal(value=0))):
            return base is unpacked and _takes_last_of_second_axis(value)
        case Call(name=".mean" | ".sum" | ".max" | "torch.mean" | "torch.sum" | "torch.max"):
            method = value.name.startswith(".")
            axis, given = value.argument(0 if method else 1, "dim", "axis"), value.receiver or value.argument(0)
            inside = isinstance(given, Item) and given.base is unpacked
            return inside and isinstance(axis, Literal) and axis.value == 1
    return False


def _reduces_second_axis(call: Call) -> bool:
    """A mean or maximum of embedded words, along the second axis."""
    if call.name not in (".mean", ".sum", ".max", "torch.mean", "torch.sum", "torch.max"):
        return False
    method = call.name.startswith(".")
    axis = call.argument(0 if method else 1, "dim", "axis")
    value = call.receiver if method else call.argument(0)
    embedded = any(isinstance(one, Call) and one.name == "torch.nn.Embedding" for one in walk(value, 100))
    return isinstance(axis, Literal) and axis.value == 1 and embedded


TIME_AXIS_RULES = [batch_and_time_swapped]

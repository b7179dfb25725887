"""Keras' ImageDataGenerator: what its `flow` methods yield."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recordsmith.doctor.lint.interpreter.values import Call, Literal, Value, options_of

__all__ = ["Flow", "flow_of", "paired_flows"]

_FLOWS = {".flow": None, ".flow_from_directory": 0, ".flow_from_dataframe": 1}
_RANDOM = (
    "rotation_range", "width_shift_range", "height_shift_range", "brightness_range", "shear_range", "zoom_range",
    "channel_shift_range", "horizontal_flip", "vertical_flip",
)  # fmt: skip

_NEXT = {"builtins.next", ".next", ".__next__"}
_LEARNT = ("featurewise_center", "featurewise_std_normalization", "zca_whitening")


@dataclass(frozen=True, slots=True)
class Flow:
    """What `ImageDataGenerator(...).flow_from_directory(...)` or a sister of it yields.

    Attributes:
        call: the call of the flow.
        generator: the call that made the ImageDataGenerator.
    """

    call: Call
    generator: Call

    @property
    def augments_by(self) -> list[str]:
        """The options that change images at random."""
        found = []
        for name in _RANDOM:
            value = self.generator.argument(None, name)
            if isinstance(value, Literal):
                value = value if value.value else None
            if value is not None and name in self.generator.keywords:
                found.append(name)
        return found

    @property
    def learns(self) -> list[str]:
        """The options for which the generator must be fitted to the training images."""
        given = [(name, self.generator.argument(None, name)) for name in _LEARNT]
        return [name for name, value in given if isinstance(value, Literal) and value.value]

    @property
    def shuffles(self) -> bool | None:
        """It shuffles, which is its default; None if the source does not say."""
        value = self.option("shuffle")
        if value is None:
            return True
        return bool(value.value) if isinstance(value, Literal) else None

    def option(self, name: str) -> Value | None:
        """Return an option of the flow; None if it was not given."""
        return self.call.argument(None, name)

    def constant(self, name: str, default: object = None) -> object:
        """Return an option that the source says; `default` if it was not given, "?" if it is not known."""
        value = self.option(name)
        if value is None:
            return default
        return value.value if isinstance(value, Literal) else "?"

    @property
    def directory(self) -> Value | None:
        """The folder that it reads."""
        position = _FLOWS[self.call.name]
        return None if position is None else self.call.argument(position, "directory")


def flow_of(value: Value | None) -> Flow | None:
    """Return what a value says about an image generator, if it is one.

    >>> flow_of(Call(".flow", Call("keras.preprocessing.image.ImageDataGenerator", None))).shuffles
    True
    """
    if not isinstance(value, Call) or value.name not in _FLOWS or not isinstance(value.receiver, Call):
        return None
    return Flow(value, value.receiver) if value.receiver.name.endswith(".ImageDataGenerator") else None


def paired_flows(calls: Iterable[Call]) -> Iterator[tuple[Call, Flow, Flow]]:
    """Yield two flows that are zipped, or of which one function takes the next batch in turn, with the call."""
    taken: dict[tuple[str, ...], list[tuple[Call, Flow]]] = {}
    for call in calls:
        if call.name == "builtins.zip":
            flows = [flow_of(one) for one in call.args]
            if len(flows) == 2 and flows[0] is not None and flows[1] is not None:
                yield call, flows[0], flows[1]
        elif call.name in _NEXT and call.within:
            for one in options_of(call.receiver or call.argument(0)):
                flow = flow_of(one)
                taken.setdefault(call.within, []).extend([] if flow is None else [(call, flow)])
    for pairs in taken.values():
        distinct = list({id(flow.call): (call, flow) for call, flow in pairs}.values())
        if len(distinct) == 2:
            yield distinct[1][0], distinct[0][1], distinct[1][1]

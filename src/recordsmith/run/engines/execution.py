"""How a run is carried out, as it was asked for: by which engine, in parts or as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from recordsmith.errors import RecordsmithError, advise, did_you_mean, list_names
from recordsmith.run.engines.engine import Engine
from recordsmith.run.engines.local_engine import LocalEngine
from recordsmith.run.engines.part import Part
from recordsmith.run.option_checks import checked_workers

__all__ = ["EngineName", "Execution"]

EngineName = Literal["local", "ray"]

_ENGINES = ("local", "ray")


@dataclass(frozen=True)
class Execution:
    """How a run is carried out.

    Attributes:
        engine: "local" or "ray".
        address: that of a Ray cluster; None: the one that this process is connected to, or a new one on this machine.
        workers: how many work at a time; None: one for each processor.
        part: do one part of the work alone.
        finish: do what is left when all parts are done.
    """

    engine: EngineName = "local"
    address: str | None = None
    workers: int | None = None
    part: Part | None = None
    finish: bool = False

    @classmethod
    def checked(cls, out: str, *, is_file: bool = False, part: Any = None, **given: Any) -> Execution:
        """Check what was asked for."""
        checked = cls(**given, part=None if part is None else Part.parse(part))
        if checked.engine not in _ENGINES:
            raise RecordsmithError(
                f"There is no engine {checked.engine!r}.{did_you_mean(str(checked.engine), _ENGINES)}",
                expected=list_names(_ENGINES),
            )
        if checked.engine != "ray" and checked.address is not None:
            raise RecordsmithError(
                advise("{address} is only for a Ray cluster.", address=...),
                advice=advise("Add {engine}, or leave out {address}.", engine="ray", address=...),
            )
        if part is not None and checked.finish:
            raise RecordsmithError(
                advise("{part} and {finish} cannot be used together: they are two steps.", part=..., finish=...),
                advice=advise("Run all parts first, then once more with only {finish}.", finish=True),
            )
        if checked.in_parts and checked.engine == "ray":
            raise RecordsmithError(
                advise(
                    "{part} and {finish} cannot be used with Ray, which divides the work itself.", part=..., finish=...
                )
            )
        if checked.in_parts and is_file:
            raise RecordsmithError(
                "With parts, the output must be a folder or the URL of one.",
                path=out,
                advice="Give a folder. A finished dataset can be copied to one file with rs.copy.",
            )
        return checked

    @property
    def in_parts(self) -> bool:
        """Whether the work is divided among the jobs of a job array."""
        return self.part is not None or self.finish

    @property
    def is_shared(self) -> bool:
        """Whether several machines do the work."""
        return self.in_parts or self.engine == "ray"

    def open(self) -> Engine:
        """Return the engine, to be used in a with statement."""
        if self.engine == "ray":
            from recordsmith.run.engines.ray_engine import RayEngine

            return RayEngine(self.address, self.workers)
        return LocalEngine(checked_workers(self.workers))

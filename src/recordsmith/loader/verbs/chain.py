"""What every verb is a method of."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

from recordsmith.loader.plan import Plan

__all__ = ["Chain", "LoaderT"]

LoaderT = TypeVar("LoaderT")


class Chain(Generic[LoaderT]):
    """What a dataset and a loader have in common: a plan, and verbs that make a new loader and change nothing."""

    @property
    @abstractmethod
    def plan(self) -> Plan:
        """The plan that the chain of verbs describes."""

    @abstractmethod
    def _then(self, plan: Plan) -> LoaderT:
        """Return the loader of another plan."""

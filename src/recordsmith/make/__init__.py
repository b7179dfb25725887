"""Making datasets: sources, parallel work, splits, balance, shards, resume."""

import sys
from types import ModuleType
from typing import Any

from recordsmith.make import finish, sources

__all__ = ["finish", "sources"]


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from recordsmith.make.maker import make

        return make(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable

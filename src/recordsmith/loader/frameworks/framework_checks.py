"""What frameworks need of a loader, and what they cannot be given, as far as that is known when the chain is built."""

from __future__ import annotations

from recordsmith.errors import PipelineError
from recordsmith.loader.plan import Plan
from recordsmith.schema.features.encoded import EncodedFeature
from recordsmith.schema.features.strings import StringFeature

__all__ = ["absent_values", "check_fed"]


def check_fed(plan: Plan, framework: str, verb: str) -> None:
    """Refuse a chain without batches, and features of which rows may be absent.

    What a filter leaves is not known before: a batch that lacks values is then refused when it comes.
    """
    if plan.batching is None:
        raise PipelineError("There are no batches yet.", advice=f"Write .batch(n) before .{verb}().")
    for name, feature in ({} if plan.drops_rows else plan.features or {}).items():
        if feature.presence == "optional" and not isinstance(feature, (StringFeature, EncodedFeature)):
            raise absent_values(framework, name)


def absent_values(framework: str, name: str | None) -> PipelineError:
    """Return the error for rows that are absent.

    >>> print(absent_values("PyTorch", "age"))
    Some rows may lack this feature, and PyTorch has no tensor for missing values.
      where:    feature 'age'
      to do:    Leave these rows out with .filter(), fill in values with .map(), ...
    """
    return PipelineError(
        f"Some rows may lack this feature, and {framework} has no tensor for missing values.",
        feature=name,
        advice="Leave these rows out with .filter(), fill in values with .map(), give the feature a default in the "
        "schema, or leave it out with .select().",
    )

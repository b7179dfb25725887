"""The rules about code, family P; one module for each subject."""

from __future__ import annotations

from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.order import ORDER_RULES
from recordsmith.findings import RuleSet

__all__ = ["RULES"]

RULES: RuleSet[Program] = RuleSet([*ORDER_RULES])

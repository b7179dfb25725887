"""Findings and rules: what is common to `check`, `lint` and `diagnose`. Knows neither data nor code nor terminals."""

from recordsmith.findings.finding import Finding, Location, Severity
from recordsmith.findings.rule import Rule, RuleSet, RuleText, rule

__all__ = ["Finding", "Location", "Rule", "RuleSet", "RuleText", "Severity", "rule"]

"""Findings and rules: what is common to `check`, `lint` and `diagnose`. Knows neither data nor code nor terminals."""

from recordsmith.rules.baseline import Baseline
from recordsmith.rules.configuration import Configuration, load_configuration
from recordsmith.rules.finding import Finding, Location, Severity
from recordsmith.rules.judge import Judge
from recordsmith.rules.rule import Rule, RuleSet, RuleText, rule
from recordsmith.rules.selection import Selection, severity_from

__all__ = [
    "Baseline",
    "Configuration",
    "Finding",
    "Judge",
    "Location",
    "Rule",
    "RuleSet",
    "RuleText",
    "Selection",
    "Severity",
    "load_configuration",
    "rule",
    "severity_from",
]

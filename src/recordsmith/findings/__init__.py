"""Findings and rules: what is common to `check`, `lint` and `diagnose`. Knows neither data nor code nor terminals."""

from recordsmith.findings.baseline import Baseline
from recordsmith.findings.configuration import Configuration, load_configuration
from recordsmith.findings.finding import Finding, Location, Severity
from recordsmith.findings.rule import Rule, RuleSet, RuleText, rule
from recordsmith.findings.selection import Selection, severity_from

__all__ = [
    "Baseline",
    "Configuration",
    "Finding",
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

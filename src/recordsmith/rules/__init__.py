"""What a rule and a finding are, select, baseline and configuration: shared by `check`, `lint` and `diagnose`."""

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

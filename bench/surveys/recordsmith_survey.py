"""The facts of a dataset by recordsmith, and of them the numbers that both ways have to agree on."""

from __future__ import annotations

from recordsmith.facts.survey import survey as survey_files
from recordsmith.facts.value_facts import FeatureFacts


def survey(_dataset: str, paths: list[str], threads: int) -> dict[str, list[float]]:
    """Collect all facts."""
    facts = survey_files(paths, threads=threads, decode="none")
    answer = {feature.name: _numbers(feature) for feature in facts.features}
    assert facts.duplicates is not None
    runs = [max(label.longest_run.values()) for label in facts.labels]
    answer["the records"] = [float(sum(facts.duplicates.within.values())), float(runs[0])]
    return answer


def _numbers(feature: FeatureFacts) -> list[float]:
    if feature.strings is not None:
        strings = feature.strings
        spaces = max(strings.leading_space, strings.trailing_space)
        lengths = strings.lengths
        return [float(strings.count), float(lengths.min), float(lengths.max), lengths.mean, float(spaces)]
    numbers = feature.numbers
    assert numbers is not None
    found = (numbers.count, numbers.min, numbers.max, numbers.mean, numbers.deviation, numbers.zeros, numbers.nan)
    return [float(number or 0) for number in found]

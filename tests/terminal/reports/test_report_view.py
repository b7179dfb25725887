"""Reports on terminals, wide, narrow, without colours and with hostile data."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from recordsmith.report import Report
from recordsmith.rules import Finding, Location, Severity
from recordsmith.terminal.reports.report_view import report_blocks
from tests.made_reports import diagnose_report, hostile_report, lint_report, pets_report


def shown(report: Report, width: int = 120, *, colour: bool = False) -> str:
    output = io.StringIO()
    console = Console(
        file=output, width=width, force_terminal=colour, color_system="standard" if colour else None, highlight=False
    )
    console.print(report_blocks(report, width=width))
    return output.getvalue()


@pytest.mark.parametrize("made", [pets_report, lint_report, diagnose_report, hostile_report])
@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_lines_fit_the_terminal(made, width):
    lines = shown(made(), width).split("\n")
    assert max(len(line.rstrip()) for line in lines) <= width


@pytest.mark.parametrize("width", [60, 120])
def test_what_there_is_and_what_is_wrong_with_it(width):
    text = " ".join(shown(pets_report(), width).split())
    for words in (
        "records 12,000 (train 10,000, val 1,000, test 1,000)",
        "1.15 GB in 12 files, not compressed",
        "declared by data/recordsmith.json",
        "jpeg image",
        "0.4..71.5 mean 12.75 ± 9.5 2 NaN",
        '"cat" 58 %, "dog" 35 %',
        "cat 7,000 58.3 %",
        "pets-train",
        "1 damage",
        "error F002 data-crc-wrong",
        "to do Strip the texts before writing them.",
        "data: 2 errors, 2 warnings, 1 info",
    ):
        assert words in text


def test_a_wide_terminal_has_a_table_and_a_narrow_one_a_list():
    assert "feature            type        shape      present" in shown(pets_report(), 120)
    narrow = shown(pets_report(), 60)
    assert "weight  float32  in 83 %\n" in narrow
    assert "present" not in narrow


def test_histograms_are_drawn():
    line = next(line for line in shown(pets_report()).split("\n") if line.startswith("weight"))
    assert "▃▆█▇▅▂▁" in line


def test_code_has_carets_and_its_correction():
    assert (
        "    12 │ ds = ds.repeat().shuffle(1000)\n       │      ^^^^^^^^^^^\n    12 + ds = ds.shuffle(1000).repeat()\n"
    ) in "\n".join(line.rstrip() for line in shown(lint_report()).split("\n"))


def test_code_that_is_long_or_wide_stays_readable():
    place = Location("a.py", line=1, column=3, end_line=3, end_column=2)
    quoted = f"x = f(\n    {'long_name, ' * 20}\n)"
    text = shown(Report("lint", (Finding("P001", "wide", Severity.ERROR, "Wide.", place, quoted=quoted),)), 60)
    lines = [line.rstrip() for line in text.split("\n")]
    start = lines.index("    1 │ x = f(")
    assert lines[start + 1] == "      │   ^^^^"
    assert lines[start + 2].startswith("    2 │     long_name, long_name,")
    assert lines[start + 2].endswith("…")
    assert lines[start + 3] == "    3 │ )"


def test_colours_say_the_severity_and_are_left_out_elsewhere():
    assert "\x1b[1;31merror" in shown(pets_report(), colour=True)
    assert "\x1b[1;33mwarning" in shown(pets_report(), colour=True)
    assert "\x1b" not in shown(pets_report())


def test_hostile_texts_steer_nothing():
    text = shown(hostile_report())
    assert not any(char in text for char in "\x1b\x07\r\u202e\u2066\ufeff\0")
    assert len(text) < 60_000


def test_many_findings_of_one_rule_are_counted_and_share_their_advice():
    findings = tuple(
        Finding("V002", "constant", Severity.WARNING, f"{n}.", Location(feature=f"x{n:02}"), "Leave them out.")
        for n in range(30)
    )
    text = shown(Report("check", findings))
    assert text.count("V002 constant") == 1
    assert "30 findings" in text
    assert "and 20 more" in text
    assert text.count("Leave them out.") == 1


def test_sections_are_told():
    text = shown(diagnose_report())
    assert "cat  40×60×3  record 0" in text
    assert "as it arrives" in text
    assert "nan" in text
    assert "The images are not." in text

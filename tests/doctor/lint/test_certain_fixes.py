"""Rules whose correction is certain: the corrected program has the mistake no more, and differs in that place only."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from recordsmith.doctor.lint.lint import lint_and_fix

BROKEN = Path(__file__).resolve().parents[2] / "zoo" / "broken"


@pytest.mark.parametrize(
    ("program", "code", "corrected"),
    [
        ("reshuffled_split", "P200", "reshuffle_each_iteration=False"),
        ("split_in_wrong_order", "P205", "X_train, X_test, y_train, y_test = train_test_split("),
        ("fitted_again_on_test_data", "P212", "X_test = sc.transform(X_test)"),
        ("class_map_interpolated", "P243", 'mask = tf.image.resize(mask, (96, 96), method="nearest")'),
        ("class_numbers_by_chance", "P250", "enumerate(sorted(os.listdir(folder)))"),
        ("monitor_in_wrong_direction", "P258", 'mode="max"'),
        ("embedding_too_small", "P261", "len(tok.word_index) + 1"),
    ],
)
def test_the_correction_removes_the_mistake(tmp_path: Path, program: str, code: str, corrected: str) -> None:
    path = tmp_path / "program.py"
    shutil.copy(BROKEN / f"{program}.py", path)
    before = path.read_text()
    report, fixed = lint_and_fix(path)
    after = path.read_text()
    assert [finding.code for one in fixed for finding in one.findings] == [code]
    assert code not in {finding.code for finding in report.findings}
    assert corrected in after
    assert corrected not in before
    assert len(after.splitlines()) == len(before.splitlines())

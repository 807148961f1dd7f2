"""The limits of continuous integration."""

import re
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / ".ci" / "run"


def test_the_limits_of_all_stages_together_are_less_than_an_hour():
    text = SCRIPT.read_text()
    limits = [int(seconds) for seconds in re.findall(r"\b(?:stage|timeout)(?: --kill-after=\d+)? (\d+) ", text)]
    limits += [150] * (text.count("\nrclpy ") - 1)  # the limit of rclpy is there once, and holds for each distribution
    assert len(limits) == 8
    assert sum(limits) < 3600

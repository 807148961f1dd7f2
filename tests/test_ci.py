"""The limits of continuous integration."""

import re
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / ".ci" / "run"


def test_the_limits_of_all_stages_together_are_less_than_an_hour():
    limits = [int(seconds) for seconds in re.findall(r"\b(?:stage|timeout) (\d+) ", SCRIPT.read_text())]
    assert len(limits) >= 5
    assert sum(limits) < 3600

"""The page "Where compliance decides" tells what the file of the registered run holds."""

import re
from pathlib import Path

from pliant.learn.compliance.results import read_results

FOLDER = Path(__file__).parents[2] / "docs" / "learn"
ROW = re.compile(r"^\| `(\w+)` \| `(\w+)` \| `(\w+)` \| (\S+) \((\S+) to (\S+)\).* \| (\S+) \| (.+) \|$", re.MULTILINE)


def test_the_table_of_results_is_that_of_the_registered_run():
    results = read_results(FOLDER / "compliance.json")
    assert results.seed == 2
    told = ROW.findall((FOLDER / "compliance.md").read_text(encoding="utf-8"))
    found = [
        (c.task, c.claim.better, c.claim.than, *(f"{v:+.3g}" for v in (c.difference.value, c.difference.low)),
         f"{c.difference.high:+.3g}", f"{c.corrected:.2g}", c.verdict)
        for c in results.claims()
    ]  # fmt: skip
    assert told == [
        (*row[:3], *(w if w.startswith(("+", "-")) else f"+{w}" for w in row[3:6]), *row[6:]) for row in found
    ]
    assert len(told) == 8

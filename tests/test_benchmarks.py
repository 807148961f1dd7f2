"""Each benchmark says what it measures and what can be typed behind its name, without measuring anything."""

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
PEERS = {"ros1_echo.py", "zenoh_peer.py"}
"""Programs that a benchmark starts."""


@pytest.mark.parametrize("path", [p for p in sorted(FOLDER.glob("*.py")) if p.name not in PEERS], ids=lambda p: p.stem)
def test_a_benchmark_answers_help(path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(path), "--help"])
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: {path.name}")
    assert len(said.split("\n\n", 1)[1].split()) > 8

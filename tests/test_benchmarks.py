"""Each benchmark says what it measures and what can be typed behind its name, without measuring anything."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.learn.compliance import Budget

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


def test_the_network_of_the_ppo_benchmark_learns_a_curve_and_its_gradient_is_that_of_its_outputs():
    network_type = runpy.run_path(str(FOLDER / "compliance_ppo.py"))["Network"]
    rng = np.random.default_rng(0)
    network, x = network_type(1, 1, rng, 1.0), np.linspace(-2.0, 2.0, 64)[:, None]
    goal = np.sin(2.0 * x)
    for _ in range(3000):
        network.learn((network(x) - goal) / len(x))
    assert np.abs(network(x) - goal).max() < 0.1


def test_ppo_lowers_the_cost_of_a_catch_in_a_few_rounds():
    program = runpy.run_path(str(FOLDER / "compliance_ppo.py"))
    cost, history = program["trained"](1, 0, Budget(population=12, rounds=4, episodes=4, held_out=6), 1)
    assert cost.shape == (6,)
    assert min(history[2:]) < history[0]

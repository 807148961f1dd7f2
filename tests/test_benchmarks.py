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
    budget = Budget(population=12, rounds=4, episodes=4, held_out=6)
    cost, history = program["trained"](program["GAMES"]["catch"], 1, 0, budget, 1)
    assert cost.shape == (6,)
    assert min(history[2:]) < history[0]


@pytest.mark.parametrize(("name", "low", "high"), [("throw", -1.0, 3.0), ("wipe", 0.0, 10.0)])
def test_ppo_plays_the_other_tasks_within_their_measures(name, low, high):
    program = runpy.run_path(str(FOLDER / "compliance_ppo.py"))
    game, rng = program["GAMES"][name], np.random.default_rng(0)
    actor = program["Actor"](program["Network"](game.inputs, game.outputs, rng, 0.01), np.full(game.outputs, 0.5), rng)
    found, rollout = game.play(actor, range(2), 1)
    assert found.shape == (1, 2)
    assert ((low < found) & (found <= high)).all()
    assert rollout.states.shape[1:] == (2, game.inputs)
    assert rollout.lengths.max() <= len(rollout.states) == len(rollout.actions)
    assert (rollout.lengths > 5).all()
    assert np.isfinite(rollout.states).all()


def test_the_reward_of_ppo_is_that_of_the_last_action_that_counts():
    program = runpy.run_path(str(FOLDER / "compliance_ppo.py"))
    rng = np.random.default_rng(0)
    actor, critic = program["Network"](1, 1, rng, 0.01), program["Network"](1, 1, rng, 0.01)
    states = np.zeros((30, 64, 1))
    actions = 0.5 * rng.standard_normal(states.shape)
    lengths = np.full(64, 3)
    gain = actions[:3, :, 0].sum(axis=0)  # what comes after the third action must teach nothing
    actions[3:] = 5.0
    program["improve"](actor, critic, np.array([0.5]), program["Rollout"](states, actions, lengths), gain, rng)
    assert 0.0 < float(actor(np.zeros((1, 1)))[0, 0]) < 1.0


def test_the_table_of_walks_judges_pairs_of_the_same_seeds():
    program = runpy.run_path(str(FOLDER / "compliance_walk.py"))
    stiff, free = program["STIFF"], program["FREE"]
    cells = {
        (controller, 0.02, feet, ankles): [feet == "soft" or ankles == free] * 30 + [True] * 10
        for controller in program["CONTROLLERS"]
        for feet in program["FEET"]
        for ankles in (free, stiff)
    }
    text = "\n".join(program["report"](cells))
    assert "| soft, 100 | rigid, 100 | +75 % (+57 to +86) | 30 : 0 | 1.9e-08 | better |" in text
    assert "| soft, 0 | rigid, 0 | +0 % (-9 to +9) | 0 : 0 | 1 | no difference |" in text

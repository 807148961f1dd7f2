"""Each benchmark says what it measures and what can be typed behind its name, without measuring anything."""

import dataclasses
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


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_an_algorithm_plays_a_few_rounds_of_catches_and_ppo_lowers_their_cost(algorithm):
    if algorithm == "sac":
        pytest.importorskip("stable_baselines3")
    program = runpy.run_path(str(FOLDER / "compliance_ppo.py"))
    budget = Budget(population=12, rounds=4, episodes=4, held_out=6)
    cost, history = program["trained"](program["GAMES"]["catch"], algorithm, 1, 0, budget, 1)
    assert cost.shape == (6,)
    assert np.isfinite(cost).all()
    assert len(set(history)) == budget.rounds
    assert algorithm == "sac" or min(history[2:]) < history[0]  # SAC needs more than these rounds


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
    game = dataclasses.replace(program["GAMES"]["catch"], inputs=1, outputs=1)
    rng = np.random.default_rng(0)
    learner = program["Ppo"](game, rng)
    states = np.zeros((30, 64, 1))
    actions = 0.5 * rng.standard_normal(states.shape)
    lengths = np.full(64, 3)
    gain = actions[:3, :, 0].sum(axis=0)  # what comes after the third action must teach nothing
    actions[3:] = 5.0
    learner.improve(program["Rollout"](states, actions, lengths), gain)
    assert 0.0 < float(learner.actor(explore=False)(np.zeros(1))[0, 0]) < 1.0


def test_sac_remembers_the_actions_that_count_with_the_reward_at_the_last():
    pytest.importorskip("stable_baselines3")
    program = runpy.run_path(str(FOLDER / "compliance_ppo.py"))
    game = dataclasses.replace(program["GAMES"]["catch"], inputs=1, outputs=1)
    learner = program["Sac"](game, np.random.default_rng(0))
    states = np.arange(10.0).reshape(5, 2, 1)
    learner.improve(program["Rollout"](states, states / 10.0, np.array([3, 5])), np.array([7.0, -2.0]))
    kept, n = learner._model.replay_buffer, 8
    assert kept.pos == n
    assert kept.observations[:n, 0, 0].tolist() == [0, 2, 4, 1, 3, 5, 7, 9]
    assert kept.rewards[:n, 0].tolist() == [0, 0, 7, 0, 0, 0, 0, -2]
    assert kept.dones[:n, 0].tolist() == [0, 0, 1, 0, 0, 0, 0, 1]
    assert kept.next_observations[:2, 0, 0].tolist() == [2, 4]


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


def test_the_next_scene_s_box_is_observed_moved_as_the_true_one(monkeypatch):
    from pliant.lerobot import ArmOptions, ArmSession

    program = runpy.run_path(str(FOLDER / "lerobot_push.py"))
    session = ArmSession(ArmOptions(scene="state", episode=7))
    place = program["box_place"](0, 7)
    monkeypatch.setattr(ArmSession, "observe", lambda self: {"box.x": place[0] + 0.05, "box.y": place[1], "time": 1.0})
    program["shuffle"]()
    seen = session.observe()
    assert [seen["box.x"] - 0.05, seen["box.y"]] == pytest.approx(program["box_place"](0, 8))
    assert seen["time"] == 1.0

"""PPO on the task `catch` of `pliant bench compliance`, with the episodes of its searches, against their results.

Usage: python benchmarks/compliance_ppo.py [--runs 10] [--factor 1] [--results docs/learn/compliance.json]

Each run trains on the episodes of one search of the registered run, as many as the search has (`--factor` times as
many), and is judged in the same held-out episodes. A network of two layers sees whether and how long ago the hand felt
the mass, angle and velocity of the joint and its own last action, and gives the change of the reference and the preset
every 20 ms. It begins in the middle of the ranges with the spread of the searches. The reward is the task's own: minus
the cost, at the end of the episode. NumPy only.
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import dataclass

import numpy as np

from pliant.base.numerics import Array, holm
from pliant.learn.compliance.episodes import PRESETS, Episodes
from pliant.learn.compliance.results import Results, read_results
from pliant.learn.compliance.runs import Budget, held_out_seeds, training_seeds
from pliant.learn.compliance.statistics import interval, sign_flip
from pliant.learn.compliance.tasks.catch import CHECK_STEPS, JOINT, LEVEL, TASK, build_catcher, simulate

PERIOD = 5 * CHECK_STEPS
"""Steps of the engine between two actions [ms]."""
CHANGE = 0.6
"""Largest change of the reference [rad], that of the searched parameters."""
HIDDEN, EPOCHS, PART, RATE, CLIP, GAMMA, LAMBDA, SPREAD = 32, 10, 512, 1e-3, 0.2, 0.99, 0.95, 0.5


class Network:
    """Two hidden layers with tanh, trained by Adam."""

    def __init__(self, inputs: int, outputs: int, rng: np.random.Generator, last: float) -> None:
        sizes = [inputs, HIDDEN, HIDDEN, outputs]
        self.parts = [rng.normal(0.0, 1.0 / np.sqrt(n), (n, m)) for n, m in itertools.pairwise(sizes)]
        self.parts[-1] *= last
        self.parts += [np.zeros(m) for m in sizes[1:]]
        self.moments = [(np.zeros_like(p), np.zeros_like(p)) for p in self.parts]
        self.count = 0

    def __call__(self, x: Array) -> Array:
        """Return the outputs, and keep what `learn` needs."""
        self.kept = [x]
        for k in range(2):
            self.kept.append(np.tanh(self.kept[-1] @ self.parts[k] + self.parts[3 + k]))
        return self.kept[-1] @ self.parts[2] + self.parts[5]

    def learn(self, gradient: Array) -> None:
        """Go one step down the gradient of a loss by the outputs of the last call."""
        found: list[Array] = [np.zeros(0)] * 6
        for k in (2, 1, 0):
            found[k], found[3 + k] = self.kept[k].T @ gradient, gradient.sum(axis=0)
            gradient = (gradient @ self.parts[k].T) * (1.0 - self.kept[k] ** 2)
        norm = np.sqrt(sum(float(np.square(g).sum()) for g in found))
        self.count += 1
        for part, g, (first, second) in zip(self.parts, found, self.moments, strict=True):
            g = g * min(1.0, 0.5 / (norm + 1e-9))
            first += 0.1 * (g - first)
            second += 0.001 * (g * g - second)
            scale = np.sqrt(second / (1.0 - 0.999**self.count)) + 1e-8
            part -= RATE * first / (1.0 - 0.9**self.count) / scale


@dataclass(slots=True)
class Rollout:
    """Actions of all worlds of a round; shape (steps, worlds, n)."""

    states: list[Array]
    actions: list[Array]


def episodes(actor: Network, seeds: range, copies: int, spread: Array | None, rng: np.random.Generator):
    """Run one episode for each seed and copy; return the measures of the task and what was done."""
    parameters = np.tile([p.rule for p in TASK.parameters], (copies, 1))
    run = Episodes(build_catcher, parameters, [p.name for p in TASK.parameters], seeds)
    angle, rate = run.batch.port(f"{JOINT}/position"), run.batch.port(f"{JOINT}/velocity")
    rollout = Rollout([], [])
    held, calls = np.zeros((run.batch.worlds, 2)), 0

    def command(felt: Array) -> tuple[Array, Array]:
        nonlocal held, calls
        if calls % (PERIOD // CHECK_STEPS) == 0:
            state = np.column_stack(
                [felt > 0.0, np.clip(felt, 0.0, 1.0), 5.0 * (angle[:, 0] - LEVEL), 0.2 * rate[:, 0], held]
            )
            action = actor(state)
            if spread is not None:
                action = action + spread * rng.standard_normal(action.shape)
            rollout.states.append(state)
            rollout.actions.append(action)
            held = np.clip(action, -1.0, 1.0)
        calls += 1
        middle, half = 0.5 * sum(PRESETS), 0.5 * (PRESETS[1] - PRESETS[0])
        return CHANGE * held[:, 0], middle + half * held[:, 1]

    found = simulate(run, np.full(run.batch.worlds, 0.5 * sum(PRESETS)), command)
    return found, rollout


def improve(actor: Network, critic: Network, spread: Array, rollout: Rollout, cost: Array, rng: np.random.Generator):
    """Make one round of PPO from the episodes of a round; return the new spread."""
    states, actions = np.array(rollout.states), np.array(rollout.actions)
    steps, worlds, n = states.shape
    values = critic(states.reshape(-1, n)).reshape(steps, worlds)
    advantages, ahead, later = np.zeros_like(values), np.zeros(worlds), np.zeros(worlds)
    for k in reversed(range(steps)):  # generalised advantage estimation; the only reward is that of the last step
        reward = -cost if k == steps - 1 else 0.0
        ahead = reward + GAMMA * later - values[k] + GAMMA * LAMBDA * ahead
        advantages[k], later = ahead, values[k]
    targets = (advantages + values).reshape(-1)
    states, actions = states.reshape(-1, n), actions.reshape(-1, actions.shape[-1])
    gains = advantages.reshape(-1)
    before = -0.5 * (((actions - actor(states)) / spread) ** 2).sum(axis=1) - np.log(spread).sum()
    for _ in range(EPOCHS):
        for part in np.array_split(rng.permutation(len(states)), max(1, len(states) // PART)):
            x, a = states[part], actions[part]
            gain = (gains[part] - gains[part].mean()) / (gains[part].std() + 1e-8)
            distance = (a - actor(x)) / spread
            ratio = np.exp(-0.5 * (distance**2).sum(axis=1) - np.log(spread).sum() - before[part])
            inside = np.where(gain > 0.0, ratio < 1.0 + CLIP, ratio > 1.0 - CLIP)
            weight = -(gain * ratio * inside)[:, None] / len(part)
            actor.learn(weight * distance / spread)
            spread = spread * np.exp(-RATE * np.sign((weight * (distance**2 - 1.0)).sum(axis=0)))
            critic.learn((critic(x)[:, 0] - targets[part])[:, None] / len(part))
    return spread


def trained(seed: int, run: int, budget: Budget, factor: int) -> tuple[Array, list[float]]:
    """Return the cost of each held-out episode after one training, and the mean cost of each of its rounds."""
    rng = np.random.default_rng([seed, run, factor])
    actor, critic = Network(6, 2, rng, 0.01), Network(6, 1, rng, 1.0)
    spread, history = np.full(2, SPREAD), []
    for k in range(budget.rounds * factor):
        found, rollout = episodes(actor, training_seeds(seed, run, k, budget), budget.population, spread, rng)
        cost = found["cost"].reshape(-1)
        history.append(float(cost.mean()))
        spread = improve(actor, critic, spread, rollout, cost, rng)
    return episodes(actor, held_out_seeds(seed, budget), 1, None, rng)[0]["cost"][0], history


def compare(results: Results, costs: Array) -> None:
    """Print the score of PPO, and its differences from the methods of the registered run."""
    rng = np.random.default_rng([results.seed, 1])
    score = interval(costs, rng)
    print(f"ppo: {score.value:.3g} ({score.low:.3g} to {score.high:.3g}) N m")
    others = ("fixed", "variable", "rule", "stiff")
    pairs = [costs - results.matrix("catch", name, "cost")[: len(costs)] for name in others]
    corrected = holm([sign_flip(pair.mean(axis=1), rng) for pair in pairs])
    for name, pair, p in zip(others, pairs, corrected, strict=True):
        found = interval(pair, rng)
        print(f"ppo minus {name}: {found.value:+.3g} ({found.low:+.3g} to {found.high:+.3g}) N m, p {p:.2g}")


def main() -> None:
    """Train and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--factor", type=int, default=1, help="multiple of the registered budget")
    parser.add_argument("--results", default="docs/learn/compliance.json")
    options = parser.parse_args()
    results, costs = read_results(options.results), []
    for run in range(options.runs):
        start = time.process_time()
        cost, history = trained(results.seed, run, results.budget, options.factor)
        costs.append(cost)
        rounds = " ".join(f"{value:.2f}" for value in history[:: max(1, len(history) // 10)])
        print(
            f"run {run}: {cost.mean():.3f} N m held out; rounds {rounds}; {time.process_time() - start:.0f} s",
            flush=True,
        )
    compare(results, np.array(costs))


if __name__ == "__main__":
    main()

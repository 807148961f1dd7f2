"""PPO or SAC on tasks of `pliant bench compliance`, with the episodes of its searches, against their results.

Usage: python benchmarks/compliance_ppo.py [catch|throw|wipe] [--algorithm ppo] [--runs N] [--factor 1] [--results FILE]

Each run trains on the episodes of one search of the registered run, as many as the search has (`--factor` times as
many), and is judged in the same held-out episodes. A network of two layers sees what the task's robot can measure and
its own last action, and acts every 10 ms (`catch`) or 20 ms (`GAMES`). It begins in the middle of the ranges with the
spread of the searches. The reward is the task's own primary measure, at the end of the episode. PPO needs NumPy
only, SAC stable-baselines3.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pliant.base.numerics import Array, holm
from pliant.learn.compliance.arm import DT
from pliant.learn.compliance.episodes import PRESETS, Episodes
from pliant.learn.compliance.results import Results, read_results
from pliant.learn.compliance.runs import Budget, held_out_seeds, training_seeds
from pliant.learn.compliance.statistics import interval, sign_flip
from pliant.learn.compliance.task import ComplianceTask
from pliant.learn.compliance.tasks import catch, throw, wipe

CATCH_PERIOD, PERIOD = 0.01, 0.02
"""Time between two actions of a catch, and of the other tasks [s]."""
CHANGE = 0.6
"""Largest change of the reference of a catch [rad], that of the searched parameters."""
RELEASE = (0.25, 1.1)
"""Range of the time of the release of a throw [s], that of the searched parameters."""
SAC_HIDDEN, SAC_SHARE = 64, 16
"""Width of the networks of SAC, and actions for each of its gradient steps."""
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


class Actor:
    """What acts in a round of episodes, and what it did.

    Args:
        network: states, shape (worlds, n), to the middle of the actions, shape (worlds, m).
        spread: of the actions about it, shape (m,); None: none.
        rng: random generator.
    """

    def __init__(self, network: Network, spread: Array | None, rng: np.random.Generator) -> None:
        self._network, self._spread, self._rng = network, spread, rng
        self.states: list[Array] = []
        self.actions: list[Array] = []

    def __call__(self, *state: Array | float) -> Array:
        """Act on the columns of a state; return the action within -1 to 1, shape (worlds, m)."""
        self.states.append(np.column_stack([*map(np.atleast_1d, state)]))
        action = self._network(self.states[-1])
        if self._spread is not None:
            action = action + self._spread * self._rng.standard_normal(action.shape)
        self.actions.append(action)
        return np.clip(action, -1.0, 1.0)


@dataclass(slots=True)
class Rollout:
    """What was done in the episodes of a round."""

    states: Array
    """Shape (steps, worlds, n)."""
    actions: Array
    """Shape (steps, worlds, m)."""
    lengths: Array
    """Number of actions that count in each world; the reward is that of the last one."""


@dataclass(frozen=True, slots=True)
class Game:
    """A task as PPO plays it."""

    task: ComplianceTask
    """The task."""
    inputs: int
    """Numbers of a state."""
    outputs: int
    """Numbers of an action."""
    play: Callable[[Actor, Sequence[int], int], tuple[Array, Rollout]]
    """Actor, seeds and copies of each -> the primary measure, shape (copies, seeds), and what was done."""
    results: str = field(default="docs/learn/compliance.json", kw_only=True)
    """File of the registered run."""


def scaled(u: Array, low: float, high: float) -> Array:
    """Return the places from -1 (low) to 1 (high)."""
    return 0.5 * (low + high) + 0.5 * (high - low) * u


def play_catch(actor: Actor, seeds: Sequence[int], copies: int) -> tuple[Array, Rollout]:
    """See whether and how long ago the mass was felt, angle and velocity; give change of the reference, and preset."""
    run = worlds(catch.TASK, catch.build_catcher, seeds, copies)
    angle, rate = run.batch.port(f"{catch.JOINT}/position"), run.batch.port(f"{catch.JOINT}/velocity")
    held, calls = np.zeros((run.batch.worlds, 2)), itertools.count()

    def command(felt: Array) -> tuple[Array, Array]:
        nonlocal held
        if next(calls) % round(CATCH_PERIOD / (catch.CHECK_STEPS * run.dt)) == 0:
            turned = 5.0 * (angle[:, 0] - catch.LEVEL)
            held = actor(felt > 0.0, np.clip(felt, 0.0, 1.0), turned, 0.2 * rate[:, 0], held)
        return CHANGE * held[:, 0], scaled(held[:, 1], *PRESETS)

    found = catch.simulate(run, np.full(run.batch.worlds, scaled(np.zeros(1), *PRESETS)[0]), command)
    return found["cost"], Rollout(*map(np.array, (actor.states, actor.actions)), _all(actor))


def play_throw(actor: Actor, seeds: Sequence[int], copies: int) -> tuple[Array, Rollout]:
    """See angles, velocities, time and work; give references, preset and the time of the release."""
    run = worlds(throw.TASK, throw.build_thrower, seeds, copies)
    low = np.array([_bounds(throw.TASK, f"back_{k}")[0] for k in (1, 2)])
    high = np.array([_bounds(throw.TASK, f"ahead_{k}")[1] for k in (1, 2)])
    ports = [run.batch.port(f"{joint}/{q}") for joint in throw.JOINTS for q in ("position", "velocity")]
    held, calls = np.zeros((run.batch.worlds, 4)), itertools.count()
    left = np.full(run.batch.worlds, np.inf)
    length = np.zeros(run.batch.worlds, dtype=int)

    def command(moment: float) -> tuple[list[Array], Array, Array]:
        nonlocal held, left
        if next(calls) % round(PERIOD / (throw.CHECK_STEPS * run.dt)) == 0:
            seen = [scale * port[:, 0] for port, scale in zip(ports, (1.0, 0.2) * 2, strict=True)]
            spent = run.work / throw.BUDGET
            length[np.isinf(left) & (spent < 1.0)] += 1
            held = actor(*seen, np.full(len(spent), moment), spent, held)
        asked = scaled(held[:, 3], *RELEASE)
        left = np.where(np.isinf(left) & (moment >= asked), moment, left)
        references = [scaled(held[:, k], low[k], high[k]) for k in range(2)]
        return references, scaled(held[:, 2], *PRESETS), left

    found = throw.simulate(run, np.full(run.batch.worlds, scaled(np.zeros(1), *PRESETS)[0]), command)
    return found["distance"], Rollout(*map(np.array, (actor.states, actor.actions)), length)


def play_wipe(actor: Actor, seeds: Sequence[int], copies: int) -> tuple[Array, Rollout]:
    """See phase, felt force, vertical velocity and time; give both stiffnesses, and the speed or the gain.

    The last action is no input, and the reference begins below the first contact by the middle of the press's range.
    """
    found = np.zeros((copies, len(seeds)))
    parts: list[tuple[Array, Array]] = []
    for place in np.ndindex(*found.shape):
        found[place] = _wipe_once(actor, seeds[place[1]])
        parts.append((np.concatenate(actor.states), np.concatenate(actor.actions)))
        actor.states, actor.actions = [], []
    lengths = np.array([len(states) for states, _ in parts])
    states, actions = (
        np.stack([np.pad(part[k], ((0, lengths.max() - len(part[k])), (0, 0))) for part in parts], axis=1)
        for k in range(2)
    )
    return found, Rollout(states, actions, lengths)


def _wipe_once(actor: Actor, seed: int) -> float:
    stiffness = np.log(_bounds(wipe.TASK, "lateral_climb"))
    rates = np.log([_bounds(wipe.TASK, name) for name in ("approach_speed", "gain", "gain")])
    press = float(np.sqrt(np.prod(_bounds(wipe.TASK, "press"))))
    calls, given = itertools.count(), np.zeros(3)

    def command(phase: int, moment: float, felt: float, climb: float) -> tuple[Array, float]:
        nonlocal given
        if next(calls) % round(PERIOD / DT) == 0:
            given = actor(float(phase > 0), felt / wipe.FORCE - 1.0, 10.0 * climb, max(moment, 0.0))[0]
        lateral, vertical = np.exp(scaled(given[:2], *stiffness))
        return np.array([lateral, lateral, vertical]), float(np.exp(scaled(given[2], *rates[phase])))

    return wipe.episode(seed, press, command)[0]


def worlds(task: ComplianceTask, build: Callable, seeds: Sequence[int], copies: int) -> Episodes:
    """Return the worlds of a task of qbMoves, each seed with all copies."""
    return Episodes(
        build, np.tile([p.rule for p in task.parameters], (copies, 1)), [p.name for p in task.parameters], seeds
    )


def _bounds(task: ComplianceTask, name: str) -> tuple[float, float]:
    return next((p.low, p.high) for p in task.parameters if p.name == name)


def _all(actor: Actor) -> Array:
    return np.full(len(actor.states[0]), len(actor.states))


GAMES = {
    "catch": Game(catch.TASK, 6, 2, play_catch),
    "throw": Game(throw.TASK, 10, 4, play_throw),
    "wipe": Game(wipe.TASK, 4, 3, play_wipe, results="docs/learn/compliance-wipe.json"),
}


class Ppo:
    """Proximal policy optimisation; a network each for actions and values."""

    def __init__(self, game: Game, rng: np.random.Generator) -> None:
        self._rng = rng
        self._network, self._critic = Network(game.inputs, game.outputs, rng, 0.01), Network(game.inputs, 1, rng, 1.0)
        self._spread = np.full(game.outputs, SPREAD)

    def actor(self, *, explore: bool) -> Actor:
        """Return what acts in the next episodes."""
        return Actor(self._network, self._spread if explore else None, self._rng)

    def improve(self, rollout: Rollout, gain: Array) -> None:
        """Make one round of PPO from the episodes of a round and what each gained."""
        actor, critic, spread, rng = self._network, self._critic, self._spread, self._rng
        states, actions = rollout.states, rollout.actions
        steps, count, n = states.shape
        values = critic(states.reshape(-1, n)).reshape(steps, count)
        advantages, ahead, later = np.zeros_like(values), np.zeros(count), np.zeros(count)
        for k in reversed(range(steps)):  # generalised advantage estimation; the only reward is that of the last step
            alive, reward = k < rollout.lengths, np.where(k == rollout.lengths - 1, gain, 0.0)
            ahead = alive * (reward + GAMMA * later - values[k] + GAMMA * LAMBDA * ahead)
            advantages[k], later = ahead, alive * values[k]
        alive = np.arange(steps)[:, None] < rollout.lengths
        targets, gains = (advantages + values)[alive], advantages[alive]
        states, actions = states[alive], actions[alive]
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
        self._spread = spread


class Sac:
    """Soft actor-critic of stable-baselines3 with its own defaults, but for what is named here."""

    def __init__(self, game: Game, rng: np.random.Generator) -> None:
        import gymnasium
        from stable_baselines3 import SAC
        from stable_baselines3.common.logger import configure
        from stable_baselines3.common.vec_env import DummyVecEnv

        env = gymnasium.Env()
        env.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (game.inputs,), np.float32)
        env.action_space = gymnasium.spaces.Box(-1.0, 1.0, (game.outputs,), np.float32)
        self._rng, net = rng, {"net_arch": [SAC_HIDDEN, SAC_HIDDEN]}
        self._model = SAC("MlpPolicy", DummyVecEnv([lambda: env]), RATE, 200_000, policy_kwargs=net, device="cpu")
        self._model.set_random_seed(int(rng.integers(2**31)))
        self._model.set_logger(configure(None, []))

    def actor(self, *, explore: bool) -> Actor:
        """Return what acts in the next episodes."""
        return Actor(lambda x: self._model.predict(x, deterministic=not explore)[0], None, self._rng)

    def improve(self, rollout: Rollout, gain: Array) -> None:
        """Remember the episodes of a round, and make a gradient step for each `SAC_SHARE` actions of it."""
        buffer, states = self._model.replay_buffer, rollout.states
        for world, length in enumerate(rollout.lengths):
            for k in range(length):
                last = k == length - 1
                after = states[k if last else k + 1, world]
                reward, done = np.array([gain[world] * last]), np.array([last])
                buffer.add(states[k, world], after, rollout.actions[k, world], reward, done, [{}])
        self._model.train(int(rollout.lengths.sum()) // SAC_SHARE, 256)


ALGORITHMS = {"ppo": Ppo, "sac": Sac}


def trained(game: Game, algorithm: str, seed: int, run: int, budget: Budget, factor: int) -> tuple[Array, list[float]]:
    """Return the measure of each held-out episode after one training, and the mean of each of its rounds."""
    rng = np.random.default_rng([seed, run, factor])
    learner, history = ALGORITHMS[algorithm](game, rng), []
    for k in range(budget.rounds * factor):
        seeds = training_seeds(seed, run, k, budget)
        found, rollout = game.play(learner.actor(explore=True), seeds, budget.population)
        history.append(float(found.mean()))
        learner.improve(rollout, game.task.primary.sign * found.reshape(-1))
    return game.play(learner.actor(explore=False), held_out_seeds(seed, budget), 1)[0][0], history


def compare(game: Game, algorithm: str, results: Results, found: Array) -> None:
    """Print the score of the algorithm, and its differences from the methods of the registered run."""
    rng, measure = np.random.default_rng([results.seed, 1]), game.task.primary
    score = interval(found, rng)
    held = f"{score.value:.3g} ({score.low:.3g} to {score.high:.3g}) {measure.unit}"
    print(f"{algorithm}: {held}, {measure.better} is better")
    others = [method.name for method in game.task.methods]
    pairs = [found - results.matrix(game.task.name, name, measure.name)[: len(found)] for name in others]
    corrected = holm([sign_flip(pair.mean(axis=1), rng) for pair in pairs])
    for name, pair, p in zip(others, pairs, corrected, strict=True):
        d = interval(pair, rng)
        print(f"{algorithm} minus {name}: {d.value:+.3g} ({d.low:+.3g} to {d.high:+.3g}) {measure.unit}, p {p:.2g}")


def main() -> None:
    """Train and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", nargs="?", default="catch", choices=tuple(GAMES))
    parser.add_argument("--algorithm", default="ppo", choices=tuple(ALGORITHMS))
    parser.add_argument("--runs", type=int, default=0, help="trainings; as many as the searches where omitted")
    parser.add_argument("--factor", type=int, default=1, help="multiple of the registered budget")
    parser.add_argument("--results", default="", help="file of the registered run, where it is another")
    options = parser.parse_args()
    game = GAMES[options.task]
    results, rows = read_results(options.results or game.results), []
    for run in range(options.runs or results.budget.runs):
        start = time.process_time()
        found, history = trained(game, options.algorithm, results.seed, run, results.budget, options.factor)
        rows.append(found)
        rounds = " ".join(f"{value:.2f}" for value in history[:: max(1, len(history) // 10)])
        print(
            f"run {run}: {found.mean():.3f} {game.task.primary.unit} held out; rounds {rounds}; "
            f"{time.process_time() - start:.0f} s",
            flush=True,
        )
    compare(game, options.algorithm, results, np.array(rows))


if __name__ == "__main__":
    main()

"""An arm of two variable-stiffness joints learns to throw a ball, with a search that needs no gradients.

You will see how far the best throws of each round of the search (cross-entropy method) reach, for two fixed stiffnesses
and for one that may change during the throw. Give a number of rounds and of throws in each for a longer search.
"""

import sys

import numpy as np

from pliant.learn.envs.tasks.throw import task
from pliant.learn.envs.vector import BatchEnv

KNOTS, SWING, STEPS = 6, 30, 70  # points of a throw; actions until the last one; actions until the ball landed


def actions(plans: np.ndarray, step: int) -> np.ndarray:
    """Return the actions of a step: references and presets between the knots of a plan, then the magnet."""
    curves = plans[:, :-1].reshape(len(plans), KNOTS, 4)
    at = min(step / SWING, 1.0) * (KNOTS - 1)
    first = min(int(at), KNOTS - 2)
    now = curves[:, first] + (at - first) * (curves[:, first + 1] - curves[:, first])
    free = np.where(step * 0.02 >= 0.35 + 0.2 * plans[:, -1], 1.0, -1.0)
    return np.column_stack([now, free])


def throw(env: BatchEnv, plans: np.ndarray) -> np.ndarray:
    """Return how far each plan throws [m]."""
    env.reset(seed=1)
    far, live = np.zeros(len(plans)), np.ones(len(plans), dtype=bool)
    for step in range(STEPS):
        _, rewards, terminated, truncated, _ = env.step(actions(plans, step))
        far[live] += rewards[live]
        live &= ~(terminated | truncated)
        if not live.any():
            break
    return far


def search(env: BatchEnv, rounds: int) -> list[float]:
    """Return the mean distance of the best eighth of the throws in each round [m]."""
    rng = np.random.default_rng(0)
    size = KNOTS * 4 + 1
    mean, spread, best = np.zeros(size), np.full(size, 0.8), np.zeros((0, size))
    reached = []
    for _ in range(rounds):
        plans = np.clip(mean + spread * rng.standard_normal((env.num_envs, size)), -1.2, 1.2)
        plans[: len(best)] = best  # the best so far stay
        far = throw(env, plans)
        order = np.argsort(-far)[: max(2, env.num_envs // 8)]
        best = plans[order]
        mean, spread = 0.3 * mean + 0.7 * best.mean(axis=0), 0.3 * spread + 0.7 * best.std(axis=0) + 0.02
        reached.append(float(far[order].mean()))
    return reached


def main() -> None:
    """Search for three arms."""
    given = sys.argv[1:] or ["5", "48"]
    if len(given) != 2 or not all(text.isdecimal() and int(text) > 0 for text in given):
        sys.exit(f"13_learn_to_throw.py ROUNDS THROWS: must be two whole numbers >= 1, found {' '.join(given)!r}")
    rounds, throws = map(int, given)
    for name, preset in (("soft, 0.1 rad", 0.1), ("stiff, 0.6 rad", 0.6), ("variable", None)):
        env = BatchEnv(task(preset=preset), throws)
        print(f"{name:14s}", " ".join(f"{far:.2f}" for far in search(env, rounds)), "m")


if __name__ == "__main__":
    main()

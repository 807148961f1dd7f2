"""An arm learns to point under an unknown load and to touch gently: with variable stiffness, and with fixed ones.

You will see the error of a linear policy before and after a search that begins stiff to point and soft to touch; what
variable stiffness gains, with its interval; how to run it. ``14_train.py 12 5``: rounds, seeds; five fixed stiffnesses.
"""

import sys

import numpy as np

from pliant.base.figures import COLORS, label, new_figure
from pliant.learn.envs.export import export_policy
from pliant.learn.envs.search import CrossEntropy, episode_returns
from pliant.learn.envs.tasks import touch
from pliant.learn.envs.vector import BatchEnv

INPUTS, ACTIONS, DRAWS, EPISODES = 4, 2, 24, 8  # episodes for each draw; half of them point, half touch
SCALE = np.array([2.0, 20.0, 1.0, 1.0])  # what observations are divided by: angle, speed, target, touch


def score(env: BatchEnv, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the mean returns of linear policies, shape (policies,); each gets the same episodes."""
    layers, episodes = weights.reshape(len(weights), ACTIONS, INPUTS + 1), env.num_envs // len(weights)
    start = {name: np.tile(value, len(weights)) for name, value in touch.start(rng, episodes).items()}
    env.batch.set_parameters({"link.mass": np.tile(touch.LOAD.sample(rng, episodes), len(weights))})

    def act(observations: np.ndarray) -> np.ndarray:
        seen = (observations / SCALE).reshape(len(weights), episodes, INPUTS)
        return (np.einsum("pei,pai->pea", seen, layers[:, :, :-1]) + layers[:, None, :, -1]).reshape(-1, ACTIONS)

    return episode_returns(env, act, options={"positions": start}).reshape(len(weights), episodes).mean(axis=1)


def train(preset: float | None, rounds: int, seed: int) -> tuple[list[float], np.ndarray]:
    """Return the return of the policy before and after each round in 48 episodes that it did not learn from."""
    rng = np.random.default_rng(seed)
    worlds, tests = (BatchEnv(touch.task(preset=preset, randomize={}), n) for n in (DRAWS * EPISODES, 48))
    search = CrossEntropy(ACTIONS * (INPUTS + 1), DRAWS, rng, spread=np.repeat([0.15, 0.3], INPUTS + 1), floor=0.005)
    search.mean[[2, 8, 9]] = 1.0 / 1.6, -2.0, 1.0  # begins with the target itself, stiff to point and soft to touch
    curve = [score(tests, search.mean[None], np.random.default_rng(1000 + seed))[0]]
    for _ in range(rounds):
        search.tell(score(worlds, search.ask(), rng))
        curve.append(score(tests, search.mean[None], np.random.default_rng(1000 + seed))[0])
    return curve, search.mean.reshape(ACTIONS, -1)


def main() -> None:
    """Train, compare, export, and draw the error of every seed by round, and the last one by stiffness."""
    student = {"2": 12.71, "3": 4.30, "4": 3.18, "5": 2.78}  # half of an interval of 95 %, in standard errors
    given = sys.argv[1:] or ["3", "2"]
    if len(given) != 2 or not given[0].isdecimal() or int(given[0]) < 1 or given[1] not in student:
        sys.exit(f"14_train.py ROUNDS SEEDS: must be 1 round or more and 2 to 5 seeds, found {' '.join(given)!r}")
    rounds, seeds = map(int, given)
    presets, curves = [0.0, 0.15, 0.3, 0.45, 0.6, None] if rounds >= 10 else [0.3, None], {}
    for preset in presets:
        runs = [train(preset, rounds, seed) for seed in range(seeds)]
        curves[name := "variable" if preset is None else f"fixed {preset:g}"] = np.array([run[0] for run in runs])
        print(f"{name:10s}", " ".join(f"{before:.2f}->{after:.2f}" for before, after in -curves[name][:, [0, -1]]))
    best = max((name for name in curves if name != "variable"), key=lambda name: curves[name][:, -1].mean())
    gain = curves["variable"][:, -1] - curves[best][:, -1]  # by seed: the same test episodes
    text = f"{gain.mean():.2f} +- {student[given[1]] * gain.std(ddof=1) / seeds**0.5:.2f} (95 %, {seeds} seeds)"
    print(f"variable stiffness against {best} rad, less error: {text}")
    export_policy(touch.task(), runs[0][1], touch.NAMES, scale=SCALE, settings=touch.OPTIONS).save("touch.npz")
    print("pliant policy run touch.npz --bridge ros1 --input target=-0.6 --input touch=0")
    figure, axes = new_figure(1, 2, height=2.8)
    for name, runs in curves.items():
        style = {"color": COLORS["stiff"] if name == "variable" else "0.7"}
        axes[0].semilogy(-runs.T, linewidth=1.2, subs=[], **style)
        axes[1].plot([name.removeprefix("fixed ")] * len(runs), -runs[:, -1], "o", **style)
    axes[0].set_yticks([0.3, 0.5, 1, 2, 4], ["0.3", "0.5", "1", "2", "4"])
    label(axes[0], "round", "error", "every seed; grey: fixed")
    label(axes[1], "stiffness preset [rad]", "last error")
    figure.savefig("train.png", dpi=150)


if __name__ == "__main__":
    main()

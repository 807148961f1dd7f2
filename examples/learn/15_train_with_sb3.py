"""PPO of Stable-Baselines3 learns to point under an unknown load and to touch gently, in 32 worlds at once.

You will see the mean return of an episode rise from round to round, the return of the trained actor without its noise,
its curve as a figure, and how to run it on the robot. ``15_train_with_sb3.py 60 3``: rounds of 1280 actions, seeds.
"""

import argparse

import numpy as np

try:
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import VecMonitor
except ImportError as missing:
    raise SystemExit(f'{missing}; this example needs: pip install "pliant[sb3]"') from None

from pliant.base.figures import COLORS, label, new_figure
from pliant.learn.envs.export import export_policy
from pliant.learn.envs.sb3 import Sb3VecEnv, policy_layers
from pliant.learn.envs.tasks import touch
from pliant.learn.envs.vector import BatchEnv

WORLDS, STEPS = 32, 40  # a round is 40 actions of each world


def make() -> VecMonitor:
    """Return the worlds; the wrapper counts returns of episodes."""
    return VecMonitor(Sb3VecEnv(BatchEnv(touch.task(), WORLDS, autoreset_mode="SameStep")))


def score(model: PPO) -> float:
    """Return the mean return of one episode of each of 32 new worlds, without noise."""
    env = make()
    env.seed(1000)
    observations, returns = env.reset(), []
    while not returns:  # all episodes take equally long
        actions, _ = model.predict(observations, deterministic=True)
        observations, _, _, infos = env.step(actions)
        returns = [info["episode"]["r"] for info in infos if "episode" in info]
    env.close()
    return float(np.mean(returns))


def train(rounds: int, seed: int) -> tuple[PPO, list[float]]:
    """Return the model, and the mean return in each round with the noise of exploration."""
    network = {"net_arch": [32, 32], "log_std_init": -1.0}
    settings = {"n_steps": STEPS, "batch_size": 320, "learning_rate": 1e-3, "gamma": 0.9, "stats_window_size": 64}
    model, curve = PPO("MlpPolicy", make(), policy_kwargs=network, seed=seed, device="cpu", **settings), []
    for _ in range(rounds):
        model.learn(WORLDS * STEPS, reset_num_timesteps=False)
        curve.append(float(np.mean([episode["r"] for episode in model.ep_info_buffer])))
    return model, curve


def main() -> None:
    """Train, draw, export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", type=int, nargs="?", default=15, metavar="ROUNDS")
    parser.add_argument("seeds", type=int, nargs="?", default=1, metavar="SEEDS")
    rounds, seeds = vars(parser.parse_args()).values()
    if min(rounds, seeds) < 1:
        parser.error("rounds and seeds must be at least 1")
    torch.set_num_threads(1)
    figure, axes = new_figure(1, 1, height=2.8)
    for seed in range(seeds):
        before = score(train(0, seed)[0])
        model, curve = train(rounds, seed)
        print(f"seed {seed}: return {before:.2f} before, {score(model):.2f} after {rounds * WORLDS * STEPS} actions")
        axes.plot(np.arange(1, rounds + 1) * WORLDS * STEPS / 1000, curve, color=COLORS["stiff"], linewidth=1.2)
    label(axes, "thousand actions", "mean return of an episode", "PPO on pliant/Touch-v0, every seed")
    figure.savefig("sb3.png", dpi=150)
    layers, activation = policy_layers(model)
    export_policy(touch.task(), layers, touch.NAMES, activation=activation, settings=touch.OPTIONS).save("touch.npz")
    print("pliant policy run touch.npz --bridge ros1 --input target=-0.6 --input touch=0")


if __name__ == "__main__":
    main()

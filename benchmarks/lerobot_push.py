"""Baselines of docs/learn/lerobot.md: what pushes the box without knowing where it is. Runs where LeRobot is installed.

Usage: python benchmarks/lerobot_push.py shuffled --robot.type=pliant --robot.scene=state ...
       python benchmarks/lerobot_push.py mean DATASET [--first 100] [--count 20]

`shuffled` is `lerobot-record` with its own arguments, where the observations name the place of the box of the next
scene, moved as the true one was. `mean` sends the mean of the recorded actions of each moment, in the scenes from
`--first` on.
"""

from __future__ import annotations

import argparse
import logging
import sys
from typing import Any

import numpy as np

from pliant.base.numerics import Array
from pliant.franka.lerobot import ArmOptions, ArmSession
from pliant.franka.lerobot.session import BOX_HIGH, BOX_LOW, SCENE


def start(seed: int, episode: int) -> Array:
    """Return where the box stands at the start of an episode, shape (2,) [m]."""
    return np.random.default_rng([seed, episode]).uniform(BOX_LOW, BOX_HIGH)


def shuffle() -> None:
    """Let observations name the place of the box of the next scene."""
    observe = ArmSession.observe

    def other(self: ArmSession) -> dict[str, Any]:
        found, seed = observe(self), self.options.seed
        change = start(seed, self.episode + 1) - start(seed, self.episode)
        return found | {name: found[name] + change[k] for k, name in enumerate(SCENE)}

    ArmSession.observe = other


def play_mean(folder: str, first: int, count: int) -> None:
    """Send the mean of the recorded actions of each moment."""
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    data = LeRobotDataset("local/push", root=folder, video_backend="pyav").hf_dataset
    actions, moments = np.array(data["action"]), np.array(data["frame_index"])
    mean = [actions[moments == k].mean(axis=0) for k in range(moments.max() + 1)]
    session = ArmSession(ArmOptions(action="cartesian", fps=10.0, views="none", episode=first))
    session.connect()
    for episode in range(first, first + count):
        session.reset(episode)
        for action in mean:
            session.act(dict(zip(session.action_names, action.tolist(), strict=True)))
    session.disconnect()


def main() -> None:
    """Run a baseline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("baseline", choices=("shuffled", "mean"))
    options, words = parser.parse_known_args()
    if options.baseline == "shuffled":
        from lerobot.scripts import lerobot_record

        shuffle()
        sys.argv[1:] = words
        lerobot_record.main()
        return
    parser.add_argument("dataset", help="folder of the recorded actions, of Cartesian targets at 10 Hz")
    parser.add_argument("--first", type=int, default=100, help="first scene")
    parser.add_argument("--count", type=int, default=20, help="number of scenes")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    play_mean(options.dataset, options.first, options.count)


if __name__ == "__main__":
    main()

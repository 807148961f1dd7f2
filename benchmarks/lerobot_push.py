"""The push task of docs/lerobot/lerobot.md without pictures: a policy, and baselines. Runs where LeRobot is installed.

Usage: python benchmarks/lerobot_push.py begin FOLDER
       python benchmarks/lerobot_push.py shuffled --robot.type=pliant --robot.scene=state ...
       python benchmarks/lerobot_push.py mean DATASET [--first 100] [--count 20]

`begin` writes an untrained ACT without pictures for `lerobot-train`. `shuffled` is `lerobot-record` with its own
arguments, where the observations name the place of the box of the next scene, moved as the true one was. `mean` sends
the mean of the recorded actions of each moment, in the scenes from `--first` on.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np

from pliant.lerobot import ArmOptions, ArmSession
from pliant.lerobot.session import SCENE, box_place

SMALL: dict[str, Any] = {
    "dim_model": 64, "n_heads": 4, "dim_feedforward": 128, "n_encoder_layers": 1, "use_vae": False, "chunk_size": 10,
    "n_action_steps": 5,
}  # fmt: skip
"""Size of the network."""


def shuffle() -> None:
    """Let observations name the place of the box of the next scene."""
    observe = ArmSession.observe

    def other(self: ArmSession) -> dict[str, Any]:
        found, seed = observe(self), self.options.seed
        change = box_place(seed, self.episode + 1) - box_place(seed, self.episode)
        return found | {name: found[name] + change[k] for k, name in enumerate(SCENE)}

    ArmSession.observe = other


def begin(folder: Path) -> None:
    """Write an untrained ACT that sees the state of `ArmSession` with Cartesian actions, and no picture."""
    from lerobot.configs.types import FeatureType, PolicyFeature
    from lerobot.policies.act.configuration_act import ACTConfig
    from lerobot.policies.act.modeling_act import ACTPolicy
    from lerobot.policies.factory import make_pre_post_processors
    from lerobot_robot_pliant import StateAsEnvironmentState

    session = ArmSession(ArmOptions(action="cartesian", views="none", scene="state"))
    seen, sent = (len(session.observation_names),), (len(session.action_names),)
    inputs = {
        "observation.state": PolicyFeature(FeatureType.STATE, seen),
        "observation.environment_state": PolicyFeature(FeatureType.ENV, seen),
    }
    outputs = {"action": PolicyFeature(FeatureType.ACTION, sent)}
    config = ACTConfig(input_features=inputs, output_features=outputs, device="cpu", push_to_hub=False, **SMALL)
    ACTPolicy(config).save_pretrained(folder)
    before, after = make_pre_post_processors(config)
    before.steps = [*before.steps, StateAsEnvironmentState()]
    before.save_pretrained(folder)
    after.save_pretrained(folder)


def play_mean(folder: Path, first: int, count: int) -> None:
    """Send the mean of the recorded actions of each moment."""
    import pyarrow.parquet

    rows = pyarrow.concat_tables(map(pyarrow.parquet.read_table, sorted(folder.glob("data/**/*.parquet"))))
    actions, moments = np.stack(rows["action"].to_pylist()), rows["frame_index"].to_numpy()
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
    parser.add_argument("what", choices=("begin", "shuffled", "mean"))
    options, words = parser.parse_known_args()
    if options.what == "shuffled":
        from lerobot.scripts import lerobot_record

        shuffle()
        sys.argv[1:] = words
        lerobot_record.main()
        return
    parser.add_argument(
        "folder", type=Path, help="of the policy to write, or of a dataset of Cartesian targets at 10 Hz"
    )
    parser.add_argument("--first", type=int, default=100, help="first scene")
    parser.add_argument("--count", type=int, default=20, help="number of scenes")
    options = parser.parse_args()
    if options.what == "begin":
        begin(options.folder)
        return
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    play_mean(options.folder, options.first, options.count)


if __name__ == "__main__":
    main()

"""The push task of docs/learn/lerobot.md without pictures: its dataset, and baselines. Runs where LeRobot is installed.

Usage: python benchmarks/lerobot_push.py rename DATASET
       python benchmarks/lerobot_push.py shuffled --robot.type=pliant --robot.scene=state ...
       python benchmarks/lerobot_push.py mean DATASET [--first 100] [--count 20]

`rename` calls the state in a dataset the state of the environment, which ACT takes in place of pictures. `shuffled` is
`lerobot-record` with its own arguments, where the observations name the place of the box of the next scene, moved as
the true one was. `mean` sends the mean of the recorded actions of each moment, in the scenes from `--first` on.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np

from pliant.base.numerics import Array
from pliant.franka.lerobot import ArmOptions, ArmSession
from pliant.franka.lerobot.session import BOX_HIGH, BOX_LOW, SCENE

RENAMED = ("observation.state", "observation.environment_state")
"""Name of the state in a dataset, and the one that ACT takes without pictures."""


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


def rename(folder: Path) -> None:
    """Call the state in a dataset the state of the environment."""
    import pyarrow.parquet

    for path in folder.rglob("*.parquet"):
        table = pyarrow.parquet.read_table(path)
        notes = {key: value.replace(*map(str.encode, RENAMED)) for key, value in (table.schema.metadata or {}).items()}
        names = [name.replace(*RENAMED) for name in table.column_names]
        pyarrow.parquet.write_table(table.rename_columns(names).replace_schema_metadata(notes), path)
    for path in folder.rglob("*.json"):
        path.write_text(path.read_text().replace(*RENAMED))


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
    parser.add_argument("what", choices=("rename", "shuffled", "mean"))
    options, words = parser.parse_known_args()
    if options.what == "shuffled":
        from lerobot.scripts import lerobot_record

        shuffle()
        sys.argv[1:] = words
        lerobot_record.main()
        return
    parser.add_argument("dataset", type=Path, help="folder of the dataset, of Cartesian targets at 10 Hz")
    parser.add_argument("--first", type=int, default=100, help="first scene")
    parser.add_argument("--count", type=int, default=20, help="number of scenes")
    options = parser.parse_args()
    if options.what == "rename":
        rename(options.dataset)
        return
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    play_mean(options.dataset, options.first, options.count)


if __name__ == "__main__":
    main()

"""The biped's control boards."""

import numpy as np
import pytest

from pliant.control_boards.device import ControlBoardDevice
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.lookup import build_robot
from pliant.walking.robots.biped.parameters import PARTS, REST


@pytest.mark.parametrize("actuation", ["position", "torque"])
def test_the_boards_keep_it_standing_and_move_an_arm(actuation):
    robot = build_robot("biped", {"actuation": actuation})
    engine = MujocoEngine(robot, check=False)
    boards = {d.name: d for d in make_devices(robot) if isinstance(d, ControlBoardDevice)}
    assert {name: board.axes for name, board in boards.items()} == PARTS
    for board in boards.values():
        board.attach(engine)
        board.reset(np.random.default_rng(0))
    height = engine.data.qpos[2]
    boards["left_arm"].set_speed(1.0)
    boards["left_arm"].move_relative([0.3], [3])
    for _ in range(1000):
        for board in boards.values():
            board.write()
        engine.step()
    elbow = PARTS["left_arm"][3]
    assert boards["left_arm"].read_row("position")[3] == pytest.approx(REST[elbow] + 0.3, abs=0.02)
    assert engine.data.qpos[2] == pytest.approx(height, abs=3e-3)
    assert all(board.health()["faults"] == 0 for board in boards.values())


def test_a_biped_that_walks_has_no_boards():
    names = [device.name for device in build_robot("biped", {"controller": "walking"}).devices]
    assert not set(names) & set(PARTS)

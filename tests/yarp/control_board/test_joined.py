"""Axes of several boards as one part: what reaches which board, and what happens when one of them refuses."""

import inspect

import pytest
from tests.helpers.control_boards import JoinedRig

from pliant.base.errors import DeviceError
from pliant.yarp.control_board import ControlBoardDevice, ControlMode, JoinedBoard


@pytest.fixture(scope="module")
def rig():
    return JoinedRig(max_torque=(200.0, 300.0, 100.0))


@pytest.fixture
def part(rig):
    rig.reset()
    return rig.board


def test_axes_keep_the_order_of_the_part(part):
    assert part.axes == ("shoulder", "slide", "wrist")
    assert part.slides == [False, True, False]
    assert part.read_row("max_torque").tolist() == [200.0, 300.0, 100.0]
    assert part.read_row("max_torque", [2, 1]).tolist() == [100.0, 300.0]


def test_methods_are_called_as_those_of_a_board():
    for name, method in inspect.getmembers(JoinedBoard, inspect.isfunction):
        if not name.startswith("_"):
            wanted = inspect.signature(inspect.unwrap(getattr(ControlBoardDevice, name)))
            assert inspect.signature(method).parameters.keys() == wanted.parameters.keys(), name


def test_the_other_boards_move_when_one_refuses(part, rig):
    rig.boards[1].set_control_mode("velocity")
    with pytest.raises(DeviceError, match="'slide' in mode velocity"):
        part.refer("position", [0.5, 0.1, -0.4])
    assert part.read_row("position_target", [0, 2]).tolist() == [0.5, -0.4]


def test_numbers_that_are_not_finite_reach_no_board(part):
    with pytest.raises(DeviceError, match="must be finite"):
        part.refer("position", [0.5, float("nan"), -0.4])
    assert part.read_row("position_target").tolist() == [0.0, 0.0, 0.0]


def test_a_variable_of_a_part_leaves_the_axes_that_it_does_not_show(rig):
    rig.reset()
    hinges = rig.boards[0]
    JoinedBoard("shoulder", [(hinges, 1)]).set_remote_variable("VelocityTimeout", [0.7])
    assert hinges.remote_variable("VelocityTimeout").tolist() == pytest.approx([0.2, 0.7])


def test_modes_are_those_of_their_boards(part, rig):
    part.set_control_mode(["torque", "idle", "velocity"])
    assert [board.mode_of(0) for board in rig.boards] == [ControlMode.VELOCITY, ControlMode.IDLE]
    assert part.mode_of(0) == ControlMode.TORQUE
    with pytest.raises(DeviceError, match="2 modes for 3 axes"):
        part.set_control_mode(["torque", "idle"])


@pytest.mark.parametrize(("axes", "message"), [([], "no axes"), ([0, 0], "twice"), ([0, 5], "must be 0 to 1")])
def test_axes_that_cannot_be_joined_are_refused(rig, axes, message):
    with pytest.raises(DeviceError, match=message):
        JoinedBoard("part", [(rig.boards[0], i) for i in axes])

"""Axes of several boards as one part: what reaches which board, and what happens when one of them refuses."""

import pytest
from tests.helpers.control_boards import JoinedRig

from pliant.base.errors import DeviceError
from pliant.control_boards import ControlMode, JoinedBoard


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


def test_each_axis_asked_for_is_found_once_on_its_board(part, rig):
    hinges, rail = rig.boards
    assert part.split(None) == [(hinges, [1, 0], [0, 2]), (rail, [0], [1])]
    assert part.split([2, 1]) == [(hinges, [0], [0]), (rail, [0], [1])]
    assert part.split(1) == [(rail, [0], [0])]
    for axes in ([0, 3], [1, 1], [-1]):
        with pytest.raises(DeviceError, match="must be"):
            part.split(axes)


def test_values_come_back_in_the_order_asked_for(part):
    names = part.gather([2, 0, 1], lambda board, own: [[board.axes[i] for i in own], [board.name for _ in own]])
    assert list(names) == [["wrist", "shoulder", "slide"], ["hinges", "hinges", "rail"]]


def test_the_other_boards_move_when_one_refuses(part, rig):
    rig.boards[1].set_control_mode("velocity")
    with pytest.raises(DeviceError, match="'slide' in mode velocity"):
        part.refer("position", [0.5, 0.1, -0.4])
    assert part.read_row("position_target", [0, 2]).tolist() == [0.5, -0.4]


def test_numbers_that_are_not_finite_reach_no_board(part):
    with pytest.raises(DeviceError, match="must be finite"):
        part.refer("position", [0.5, float("nan"), -0.4])
    assert part.read_row("position_target").tolist() == [0.0, 0.0, 0.0]


def test_modes_are_those_of_their_boards(part, rig):
    part.set_control_mode(["torque", "idle", "velocity"])
    assert [board.mode_of(0) for board in rig.boards] == [ControlMode.VELOCITY, ControlMode.IDLE]
    assert part.mode_of(0) == ControlMode.TORQUE
    with pytest.raises(DeviceError, match="2 values of control_mode for 3 axes"):
        part.set_control_mode(["torque", "idle"])


@pytest.mark.parametrize(("axes", "message"), [([], "no axes"), ([0, 0], "twice"), ([0, 5], "must be 0 to 1")])
def test_axes_that_cannot_be_joined_are_refused(rig, axes, message):
    with pytest.raises(DeviceError, match=message):
        JoinedBoard("part", [(rig.boards[0], i) for i in axes])

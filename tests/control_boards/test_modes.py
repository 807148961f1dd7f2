"""The modes of a control board under any sequence of requests."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.helpers.control_boards import arm

from pliant.base.errors import DeviceError
from pliant.control_boards.layout import REFERENCES, ControlMode
from pliant.control_boards.modes import REQUESTED_MODES

ANY = st.floats(allow_nan=True, allow_infinity=True)
USUAL = st.floats(-30.0, 30.0)
AXIS = st.integers(0, 2)
REQUESTS = st.one_of(
    st.tuples(st.just("mode"), AXIS, st.sampled_from(sorted(REQUESTED_MODES))),
    st.tuples(st.just("interaction"), AXIS, st.sampled_from(["stiff", "compliant"])),
    st.tuples(st.just("switch"), AXIS, st.sampled_from(sorted(REFERENCES)), st.one_of(USUAL, USUAL, ANY)),
    st.tuples(st.just("refer"), AXIS, st.sampled_from(sorted(REFERENCES)), st.one_of(USUAL, USUAL, ANY)),
    st.tuples(st.just("relative"), AXIS, st.one_of(USUAL, ANY)),
    st.tuples(st.just("stop"), AXIS),
    st.tuples(st.just("amplifier"), AXIS, st.booleans()),
    st.tuples(st.just("impedance"), AXIS, st.floats(0, 50), st.floats(0, 5)),
    st.tuples(st.just("speed"), AXIS, st.one_of(st.floats(0.01, 5.0), ANY)),
    st.tuples(st.just("brake"), AXIS, st.booleans()),
    st.tuples(st.just("trajectory"), st.sampled_from(["minimum_jerk", "constant_speed", "trapezoidal_speed"])),
    st.tuples(st.just("gains"), AXIS, st.one_of(st.floats(0.0, 200.0), ANY)),
    st.tuples(st.just("step"), st.integers(1, 40)),
)
_RIG = []


def started():
    """Return a rig of the arm in its initial state."""
    if not _RIG:
        _RIG.append(arm(max_torque=(25.0,), position_kp=(60.0,), position_kd=(2.0,), acceleration=(5.0,), speed=(1.0,)))
    rig = _RIG[0]
    rig.engine.reset()
    rig.board.reset(np.random.default_rng(0))
    return rig


def carry_out(rig, what, *rest):
    board = rig.board
    if what == "mode":
        board.set_control_mode(rest[1], rest[0])
    elif what == "interaction":
        board.set_interaction_mode(rest[1], rest[0])
    elif what == "refer":
        board.refer(rest[1], [rest[2]], [rest[0]])
    elif what == "relative":
        board.move_relative([rest[1]], [rest[0]])
    elif what == "stop":
        board.stop(rest[0])
    elif what == "amplifier":
        board.enable_amplifier(*rest)
    elif what == "impedance":
        board.set_impedance(*rest)
    elif what == "speed":
        board.set_speed([rest[1]], [rest[0]])
    elif what == "brake":
        board.set_brake(*rest)
    elif what == "trajectory":
        board.set_trajectory(rest[0])
    elif what == "gains":
        board.set_gains("position", [rest[0]], kp=rest[1])


def wanted_mode(old, what, rest):
    """Return the mode of an axis after a request that the board accepted."""
    if what == "mode":
        name = rest[1]
    elif what == "amplifier":
        name = "position" if rest[1] else "idle"
    else:
        return old
    if old == ControlMode.HARDWARE_FAULT and name != "force_idle":
        return old
    return REQUESTED_MODES[name]


@settings(max_examples=120, deadline=None)
@given(requests=st.lists(REQUESTS, min_size=1, max_size=25))
@example(requests=[("speed", 0, 2.2e-311), ("relative", 0, 1.0)])
def test_no_sequence_of_requests_gives_nan_leaves_a_limit_or_takes_another_mode(requests):
    rig = started()
    board = rig.board
    low, high = board.read_row("low"), board.read_row("high")
    modes = [ControlMode.POSITION] * 3
    for what, *rest in requests:
        if what == "switch":  # a mode and a reference for it: chance alone seldom gives a matching pair
            carry_out(rig, "mode", rest[0], REFERENCES[rest[1]][2][0].name.lower())
            modes[rest[0]] = wanted_mode(modes[rest[0]], "mode", [0, REFERENCES[rest[1]][2][0].name.lower()])
            what = "refer"
        if what == "step":
            rig.step(rest[0])
            for a in range(3):
                if board.mode_of(a) == ControlMode.HARDWARE_FAULT:
                    modes[a] = ControlMode.HARDWARE_FAULT
        else:
            before = board.axis_table.copy()
            try:
                carry_out(rig, what, *rest)
            except DeviceError:
                assert np.array_equal(board.axis_table, before), "a request that is refused changes nothing"
            else:
                if what in ("mode", "amplifier"):
                    modes[rest[0]] = wanted_mode(modes[rest[0]], what, rest)
        assert [board.mode_of(a) for a in range(3)] == modes
        assert np.isfinite(board.axis_table[np.isfinite(before_limits(board))]).all()
        for name in ("position_reference", "position_target"):
            values = board.read_row(name)
            assert (values >= low).all()
            assert (values <= high).all()
        assert (np.abs(rig.engine.data.ctrl) <= 25.0).all()


def before_limits(board):
    """Return the board's state with what may be infinite (a harder braking than any) marked."""
    from pliant.control_boards import layout

    marked = np.zeros_like(board.axis_table)
    marked[layout.SLOPE_2] = np.inf
    return marked


@pytest.mark.parametrize("mode", sorted(set(REQUESTED_MODES) - {"force_idle"}))
def test_a_mode_that_is_asked_for_twice_is_entered_once(mode):
    rig = started()
    rig.board.set_control_mode(mode)
    rig.board.refer("torque", [1.0, 1.0, 1.0])
    before = rig.board.axis_table.copy()
    rig.board.set_control_mode(mode)
    assert np.array_equal(rig.board.axis_table, before)


def test_modes_that_no_client_can_ask_for_are_refused():
    rig = started()
    for name in ("hardware_fault", "calibrating", "not_configured", "nonsense"):
        with pytest.raises(DeviceError, match="the mode is"):
            rig.board.set_control_mode(name)


def test_one_wrong_mode_of_several_changes_none():
    rig = started()
    with pytest.raises(DeviceError, match="the mode is"):
        rig.board.set_control_mode(["torque", "nonsense", "idle"])
    assert rig.board.read_row("control_mode").tolist() == [ControlMode.POSITION] * 3


def test_a_change_of_interaction_keeps_the_axis_where_it_is():
    rig = started()
    rig.board.move([0.5, 0.1, 0.5])
    rig.step(700)
    rig.board.set_interaction_mode("compliant")
    assert rig.board.read_row("position_reference") == pytest.approx(rig.board.read_row("position"))
    assert rig.board.motion_done()


def test_the_amplifier_leads_to_position_and_to_idle():
    rig = started()
    rig.board.enable_amplifier(1, on=False)
    assert rig.board.mode_of(1) == ControlMode.IDLE
    assert rig.board.read_row("amplifier")[1] == 0.0
    rig.board.enable_amplifier(1)
    assert rig.board.mode_of(1) == ControlMode.POSITION


def test_the_kernels_are_loaded_before_the_first_step_and_the_first_move(monkeypatch):
    from numba import typeof

    from pliant.control_boards import kernels

    seen = {}

    def noting(name):
        kernel = getattr(kernels, name)

        def call(*arguments):
            seen.setdefault(name, []).append(tuple(typeof(a) for a in arguments))
            return kernel(*arguments)

        return call

    for name in ("step", "plan"):
        monkeypatch.setattr(kernels, name, noting(name))
    rig = arm()
    at_start = {name: set(calls) for name, calls in seen.items()}
    rig.board.move([0.5, 0.1, -0.4])
    rig.step(3)
    assert at_start == {name: set(calls) for name, calls in seen.items()}
    assert len(seen["step"]) > 1
    assert len(seen["plan"]) > 1


def test_loading_the_kernels_leaves_the_controls_as_they_are():
    rig = arm(position_kp=(60.0,), initial_positions=(0.3, 0.1, 0.2))
    assert rig.engine.data.ctrl.tolist() == [0.0, 0.0, 0.0]

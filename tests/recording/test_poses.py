"""Poses in recordings: what a film and a page of a recording show is where the robot was."""

import struct

import numpy as np
import pytest

from pliant.base.errors import MissingDependency, RecordingError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.recording import read_recording
from pliant.recording.poses import POSE_HEAD, decode_poses
from pliant.recording.recorded_motion import recorded_poses
from pliant.recording.sample_message import CDR_LITTLE_ENDIAN
from pliant.robots.lookup import build_robot, list_robots
from pliant.simulation import Simulation

UNTOLD = ("biped", "fr3", "3RFR")
"""A floating base, an arm whose device names no joints, and rods."""

MAX_ERROR = 1e-3
"""Largest error of a line between two poses, 10 ms apart [rad, m]."""


def recorded(name, path, steps):
    """Run a robot of the catalogue that is pushed; return its model, the positions after each step, the recording."""
    robot = build_robot(name)
    engine = MujocoEngine(robot)
    poses = []
    with Simulation(engine, make_devices(robot), pacer="free", recorder=path, seed=3) as run:
        for _ in range(steps):
            engine.data.xfrc_applied[-1, :3] = 1.0
            run.step()
            poses.append(engine.data.qpos.copy())
    return engine.model, np.array(poses), read_recording(path)


def assert_shown(name, path, max_error=MAX_ERROR):
    """Assert that a recording shows all joints of a robot where they were, after 10 ms; return the recording."""
    model, poses, found = recorded(name, path, 50)
    shown = recorded_poses(found, model, model.opt.timestep)
    assert shown.missing == ()
    rows = np.rint(shown.time / model.opt.timestep).astype(int) - 1
    inside = (shown.time > 0.0101) & (rows < len(poses))
    assert np.abs(shown.qpos[inside] - poses[rows[inside]]).max() <= max_error
    return model, poses, found


@pytest.mark.parametrize("name", UNTOLD)
def test_a_recording_shows_where_the_whole_robot_was(name, tmp_path):
    model, poses, found = assert_shown(name, tmp_path / "a.mcap")
    times, rows = found.poses
    assert len(times) >= 5
    assert (rows == poses[np.rint(times * 1e-9 / model.opt.timestep).astype(int) - 1]).all()
    assert np.ptp(poses, axis=0).max() > 1e-7


@pytest.mark.nightly
@pytest.mark.parametrize("name", [robot.name for robot in list_robots()])
def test_every_robot_of_the_catalogue_is_shown_whole(name, tmp_path):
    try:
        assert_shown(name, tmp_path / "a.mcap", max_error=0.05)  # 1 N throws the light ones about
    except MissingDependency as missing:
        pytest.skip(str(missing))


def test_a_robot_whose_devices_tell_all_joints_has_no_topic_of_poses(tmp_path):
    model, _, found = recorded("qbmove-2dof", tmp_path / "a.mcap", 20)
    assert len(found.poses[0]) == 0
    assert recorded_poses(found, model, 0.01).missing == ()


def test_the_recording_of_another_robot_is_refused(tmp_path):
    _, _, found = recorded("biped", tmp_path / "a.mcap", 20)
    with pytest.raises(RecordingError, match="was another robot recorded"):
        recorded_poses(found, MujocoEngine(build_robot("qbmove-2dof")).model, 0.01)


def test_orientations_turn_the_shorter_way_and_keep_unit_length(tmp_path):
    model, _, found = recorded("biped", tmp_path / "a.mcap", 60)
    found.poses[1][1::2, 3:7] *= -1.0  # the same orientations
    orientations = recorded_poses(found, model, 0.001).qpos[:, 3:7]
    assert np.abs(np.linalg.norm(orientations, axis=1) - 1.0).max() < 1e-12
    assert ((orientations[1:] * orientations[:-1]).sum(axis=1) > 0.99).all()


def body(values, head=CDR_LITTLE_ENDIAN, dimensions=0, count=None):
    row = np.array(values, dtype="<f8").tobytes()
    return POSE_HEAD.pack(head, dimensions, 0, len(values) if count is None else count) + row


def test_damaged_poses_are_left_out():
    good = body([1.0, 2.0])
    wrong = [b"", good[:-1], good + b"x", body([1.0, np.nan]), body([1.0]), body([1.0, 2.0], b"\0\0\0\0"),
             body([1.0, 2.0], dimensions=1), body([1.0, 2.0], count=2**32 - 1), struct.pack("<I", 7)]  # fmt: skip
    times, rows = decode_poses(list(range(len(wrong) + 2)), [good, *wrong, good])
    assert times.tolist() == [0, len(wrong) + 1]
    assert rows.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    times, rows = decode_poses([], [])
    assert times.shape == (0,)
    assert rows.shape == (0, 0)

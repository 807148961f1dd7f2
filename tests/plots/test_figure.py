"""Figures of recordings: what is drawn of each device."""

import pytest
from fake_engine import Board, SpringJoint, SpringMassEngine

from pliant.base.errors import RecordingError
from pliant.devices import FieldInfo, make_devices
from pliant.engine import MujocoEngine
from pliant.plots import plot_recording
from pliant.plots.figure import default_devices
from pliant.recording import read_recording
from pliant.robots.loading import load
from pliant.simulation import Simulation


def drawn_of(robot, commands, tmp_path, **options):
    """Run a catalogue robot and return panel -> lines of its figure, each with label, style and last value."""
    robot = load(robot, options=options)
    path = tmp_path / "run.mcap"
    with Simulation(MujocoEngine(robot), make_devices(robot), recorder=path) as run:
        for device, values in commands.items():
            run.devices[device].inbox.put(values)
        run.run(0.1)
    figure = plot_recording(path, tmp_path / "run.png")
    return {
        axis.get_ylabel(): [(line.get_label(), line.get_linestyle(), line.get_ydata()[-1]) for line in axis.lines]
        for axis in figure.axes
        if axis.axison
    }


def test_the_figure_of_a_compliant_joint_has_four_panels_with_what_was_commanded(tmp_path):
    found = drawn_of("qbmove-1dof", {"joint": {"equilibrium_position": 0.5, "stiffness_preset": 0.3}}, tmp_path)
    assert list(found) == ["angle [rad]", "torque [N m]", "stiffness [N m/rad]", "preset [rad]"]
    assert [line[:2] for line in found["angle [rad]"]] == [("link", "-"), ("equilibrium", "-"), ("commanded", "--")]
    assert found["angle [rad]"][2][2] == 0.5
    assert [line[:2] for line in found["preset [rad]"]] == [("preset", "-"), ("commanded", "--")]
    assert found["preset [rad]"][1][2] == 0.3
    assert len(found["torque [N m]"]) == len(found["stiffness [N m/rad]"]) == 1


def test_a_joint_with_one_motor_has_no_panel_of_a_preset(tmp_path):
    found = drawn_of("sea-1dof", {"joint": {"equilibrium_position": 0.5}}, tmp_path)
    assert list(found) == ["angle [rad]", "torque [N m]", "stiffness [N m/rad]"]


def test_a_figure_of_two_joints_leaves_the_board_out(tmp_path):
    drawn_of("qbmove-2dof", {}, tmp_path)
    recording = read_recording(tmp_path / "run.mcap")
    assert "board" in recording.devices
    assert default_devices(recording) == ["joint_1", "joint_2"]


def test_the_figure_shows_positions_with_references_torques_and_stiffness(tmp_path):
    class Soft(SpringJoint):
        def __init__(self):
            super().__init__(0, "soft")
            self.samples = {**self.samples, "stiffness": FieldInfo((), "N m/rad")}
            self._checked = True

        def _measure(self):
            return {**super()._measure(), "stiffness": 200.0}

    with Simulation(SpringMassEngine(3), [Soft(), Board(3)], recorder=tmp_path / "run.mcap") as run:
        run.step(20)
    figure = plot_recording(tmp_path / "run.mcap", tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes()[1:4] == b"PNG"
    drawn = [axis for axis in figure.axes if axis.axison]
    assert [axis.get_title(loc="left") for axis in drawn[:2]] == ["soft", "board"]
    assert [axis.get_ylabel() for axis in drawn] == [
        "angle [rad]",
        "angle [rad]",
        "torque [N m]",
        "torque [N m]",
        "stiffness [N m/rad]",
    ]
    assert [line.get_label() for line in drawn[0].lines] == ["position", "reference"]
    assert [line.get_linestyle() for line in drawn[0].lines] == ["-", "--"]
    assert [line.get_label() for line in drawn[1].lines] == [f"position[{i}]" for i in range(3)]
    with pytest.raises(RecordingError, match="no device 'bord'; did you mean 'board'"):
        plot_recording(tmp_path / "run.mcap", devices=["bord"])
    with pytest.raises(RecordingError, match="cannot be written"):
        plot_recording(tmp_path / "run.mcap", tmp_path / "no" / "run.png")
    with pytest.raises(RecordingError, match="cannot be written"):
        plot_recording(tmp_path / "run.mcap", tmp_path / "run.xyz")
    with pytest.raises(RecordingError, match="the file exists"):
        plot_recording(tmp_path / "run.mcap", tmp_path / "run.png", overwrite=False)

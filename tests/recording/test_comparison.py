"""Two runs that differ: numbers with a known answer, and a figure of both."""

import numpy as np
import pytest

from pliant.engine import MujocoEngine
from pliant.errors import RecordingError
from pliant.model import Robot
from pliant.recording import Recorder, read_recording
from pliant.recording.comparison import _difference, common_devices, differences, plot_comparison
from pliant.robots import build_robot
from pliant.simulation import Simulation


def test_the_difference_of_two_sines_of_other_samples_is_known():
    times, others = np.linspace(0.0, 2.0, 2001), np.linspace(-0.5, 3.0, 7001)
    a, b = np.sin(np.pi * times), 3.0 * np.sin(np.pi * others)
    common = np.ones(len(times), dtype=bool)
    found = _difference("arm/position", "rad", times, a, others, b, common)
    assert found.rms == pytest.approx(2.0 / np.sqrt(2.0), rel=1e-3)
    assert found.largest == pytest.approx(2.0, abs=1e-5)
    assert found.at in (pytest.approx(0.5), pytest.approx(1.5))
    assert found.final == (pytest.approx(0.0, abs=1e-9), pytest.approx(0.0, abs=1e-9))
    assert np.abs(found.peak) == pytest.approx((1.0, 3.0))


def test_a_signal_without_values_is_left_out():
    times = np.arange(3.0)
    empty = np.full(3, np.nan)
    assert _difference("a/b", "", times, empty, times, times, np.ones(3, dtype=bool)) is None


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    from pliant.devices import make_devices

    folder = tmp_path_factory.mktemp("runs")
    made = []
    for name, preset in (("soft", 0.1), ("stiff", 0.6)):
        robot: Robot = build_robot("qbmove-1dof", {"preset": preset})
        path = folder / f"{name}.mcap"
        with Simulation(MujocoEngine(robot), make_devices(robot), recorder=Recorder(path)) as simulation:
            simulation.run(0.2 if name == "soft" else 0.3)
        made.append(read_recording(path))
    return made


def test_a_stiffer_joint_is_seen_in_the_numbers(runs):
    soft, stiff = runs
    assert common_devices(soft, stiff) == ["joint"]
    found = {d.name: d for d in differences(soft, stiff)}
    assert found["joint/preset"].final == (pytest.approx(0.1, abs=0.01), pytest.approx(0.6, abs=0.01))
    assert found["joint/stiffness"].final[0] < found["joint/stiffness"].final[1]
    assert all(d.at <= 0.2 + 1e-9 for d in found.values())  # the common time


def test_a_run_does_not_differ_from_itself(runs):
    assert all(d.largest == 0.0 for d in differences(runs[0], runs[0]))


def test_the_figure_has_both_runs_in_every_panel(runs, tmp_path):
    figure = plot_comparison(*runs, tmp_path / "both.png", names=("soft", "stiff"))
    assert (tmp_path / "both.png").read_bytes().startswith(b"\x89PNG")
    for axis in figure.axes:
        assert [line.get_label() for line in axis.lines] == ["soft", "stiff"]
        assert axis.lines[0].get_color() != axis.lines[1].get_color()
        assert "[" in axis.get_ylabel()


def test_recordings_without_a_common_device_are_refused_with_both_lists(runs, monkeypatch):
    other = read_recording(runs[1].path)
    monkeypatch.setattr(other, "devices", {"elbow": other.devices["joint"]})
    with pytest.raises(RecordingError, match=r"share no device: joint.* in the first, elbow"):
        differences(runs[0], other)

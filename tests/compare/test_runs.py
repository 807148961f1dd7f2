"""Two runs that differ: numbers with a known answer, and a figure of both."""

import numpy as np
import pytest

from pliant.base.errors import RecordingError
from pliant.compare.runs import (
    RunDifference,
    _difference,
    common_devices,
    differences,
    distinct,
    noise,
    plot_comparison,
)  # fmt: skip
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.recording import Recorder, read_recording
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


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("step", [0.1, 0.05, 0.07])
def test_a_ray_that_hits_in_one_run_alone_differs_infinitely(sign, swapped, step):
    times, others = np.arange(0.0, 1.01, 0.1), np.arange(0.0, 1.01, step)
    always = np.full(len(times), 2.0)
    lost = np.where(others > 0.45, sign * np.inf, 2.0)
    pairs = (times, always), (others, lost)
    (t, a), (u, b) = pairs[::-1] if swapped else pairs
    found = _difference("scan/ranges[0]", "m", t, a, u, b, (t >= u[0]) & (t <= u[-1]))
    assert (found.rms, found.largest) == (np.inf, np.inf)
    assert 0.45 < found.at <= 0.56
    assert found.final[not swapped] == sign * np.inf
    assert found.peak == (2.0, 2.0)
    assert found.largest > noise(found)


def test_a_ray_that_never_hits_is_equal_to_another_and_differs_from_one_that_does():
    times = np.arange(3.0)
    never, far, near = np.full(3, np.inf), np.full(3, 5.0), np.full(3, -np.inf)
    every = np.ones(3, dtype=bool)
    assert _difference("a/b", "m", times, never, times, never, every).largest == 0.0
    for other in (far, near):
        found = _difference("a/b", "m", times, never, times, other, every)
        assert found.largest == np.inf > noise(found)
        assert found.final == found.peak == (np.inf, other[0])


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
        runs_of = [line for line in axis.lines if line.get_linestyle() != ":"]
        assert [line.get_label() for line in runs_of] == ["soft", "stiff"]
        assert axis.lines[0].get_color() != axis.lines[1].get_color()
        assert "[" in axis.get_ylabel()


def test_the_run_with_more_samples_is_read_at_the_times_of_the_other(runs, tmp_path):
    from pliant.devices import make_devices

    robot = build_robot("qbmove-1dof", {"preset": 0.1})
    with Simulation(
        MujocoEngine(robot), make_devices(robot, joint_sample_period=1e-3), recorder=Recorder(tmp_path / "a.mcap")
    ) as simulation:
        simulation.run(0.2)
    often = read_recording(tmp_path / "a.mcap")
    assert len(often["joint/time"]) > 5 * len(runs[0]["joint/time"])
    for pair in ((often, runs[0]), (runs[0], often)):
        assert all(d.largest < 1e-15 for d in differences(*pair))
    (preset,) = (d for d in differences(often, runs[1]) if d.name == "joint/preset")
    assert preset.final == (pytest.approx(0.1, abs=0.01), pytest.approx(0.6, abs=0.01))


def test_a_signal_that_repeats_another_one_is_shown_once():
    def one(name, unit="N m", rms=0.5):
        return RunDifference(name=name, unit=unit, final=(1.0, 2.0), peak=(-3.0, 2.0), rms=rms, largest=1.0, at=0.1)

    found = [one("a/torque"), one("a/elastic_torque"), one("b/torque"), one("a/x", "rad"), one("a/load", rms=0.6)]
    assert [d.name for d in distinct(found)] == ["a/torque", "b/torque", "a/x", "a/load"]
    assert noise(found[0]) == pytest.approx(3e-9)


@pytest.fixture(scope="module")
def commanded(tmp_path_factory):
    from pliant.devices import make_devices

    made = []
    for name, preset, angle in (("a", 0.3, 0.5), ("b", 0.6, 0.5), ("c", 0.3, 0.2)):
        robot = build_robot("qbmove-1dof", {"preset": preset})
        path = tmp_path_factory.mktemp("commanded") / f"{name}.mcap"
        with Simulation(MujocoEngine(robot), make_devices(robot), recorder=Recorder(path)) as simulation:
            simulation.devices["joint"].inbox.put({"equilibrium_position": angle})
            simulation.run(0.2)
        made.append(read_recording(path))
    return made


def dotted(axis):
    return [line for line in axis.lines if line.get_linestyle() == ":"]


def test_one_command_of_both_runs_is_drawn_once(commanded):
    (line,) = dotted(plot_comparison(commanded[0], commanded[1]).axes[0])
    assert line.get_label() == "commanded"
    assert line.get_ydata()[-1] == pytest.approx(0.5)


def test_commands_that_differ_have_the_colors_of_their_runs_and_equal_constants_no_panel(commanded):
    figure = plot_comparison(commanded[0], commanded[2], names=("far", "near"))
    lines = dotted(figure.axes[0])
    assert [line.get_ydata()[-1] for line in lines] == [pytest.approx(0.5), pytest.approx(0.2)]
    assert [line.get_color() for line in lines] == [line.get_color() for line in figure.axes[0].lines[:2]]
    labels = [axis.get_ylabel() for axis in figure.axes]
    assert len(labels) == 3
    assert not any("preset" in text for text in labels)  # 0.3 rad in both
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["far", "near", "commanded"]


def test_labels_of_panels_fit_beside_them(commanded):
    figure = plot_comparison(commanded[0], commanded[0])
    assert not any("preset" in axis.get_ylabel() for axis in figure.axes)
    assert all(len(line) <= 24 for axis in figure.axes for line in axis.get_ylabel().split("\n"))


def test_recordings_without_a_common_device_are_refused_with_both_lists(runs, monkeypatch):
    other = read_recording(runs[1].path)
    monkeypatch.setattr(other, "devices", {"elbow": other.devices["joint"]})
    with pytest.raises(RecordingError, match=r"share no device: joint.* in the first, elbow"):
        differences(runs[0], other)

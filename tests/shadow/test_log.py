"""Logs of a robot: recordings, bags and tables; gaps and restarts are named."""

import math

import numpy as np
import pytest
from shadow_logs import described

from pliant.base.errors import RecordingError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.recording import Recorder, export
from pliant.shadow import ShadowLog, read_shadow_log
from pliant.shadow.log import PIECES, Signal
from pliant.simulation import Simulation


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "arm.mcap"
    robot = described("qbmove-2dof")
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free", recorder=Recorder(path)) as simulation:
        simulation.run(0.3)
    return path


def test_a_recording_has_commands_and_positions_of_every_joint(recorded):
    log = read_shadow_log(recorded, described("qbmove-2dof"))
    joints = ("joint_1", "joint_2")
    assert set(log.commands) == {f"{j}/reference_{k}" for j in joints for k in (1, 2)}
    assert set(log.measured) == {f"{j}/{m}position" for j in joints for m in ("", "motor_1_", "motor_2_")}
    assert log.end == pytest.approx(0.3)
    assert log.notes == ()


def test_an_exported_table_gives_the_same_log(recorded, tmp_path):
    export(recorded, "csv", tmp_path / "arm.csv")
    robot = described("qbmove-2dof")
    first, second = read_shadow_log(recorded, robot), read_shadow_log(tmp_path / "arm.csv", robot)
    for port, signal in first.measured.items():
        np.testing.assert_allclose(second.measured[port].values, signal.values, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("prefix", ["", "joint/"])
def test_the_only_joint_of_a_table_may_be_named(prefix, tmp_path):
    rows = "\n".join(f"{0.01 * k},{0.1 * k},0.3" for k in range(50))
    (tmp_path / "log.csv").write_text(f"time,{prefix}position,{prefix}reference_1\n{rows}")
    log = read_shadow_log(tmp_path / "log.csv", described("sea-1dof"))
    assert set(log.commands) == {"joint/reference_1"}
    np.testing.assert_allclose(log.measured["joint/position"].values, 0.1 * np.arange(50))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("time,position", None),
        ("time,position [deg]", None),
        ("time,position:57.3", "a range of .* more than two turns of a joint; if it is in deg, the header must say so"),
        ("time:1000,position", r"each 100 s is too slow .*; if it is in ms, the header must say so: 'time \[ms\]'"),
        ("time [ms]:1000,position", None),
    ],
)
def test_a_unit_that_is_wrong_by_its_size_is_named(header, message, tmp_path):
    (time, clock), (position, angle) = ((*part.split(":"), "1")[:2] for part in header.split(","))
    rows = "\n".join(f"{0.1 * k * float(clock)},{math.sin(k) * float(angle)},0.3" for k in range(50))
    (tmp_path / "log.csv").write_text(f"{time},{position},reference_1\n{rows}")
    if message is None:
        assert read_shadow_log(tmp_path / "log.csv", described("sea-1dof")).end == pytest.approx(4.9)
    else:
        with pytest.raises(RecordingError, match=message):
            read_shadow_log(tmp_path / "log.csv", described("sea-1dof"))


def test_gaps_are_named_and_restarts_are_refused():
    time = np.r_[np.arange(50), np.arange(150, 200)] * 0.01
    signal = Signal(time, np.sin(time))
    from pliant.shadow.log import _gaps

    (note,) = _gaps({"joint/position": signal})
    assert "1 gaps, the longest of 1.01 s" in note
    again = Signal(np.r_[time, time], np.r_[time, time])
    with pytest.raises(RecordingError, match=r"does not increase: 0 s after 1.99 s; cut the log"):
        ShadowLog({"joint/reference_1": signal}, {"joint/position": again})


@pytest.mark.parametrize("column", ["q", "reference_1"])
def test_a_table_without_commands_or_measurements_is_refused(column, tmp_path):
    (tmp_path / "log.csv").write_text(f"time,{column}\n" + "\n".join(f"{0.01 * k},0.1" for k in range(50)))
    missing = "commands" if column == "q" else "measurements"
    with pytest.raises(RecordingError, match=f"there are no {missing}"):
        read_shadow_log(tmp_path / "log.csv", described("sea-1dof"))


def test_sampled_commands_keep_their_mean_and_latched_ones_begin_a_sample_earlier():
    time = np.arange(6) * 0.1
    ramp = Signal(time, 2.0 * time)
    log = ShadowLog({"joint/reference_1": ramp}, {"joint/position": ramp})
    fine = log.between("sampled").commands["joint/reference_1"]
    assert len(fine.time) == 5 * PIECES + 1
    middle = fine.time[:-1] + 0.5 * np.diff(fine.time)
    np.testing.assert_allclose(fine.values[:-1], 2.0 * middle)
    late = log.between("latched").commands["joint/reference_1"]
    np.testing.assert_allclose(late.values, 2.0 * (late.time + 0.1))

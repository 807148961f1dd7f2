"""Logs of a Franka arm, as libfranka and as pliant write them: what has changed in the arm is named from them."""

import dataclasses
import json

import numpy as np
import pytest

import pliant
from pliant.base.errors import ModelError, RecordingError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.device.parameters import Payload
from pliant.franka.log import ArmWorlds, open_log, read_arm_log
from pliant.franka.robots.dynamics import coriolis, friction, mass
from pliant.franka.robots.parameters import FR3
from pliant.recording import Recorder
from pliant.shadow.drift import judge_windows
from pliant.simulation import Simulation

SECONDS = 3.0
START = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.785])


def reference(t):
    """Return position, velocity and acceleration of a motion of every joint that begins at rest."""
    w = 2.0 * np.pi * np.array([0.5, 0.7, 0.9, 0.6, 1.1, 0.8, 1.3])
    c, s, a = np.cos(w * t), np.sin(w * t), 0.2 / w
    return START + a * (1.0 - c) ** 2, 2.0 * a * w * (1.0 - c) * s, 2.0 * a * w**2 * (s**2 + (1.0 - c) * c)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Move an arm in torque control and record it."""
    path = tmp_path_factory.mktemp("arm") / "arm.mcap"
    robot = pliant.load("fr3")
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free", recorder=Recorder(path)) as simulation:
        arm = simulation.devices["franka"]
        simulation.request("franka", "move", controller=2, motion_generator=4)
        simulation.step()
        for k in range(round(1000 * SECONDS)):
            state = simulation.sample("franka").values
            q, dq = np.array(state["q"]), np.array(state["dq"])
            r, dr, ddr = reference(1e-3 * k)
            torque = mass(q, arm=FR3) @ (ddr + 400.0 * (r - q) + 40.0 * (dr - dq)) + coriolis(q, dq, arm=FR3) @ dq
            arm.inbox.put({"tau_J_d": torque})
            simulation.step()
        assert state["robot_mode"] == 2.0, "the arm stopped"
    return path


@pytest.fixture(scope="module")
def log(recording):
    return read_arm_log(recording, "franka")


def verdict(log, **changes):
    """Return what the log says of an arm whose description differs."""
    robot = pliant.load("fr3")
    (arm,) = robot.devices
    robot.devices[0] = dataclasses.replace(arm, **changes)
    worlds = ArmWorlds(robot, log)
    compared = worlds.compare()
    time = compared["joint1/torque"].time
    (found,) = judge_windows(worlds, compared, time[0], time[-1], time[-1] - time[0], "recorded")
    return found


def described_load(lighter):
    """Return the hand of the description, by so much lighter at its fingertips."""
    hand = pliant.load("fr3").devices[0].end_effector
    return Payload(mass=hand.mass - lighter, center_of_mass=hand.center_of_mass, inertia=hand.inertia)


def test_nothing_is_named_in_the_arm_as_described_and_the_torques_of_the_links_are_explained(log):
    found = verdict(log)
    assert found.drifted == (), found.verdict
    assert found.misfit < 0.05
    assert "torques differ by" in found.verdict


def test_nothing_is_named_in_short_windows_either(log):
    worlds = ArmWorlds(pliant.load("fr3"), log)
    compared = worlds.compare()
    windows = judge_windows(worlds, compared, 0.1, float(log.time[-1]) - 0.1, 1.0, "recorded")
    assert len(windows) == 4
    assert [w.verdict for w in windows if w.drifted] == []


def test_a_load_that_the_description_lacks_is_named(log):
    found = verdict(log, end_effector=described_load(0.3))
    assert found.drifted[:1] == ("load",), found.verdict
    assert found.estimates[0].explained > 0.7  # the rest: it is not where the load is tried
    # 0.3 kg at the centre of the hand, which is nearer to the wrist than the fingertips
    assert 0.15 < found.estimates[0].value < 0.3


def test_a_hand_that_the_description_lacks_is_a_load(log):
    found = verdict(log, end_effector=None, F_T_NE=None)
    assert found.drifted[:1] == ("load",), found.verdict
    assert found.estimates[0].value == pytest.approx(0.73, abs=0.15)  # kg


@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_a_joint_whose_friction_changed_by_a_fifth_is_named(log, factor):
    """The same motion takes a command that is larger by what the cabinet does not compensate."""
    more = np.zeros_like(log.tau_J)
    more[:, 1] = (factor - 1.0) * friction(log.dq, arm=FR3)[:, 1]
    found = verdict(dataclasses.replace(log, tau_J_d=log.tau_J_d + more))
    assert found.drifted[:1] == ("joint2 friction",), found.verdict
    assert found.estimates[0].value == pytest.approx(factor, abs=0.08)


def test_commands_that_come_later_are_named(log):
    found = verdict(dataclasses.replace(log, tau_J_d=np.roll(log.tau_J_d, -3, axis=0)))
    assert found.drifted[:1] == ("delay",), found.verdict
    assert found.estimates[0].value == pytest.approx(3e-3, abs=1e-3)


def test_a_softer_gear_is_named_where_the_motors_were_recorded(log):
    stiffness = list(FR3.joint_stiffness)
    stiffness[3] *= 1.25
    found = verdict(log, arm=dataclasses.replace(FR3, joint_stiffness=tuple(stiffness)))
    assert found.drifted == ("joint4 spring",), found.verdict
    assert found.estimates[0].value == pytest.approx(0.8, abs=0.01)


def write_csv(path, log, keep=lambda k: True):
    """Write what franka::logToCSV does of these states and commands."""
    names = ["time", "success_rate"]
    for name in ("state.q", "state.q_d", "state.dq", "state.dq_d", "state.tau_J", "state.tau_ext_hat_filtered"):
        names += [f"{name}[{i}]" for i in range(7)]
    names += [f"cmd.{name}[{i}]" for name, n in (("q_d", 7), ("dq_d", 7), ("O_T_EE_d", 16)) for i in range(n)]
    names += [f"cmd.O_dP_EE_d[{i}]" for i in range(6)] + [f"cmd.tau_J_d[{i}]" for i in range(7)]
    lines = [",".join(names)]
    for k in filter(keep, range(len(log.time))):
        q, dq, torque = log.q[k], log.dq[k], log.tau_J_d[k]
        row = [round(1e3 * log.time[k]), 1, *q, *q, *dq, *dq, *log.tau_J[k], *[0.0] * 43, *torque]
        lines.append(",".join(f"{number:g}" for number in row))
    path.write_text("\n".join(lines) + "\n")


def test_a_csv_of_libfranka_says_the_same_as_the_recording_but_for_the_springs(log, tmp_path):
    write_csv(tmp_path / "log.csv", log)
    read = read_arm_log(tmp_path / "log.csv", "franka")
    assert read.theta is None
    np.testing.assert_allclose(read.tau_J_d, log.tau_J_d, rtol=1e-5, atol=1e-9)
    one, two = verdict(read), verdict(dataclasses.replace(log, theta=None))
    assert one.drifted == two.drifted == ()
    assert one.misfit == pytest.approx(two.misfit, rel=0.1)
    assert not [e for e in one.estimates if e.candidate.name.endswith("spring")]


def test_gaps_are_told_and_the_parts_between_them_are_compared(log, tmp_path):
    write_csv(tmp_path / "log.csv", log, keep=lambda k: not 1000 <= k < 1200)
    worlds = ArmWorlds(pliant.load("fr3"), read_arm_log(tmp_path / "log.csv", "franka"))
    compared = worlds.compare()["joint1/torque"]
    assert worlds.notes == ["1 gaps of up to 201 ms; 2 parts are compared"]
    assert not ((compared.time > 1.0) & (compared.time < 1.2)).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("state.tau_J[3]", "state.torque[3]"), "there is no column 'state.tau_J\\[3\\]'"),
        (lambda t: t.replace("\n", "\nx,", 2), "no row of numbers"),
        (lambda t: "\n".join(t.splitlines()[:50]), "libfranka keeps 50 unless"),
        (lambda t: "\n".join([*t.splitlines(), *t.splitlines()[1:]]), "does not increase"),
    ],
)
def test_what_is_no_log_of_an_arm_is_refused(log, tmp_path, change, message):
    write_csv(tmp_path / "log.csv", dataclasses.replace(log), keep=lambda k: k < 400)
    (tmp_path / "log.csv").write_text(change((tmp_path / "log.csv").read_text()))
    with pytest.raises(RecordingError, match=message):
        ArmWorlds(pliant.load("fr3"), read_arm_log(tmp_path / "log.csv", "franka")).compare()


def test_a_robot_without_an_arm_and_an_arm_that_is_not_named_are_refused(recording):
    from pliant.franka.log import ArmLogOptions

    with pytest.raises(ModelError, match="has no Franka arm"):
        open_log(pliant.load("sea-1dof"), ArmLogOptions(file=str(recording)))
    with pytest.raises(ModelError, match="--fci-log FILE,arm=NAME"):
        open_log(pliant.load("franka-dual"), ArmLogOptions(file=str(recording)))


def test_the_command_judges_a_log_and_draws_it(call, recording, tmp_path):
    code, out, err = call("shadow", "fr3", "--fci-log", recording, "--json", "--plot", tmp_path / "arm.png")
    assert code == 0, err
    (window,) = json.loads(out)["windows"]
    assert window["drifted"] == []
    assert (tmp_path / "arm.png").stat().st_size > 10_000

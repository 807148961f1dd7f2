"""A parallel robot as a device, on the real engine and on the statics alone."""

import threading

import numpy as np
import pytest

from pliant.base.errors import DeviceError
from pliant.base.spatial import exp_so3, pose, rotation_from_rpy
from pliant.engine import MujocoEngine
from pliant.events.scenario import ExternalForce
from pliant.parallel.device.parallel import ParallelRobotDevice
from pliant.parallel.model import build_parallel, mechanism_of
from pliant.rods import load_robot, solving
from pliant.simulation import Simulation


class Clock:
    """An engine that only counts."""

    dt, time_ns = 0.001, 0

    def reset(self, seed=None):
        self.time_ns = 0

    def step(self, n=1):
        self.time_ns += 1_000_000 * n


def statics_device(name):
    device = ParallelRobotDevice(load_robot(name))
    engine = Clock()
    device.attach(engine)
    device.reset(np.random.default_rng(0))
    return device


def simulation(name, *, ramp=0.0, **options):
    options = {"segments": 6, "damping": 0.03, **options}
    robot = build_parallel(name, **options)
    mechanism = mechanism_of(robot)
    device = ParallelRobotDevice(mechanism, ramp=ramp)
    return Simulation(MujocoEngine(robot), [device], pacer="sync"), device, mechanism


def test_names_are_those_of_the_original_topics():
    device = ParallelRobotDevice(load_robot("Stewart_Gough_6PFR"))
    assert set(device.commands) == {"dgm_parameters", "igm_parameters", "controller_wrench", "plate_pose"}
    assert set(device.commands["dgm_parameters"]) == {"joints_values", "wrench"}
    assert set(device.commands["igm_parameters"]) == {"pose", "wrench"}
    assert list(device.samples) == [
        "joint_values",
        "joint_velocities",
        "pose",
        "twist",
        "wrench",
        "stable",
        "deviation",
    ]
    assert device.samples["pose"].shape == (7,)


@pytest.mark.parametrize("name", ["Stewart_Gough_6PFR", "3RR"])
def test_the_statics_answer_both_models(name):
    device = statics_device(name)
    robot = load_robot(name)
    q = robot.home().q + 0.01
    device.inbox.put({"joints_values": q}, mode="dgm_parameters")
    device.write()
    sample = device.read(0)
    exact = robot.solve_dgm(q)
    np.testing.assert_allclose(sample.values["pose"][:2], exact.plate_pose[:2, 3], atol=1e-6)
    assert sample.values["stable"] == 1.0
    device.inbox.put({"pose": sample.values["pose"]}, mode="igm_parameters")
    device.write()
    np.testing.assert_allclose(device.read(1).values["joint_values"], q, atol=1e-6)


def test_quaternions_are_in_the_order_of_the_message():
    device = statics_device("Stewart_Gough_6PFR")
    half = 0.05
    goal = [0.0, 0.0, 1.1, 0.0, 0.0, np.sin(half), np.cos(half)]
    device.inbox.put({"pose": goal}, mode="igm_parameters")
    device.write()
    robot = load_robot("Stewart_Gough_6PFR")
    exact = robot.solve_igm(pose((0.0, 0.0, 1.1), exp_so3([0.0, 0.0, 0.1])))
    np.testing.assert_allclose(device.read(0).values["joint_values"], exact.q, atol=1e-6)
    np.testing.assert_allclose(device.read(0).values["pose"], goal, atol=1e-7)


def test_a_command_without_an_equilibrium_changes_nothing_and_is_explained():
    device = statics_device("Stewart_Gough_6PFR")
    before = device.read(0).values["joint_values"]
    device.inbox.put({"pose": [5.0, 0, 1, 0, 0, 0, 1]}, mode="igm_parameters")
    device.write()
    np.testing.assert_array_equal(device.read(1).values["joint_values"], before)
    assert device.health()["without_equilibrium"] == 1
    assert "no equilibrium" in device.health()["reason"]
    device.inbox.put({"pose": [0.0, 0, 1.1, 0, 0, 0, 2]}, mode="igm_parameters")
    device.write()
    assert "length 2" in device.health()["reason"]


def test_wrong_lengths_are_refused():
    device = ParallelRobotDevice(load_robot("3RR"))
    with pytest.raises(DeviceError, match="array of 3 finite numbers"):
        device.inbox.put({"joints_values": [0.0, 0.0]}, mode="dgm_parameters")


def test_the_dynamic_robot_stays_at_rest_until_the_first_command():
    run, _, mechanism = simulation("Stewart_Gough_6PFR")
    with run:
        run.run(0.2)
        values = run.sample("cpr").values
    np.testing.assert_allclose(values["joint_values"], mechanism.solution.q, atol=1e-5)
    np.testing.assert_allclose(values["pose"][:3], mechanism.solution.plate_pose[:3, 3], atol=1e-5)


@pytest.mark.parametrize("name", ["Stewart_Gough_6PFR", "3ER"])
def test_the_dynamic_robot_goes_to_a_commanded_pose(name):
    run, device, mechanism = simulation(name)
    planar = mechanism.solution.robot.planar
    with run:
        run.run(0.01)
        goal = np.array(run.sample("cpr").values["pose"])
        goal[:2] += [0.02, -0.01]
        device.inbox.put({"pose": goal}, mode="igm_parameters")
        run.run(2.5)
        values = run.sample("cpr").values
    np.testing.assert_allclose(values["pose"][: 2 if planar else 3], goal[: 2 if planar else 3], atol=1e-3)


def test_a_wrench_moves_the_plate_by_the_compliance():
    run, device, mechanism = simulation("Stewart_Gough_6PFR", damping=0.005)
    with run:
        device.inbox.put({"wrench": [0.5, 0, 0, 0, 0, 0]}, mode="controller_wrench")
        run.run(2.5)
        values = run.sample("cpr").values
    statics = mechanism.solution.robot
    exact = statics.solve_dgm(mechanism.solution.q, [0.5, 0, 0, 0, 0, 0], start=mechanism.solution)
    assert exact.plate_pose[0, 3] > 1e-3
    np.testing.assert_allclose(values["pose"][:3], exact.plate_pose[:3, 3], atol=2e-5)
    np.testing.assert_array_equal(values["wrench"], [0.5, 0, 0, 0, 0, 0])


def test_requests_give_the_unknowns_in_the_order_of_the_original_service():
    device = statics_device("Stewart_Gough_6PFR")
    asked = device.request("parameters_vector")
    margins = device.request("margins")
    device.serve()
    vector = asked.result(timeout=0)
    assert len(vector) == 7 * 6 + 6
    np.testing.assert_allclose(vector[36:42], 0.00864, atol=1e-4)
    np.testing.assert_allclose(vector[42:], [0, 0, 1.1, 0, 0, 0], atol=1e-9)
    assert margins.result(timeout=0)["index"] == 0
    planar = statics_device("3RR")
    asked = planar.request("parameters_vector")
    planar.serve()
    assert len(asked.result(timeout=0)) == 4 * 3 + 3


def test_a_ramp_moves_joints_and_load_in_a_straight_line():
    loop, device, mechanism = simulation("3RR", ramp=0.2)
    begin = mechanism.solution
    target = begin.q + 0.05
    load = np.array([0.1, 0.0, 0.0])
    with loop:
        device.inbox.put({"joints_values": target, "wrench": load}, mode="dgm_parameters")
        loop.run(0.1)
        halfway = loop.sample("cpr").values
        np.testing.assert_allclose(halfway["wrench"], 0.5 * load, rtol=1e-9)
        controls = [control[0] for control in device._controls]
        np.testing.assert_allclose(controls, begin.q + 0.025, rtol=1e-9)
        loop.run(2.1)
    sample = loop.sample("cpr").values
    expected = begin.robot.solve_dgm(target, load, start=begin)
    np.testing.assert_array_equal(sample["wrench"], load)
    np.testing.assert_allclose(sample["joint_values"], target, atol=1e-4)
    np.testing.assert_allclose(sample["pose"], expected.pose2d, atol=2e-3)
    assert device.margins()["index"] == expected.morse_index


def test_a_pose_may_be_given_by_three_angles():
    device = statics_device("Stewart_Gough_6PFR")
    device.inbox.put({"xyz_rpy": [0.02, 0.0, 1.08, 0.0, 0.1, -0.1]}, mode="plate_pose")
    device.write()
    expected = pose((0.02, 0.0, 1.08), rotation_from_rpy((0.0, 0.1, -0.1)))
    np.testing.assert_allclose(device.plate_pose(), expected, atol=1e-7)


def test_a_run_at_the_clocks_pace_solves_in_a_thread_of_its_own(monkeypatch):
    monkeypatch.setattr(solving, "IDLE", 60.0)
    before = set(threading.enumerate())
    robot = build_parallel("3RR", segments=5)
    device = ParallelRobotDevice(mechanism_of(robot))
    with Simulation(MujocoEngine(robot), [device], pacer=1000.0) as loop:
        device.inbox.put({"joints_values": mechanism_of(robot).solution.q + 0.01}, mode="dgm_parameters")
        loop.step()
        assert "cpr solver" in {thread.name for thread in set(threading.enumerate()) - before}
    assert "cpr solver" not in {thread.name for thread in set(threading.enumerate()) - before}


@pytest.mark.parametrize("name", ["Stewart_Gough_6PFR", "3RR"])
def test_forces_of_others_on_the_plate_stay_beside_the_wrench_of_commands(name):
    loop, device, _ = simulation(name)
    own, other = ([0.5, 0.3, 0.1], [0.0, -0.4, 0.0]) if device.planar else ([0.5, 0, 0, 0, 0.1, 0], [0.0, -0.4, -1.0])
    with loop:
        port = loop.engine.port("body/plate/wrench")
        port[:3] += other
        device.inbox.put({"wrench": own}, mode="controller_wrench")
        loop.run(0.05)
        assert port[:3] == pytest.approx(np.add(other, [*own[:2], 0.0]))
        kept = loop.engine.save()
        device.inbox.put({"wrench": 2.0 * np.array(own)}, mode="controller_wrench")
        loop.run(0.05)
        assert port[:3] == pytest.approx(np.add(other, [2.0 * own[0], 2.0 * own[1], 0.0]))
        loop.engine.load(kept)
        loop.run(0.05)
        assert port[:3] == pytest.approx(np.add(other, [2.0 * own[0], 2.0 * own[1], 0.0]))
        port[:3] -= other
        loop.run(0.05)
        assert port[:3] == pytest.approx([2.0 * own[0], 2.0 * own[1], 0.0])
        loop.reset()
        loop.run(0.05)
        assert port == pytest.approx(np.zeros(6))


def test_a_push_by_an_event_moves_the_plate_as_the_same_wrench_of_a_command():
    places = []
    for pushed in ("", "event", "command"):
        loop, device, _ = simulation("Stewart_Gough_6PFR")
        with loop:
            if pushed == "event":
                ExternalForce(at=0.0, body="plate", force=[1.0, 0.0, -2.0]).apply(loop)
            elif pushed:
                device.inbox.put({"wrench": [1.0, 0.0, -2.0, 0.0, 0.0, 0.0]}, mode="controller_wrench")
            loop.run(1.0)
            places.append(device.plate_pose()[:3, 3])
    at_rest, event, command = places
    assert np.linalg.norm(event - at_rest) > 1e-3
    np.testing.assert_allclose(event, command, atol=1e-4)

"""What a controller's wrench does, how joints travel, and who solves."""

import functools
import threading

import numpy as np
import pytest
import waiting
from tests.helpers.branch_problems import problems

from pliant.base.errors import DeviceError
from pliant.engine import MujocoEngine
from pliant.parallel.device.parallel import ParallelRobotDevice
from pliant.parallel.device.plate_controller import PlateController
from pliant.parallel.model import build_parallel, mechanism_of
from pliant.parallel.plate_pose import PlatePosePID
from pliant.rods import load_robot
from pliant.simulation import Simulation

NAME = "Stewart_Gough_6PFR"
PUSH = np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.0])


class Clock:
    """An engine that only counts."""

    dt, time_ns = 0.001, 0

    def reset(self, seed=None):
        self.time_ns = 0

    def step(self, n=1):
        self.time_ns += 1_000_000 * n


until = functools.partial(waiting.until, timeout=30.0)


def alone(name=NAME, **options):
    """A robot of the statics alone."""
    device = ParallelRobotDevice(load_robot(name), **options)
    device.attach(Clock())
    device.reset(np.random.default_rng(0))
    return device


def dynamic(name=NAME, segments=4, devices=lambda device: [device], **options):
    robot = build_parallel(name, segments=segments, damping=0.02)
    mechanism = mechanism_of(robot)
    device = ParallelRobotDevice(mechanism, **options)
    return Simulation(MujocoEngine(robot), devices(device), pacer="sync"), device, mechanism


# ---------------------------------------------------------------------- the controller's wrench
def pushed(effect):
    """A robot of the statics alone, and what it shows before and after a controller's wrench of that effect."""
    device = alone(controller_wrench=effect)
    before = device.read(0).values
    device.wrenches.put({"wrench": PUSH})
    device.write()
    return device, before, device.read(1).values


def test_hold_keeps_the_plate_where_it_is():
    device, before, after = pushed("hold")
    np.testing.assert_allclose(after["pose"], before["pose"], atol=1e-8)
    np.testing.assert_array_equal(after["wrench"], PUSH)
    held = device.robot.solve_igm(device.robot.home().plate_pose, PUSH)
    np.testing.assert_allclose(after["joint_values"], held.q, atol=1e-6)
    assert np.abs(after["joint_values"] - before["joint_values"]).max() > 1e-4


def test_push_moves_the_plate_by_the_compliance_and_leaves_the_joints():
    device, before, after = pushed("push")
    np.testing.assert_array_equal(after["joint_values"], before["joint_values"])
    moved = device.robot.solve_dgm(before["joint_values"], PUSH)
    np.testing.assert_allclose(after["pose"][:3], moved.plate_pose[:3, 3], atol=1e-6)
    assert after["pose"][0] > before["pose"][0] + 5e-4


def test_exert_lets_the_joints_push_the_plate_that_way():
    device, before, after = pushed("exert")
    # Nothing acts from outside; the joints have the values at which the rods pull with it at the old pose.
    np.testing.assert_array_equal(after["wrench"], np.zeros(6))
    pulling = device.robot.solve_igm(device.robot.home().plate_pose, -PUSH)
    np.testing.assert_allclose(after["joint_values"], pulling.q, atol=1e-6)
    assert after["pose"][0] > before["pose"][0] + 5e-4


@pytest.mark.parametrize("policy", ["hold", "push", "exert"])
def test_the_controllers_wrench_comes_beside_the_load(policy):
    device = alone(controller_wrench=policy)
    load = np.array([0.0, 0.1, -0.2, 0.0, 0.0, 0.0])
    device.inbox.put({"pose": [0, 0, 1.1, 0, 0, 0, 1], "wrench": load}, mode="igm_parameters")
    device.write()
    device.wrenches.put({"wrench": PUSH})
    device.write()
    both = load if policy == "exert" else load + PUSH
    np.testing.assert_allclose(device.read(0).values["wrench"], both)
    device.wrenches.put({"wrench": np.zeros(6)})
    device.write()
    np.testing.assert_allclose(device.read(1).values["wrench"], load)


@pytest.mark.parametrize("policy", ["hold", "push", "exert"])
def test_the_dynamic_robot_does_the_same(policy):
    loop, device, _ = dynamic(controller_wrench=policy)
    with loop:
        loop.run(0.02)
        before = loop.sample("cpr").values["pose"][0]
        device.wrenches.put({"wrench": PUSH})
        loop.run(0.4)
        values = loop.sample("cpr").values
    moved = values["pose"][0] - before
    if policy == "hold":
        # The wrench is there at once, the joints travel: the plate swings, by less than it would be pushed.
        assert abs(moved) < 1e-3
        assert np.abs(values["joint_values"] - device.equilibrium.q).max() < 1e-4
    else:
        assert moved > 5e-4


def test_a_planar_robot_takes_a_planar_wrench():
    device = alone("3RR", controller_wrench="push")
    device.wrenches.put({"wrench": [0.2, 0.0, 0.0]})
    device.write()
    np.testing.assert_array_equal(device.read(0).values["wrench"], [0.2, 0.0, 0.0])


def test_options_that_are_not_valid_are_named():
    with pytest.raises(DeviceError, match="did you mean 'push'"):
        alone(controller_wrench="pushh")
    with pytest.raises(DeviceError, match="two numbers > 0"):
        alone(joint_speeds=(0.0, 1.0))


# ---------------------------------------------------------------------- joints
def test_joints_travel_in_a_straight_line_at_their_speed():
    loop, device, robot = dynamic(joint_speeds=(0.2, 1.0))
    goal = robot.solution.q + np.array([0.02, 0.01, 0, 0, 0.01, 0.02])
    with loop:
        device.inbox.put({"joints_values": goal}, mode="dgm_parameters")
        controls = []
        for _ in range(120):
            loop.step()
            controls.append([c[0] for c in device._controls])
    controls = np.array(controls)
    assert np.abs(np.diff(controls, axis=0)).max() == pytest.approx(0.2e-3, rel=1e-6)
    part = (controls[49] - robot.solution.q) / (goal - robot.solution.q + 1e-30)
    np.testing.assert_allclose(part[[0, 1, 4, 5]], 0.5, atol=1e-6)
    np.testing.assert_array_equal(controls[-1], goal)


def test_what_is_beyond_a_joints_limits_is_refused():
    device = alone()
    told = []
    device.listeners.append(told.append)
    q = device.equilibrium.q.copy()
    device.inbox.put({"joints_values": q + 0.5}, mode="dgm_parameters")
    device.write()
    device.inbox.put({"pose": [0, 0, 1.6, 0, 0, 0, 1]}, mode="igm_parameters")
    device.write()
    np.testing.assert_array_equal(device.equilibrium.q, q)
    assert told[0].startswith("dgm_parameters: limb1/prismatic would have to be at 0.50")
    assert told[1].startswith("igm_parameters: limb1/prismatic would have to be at 0.50")
    assert all("limits are -1 and 0.4" in text for text in told)
    assert device.health()["without_equilibrium"] == 2


def test_a_change_of_branch_is_carried_out_counted_and_said_once(caplog):
    """The equilibrium of 3ER from home ends at a fold before these joint values; another one takes its place."""
    device = alone("3ER")
    *_, problem = problems(3, 0)
    assert problem.robot.name == "3ER"
    command = {"joints_values": problem.q, "wrench": problem.wrench[[0, 1, 5]]}
    for _ in range(2):
        device.inbox.put(command, mode="dgm_parameters")
        device.write()
    assert device.equilibrium.q == pytest.approx(problem.q)
    assert device.equilibrium.branch == "other"
    assert device.health()["branch_changes"] == 1
    said = [message for message in caplog.messages if "the way" in message]
    assert len(said) == 1
    assert said[0].startswith("3ER: ")


def test_home_lets_the_joints_travel_back():
    loop, device, robot = dynamic()
    with loop:
        device.inbox.put({"joints_values": robot.solution.q + 0.02}, mode="dgm_parameters")
        loop.run(0.1)
        asked = loop.request("cpr", "home")
        loop.step()
        assert asked.result(timeout=0) == pytest.approx(robot.solution.q)
        assert device._controls[0][0] > robot.solution.q[0] + 0.015
        loop.run(0.2)
        assert device._controls[0][0] == robot.solution.q[0]


# ---------------------------------------------------------------------- who solves
def test_two_runs_in_the_step_are_equal():
    def states():
        loop, device, _ = dynamic(controller_wrench="exert")
        with loop:
            out = []
            for k in range(60):
                device.wrenches.put({"wrench": PUSH * np.sin(0.1 * k)})
                if k == 20:
                    device.inbox.put({"pose": [0.01, 0, 1.11, 0, 0, 0, 1]}, mode="igm_parameters")
                loop.step()
                out.append(loop.sample("cpr").values["pose"].tobytes())
        return out

    assert states() == states()


def test_a_thread_of_its_own_finds_what_the_step_finds():
    goal = [0.02, -0.01, 1.13, 0, 0, 0, 1]
    before = set(threading.enumerate())  # one of an earlier test ends when it has had nothing to do for a second
    beside, inside = alone(worker=True), alone()
    for device in (beside, inside):
        device.inbox.put({"pose": goal}, mode="igm_parameters")
        device.write()
    until(lambda: np.allclose(beside.read(0).values["pose"], goal, atol=1e-6), act=beside.write)
    np.testing.assert_allclose(beside.equilibrium.q, inside.equilibrium.q, atol=1e-9)
    np.testing.assert_allclose(beside.centre_lines(), inside.centre_lines(), atol=1e-9)
    assert beside.margins()["index"] == inside.margins()["index"]
    beside.close()
    assert not [t for t in set(threading.enumerate()) - before if t.name == "cpr solver"]


class Held:
    """Lets a device solve only when it is told to."""

    def __init__(self, device):
        self.device, self.solve = device, device._solve
        self.begun, self.go = threading.Event(), threading.Event()
        device._solve = self

    def __call__(self, asked, base):
        self.begun.set()
        assert self.go.wait(30)
        return self.solve(asked, base)


def test_the_loop_goes_on_while_a_command_is_solved():
    loop, device, robot = dynamic(worker=True)
    held = Held(device)
    with loop:
        device.inbox.put({"joints_values": robot.solution.q + 0.02}, mode="dgm_parameters")
        loop.step()
        assert held.begun.wait(30)
        loop.step(20)  # would never come back if the step waited
        assert device.equilibrium is robot.solution
        held.go.set()
        until(lambda: device.equilibrium is not robot.solution, act=loop.step)
    device.close()
    np.testing.assert_allclose(device.equilibrium.q, robot.solution.q + 0.02)


def test_of_commands_that_come_too_fast_the_newest_counts():
    device = alone(worker=True)
    held = Held(device)
    q = device.equilibrium.q.copy()
    for k in range(1, 11):
        device.inbox.put({"joints_values": q + 0.001 * k}, mode="dgm_parameters")
        device.write()
        if k == 1:
            assert held.begun.wait(30)
    held.go.set()
    until(lambda: np.allclose(device.equilibrium.q, q + 0.01), act=device.write)
    device.close()
    assert device.health()["replaced"] == 8


def test_a_reset_forgets_what_was_being_solved():
    device = alone(worker=True)
    held = Held(device)
    home = device.equilibrium
    vector = device.parameters_vector()
    vector[44] += 0.05
    answer = device.parameters_vector(vector)
    assert held.begun.wait(30)
    device.reset(np.random.default_rng(0))
    with pytest.raises(DeviceError, match="the simulation was reset"):
        answer.result(timeout=0)
    held.go.set()
    device.close()
    device.write()
    assert device.equilibrium.q.tolist() == home.q.tolist()
    assert device.health()["without_equilibrium"] == 0


def test_a_refusal_of_the_thread_is_told_by_the_loop():
    device = alone(worker=True)
    told = []
    device.listeners.append(lambda text: told.append((threading.current_thread(), text)))
    device.inbox.put({"pose": [5.0, 0, 1, 0, 0, 0, 1]}, mode="igm_parameters")
    device.write()
    until(lambda: told, act=device.write)
    device.close()
    assert told[0][0] is threading.current_thread()
    assert "no equilibrium" in told[0][1]


# ---------------------------------------------------------------------- the controller
def test_the_controller_waits_for_its_first_goal():
    loop, device, _ = dynamic(
        controller_wrench="exert", devices=lambda device: [PlateController(device, PlatePosePID()), device]
    )
    with loop:
        loop.run(0.05)
        values = loop.sample("controller").values
    assert values["active"] == 0.0
    np.testing.assert_array_equal(values["wrench"], np.zeros(6))
    np.testing.assert_array_equal(values["desired"], values["current"])
    assert device.health()["commands"] == 0


def test_the_controller_gives_the_wrench_of_its_law():
    loop, device, robot = dynamic(
        controller_wrench="push", devices=lambda device: [PlateController(device, PlatePosePID()), device]
    )
    with loop:
        loop.devices["controller"].inbox.put({"pose": [0.03, 0, 1.1, 0, 0, 0, 1]}, mode="igm_parameters")
        loop.step()
        values = loop.sample("controller").values
        law = PlatePosePID()
        goal = robot.solution.plate_pose.copy()
        goal[:3, 3] = (0.03, 0.0, 1.1)
        np.testing.assert_allclose(values["wrench"], law.update(goal, robot.solution.plate_pose), atol=1e-6)
        # in the same step, the controller comes first
        np.testing.assert_allclose(loop.sample("cpr").values["wrench"], values["wrench"], atol=1e-12)
    assert not device.driven


def test_a_reset_makes_the_controller_forget_its_goal():
    loop, _, _ = dynamic(
        controller_wrench="exert", devices=lambda device: [PlateController(device, PlatePosePID()), device]
    )
    with loop:
        loop.devices["controller"].heights.put({"height": 1.15})
        loop.step()
        assert loop.sample("controller").values["active"] == 1.0
        assert loop.sample("controller").values["desired"][2] == 1.15
        loop.reset()
        loop.step()
        assert loop.sample("controller").values["active"] == 0.0


def test_a_goal_that_is_no_pose_is_told():
    loop, device, _ = dynamic(
        controller_wrench="exert", devices=lambda device: [PlateController(device, PlatePosePID()), device]
    )
    told = []
    device.listeners.append(told.append)
    with loop:
        loop.devices["controller"].inbox.put({"pose": [0, 0, 1.1, 0, 0, 0, 0]}, mode="igm_parameters")
        loop.step()
        assert loop.sample("controller").values["active"] == 0.0
    assert "quaternion of pose has length 0" in told[0]


def test_planar_robots_have_no_controller():
    with pytest.raises(DeviceError, match="that of spatial robots"):
        PlateController(alone("3RR"), PlatePosePID())


@pytest.mark.parametrize(("interpolate", "least", "most"), [(True, 0.0, 0.6e-3), (False, 1.5e-3, 1.0)])
def test_commands_at_100_hz_shake_the_plate_only_without_interpolation(interpolate, least, most):
    """The plate moves on a circle of 3 cm, at 46 mm/s after a smooth start; 10 steps pass between two commands."""
    simulation, device, mechanism = dynamic(segments=3, interpolate=interpolate)
    middle, asked = mechanism.solution.plate_pose, device.read(0).values["pose"].copy()
    times, rate = 1e-3 * np.arange(1400), 0.046 / 0.03
    start = np.minimum(times, 1.0)
    angle = rate * np.where(times < 1.0, start**3 - 0.5 * start**4, times - 0.5)
    places = []
    for k, a in enumerate(angle):
        if k % 10 == 0:
            asked[:2] = middle[:2, 3] + 0.03 * np.array([np.cos(a) - 1.0, np.sin(a)])
            device.inbox.put({"pose": asked.copy()}, mode="igm_parameters")
        simulation.step()
        places.append(device.plate_pose()[:2, 3].copy())
    simulation.close()
    moved = np.gradient(np.array(places), 1e-3, axis=0)[1100:1399]
    a = angle[1100:1399]
    smooth = np.column_stack([np.sin(a), np.cos(a), np.ones_like(a)])  # with a lag and a gain of its own
    error = np.sqrt(((moved - smooth @ np.linalg.lstsq(smooth, moved, rcond=None)[0]) ** 2).sum(axis=1).mean())
    assert least <= error < most

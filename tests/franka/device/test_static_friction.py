"""Static friction of a Franka arm: what it holds, and that sliding and rest keep their identified friction."""

import numpy as np
import pytest

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.client import FrankaRobot
from pliant.franka.device.dynamics import friction_kernel
from pliant.franka.device.parameters import Payload
from pliant.franka.device.static_friction import PRESLIDING, bristles, bristles_step, packed
from pliant.franka.robots.build import ArmMount, build_arms
from pliant.franka.robots.parameters import FER, FR3
from pliant.franka.wire import fci
from pliant.laws.compile import bound
from pliant.robots import build_robot
from pliant.simulation import Simulation

I = tuple((1e-3 * np.eye(3)).reshape(-1))
CENTRE = (0.0, 0.0, 0.05)
BARE = np.zeros(7), 100.0
"""Inertia of the rotors [kg m^2] and bandwidth of the torque loop [rad/s]: no rotors."""


def moved(offset, announced=1.0, seconds=1.0, motor_inertia=0.15, pull=None):
    """Float with 1 kg announced with an offset of its centre along x; return the motion [rad] and the last speed."""
    load = Payload(mass=1.0, center_of_mass=CENTRE, inertia=I)
    robot = build_arms([ArmMount(arm=FR3, motor_inertia=motor_inertia)], static_friction=True, load=load)
    with (
        Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation,
        FrankaRobot.of(simulation) as arm,
    ):
        arm.backend.device.request("set_load", mass=announced, F_x_Cload=(offset, 0.0, 0.05), I_load=I)
        simulation.step(1500)
        start = arm.get_position()
        arm.set_robot_state("force_torque")
        most = 0.0
        for _ in range(round(1000 * seconds)):
            arm.set_force_torque("joint", np.zeros(7) if pull is None else pull, filter_gain=1.0)
            most = max(most, float(np.abs(arm.get_position() - start).max()))
        return most, float(np.abs(arm.get_velocity("joint")).max())


@pytest.mark.parametrize(
    ("offset", "announced", "motor_inertia"),
    [(0.005, 1.0, 0.15), (0.005, 1.0, 0.0), (0.005, 1.0, 1.0), (0.0, 1.05, 0.15), (0.0, 1.0, 0.15)],
)
def test_a_load_that_is_announced_a_little_wrong_is_held(offset, announced, motor_inertia):
    far, speed = moved(offset, announced, seconds=2.0, motor_inertia=motor_inertia)
    assert far < 2.0 * PRESLIDING  # without static friction 0.38 rad in the first second
    assert speed < 1e-4


@pytest.mark.parametrize("part", [0.7, -0.7])
def test_a_joint_is_held_below_the_coulomb_part_of_its_identified_friction(part):
    far, speed = moved(0.0, seconds=0.5, pull=pull_at_the_wrist(part))
    assert far < 5.0 * PRESLIDING
    assert speed < 1e-4


@pytest.mark.parametrize("part", [1.3, -1.3])
def test_a_joint_breaks_away_above_the_coulomb_part_of_its_identified_friction(part):
    _, speed = moved(0.0, seconds=0.08, pull=pull_at_the_wrist(part))
    assert speed > 0.1


def pull_at_the_wrist(part):
    """Return torques that pull at joint 7 by a part of its Coulomb friction [N m]."""
    pull = np.zeros(7)
    pull[6] = part * 0.5 * FR3.friction[6, 0]
    return pull


@pytest.mark.parametrize("arm", [FER, FR3], ids=["fer", "fr3"])
def test_the_friction_of_steady_sliding_is_the_identified_one(arm):
    speeds = np.array([0.5, 1.0, 2.0])
    for speed in [*speeds, *-speeds]:
        q, dq, torque, identified = np.zeros(7), np.full(7, speed), np.zeros(7), np.zeros(7)
        step = bound(bristles_step, packed(bristles(arm, *BARE)), q, dq, q.copy(), 1e-3, torque)
        for _ in range(200):
            q += 1e-3 * dq
            friction_kernel(dq, arm.friction.ravel(), torque)
            step()
        friction_kernel(dq, arm.friction.ravel(), identified)
        level = 0.5 * arm.friction[:, 0]
        wanted = 0.01 + 0.99 * np.exp(-((speed * arm.friction[:, 1]) ** 2))
        np.testing.assert_allclose(torque - identified, np.sign(speed) * wanted * level, rtol=1e-6)
        assert (np.abs(torque - identified) < 0.02 * level).all()


def test_bristles_of_a_closed_cycle_dissipate():
    rng = np.random.default_rng(2)
    amplitude, phase = rng.uniform(0.1, 20.0, 7) * PRESLIDING, rng.uniform(0.0, 6.0, 7)
    q, dq, torque = np.zeros(7), np.zeros(7), np.zeros(7)
    step = bound(bristles_step, packed(bristles(FER, *BARE)), q, dq, q.copy(), 1e-3, torque)
    work = []
    for k in range(4001):
        before = q.copy()
        q[:] = amplitude * np.sin(2.0 * np.pi * k / 1000.0 + phase)
        dq[:] = (q - before) / 1e-3
        torque[:] = 0.0
        step()
        work.append(torque * (q - before))
    assert (np.sum(work[2001:], axis=0) > 0.0).all()


def test_the_catalogue_has_static_friction_and_an_option_takes_it_away():
    for name in ("franka", "fr3", "franka-dual"):
        (with_it, *_), (without, *_) = build_robot(name).devices, build_robot(name, {"static_friction": False}).devices
        assert with_it.static_friction
        assert not without.static_friction


def test_two_runs_with_a_reset_between_them_are_equal():
    robot = build_robot("fr3")
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        runs = []
        for _ in range(2):
            with FrankaRobot.of(simulation) as arm:
                arm.set_robot_state("force_torque")
                for k in range(300):
                    arm.set_force_torque("joint", 0.3 * np.sin(0.02 * k) * np.ones(7), filter_gain=1.0)
                runs.append(arm.get_position())
            simulation.reset()
        np.testing.assert_array_equal(*runs)


MOTIONS = [
    (fci.Controller.EXTERNAL, fci.MotionGenerator.NONE, "tau_J_d", np.array([4, 4, 4, 4, 0.8, 0.8, 0.4]) / 10),
    (fci.Controller.JOINT_IMPEDANCE, fci.MotionGenerator.JOINT_VELOCITY, "dq_c", np.full(7, 0.1)),
    (fci.Controller.CARTESIAN_IMPEDANCE, fci.MotionGenerator.JOINT_VELOCITY, "dq_c", np.full(7, 0.1)),
    (fci.Controller.CARTESIAN_IMPEDANCE, fci.MotionGenerator.CARTESIAN_VELOCITY, "O_dP_EE_c", np.full(6, 0.05)),
]


@pytest.mark.parametrize("arm", [FER, FR3], ids=["fer", "fr3"])
def test_a_motion_does_not_depend_on_how_long_the_arm_waits_for_its_first_command(arm):
    # the load that is not there loads the bristles: an arm that is not held until the first command is moved by them
    robot = build_arms([ArmMount(arm=arm)], static_friction=True)
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        (device,) = simulation.devices.values()

        def run(wait, controller, generator, field, size):
            simulation.reset()
            device.request("set_load", mass=0.05, F_x_Cload=CENTRE, I_load=I)
            simulation.step(400)
            device.request("move", controller=controller, motion_generator=generator)
            simulation.step(1 + wait)
            waiting = simulation.sample(device.name).values
            assert field != "tau_J_d" or not waiting["tau_J_d"].any()
            for k in range(40):
                device.inbox.put({field: size * (1.0 - np.cos(0.05 * k)), "finished": 0.0}, mode=device.mode)
                simulation.step(1)
            return simulation.sample(device.name).values["q"]

        for motion in MOTIONS:
            np.testing.assert_allclose(run(7, *motion), run(0, *motion), atol=1e-9, rtol=0)

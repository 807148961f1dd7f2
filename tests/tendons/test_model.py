"""Tendon-driven robots in the step: at rest in their statics, slack, friction before the base plate, breaking load."""

import dataclasses
import logging

import mujoco
import numpy as np
import pytest

import pliant
from pliant.base.errors import DeviceError, ModelError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.engine.base import mujoco_state
from pliant.rods import Rod, Round
from pliant.simulation import Simulation
from pliant.tendons import Resolution, Segment, Tendon, TendonRobot, TendonRobotDescription
from pliant.tendons.model import build_tendon_robot
from pliant.tendons.options import TendonOptions
from pliant.tendons.robots import generic, measured_v4

PULL = np.array([0.004, -0.002, -0.002, 0.0, 0.001, -0.001])
SLOW = {"damping": 0.2, "tendon_damping": 0.01}
"""Options that let the robot come to rest soon."""


def smooth(description):
    """Return a robot without friction."""
    tendons = tuple(dataclasses.replace(t, friction=0.0) for t in description.tendons)
    return dataclasses.replace(description, tendons=tendons)


def settled(robot, pull, seconds=3.0):
    """Return the engine after a command of lengths, or tensions, has come to rest."""
    engine = MujocoEngine(robot)
    scale = 0.01 if robot.devices[0].options.control == "length" else 100.0
    for i, value in enumerate(pull):
        engine.port(f"tendon{i + 1}/reference_1")[0] = value / scale
    engine.step(round(seconds / engine.dt))
    return engine


def tip_of(engine):
    return mujoco_state(engine, "test").data.site("tip").xpos.copy()


def statics_of(robot, engine):
    """Return the statics where the model has its base plate, finely resolved."""
    data = mujoco_state(engine, "test").data
    base = np.eye(4)
    base[:3, :3], base[:3, 3] = data.body("tendon_base").xmat.reshape(3, 3), data.body("tendon_base").xpos
    return TendonRobot(robot.devices[0].statics(base), resolution=Resolution(elements=0, steps=3, bending=2, torsion=2))


def test_the_simulated_robot_rests_where_the_statics_have_it_and_closer_with_more_hinges():
    miss = []
    for pairs in (1, 2):
        robot = build_tendon_robot(smooth(generic()), TendonOptions(pairs=pairs, **SLOW))
        engine = settled(robot, PULL)
        expected = statics_of(robot, engine).solve(pull=PULL)
        miss.append(1e3 * float(np.linalg.norm(tip_of(engine) - expected.tip)))
        tension = [100.0 * engine.port(f"tendon{i + 1}/load_1")[0] for i in range(6)]
    # The tip has moved by 66 mm: 0.4 % and 0.13 % of it.
    assert miss[0] < 0.3
    assert miss[1] < 0.1
    np.testing.assert_allclose(tension, expected.tension, atol=0.05)


def test_a_bent_backbone_is_tensioned_from_its_own_unloaded_shape():
    d = smooth(generic())
    rods = [dataclasses.replace(s.rod, precurvature=((0.0, 3.0, -1.0, 0.0),)) for s in d.segments]
    d = dataclasses.replace(d, segments=tuple(dataclasses.replace(s, rod=r) for s, r in zip(d.segments, rods)))
    robot = build_tendon_robot(d, TendonOptions(**SLOW))
    engine = settled(robot, 0.0 * PULL)
    np.testing.assert_allclose(tip_of(engine), statics_of(robot, engine).solve(pull=0.0 * PULL).tip, atol=7e-4)


def test_a_tapered_backbone_is_tapered_over_the_segment_and_not_between_two_disks():
    d = smooth(generic())
    rods = [dataclasses.replace(s.rod, section=Round(radius=6e-4, tip_radius=4e-4)) for s in d.segments]
    d = dataclasses.replace(d, segments=tuple(dataclasses.replace(s, rod=r) for s, r in zip(d.segments, rods)))
    robot = build_tendon_robot(d, TendonOptions(**SLOW))
    stiffness = np.array([robot.devices[0].elastic[f"backbone{k + 1}/bend1"] for k in range(5)])
    # The first hinge between two disks is at a sixth of their distance, one hinge for each half of it.
    radius = 6e-4 - 2e-4 * (np.arange(5) + 1.0 / 6.0) / 5.0
    np.testing.assert_allclose(stiffness, 50e9 * np.pi / 4 * radius**4 / 0.01, rtol=1e-9)
    engine = settled(robot, PULL, 2.0)
    np.testing.assert_allclose(tip_of(engine), statics_of(robot, engine).solve(pull=PULL).tip, atol=4e-4)


def test_a_backbone_of_silicone_is_pressed_together_by_its_tendons_as_hooke_says():
    rod = Rod(length=0.1, section=Round(radius=5e-3), young_modulus=1e6, shear_modulus=3.5e5, density=0.0)
    tendons = tuple(Tendon(segment=0, radius=9e-3, angle=2 * np.pi * i / 3, drive_stiffness=2000.0) for i in range(3))
    segment = Segment(rod=rod, disks=5, disk_radius=12e-3, disk_mass=1e-4)
    d = TendonRobotDescription(name="soft", segments=(segment,), tendons=tendons, gravity=(0.0, 0.0, 0.0))
    statics, tension = TendonRobot(d), np.full(3, 0.3)
    shorter = 0.1 * 0.9 / (1e6 * np.pi * 25e-6)
    assert statics.solve(tension=tension).tip[2] == pytest.approx(0.1 - shorter, abs=1e-9)


def test_tensions_that_are_commanded_are_those_of_the_statics():
    tension = np.array([6.0, 1.0, 1.5, 1.0, 3.0, 2.0])
    robot = build_tendon_robot(smooth(generic()), TendonOptions(control="tension", pairs=2, **SLOW))
    engine = settled(robot, tension)
    # Of 118 mm; with one pair of hinges between disks, 2.7 mm are missing.
    np.testing.assert_allclose(tip_of(engine), statics_of(robot, engine).solve(tension=tension).tip, atol=4e-4)


def test_a_tendon_that_would_push_is_slack():
    robot = build_tendon_robot(smooth(measured_v4()), TendonOptions(**SLOW), hanging=True)
    engine = settled(robot, [0.006, -0.003, -0.003, -0.004, 0.0, 0.0, 0.0, 0.0, 0.0], 1.5)
    assert engine.port("tendon4/load_1")[0] == 0.0
    assert engine.port("tendon1/load_1")[0] > 0.05


def test_friction_before_the_base_plate_holds_back_its_share_of_the_tension_and_remembers():
    robot = build_tendon_robot(generic(), TendonOptions(**SLOW))
    engine = settled(robot, PULL)
    pulled, tip = engine.port("tendon1/load_1").item(), tip_of(engine)
    # mu 0.1 over a turn of 1 rad: exp(0.1) - 1 of the tension.
    assert engine.port("tendon1/link_friction_torque").item() == pytest.approx(np.expm1(0.1) * pulled, rel=0.02)
    for value in (1.5 * PULL, PULL):  # farther, and back to the same command
        for i, one in enumerate(value):
            engine.port(f"tendon{i + 1}/reference_1")[0] = one / 0.01
        engine.step(2000)
    assert np.linalg.norm(tip_of(engine) - tip) > 2e-3


def test_a_tendon_above_its_breaking_load_ends_the_run_by_name():
    d = generic()
    d = dataclasses.replace(d, tendons=tuple(dataclasses.replace(t, breaking_load=12.0) for t in d.tendons))
    robot = build_tendon_robot(d)
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        simulation.devices["tendons"].inbox.put({"pull": [0.02, 0.0, 0.0, 0.0, 0.0, 0.0]})
        with pytest.raises(DeviceError, match="tendon1"):
            simulation.run(2.0)


def test_the_tendons_device_takes_metres_and_reads_tensions_and_the_tip(caplog):
    robot = pliant.load("tdcr")
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        tendons = simulation.devices["tendons"]
        tendons.inbox.put({"pull": PULL})
        simulation.run(1.0)
        sample = simulation.sample("tendons").values
        np.testing.assert_allclose(sample["pull"], PULL, atol=1e-12)
        np.testing.assert_allclose(sample["tip_position"], tip_of(simulation.engine), atol=1e-3)
        assert sample["tension"][0] == pytest.approx(100.0 * simulation.sample("tendon1").values["load_1"], rel=1e-2)
        assert sample["given"][0] > 0.002
        with caplog.at_level(logging.WARNING, "pliant"):
            tendons.inbox.put({"pull": np.full(6, -0.002)})
            simulation.run(0.01)
    assert "makes all 6 tendons of the unloaded robot slack" in caplog.text


def test_tensions_below_zero_or_above_the_breaking_load_and_pulls_beyond_the_length_are_refused():
    wrong = {"tension": ([-1.0, *[1.0] * 5], [201.0, *[1.0] * 5]), "length": ([0.2, *[0.0] * 5],)}
    for control, commands in wrong.items():
        robot = build_tendon_robot(generic(), TendonOptions(control=control))
        with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
            for values in commands:
                with pytest.raises(DeviceError, match="at index 0; must be an array of 6 finite numbers"):
                    simulation.devices["tendons"].inbox.put({"tension" if control == "tension" else "pull": values})


def test_polynomials_with_more_unknowns_than_points_are_refused_with_the_steps_that_are_enough():
    with pytest.raises(ModelError, match="order must be at most 1, or steps at least 2"):
        TendonRobot(generic(), resolution=Resolution(elements=0, bending=2))
    TendonRobot(generic(), resolution=Resolution(elements=0, bending=2, steps=2)).solve(pull=PULL)


def test_the_robot_on_an_arm_bends_as_alone():
    robot = pliant.load("fr3-tdcr")
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        simulation.devices["tendons"].inbox.put({"pull": PULL})
        simulation.run(1.5)
        data = mujoco_state(simulation.engine, "test").data
        flange = data.site("franka_flange")
        there = flange.xmat.reshape(3, 3).T @ (tip_of(simulation.engine) - flange.xpos)
    assert np.linalg.norm(there[:2]) > 0.04
    assert mujoco.mj_name2id(robot.compile(), mujoco.mjtObj.mjOBJ_TENDON, "strand6") >= 0

"""Laser scanners against the geometry of walls."""

import math

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Laser, Noise, Robot
from pliant.objects import World, find_world
from pliant.simulation import Simulation

XML = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0"/>
  <worldbody>
    <geom name="wall" type="box" size=".5 20 5" pos="3.5 0 0"/>
    <geom name="ball" type="sphere" size=".5" pos="0 4 1"/>
    <body name="base" pos="0 0 1"><joint name="turn" axis="0 0 1"/><geom type="cylinder" size=".2 .1" mass="1"/></body>
  </worldbody>
</mujoco>
"""


def scan(turn=0.0, xml=XML, world=False, **values):
    robot = Robot(mujoco.MjSpec.from_string(xml))
    robot.devices.append(Laser(name="laser", body="base", rate=0.0, **values))
    if world:
        robot.devices.append(World(objects=1))
    engine = MujocoEngine(robot, check=False)
    engine.set_pose({"turn": turn})
    simulation = Simulation(engine, make_devices(robot), pacer="free")
    engine.set_pose({"turn": turn})
    return simulation


def test_distances_to_a_wall_are_those_of_the_plane_whatever_the_angle_of_the_ray_and_the_base():
    for turn in (0.0, 0.3):
        with scan(turn, rays=41, min_angle=-1.2, max_angle=1.0, max_range=50.0) as simulation:
            simulation.step()
            ranges = simulation.sample("laser").values["ranges"]
        angles = np.linspace(-1.2, 1.0, 41) + turn
        assert np.abs(ranges - 3.0 / np.cos(angles)).max() < 1e-9


def test_the_distance_to_a_ball_is_that_of_the_sphere():
    angles = math.pi / 2 + np.linspace(-0.1, 0.1, 21)
    with scan(rays=21, min_angle=angles[0], max_angle=angles[-1]) as simulation:
        simulation.step()
        ranges = simulation.sample("laser").values["ranges"]
    across = 4.0 * np.sin(angles - math.pi / 2)
    assert np.abs(ranges - (4.0 * np.cos(angles - math.pi / 2) - np.sqrt(0.25 - across**2))).max() < 1e-9


def test_a_frame_that_is_tilted_measures_in_its_own_plane():
    half = math.radians(30.0) / 2
    quat = (math.cos(half), 0.0, math.sin(half), 0.0)
    with scan(rays=1, min_angle=0.0, max_angle=0.0, pos=(0.1, 0, 0.2), quat=quat) as simulation:
        simulation.step()
        assert simulation.sample("laser").values["ranges"][0] == pytest.approx(2.9 / math.cos(2 * half), abs=1e-9)


@pytest.mark.parametrize("place", [{"body": "world", "pos": (0.0, 0.0, 1.0)}, {"site": "mast"}, {"body": "post"}])
def test_a_scanner_sees_the_walls_of_the_world_also_from_the_world(place):
    spec = mujoco.MjSpec.from_string(XML)
    spec.body("base").pos = [0, 0, -1]
    spec.worldbody.add_site(name="mast", pos=[0, 0, 1])
    spec.worldbody.add_body(name="post", pos=[0, 0, 1])
    robot = Robot(spec)
    robot.devices.append(Laser(name="laser", rate=0.0, rays=5, min_angle=-0.6, max_angle=0.6, **place))
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free") as simulation:
        simulation.step()
        ranges = simulation.sample("laser").values["ranges"]
    np.testing.assert_allclose(ranges, 3.0 / np.cos(np.linspace(-0.6, 0.6, 5)), atol=1e-9)


def test_nothing_is_infinitely_far_and_what_is_too_near_minus_infinitely():
    with scan(rays=3, min_angle=0.0, max_angle=math.pi, min_range=3.2, max_range=3.6) as simulation:
        simulation.step()
        assert simulation.sample("laser").values["ranges"].tolist() == [-math.inf, 3.5, math.inf]


def test_noise_is_repeated_by_the_seed_and_a_resolution_rounds():
    def measured(seed, **noise):
        with scan(rays=200, min_angle=-0.2, max_angle=0.2, noise=Noise(**noise)) as simulation:
            simulation.reset(seed)
            simulation.step()
            return simulation.sample("laser").values["ranges"]

    exact = 3.0 / np.cos(np.linspace(-0.2, 0.2, 200))
    first = measured(1, std=0.02)
    assert np.array_equal(first, measured(1, std=0.02))
    assert not np.array_equal(first, measured(2, std=0.02))
    assert np.std(first - exact) == pytest.approx(0.02, rel=0.2)
    rounded = measured(1, resolution=0.25)
    assert np.abs(rounded - np.round(exact / 0.25) * 0.25).max() < 1e-12


def test_a_laser_sees_objects_that_are_made_and_no_longer_those_that_are_deleted():
    with scan(rays=1, min_angle=0.0, max_angle=0.0, world=True) as simulation:

        def distance():
            simulation.step(2)
            return simulation.sample("laser").values["ranges"][0]

        assert distance() == pytest.approx(3.0, abs=1e-9)
        find_world(simulation).make_box(0.4, 1.0, 1.0, (2.0, 0.0, 1.0), name="crate")
        assert distance() == pytest.approx(1.8, abs=1e-9)
        find_world(simulation).delete("crate")
        assert distance() == pytest.approx(3.0, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rays": 0}, "rays"),
        ({"min_angle": 1.0, "max_angle": 0.0}, "max_angle"),
        ({"min_range": 2.0, "max_range": 1.0}, "max_range"),
        ({"max_range": math.nan}, "max_range"),
    ],
)
def test_a_laser_that_cannot_be_is_refused(values, message):
    with pytest.raises(ModelError, match=message):
        Laser(name="laser", body="base", **values)

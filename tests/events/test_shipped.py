"""What happens in scenarios that come with pliant: their bodies and devices move as their descriptions say."""

from importlib import resources

import numpy as np
import pytest

from pliant.base.wing import offers
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.events import find_scenario
from pliant.robots.loading import load
from pliant.simulation import Simulation


def test_every_scenario_of_a_wing_is_declared_and_has_its_file():
    folders = {offer.value for offer in offers("scenarios")}
    files = {(path.stem, name) for name in folders for path in (resources.files(name) / "scenarios").iterdir()}
    assert files == {(offer.key, offer.value) for offer in offers("scenarios")}


@pytest.fixture
def play():
    """Return a function that opens the simulation of a robot in which a scenario of pliant is installed."""
    opened = []

    def start(robot, name):
        model = load(robot)
        simulation = Simulation(MujocoEngine(model, check=False), make_devices(model))
        opened.append(simulation)
        find_scenario(name, simulation.devices, simulation.engine).install(simulation)
        return simulation

    yield start
    for simulation in opened:
        simulation.close()


def moved(simulation, bodies, until, seconds):
    """Return how far bodies move from a time on for some seconds: the largest distance of each [m]."""
    simulation.run(until - simulation.time)
    ports = [simulation.engine.port(f"body/{body}/position") for body in bodies]
    before, largest = [port.copy() for port in ports], np.zeros(len(ports))
    while simulation.time < until + seconds:
        simulation.run(0.05)
        largest = np.maximum(largest, [np.linalg.norm(p - b) for p, b in zip(ports, before, strict=True)])
    return largest


def test_the_pushed_biped_sways_and_stands_again(play):
    simulation = play("biped", "push-biped")
    (swayed,) = moved(simulation, ["waist"], 0.9, 0.7)
    assert 0.02 < swayed < 0.1
    simulation.run(0.8)
    assert simulation.engine.port("body/waist/position")[2] > 0.55
    assert np.abs(simulation.engine.port("body/waist/orientation")[1:]).max() < 0.02


@pytest.mark.parametrize("robot", ["franka-dual", "franka-torso"])
def test_the_same_push_moves_the_soft_arm_far_more_than_the_stiff_one(play, robot):
    simulation = play(robot, "push-on-both-hands")
    left, right = moved(simulation, ["left_hand", "right_hand"], 0.9, 1.5)
    assert left > 0.02
    assert right < 0.1 * left
    left, right = moved(simulation, ["left_hand", "right_hand"], 3.9, 0.4)
    assert max(left, right) < 5e-4  # both are where they were, and the brakes take over without a jerk


def test_the_blocks_of_the_bench_carry_the_forces_that_press_the_foot(play):
    simulation = play("softfoot-bench", "press-harder")

    def carried():
        sensors = ("heel_force", "fascia_force", "metatarsus_force")
        return sum(simulation.sample(name).values["force"][2] for name in sensors)

    simulation.run(2.4)
    assert carried() == pytest.approx(100.0, abs=0.5)
    simulation.run(3.0)
    assert carried() == pytest.approx(300.0, abs=1.5)

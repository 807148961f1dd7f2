"""A pointer that pulls at any body, from any place, to any place, never makes a robot diverge."""

import numpy as np
import pytest
from robot_data import needs_data

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.page.pull import MAX_SPEED, Pull
from pliant.robots import list_robots
from pliant.robots.loading import load
from pliant.simulation import Simulation

FEW = {"fr3": 0.5, "qbmove-2dof": 1.0, "tdcr": 0.8}
"""Robots of `make test`, and how long each is pulled [s]."""


class Storm:
    """Pulls at random, as a thousand visitors would.

    Args:
        engine: the physics.
        seed: of the generator.
    """

    def __init__(self, engine, seed):
        self._engine, self._pull, self._chance = engine, Pull(engine), np.random.default_rng(seed)
        self._bodies = np.flatnonzero(engine.model.body_weldid != 0)
        self._next, self._left, self._body, self._point = 0.0, 0, 0, np.zeros(3)

    def apply(self, time):
        data, chance = self._engine.data, self._chance
        if time >= self._next:
            self._next = time + chance.exponential(0.1)
            if self._left == 0:
                self._left, self._body = chance.integers(2, 7), chance.choice(self._bodies)
                self._point = chance.uniform(-0.5, 0.5, 3)  # often far from the body, as no browser gives it
                if chance.random() < 0.8:
                    self._pull.release()
            self._left -= 1
            target, turn = chance.normal(0.0, 10.0 ** chance.integers(-2, 3), 3), data.xmat[self._body].reshape(3, 3)
            self._pull.hold(
                int(self._body), self._point, target, position=data.xpos[self._body].copy(), rotation=turn.copy()
            )
        self._pull.apply(time)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.nightly] * (name not in FEW))
        for name in sorted({robot.name for robot in list_robots()})
    ],
)
def test_random_pulls_at_random_bodies_leave_every_robot_whole(name):
    needs_data(name)
    robot = load(name)
    engine = MujocoEngine(robot, check=False)
    storm = Storm(engine, seed=0)
    with Simulation(engine, make_devices(robot), pacer="free") as simulation:
        for k in range(round(FEW.get(name, 5.0) / engine.dt)):
            storm.apply(k * engine.dt)
            simulation.step(1)  # a divergence is an error
    assert np.isfinite(engine.data.qpos).all()


def test_a_pull_from_beside_a_body_acts_at_its_surface():
    engine = MujocoEngine(load("qbmove-1dof"), check=False)
    pull, body, data = Pull(engine), engine.model.nbody - 1, engine.data
    place, turn = data.xpos[body].copy(), data.xmat[body].reshape(3, 3).copy()
    away = np.array([0.0, 50.0, 0.0])
    pull.hold(body, place + away, place + 1.2 * away, position=place, rotation=turn)
    assert np.linalg.norm(pull.point(data) - place) < 0.5


def test_a_pointer_pulls_no_faster_than_a_hand_moves():
    engine = MujocoEngine(load("qbmove-1dof"), check=False)
    pull, body, data = Pull(engine), engine.model.nbody - 1, engine.data
    point, turn = data.xipos[body].copy(), data.xmat[body].reshape(3, 3)
    for speed, pulls in ((0.0, True), (1.2 * MAX_SPEED, False)):
        arm = np.cross(data.xaxis[0], point - data.xanchor[0])
        data.qvel[0] = speed / np.linalg.norm(arm)
        engine.forward()
        pull.hold(body, point, point + 100.0 * arm, position=data.xpos[body].copy(), rotation=turn.copy())
        pull.apply(0.0)
        assert (np.linalg.norm(pull.force) > 0.1) == pulls
        pull.release()
        pull.apply(0.0)

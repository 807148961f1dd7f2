"""Paths of tendon lengths: a foretold start spares work and leads to the same equilibrium; long ways are divided."""

import dataclasses
import itertools

import numpy as np
import pytest
from daily import by_day

from pliant.rods import Round
from pliant.tendons import TendonRobot
from pliant.tendons.newton import follow
from pliant.tendons.robot import LIMITS, REPLAY_LIMITS
from pliant.tendons.robots import generic, measured_v4, measured_v6

ROWS = 40


def solved(robot, commands, *, alone, limits=REPLAY_LIMITS, by_length=True):
    """Return last disks and iterations of rows, each from the one before; ``alone``: none knows another's change."""
    x, tension, before = np.zeros(robot.size), np.zeros(commands.shape[1]), np.zeros(commands.shape[1])
    memory, loads, total = robot.memory(), robot.loads(), 0
    poses, tensions = np.zeros((len(commands), 12)), np.zeros(commands.shape)
    none, lengths = np.zeros((0, robot.size + commands.shape[1])), np.full(commands.shape[1], by_length)
    for rows in np.arange(len(commands))[:, None] if alone else [np.arange(len(commands))]:
        pose, held = poses[rows], tensions[rows]
        done, iterations, _ = follow(
            robot.chain, loads, memory, x, tension, before, commands[rows], robot.law, lengths, limits * robot.unit,
            robot._work, none, pose, held, none,
        )  # fmt: skip
        assert done == len(rows)
        poses[rows], total, before = pose, total + iterations, commands[rows[-1]]
    return poses[:, 9:], total


def paths(count):
    """Return commands by name: steady, to and fro, in steps, with stops, with all tendons slack at times."""
    rng = np.random.default_rng(4)
    way = rng.normal(size=count)
    way *= 0.004 / np.abs(way).max()
    t = np.arange(ROWS)
    goals = 0.003 * rng.uniform(-1, 1, (ROWS // 4, count))
    far = np.repeat(goals, 4, axis=0)
    ramp = np.tile(np.minimum((np.arange(4) + 1) / 3, 1.0), ROWS // 4)[:, None]
    last = np.repeat(np.vstack([np.zeros(count), goals[:-1]]), 4, axis=0)
    return {
        "steady": np.outer(t / ROWS, way),
        "to and fro": np.outer(np.abs((t / 8) % 2 - 1), way),
        "steps": far,
        "stops": last + ramp * (far - last),
        "slack": far - 0.004 * (t % 8 > 3)[:, None],
    }


@pytest.mark.parametrize("path", paths(6))
@pytest.mark.parametrize("friction", [0.1, 0.4])
def test_a_foretold_start_leads_to_the_equilibrium_of_a_start_from_the_row_before(path, friction):
    d = generic()
    d = dataclasses.replace(d, tendons=tuple(dataclasses.replace(t, friction=friction) for t in d.tendons))
    robot, commands = TendonRobot(d), paths(6)[path]
    expected, alone = solved(robot, commands, alone=True)
    tips, together = solved(robot, commands, alone=False)
    np.testing.assert_allclose(tips, expected, atol=2e-6)  # the limits of the replay
    # A wrong share is mended by more iterations than it spares.
    assert together <= (0.7 if path == "steady" else 1.2) * alone


@pytest.mark.parametrize("scale", [0.03, 50.0])
def test_a_small_and_a_large_robot_bend_as_their_model_does(scale):
    d, commands = generic(), paths(6)["stops"][:20]
    segments = tuple(
        dataclasses.replace(
            s, disk_radius=scale * s.disk_radius, disk_mass=scale**3 * s.disk_mass,
            rod=dataclasses.replace(s.rod, length=scale * s.rod.length, section=Round(radius=scale * 0.5e-3)),
        )
        for s in d.segments
    )  # fmt: skip
    tendons = tuple(
        dataclasses.replace(
            t, radius=scale * t.radius, drive_stiffness=scale * t.drive_stiffness, diameter=scale * t.diameter,
            pretension=scale**2 * t.pretension, presliding=scale * t.presliding, breaking_load=scale**2 * 200.0,
        )
        for t in d.tendons
    )  # fmt: skip
    other = dataclasses.replace(
        d, segments=segments, tendons=tendons, tip_offset=(0.0, 0.0, scale * 0.008), gravity=(0.0, 0.0, -9.81 / scale)
    )
    tips, _, _ = TendonRobot(d).replay(commands)
    scaled, _, _ = TendonRobot(other).replay(scale * commands)
    np.testing.assert_allclose(scaled / scale, tips, atol=1e-6)


def test_a_command_far_away_is_reached_by_the_way_to_it():
    robot = TendonRobot(measured_v6())
    rng, tendons = np.random.default_rng(5), robot.description.tendons
    for _ in range(20):
        angle, size = rng.uniform(0, 2 * np.pi, 3), 0.01 * rng.uniform(0.3, 1, 3)
        command = np.array([size[t.segment] * np.cos(angle[t.segment] - t.angle) for t in tendons])
        at_once, _ = solved(robot, command[None], alone=True, limits=LIMITS)
        way, _ = solved(robot, command * np.arange(1, 33)[:, None] / 32, alone=True, limits=LIMITS)
        # Friction tells steps from a way; before, one of these tips was 15 mm beside it.
        assert np.linalg.norm(at_once[-1] - way[-1]) < 2e-3


def soft_backbone():
    d, rod = measured_v4(), {"section": Round(radius=3e-3), "young_modulus": 5e7, "shear_modulus": 1.7e7}
    segments = tuple(dataclasses.replace(s, rod=dataclasses.replace(s.rod, **rod)) for s in d.segments)
    return dataclasses.replace(d, segments=segments)


@pytest.mark.parametrize(
    ("by", "robot"),
    by_day(
        itertools.product(["length", "tension"], [measured_v4, measured_v6, soft_backbone]),
        {("length", measured_v4), ("tension", measured_v6), ("length", soft_backbone)}.__contains__,
    ),
)
def test_a_large_command_at_once_ends_where_its_course_in_256_steps_does(robot, by):
    robot = TendonRobot(robot())
    rng, tendons = np.random.default_rng(2), robot.description.tendons
    angle = rng.uniform(0.0, 2.0 * np.pi, (5, 3))
    goals = 0.01 * np.array([[np.cos(row[t.segment] - t.angle) for t in tendons] for row in angle])
    if by == "tension":
        goals = np.abs(goals) * 400.0
    before = np.vstack([np.zeros(len(tendons)), goals[:-1]])
    course = np.vstack([a + (b - a) * np.arange(1, 257)[:, None] / 256 for a, b in zip(before, goals)])
    in_steps, _ = solved(robot, course, alone=False, by_length=by == "length")
    at_once = robot.follow(**{"pulls" if by == "length" else "tensions": goals})
    replayed, _ = solved(robot, goals, alone=False, by_length=by == "length")  # as `replay`, thus the fit
    for found, again, expected in zip(at_once, replayed, in_steps[255::256], strict=True):
        assert np.linalg.norm(found.position[-1] - expected) < 0.7e-3
        assert np.linalg.norm(again - expected) < 0.7e-3


def test_a_small_command_is_one_step_and_friction_alone_divides_a_large_one():
    d = generic()
    smooth = dataclasses.replace(d, tendons=tuple(dataclasses.replace(t, friction=0.0) for t in d.tendons))
    way = np.array([1.0, -0.5, -0.5, 0.0, 0.0, 0.0])
    calls = {}
    for name, description, size in (("small", d, 4e-4), ("large", d, 8e-3), ("smooth", smooth, 8e-3)):
        _, calls[name] = solved(TendonRobot(description), size * way[None], alone=True)
    assert calls["small"] <= 6
    assert calls["smooth"] <= 12
    assert calls["large"] > 18  # 8 mm are 18 turns of 0.1 rad at 4.5 mm from the axis
    _, endless = solved(TendonRobot(d), np.array([[1e-3, 0.0, -1e12, 0.0, 0.0, 0.0]]), alone=True)
    assert endless < 1e4


def test_a_command_of_lengths_after_one_of_tensions_starts_from_the_lengths_it_holds():
    robot = TendonRobot(generic())
    far = robot.solve(tension=[16.0, 2.0, 2.0, 12.0, 2.0, 2.0])
    held = robot.solve(tension=[8.0, 2.0, 2.0, 6.0, 2.0, 2.0], start=far)
    again = robot.solve(pull=held.pull(), start=held)
    np.testing.assert_allclose(again.tip, held.tip, atol=1e-6)
    np.testing.assert_allclose(again.tension, held.tension, atol=1e-3)
    back = robot.solve(tension=held.tension, start=again)
    np.testing.assert_allclose(back.tip, held.tip, atol=1e-6)

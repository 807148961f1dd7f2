"""Poses of the plate of a parallel robot as actions and as variations of a sweep."""

import numpy as np
import pytest

from pliant.learn.envs.make import make_env, make_vec
from pliant.learn.envs.task import Action
from pliant.robots.loading import load
from pliant.sweep import SweepPlan, parse_variation, run_sweep

pytest.importorskip("gymnasium")

PARTS = {
    "observation": {"place": lambda world: world.port("body/plate/position")},
    "reward": lambda world: -np.abs(world.port("body/plate/position")[:, 0] - 0.03),
    "period": 0.05,
    "duration": 1.0,
}
ROBOT = "Stewart_Gough_6PFR"


def after(env, action, count=12):
    env.reset(seed=1)
    for _ in range(count):
        observation, reward, *_ = env.step(action)
    return observation, reward


def test_an_action_on_one_element_of_a_plate_pose_moves_the_plate_there_and_holds_the_others():
    actions = [Action("cpr/pose[0]", -0.06, 0.06), Action("cpr/pose[2]", 1.05, 1.15)]
    one = make_env(ROBOT, actions=actions, **PARTS)
    many = make_vec(ROBOT, 2, actions=actions, **PARTS)
    place, reward = after(one, np.array([0.5, -0.5]))
    assert place == pytest.approx([0.03, 0.0, 1.075], abs=5e-3)  # 5 mm: the plate swings
    assert reward == pytest.approx(-abs(place[0] - 0.03), abs=1e-6)
    places, _ = after(many, np.array([[0.5, -0.5], [-0.5, 0.5]]))
    assert np.array_equal(places[0], place)
    assert places[1] == pytest.approx([-0.03, 0.0, 1.125], abs=5e-3)
    one.close()
    many.close()


def test_an_action_on_an_angle_turns_the_plate_about_its_place():
    seen = {"turn": lambda world: world.port("body/plate/orientation")}
    env = make_env(ROBOT, actions=[Action("cpr/xyz_rpy[5]", -0.3, 0.3)], **{**PARTS, "observation": seen})
    (w, x, y, z), _ = after(env, np.array([0.5]))
    assert 2.0 * np.arctan2(z, w) == pytest.approx(0.15, abs=0.02)
    assert np.hypot(x, y) < 0.01
    env.close()


def test_a_command_varies_in_a_sweep_and_what_cannot_be_reached_is_nan():
    plan = SweepPlan(source=ROBOT, variations=(parse_variation("cpr/xyz_rpy[2]=1.08,0.0"),), duration=0.4)
    table = run_sweep(plan)
    (high, low) = table.column("cpr/pose[2]/final")
    assert high == pytest.approx(1.08, abs=5e-3)
    assert np.isnan(low)
    assert not any(table.column("diverged"))
    # The same number within a whole command.
    home = load(ROBOT)
    whole = SweepPlan(
        source=ROBOT, variations=(parse_variation("option.timestep=" + repr(home.timestep)),), duration=0.4,
        commands={"cpr/xyz_rpy": "0,0,1.08,0,0,0"},
    )  # fmt: skip
    assert run_sweep(whole).column("cpr/pose[2]/final")[0] == pytest.approx(high, abs=1e-6)


@pytest.mark.parametrize(
    ("source", "path", "message"),
    [
        (ROBOT, "cpr/pos[0]", r"no port 'cpr/pos\[0\]', nor has a device such a command; did you mean 'cpr/pose\[0\]'"),
        (ROBOT, "cpr/pose[7]", r"must be one number of it, cpr/pose\[0\] to cpr/pose\[6\]"),
        ("qbmove-1dof", "link/reference_1", "vary only in sweeps of robots without compliant joints"),
    ],
)
def test_a_varied_command_that_does_not_exist_is_refused_before_anything_runs(source, path, message):
    from pliant.base.errors import PliantError

    with pytest.raises(PliantError, match=message):
        run_sweep(SweepPlan(source=source, variations=(parse_variation(f"{path}=0,0.1"),)))

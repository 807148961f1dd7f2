"""The tasks: each does in MuJoCo what its docstring says, against what a pencil gives."""

import math

import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.batch.distributions import Uniform
from pliant.learn.envs.make import find_task

pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'pliant[learn]'")

G = 9.81


def vec(name, worlds=2, **options):
    from pliant.learn.envs.vector import BatchEnv

    return BatchEnv(find_task(name, **options), worlds)


# -- throw ------------------------------------------------------------------------------------------------------------


def throw(env, command, release, steps=150):
    """Hold a command, let go at a step, and return the rewards and the reasons of the first episode."""
    held = np.tile(np.append(command, -1.0), (env.num_envs, 1))
    free = np.tile(np.append(command, 1.0), (env.num_envs, 1))
    for k in range(steps):
        _, rewards, terminated, _, infos = env.step(held if k < release else free)
        if terminated.any():
            return rewards, infos["reason"]
    return None, None


def test_a_ball_that_is_let_go_at_rest_falls_for_the_time_that_gravity_gives():
    from pliant.learn.envs.tasks.throw import GROUND

    env = vec("throw")
    env.reset(seed=1)
    height = env.batch.read("body/ball/position")[0, 2]
    rest = [0.0, 0.0, -1.0, -1.0]
    rewards, reasons = throw(env, rest, 0)
    expected = math.sqrt(2.0 * (height - GROUND) / G)
    took = env.batch.steps()[0] * env.batch.dt
    assert reasons.tolist() == ["landed", "landed"]
    assert expected - 1e-3 <= took <= expected + 0.021
    assert rewards == pytest.approx([0.0, 0.0], abs=0.01)


def test_the_magnet_holds_the_ball_while_the_arm_swings_and_the_ball_flies_a_parabola():
    from pliant.learn.envs.tasks.throw import GROUND

    env = vec("throw", 1, preset=0.3)
    env.reset(seed=1)
    held = np.array([[-1.0, -0.5, 0.0, 0.0, -1.0]])
    for _ in range(40):
        env.step(held)
    world = env.batch.read
    hand = world("body/link_2/position")[0]
    ball = world("body/ball/position")[0]
    assert np.linalg.norm(ball - hand) == pytest.approx(0.085 + 0.003 + 0.015, abs=0.006)
    forward = np.array([[1.0, 0.5, 0.0, 0.0, -1.0]])
    for _ in range(6):
        env.step(forward)
    free = forward.copy()
    free[0, 4] = 1.0
    env.step(free)
    x, z = world("body/ball/position")[0, [0, 2]]
    vx, vz = world("ball_x/velocity")[0, 0], world("ball_z/velocity")[0, 0]
    assert vx > 0.3
    lands = (vz + math.sqrt(vz**2 + 2.0 * G * (z - GROUND))) / G
    for _ in range(150):
        _, rewards, terminated, _, _ = env.step(free)
        if terminated[0]:
            break
    assert rewards[0] == pytest.approx(x + vx * lands, abs=0.02)


def test_a_fixed_preset_is_what_the_arm_has_whatever_is_asked():
    env = vec("throw", 2, preset=0.25)
    env.reset(seed=1)
    env.step([[0.0, 0.0, -1.0, -1.0, -1.0], [0.0, 0.0, 1.0, 1.0, -1.0]])
    for joint in (1, 2):
        np.testing.assert_allclose(env.batch.read(f"joint_{joint}/reference_2"), 0.25)


# -- reach ------------------------------------------------------------------------------------------------------------


def test_an_arm_that_leans_on_the_wall_feels_its_force_and_a_stiff_one_presses_harder():
    env = vec("reach", 2)
    env.reset(seed=1)
    action = np.zeros((2, 10))
    action[:, 1] = 1.0  # shoulder pitch towards the wall
    action[0, 5:], action[1, 5:] = -1.0, 1.0
    for _ in range(75):
        _, _, _, _, infos = env.step(action)
    soft, stiff = -infos["reward"]["force"]
    assert 0.0 < soft < stiff


def test_the_goal_stays_where_it_was_drawn_and_seeds_draw_other_goals():
    env = vec("reach", 3)
    first = env.reset(seed=1)[0][:, 10:13]
    for _ in range(10):
        observation = env.step(np.zeros((3, 10)))[0]
    np.testing.assert_allclose(observation[:, 10:13], first, atol=1e-4)
    assert len({tuple(goal) for goal in first.tolist()}) == 3
    assert not np.array_equal(env.reset(seed=2)[0][:, 10:13], first)


def test_the_tip_at_the_goal_ends_the_episode_with_a_reward():
    env = vec("reach", 1)
    tip = env.reset(seed=1)[0][0, 13:16]
    env.reset(options={"positions": dict(zip(("goal_x", "goal_y", "goal_z"), map(float, tip)))})
    _, rewards, terminated, _, infos = env.step(np.zeros((1, 10)))
    assert terminated[0]
    assert infos["reason"][0] == "reached"
    assert rewards[0] > 0.9


# -- push -------------------------------------------------------------------------------------------------------------


def test_the_reward_of_pushing_is_how_far_the_box_is():
    env = vec("push", 2, randomize={"box.mass": Uniform(1.0, 3.0)})
    env.reset(seed=1)
    start = env.batch.read("body/box/position")[:, 0]
    action = np.zeros((2, 10))
    action[:, 1], action[:, 5:] = 0.8, 1.0
    for _ in range(15):
        observation, _, _, _, infos = env.step(action)
    moved = observation[:, 10] - start
    masses = env.batch.parameter("box.mass")
    assert (moved > 0.01).all()
    assert np.argmax(moved) == np.argmin(masses)
    np.testing.assert_allclose(infos["reward"]["distance"], 0.02 * moved, atol=1e-6)


# -- hop --------------------------------------------------------------------------------------------------------------


def test_a_leg_that_stretches_leaves_the_ground_and_falls_as_gravity_says():
    env = vec("hop", 1)
    env.reset(seed=1)
    for _ in range(15):
        env.step([[0.6, -0.6]])
    heights, touching = [], []
    for _ in range(30):
        observation = env.step([[-1.0, 1.0]])[0][0]
        heights.append(observation[0])
        touching.append(observation[6])
    flight = [k for k, touch in enumerate(touching) if not touch]
    assert flight
    assert max(heights) > 0.03


def test_a_leg_that_stands_still_stays_up():
    env = vec("hop", 1)
    env.reset(seed=1)
    for _ in range(100):
        observation, _, terminated, _, _ = env.step([[0.0, 0.0]])
        assert not terminated[0]
    assert abs(observation[0, 0]) < 0.1


# -- insert -----------------------------------------------------------------------------------------------------------


def test_the_arm_rests_over_the_plate_with_the_hole_off_by_what_was_drawn():
    from pliant.learn.envs.tasks.insert import ERROR, GAP

    env = vec("insert", 3)
    env.reset(seed=1)
    drawn = np.concatenate([env.batch.read("hole_x/position"), env.batch.read("hole_y/position")], axis=1)
    assert (np.abs(drawn) <= ERROR).all()
    for _ in range(10):
        env.step(np.zeros((3, 7)))
    peg = env.batch.read("sensor/peg")
    np.testing.assert_allclose(peg[:, 2], GAP, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(peg[:, :2], axis=1), np.linalg.norm(drawn, axis=1), atol=1e-4)


def straight_down(env, way):
    """Return the action that lowers the peg by a way [m] in 1 s where nothing is in its way."""
    import mujoco

    from pliant.learn.envs.tasks.insert import SPEED

    model = env.batch.model
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    before = data.qpos[:7].copy()
    site = model.site("peg").id
    mujoco.mj_forward(model, data)
    goal, turn = data.site_xpos[site] - [0.0, 0.0, way], data.site_xmat[site].reshape(3, 3).copy()
    jacobian = np.zeros((6, model.nv))
    for _ in range(50):
        mujoco.mj_forward(model, data)
        mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], site)
        now = data.site_xmat[site].reshape(3, 3)
        twist = 0.5 * sum(np.cross(now[:, k], turn[:, k]) for k in range(3))
        error = np.concatenate([goal - data.site_xpos[site], twist])
        data.qpos[:7] += np.linalg.lstsq(jacobian[:, :7], error, rcond=None)[0]
    return (data.qpos[:7] - before) / SPEED


def test_the_peg_goes_into_a_hole_that_is_below_it_and_stops_on_a_plate_that_is_not():
    env = vec("insert", 2)
    env.reset(seed=1, options={"positions": {"hole_x": [0.0, 0.004], "hole_y": [0.0, 0.004]}})
    down = straight_down(env, 0.046)
    assert np.abs(down).max() < 1.0
    for k in range(100):
        _, _, terminated, _, infos = env.step(np.tile(down * min(1.0, k / 50.0), (2, 1)))
        if terminated.any():
            break
    assert infos["reason"].tolist() == ["inserted", None]
    assert env.batch.read("sensor/peg")[1, 2] > -0.004


# -- walk -------------------------------------------------------------------------------------------------------------


def test_a_biped_stands_with_its_references_at_the_stance_and_falls_when_its_legs_fold():
    env = vec("walk", 2, feet="rigid")
    env.reset(seed=1)
    action = np.zeros((2, 12))
    action[1, [2, 8]] = 1.0  # both hips
    action[1, [4, 10]] = -1.0  # both ankles
    reasons = [None, None]
    for _ in range(100):
        _, _, terminated, _, infos = env.step(action)
        if terminated.any():
            reasons = infos["reason"].tolist()
            break
    assert reasons == [None, "fallen"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("throw", {"preset": -0.1}, "preset is -0.1; must be 0 to 0.6 rad"),
        ("reach", {"presets": (0.5, 0.2)}, "presets are"),
        ("hop", {"stiffness": 0.0}, "stiffness is 0.0"),
        ("walk", {"feet": "bare"}, "must be 'soft' or 'rigid'"),
        ("walk", {"asked": -1.0}, "asked is -1.0"),
        ("insert", {"stiffness": 100.0}, "must be 0.01 to 10"),
    ],
)
def test_an_option_beyond_its_limits_is_refused(name, options, message):
    with pytest.raises(ModelError, match=message):
        find_task(name, **options)


# -- touch ------------------------------------------------------------------------------------------------------------


def touch_env(targets, mass, surface=0.0, **options):
    """Worlds with given targets and masses, and a surface that starts at a place."""
    from pliant.learn.envs.tasks.touch import START

    env = vec("touch", len(targets), randomize={}, **options)
    env.batch.set_parameters({"link.mass": mass})
    env.reset(options={"positions": {"target": np.array(targets), "surface": surface, "joint": START}})
    return env


@pytest.mark.parametrize("preset", [0.3, 0.6])
def test_a_pointing_arm_sags_by_what_its_stiffness_and_its_load_give(preset):
    from pliant.joints.qbmove import spring_law
    from pliant.learn.envs.tasks.touch import LENGTH

    env = touch_env([-0.8], 0.3, preset=preset)
    for _ in range(14):
        env.step(np.array([[-0.8 / 1.6, 0.0]]))
    q = float(env.batch.read("joint/position")[0, 0])
    spring = spring_law("maker-pro").evaluate(q, -0.8 + preset, -0.8 - preset).torque
    load = 0.3 * G * LENGTH * math.sin(-q)
    assert q > -0.8  # it hangs lower
    assert abs(abs(spring) - load) < 0.02 * load + 0.005


def test_a_soft_arm_presses_less_than_a_stiff_one_on_a_surface_that_comes_nearer():
    from pliant.learn.envs.tasks.touch import force

    peaks = []
    for preset in (0.0, 0.6):
        env = touch_env([0.5], 0.3, 0.02, preset=preset)
        command = np.array([[0.1 / 1.6, 0.0]])
        peak = 0.0
        for _ in range(14):
            env.step(command)
            peak = max(peak, float(force(env._world)[0]))
        peaks.append(peak)
    assert 0.0 < peaks[0] < 0.5 * peaks[1]


def test_the_surface_swings_at_its_frequency():
    from pliant.learn.envs.tasks.touch import SURFACE_FREQUENCY

    env = touch_env([-0.5], 0.3, 0.02)
    for _ in range(5):  # half a period
        env.step(np.array([[-0.5 / 1.6, 1.0]]))
    assert pytest.approx(0.5 / SURFACE_FREQUENCY) == 0.5
    assert float(env.batch.read("surface/position")[0, 0]) == pytest.approx(-0.02, abs=5e-4)


def test_pointing_costs_the_error_of_the_angle_and_touching_that_of_the_force_after_the_time_to_arrive():
    from pliant.learn.envs.tasks.touch import ANGLE_SCALE, FORCE

    env = touch_env([-0.8, 0.5], 0.3, preset=0.6)
    away = np.tile([-0.3 / 1.6, 0.0], (2, 1))
    total = np.zeros(2)
    for k in range(14):
        _, rewards, *_ = env.step(away)
        if k < 5:
            assert rewards.tolist() == [0.0, 0.0]
        total += rewards
    q = env.batch.read("joint/position")[0, 0]
    assert total[0] == pytest.approx(-0.9 * abs(q + 0.8) / ANGLE_SCALE, rel=0.05)
    assert total[1] == pytest.approx(-0.9 * FORCE / FORCE, rel=1e-6)  # no contact at all


def test_half_of_the_targets_are_to_touch():
    from pliant.learn.envs.tasks.touch import start, touching

    drawn = start(np.random.default_rng(3), 8)
    assert int(np.sum(drawn["target"] > 0.0)) == 4
    assert touching is not None
    with pytest.raises(ModelError, match="preset is 2"):
        find_task("touch", preset=2.0)

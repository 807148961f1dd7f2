"""Definitions of tasks: fields and options that are refused, start positions, ports that functions cannot change."""

import copy
import pickle
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest

from pliant.base.errors import ModelError, PliantError, PortError
from pliant.batch.worlds import CpuBatch
from pliant.learn.envs.make import make_env, make_vec
from pliant.learn.envs.task import Action
from pliant.robots import build_robot

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'pliant[learn]'")


def arm():
    return build_robot("qbmove-2dof", {"mounting": "vertical"})


def angle(world):
    return world.port("joint_1/position")


def first(world):
    return world.port("franka_joint1/position")


def near(world):
    return -np.abs(world.port("joint_1/position")[:, 0] - 0.5)


FIELDS = {"observation": {"angle": angle}, "reward": near, "period": 0.01, "duration": 0.5}


def made(kind, robot=arm, **changes):
    changes = {**FIELDS, **changes}
    return make_vec(robot, 3, **changes) if kind == "worlds" else make_env(robot, **changes)


@pytest.mark.parametrize("kind", ["worlds", "one"])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"observation": angle}, "observation is .*; must be a dictionary: name -> function of a World"),
        ({"observation": None}, "observation is missing; must be a function of a World by its name, such as"),
        ({"reward": None}, "reward is missing"),
        ({"terminated": near}, "terminated is .*; must be a dictionary"),
        ({"terminated": None}, "terminated is None; must be a dictionary"),
        ({"randomize": ["joint_1.k1"]}, "randomize is .*; must be a dictionary: name -> distribution"),
        ({"start": {"joint_1": 0.1}}, "start is .*; must be a function"),
        ({"diverged_reward": "low"}, "diverged_reward is 'low'; must be a finite number"),
        ({"period": "fast"}, "period is 'fast'; must be a time"),
        ({"actions": [Action("joint_1/position")]}, "'joint_1/position' is the state of the robot"),
        ({"actions": [Action("joint_1/velocity")]}, "'joint_1/velocity' is the state of the robot"),
        ({"observation": {"angle": lambda world: ["a"] * world.worlds}}, r"observation 'angle' returned \['a'"),
        ({"robot": 3}, "task_of got 3; must be a Robot, a function"),
        ({"options": {"colour": 1}}, "has no option 'colour'; must be one of .*render_mode"),
        ({"options": ["width"]}, "must be a dictionary of options"),
    ],
)
def test_a_task_that_cannot_be_is_refused_by_both_environments(kind, changes, message):
    with pytest.raises(PliantError, match=message):
        made(kind, **changes)


@pytest.mark.parametrize("kind", ["worlds", "one"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positions": {"joint_1": "left"}}, "'joint_1' is 'left'; must be a number"),
        ({"positions": {"joint_1": np.nan}}, "'joint_1' is nan; must be finite"),
        ({"positions": {"joint_1": np.zeros(7)}}, r"\(7,\)"),
        ({"positions": [0.1, 0.2]}, r"positions: \[0.1, 0.2\] is not a dictionary"),
        (["positions"], "options of reset are .*; must be a dictionary"),
    ],
)
def test_start_positions_of_a_reset_must_be_finite_numbers(kind, options, message):
    env = made(kind)
    with pytest.raises(PliantError, match=message):
        env.reset(seed=1, options=options)
    env.close()


@pytest.mark.parametrize("kind", ["worlds", "one"])
@pytest.mark.parametrize(
    ("start", "message"),
    [
        (lambda rng, worlds: None, "start: None is not a dictionary"),
        (lambda rng, worlds: {"joint_1": rng.uniform(size=worlds) * np.nan}, "'joint_1' is .*; must be finite"),
    ],
)
def test_a_start_that_gives_no_positions_is_refused(kind, start, message):
    env = made(kind, start=start)
    with pytest.raises(ModelError, match=message):
        env.reset(seed=1)
    env.close()


@pytest.mark.parametrize("kind", ["worlds", "one"])
def test_a_function_cannot_change_the_state_through_a_port(kind):
    def moved(world):
        angles = world.port("joint_1/position")
        angles -= 0.5
        return angles

    with pytest.raises(ValueError, match="read-only"):
        made(kind, observation={"moved": moved})
    tried = []

    def later(world):  # a batch tries each function when it is made
        tried.append(1)
        return world.time if len(tried) == 1 and kind == "worlds" else moved(world)[:, 0]

    env = made(kind, reward=later)
    before, _ = env.reset(seed=1)
    with pytest.raises(ValueError, match="read-only"):
        env.step(np.zeros(env.action_space.shape))
    port = env.batch.port if kind == "worlds" else env.simulation.engine.port
    np.testing.assert_allclose(port("joint_1/position")[0], before.ravel()[0], atol=0.01)
    env.close()


def test_an_external_torque_can_be_an_action():
    env = made("worlds", actions=[Action("joint_1/external_torque", -0.1, 0.1)])
    env.reset(seed=1)
    for _ in range(10):
        observations = env.step(np.array([[-1.0], [0.0], [1.0]]))[0]
    assert observations[0, 0] < observations[1, 0] < observations[2, 0]


def test_options_of_the_other_environment_are_named():
    import pliant.learn.envs  # noqa: F401 - names the tasks

    with pytest.raises(PliantError, match=r"'autoreset_mode' is an option of BatchEnv; .*gymnasium.make_vec"):
        gymnasium.make("pliant/Throw-v0", autoreset_mode="Disabled")
    with pytest.raises(PliantError, match="batch is 3; must be a function"):
        gymnasium.make_vec("pliant/Throw-v0", num_envs=2, batch=3)


@pytest.mark.parametrize("value", ["soon", -0.01, float("nan"), True, 1e9])
def test_a_latency_that_is_no_time_is_refused(value):
    for name in ("latency", "command_latency"):
        with pytest.raises(PliantError, match=f"{name} is {value!r}; must be a time of 0 to 10 s"):
            made("one", options={name: value})


def test_a_robot_that_cannot_be_made_or_is_closed_leaves_no_folder_and_cannot_be_used(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(PortError, match="no port"):
        made("one", actions=[Action("joint_9/reference_1")])
    assert list(Path(tmp_path).iterdir()) == []
    env = made("one", options={"render_mode": "rgb_array"})
    env.reset(seed=1)
    env.close()
    env.close()
    assert list(Path(tmp_path).iterdir()) == []
    for use in (env.reset, env.render, lambda: env.step(np.zeros(2))):
        with pytest.raises(PliantError, match="closed; make a new one"):
            use()


@pytest.mark.parametrize("kind", ["worlds", "one"])
def test_an_environment_refuses_to_be_pickled_or_copied(kind):
    env = made(kind)
    for use in (pickle.dumps, copy.deepcopy):
        with pytest.raises(PliantError, match="cannot be pickled or copied; pass a function"):
            use(env)
    env.close()


def test_a_robot_without_compliant_joints_names_its_actuators():
    biped = str(Path(__file__).parents[2] / "data" / "biped.xml")
    with pytest.raises(ModelError, match=r"no compliant joint, .*Action\('(\w+)/control'\).*its actuators are \1, "):
        made("worlds", biped)
    hopper = str(Path(__file__).parents[2] / "data" / "yarp" / "robots" / "hopper.urdf")
    with pytest.raises(ModelError, match="has no actuator"):
        made("worlds", hopper)
    with pytest.raises(ModelError, match="no compliant joint") as refused:
        make_vec("fr3", 1, observation={"q": first}, reward=lambda world: first(world)[:, 0])
    name = re.search(r"Action\('([^']+)'\)", str(refused.value))[1]  # what the message proposes can be commanded
    actions = [Action(name, -0.1, 0.1)]
    make_vec("fr3", 1, observation={"q": first}, reward=lambda world: first(world)[:, 0], actions=actions).close()


def test_the_number_of_threads_does_not_change_an_episode():
    found = []
    for threads in (1, 2):
        env = made("worlds", options={"batch": lambda robot, n, k=threads: CpuBatch(robot, n, nthread=k)})
        rng = np.random.default_rng(1)
        found.append([env.reset(seed=1)[0], *(env.step(rng.uniform(-1.0, 1.0, (3, 2)))[0] for _ in range(5))])
    np.testing.assert_array_equal(*found)

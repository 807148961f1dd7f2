"""Ports side by side, and observations that machine code gathers."""

import numpy as np
import pytest

from pliant.base.errors import ModelError, PortError

pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'pliant[learn]'")

from pliant.learn.envs.actions import observe
from pliant.learn.envs.gather import Observer
from pliant.learn.envs.make import find_task, make_env, make_vec, task_names
from pliant.learn.envs.vector import BatchEnv

NAMES = ("joint_2/velocity", "joint_1/position", "state/ctrl", "state/qpos")


def parts(world):
    return np.concatenate([world.port(name) for name in NAMES], axis=1)


FIELDS = {"reward": lambda world: world.time, "period": 0.01, "duration": 5.0}


def test_ports_side_by_side_are_the_ports():
    fields = {**FIELDS, "observation": {"one": parts, "all": lambda world: world.ports(NAMES)}}
    many, one = make_vec("qbmove-2dof", 3, **fields), make_env("qbmove-2dof", **fields)
    for env, action in ((many, np.full((3, 2), 0.3)), (one, np.full(2, 0.3))):
        env.reset(seed=1)
        for _ in range(5):
            seen = np.atleast_2d(env.step(action)[0])
        width = seen.shape[1] // 2
        np.testing.assert_array_equal(seen[:, :width], seen[:, width:])
        assert np.abs(seen).max() > 0.01
    with pytest.raises(ValueError, match="read-only"):
        many._world.ports(NAMES)[0, 0] = 1.0
    with pytest.raises(PortError, match="joint_1/positio"):
        many._world.ports(["joint_1/positio"])
    one.close()


@pytest.mark.parametrize("name", task_names())
def test_what_is_gathered_is_what_the_functions_of_every_task_return(name):
    env = BatchEnv(find_task(name), 2)
    first = []
    for repeated in range(2):
        env.reset(seed=3)
        rng = np.random.default_rng(1)
        for k in range(5):
            seen, reward, *_ = env.step(rng.uniform(-1.0, 1.0, env.action_space.shape))
            assert seen.tobytes() == observe(env.task, env._world).tobytes()
            first.append((seen.tobytes(), reward.tobytes()))
            assert not repeated or first[k] == first[5 + k]  # the first episode of all is no other


class World:
    """Worlds with one port."""

    worlds = 3

    def __init__(self):
        self.values = np.arange(12.0).reshape(3, 4)[:, ::2]

    def port(self, name):
        return self.values


def test_an_observer_takes_arrays_that_stay_and_arrays_that_are_new():
    task, world = find_task("touch"), World()
    column = world.values[:, 1]
    kinds = {
        "stays": lambda w: w.port("p"),
        "row": lambda w: column,
        "new": lambda w: 2.0 * w.port("p"),
        "bool": lambda w: w.port("p")[:, 0] > 3.0,
    }
    for chosen in (["stays"], ["stays", "row"], ["new"], ["row", "new", "bool"], ["bool"]):
        chosen_task = task.replace(observation={name: kinds[name] for name in chosen})
        observer = Observer(chosen_task, world)
        for k in range(6):
            world.values += k
            seen = observer()
            assert seen.dtype == np.float32
            np.testing.assert_array_equal(seen, observe(chosen_task, world))
        kept = seen.copy()
        world.values += 1.0
        observer()
        np.testing.assert_array_equal(seen, kept)  # what was returned does not change


def test_an_observation_that_is_not_finite_is_named_unless_its_world_diverged():
    world = World()
    observer = Observer(find_task("touch").replace(observation={"p": lambda w: w.port("p")}), world)
    for _ in range(3):
        observer()
    world.values[1, 0] = np.nan
    with pytest.raises(ModelError, match="'p' is not finite in environment 1"):
        observer()
    assert np.isnan(observer(np.array([True, False, True]))[1, 0])
    world.values[1, 0] = 1e300  # not finite in single precision
    with np.errstate(over="ignore"), pytest.raises(ModelError, match="'p' is not finite in environment 1"):
        observer()

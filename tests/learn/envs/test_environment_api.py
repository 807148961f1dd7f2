"""What people expect of an environment: seeds, states, episodes, delays, noise, payloads, cameras, closing."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from daily import by_day

from pliant.base.errors import ModelError, PliantError
from pliant.batch.distributions import Uniform
from pliant.learn.envs.make import find_task, make_env, make_vec, task_names
from pliant.learn.envs.task import Action
from pliant.learn.envs.vector import BatchEnv
from pliant.model import Imu
from pliant.robots import build_robot

pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'pliant[learn]'")

JOINTS = ("joint_1", "joint_2")
RANGES = {"joint_1.k1": Uniform(0.0015, 0.0024), "joint_2.damping": Uniform(0.01, 0.1)}


def q(world):
    return np.concatenate([world.port(f"{joint}/position") for joint in JOINTS], axis=1)


def start(rng, count):
    return {"joint_1": rng.uniform(-0.3, 0.3, count)}


def arm():
    return build_robot("qbmove-2dof", {"mounting": "vertical"})


FIELDS = {
    "observation": {"q": q},
    "reward": lambda world: -np.abs(q(world)[:, 0] - 0.5),
    "period": 0.01,
    "duration": 0.1,
    "start": start,
    "actions": [Action("joint_1/equilibrium_position", -1.0, 1.0), Action("joint_2/reference_1", -1.0, 1.0)],
}


def vec(worlds=3, *, options=None, **changes):
    return make_vec(arm, worlds, options=options, **{**FIELDS, **changes})


def single(*, options=None, **changes):
    return make_env(arm, options=options, **{**FIELDS, **changes})


@pytest.mark.parametrize("module", ["pliant.learn", "pliant.learn.envs"])
def test_gymnasium_makes_an_environment_by_the_name_of_its_module_without_an_import(module):
    name = f"'{module}:pliant/Touch-v0'"  # Gymnasium 1 loads no entry points
    program = f"import gymnasium as g; print(g.make({name}).reset(seed=1)[0].shape, g.make_vec({name}, 3).num_envs)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "(4,) 3", done.stderr


@pytest.mark.parametrize("make", [vec, single])
@pytest.mark.parametrize("key", ["bent", "", 0, 3])
def test_a_key_frame_that_does_not_exist_is_refused_when_the_environment_is_made_and_at_a_reset(make, key):
    with pytest.raises(PliantError, match=f"no key frame {key!r}"):
        make(key=key)
    with pytest.raises(PliantError, match=f"no key frame {key!r}"):
        make().reset(seed=1, options={"key": key})


def test_a_world_starts_alike_whatever_the_number_of_worlds_and_as_the_single_environment():
    few, many, one = vec(2, randomize=RANGES), vec(5, randomize=RANGES), single(randomize=RANGES)
    a, b = few.reset(seed=7)[0], many.reset(seed=7)[0]
    np.testing.assert_array_equal(a, b[:2])
    np.testing.assert_array_equal(few.batch.parameter("joint_1.k1"), many.batch.parameter("joint_1.k1")[:2])
    assert len(set(b[:, 0].tolist())) == 5
    np.testing.assert_array_equal(one.reset(seed=8)[0], b[1])
    actions = np.full((5, 2), 0.4)
    for _ in range(4):
        far, near = many.step(actions)[0], one.step(actions[0])[0]
    np.testing.assert_allclose(near, far[1], atol=1e-6)
    one.close()


def test_each_world_takes_a_seed_of_its_own():
    env = vec(3)
    first = env.reset(seed=[5, 9, 5])[0]
    assert first[0, 0] == first[2, 0] != first[1, 0]
    np.testing.assert_array_equal(env.reset(seed=9)[0][0], first[1])
    for wrong in ([1, 2], [1, 2, -3], "abc", 1.5, True):
        with pytest.raises(PliantError, match="3 of them, one for each world"):
            env.reset(seed=wrong)


def test_parameters_are_drawn_for_each_episode_of_each_world():
    env = vec(2, randomize=RANGES)
    env.reset(seed=1)
    before = env.batch.parameter("joint_1.k1")
    env.reset(options={"reset_mask": np.array([True, False])})
    after = env.batch.parameter("joint_1.k1")
    assert after[0] != before[0]
    assert after[1] == before[1]
    for _ in range(11):  # to the end of the episode, and the step that starts the next one
        env.step(np.zeros((2, 2)))
    assert (env.batch.parameter("joint_1.k1") != after).all()


def test_a_curriculum_is_asked_with_the_number_of_ended_episodes():
    asked = []

    def harder(episodes):
        asked.append(episodes)
        return {"joint_1.damping": Uniform(0.01 * (1 + episodes), 0.01 * (1 + episodes))}

    env = vec(2, randomize=harder, options={"autoreset_mode": "SameStep"})
    env.reset(seed=1)
    for _ in range(10):
        env.step(np.zeros((2, 2)))
    assert asked[-1] == 2
    assert env.batch.parameter("joint_1.damping").tolist() == pytest.approx([0.03, 0.03])


@pytest.mark.parametrize("make", [vec, single])
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("joint_1.stifness", "stifness"),
        ("joint_9.k1", "joint_9"),
        ("nothing.payload", "nothing"),
        ("base.payload", "base"),
        (3, "3 is no path"),
    ],
)
def test_a_parameter_that_does_not_exist_is_refused_at_construction(make, path, words):
    with pytest.raises(ModelError, match=words):
        make(randomize={path: Uniform(0.0, 1.0)})


def test_a_payload_hangs_as_heavily_in_both_environments():
    heavy = {"link_2.payload": Uniform(0.3, 0.3)}
    options = {"randomize": heavy, "duration": 2.0, "start": None}
    many, one, light = vec(2, **options), single(**options), single(duration=2.0, start=None)
    results = []
    for env in (many, one, light):
        env.reset(seed=1)
        for _ in range(60):
            seen = env.step(np.full((2, 2), 0.3) if env is many else np.full(2, 0.3))[0]
        results.append(np.atleast_2d(seen)[0])
    np.testing.assert_allclose(results[0], results[1], atol=1e-6)
    assert np.abs(results[0] - results[2]).max() > 0.01
    one.close()
    light.close()


def test_a_state_continues_with_the_same_bytes_and_one_world_can_be_tried_in_many():
    env = vec(3, duration=5.0, randomize=RANGES)
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(5):
        env.step(rng.uniform(-1.0, 1.0, (3, 2)))
    state, plan = env.get_state(), rng.uniform(-1.0, 1.0, (10, 3, 2))
    first = [env.step(actions)[:2] for actions in plan]
    seen = env.set_state(state)
    np.testing.assert_array_equal(seen, state["observation"])
    again = [env.step(actions)[:2] for actions in plan]
    for (a, r), (b, s) in zip(first, again):
        assert a.tobytes() == b.tobytes()
        assert r.tobytes() == s.tobytes()
    env.set_state(state)
    one = env.get_state([1])
    env.set_state(one)  # in every world
    for actions in plan[:, 1]:
        seen = env.step(np.tile(actions, (3, 1)))[0]
    assert seen[0].tobytes() == seen[1].tobytes() == seen[2].tobytes() == first[-1][0][1].tobytes()


def test_a_state_that_is_none_or_of_another_robot_is_refused():
    env = vec(2)
    with pytest.raises(PliantError, match=r"no state before reset\(\)"):
        env.get_state()
    env.reset(seed=1)
    state = env.get_state()
    with pytest.raises(PliantError, match="none of get_state"):
        env.set_state({"qpos": 1})
    worlds, before = state["batch"], env.get_state()
    other = vec(2, observation={"q": lambda world: world.port("joint_1/position")})
    other.reset(seed=1)
    for wrong, words in (
        ({**state, "batch": {**worlds, "state": np.zeros((2, 3))}}, r"'state' of shape \(2, 3\); must be of this"),
        ({**state, "batch": {**worlds, "steps": np.zeros(7)}}, r"'steps' of shape \(7,\)"),
        ({**state, "batch": {**worlds, "model/body_mass": np.zeros((2, 1))}}, "'model/body_mass' of shape"),
        ({**state, "batch": {**worlds, "nothing": np.zeros(2)}}, "'nothing'"),
        ({**state, "batch": {**worlds, "model/nothing": np.zeros((2, 1))}}, "'model/nothing'"),
        ({**state, "batch": {k: v for k, v in worlds.items() if k != "steps"}}, "'steps' of shape"),
        ({**state, "batch": None}, "'state' of shape"),
        ({**state, "rng": None}, "random generators of 0 worlds; must be 2"),
        ({**state, "rng": state["rng"][:0]}, "random generators of 0 worlds; must be 2"),
        ({**state, "rng": [{}, {}]}, "random generator of world 0"),
        (other.get_state(), r"observation of shape \(2, 1\) of float32; must be of this task"),
        *(({**state, name: None}, name) for name in ("elapsed", "action", "ended", "observation")),
    ):
        env.step(np.full((2, 2), 0.1))
        before = env.get_state()
        with pytest.raises(PliantError, match=words):
            env.set_state(wrong)
        for name, array in {**before["batch"], "action": before["action"], "ended": before["ended"]}.items():
            np.testing.assert_array_equal(array, {**env.get_state(), **env.get_state()["batch"]}[name])  # unchanged


def test_a_state_brings_what_was_set_by_name_along():
    env = vec(2, duration=10.0)
    env.reset(seed=1)
    env.batch.set_parameters({"joint_1.k1": 0.003, "actuator.initial_preset": 0.4, "link_2.mass": 0.9}, [1])
    env.reset(options={"reset_mask": [1]})
    env.set_state(env.get_state([1]))
    assert env.batch.parameter("joint_1.k1").tolist() == [0.003, 0.003]
    env.batch.set_parameters({"joint_1.k2": 0.002})  # keeps k1 in both
    env.reset(seed=[7, 7])
    for _ in range(20):
        seen = env.step(np.full((2, 2), 0.7))[0]
    assert seen[0].tobytes() == seen[1].tobytes()


def test_a_state_that_needs_delays_is_refused():
    delayed = vec(2, options={"latency": 0.01})
    delayed.reset(seed=1)
    with pytest.raises(PliantError, match="with delays cannot be read"):
        delayed.get_state()


LATENCIES = [0.0, 0.001, 0.006, 0.01, 0.014, 0.02, 0.033, 0.1]
COMMAND_LATENCIES = [0.0, 0.004, 0.023]


@pytest.mark.parametrize(
    ("latency", "command_latency"),
    by_day(
        itertools.product(LATENCIES, COMMAND_LATENCIES),
        lambda case: (LATENCIES.index(case[0]) + COMMAND_LATENCIES.index(case[1])) % 2 == 0,
    ),
)
def test_a_batch_with_delays_sees_and_does_what_the_devices_of_one_robot_do(latency, command_latency):
    """Also before the latency has passed for the first time: the period is 10 ms."""
    options = {"latency": latency, "command_latency": command_latency}
    many, one = vec(2, options=options, duration=1.0), single(options=options, duration=1.0)
    rng = np.random.default_rng(2)
    for _ in range(2):
        first = many.reset(seed=1)[0]
        np.testing.assert_array_equal(first[0], one.reset(seed=1)[0])
        for k in range(1, 31):
            action = rng.uniform(0.3, 1.0, 2)
            far, near = many.step(np.tile(action, (2, 1)))[0], one.step(action)[0]
            if k * 0.01 <= latency:
                np.testing.assert_array_equal(near, first[0])
            np.testing.assert_allclose(far[0], near, atol=1e-6)
        assert np.abs(near).max() > 0.05
    one.close()


def test_a_field_of_a_device_that_is_no_port_is_held_until_its_latency_has_passed():
    def with_imu():
        robot = arm()
        robot.devices = [*robot.devices, Imu(name="imu", body="link_2")]
        return robot

    observation = {"imu": lambda world: world.port("imu/linear_acceleration")}
    env = make_env(with_imu, options={"latency": 0.025}, **{**FIELDS, "observation": observation})
    seen = [env.reset(seed=1)[0], *(env.step([0.0, 0.0])[0] for _ in range(3))]
    assert [bool(row.any()) for row in seen] == [False, False, False, True]
    env.close()


@pytest.mark.parametrize(
    "ranges",
    [
        {"latency": Uniform(0.0, 0.05), "command_latency": Uniform(0.0, 0.05)},
        {"link_1.mass": Uniform(0.3, 0.6), "link_1.payload": Uniform(0.2, 0.5)},
        {"joint_1.damping": Uniform(0.1, 1.0), "joint_2.friction": Uniform(0.1, 0.5)},
        {"actuator.motor_1.damping": Uniform(0.1, 0.4), "joint_1.k1": Uniform(0.001, 0.004)},
        {"actuator.initial_preset": Uniform(0.0, 0.5), "joint_2.armature": Uniform(0.001, 0.05)},
    ],
)
def test_a_world_with_drawn_parameters_moves_as_the_single_environment_of_its_seed(ranges):
    many, one = vec(3, randomize=ranges, duration=1.0), single(randomize=ranges, duration=1.0)
    first = many.reset(seed=5)[0]
    actions = np.random.default_rng(1).uniform(-1.0, 1.0, (15, 3, 2))
    seen = [many.step(action)[0] for action in actions]
    for world in range(3):
        np.testing.assert_array_equal(one.reset(seed=5 + world)[0], first[world])
        for k, action in enumerate(actions):
            np.testing.assert_allclose(one.step(action[world])[0], seen[k][world], atol=1e-6)
    one.close()


def test_delays_are_drawn_for_each_world():
    env = vec(2, start=None, randomize={"command_latency": Uniform(0.0, 0.05)})
    env.reset(seed=1)
    for _ in range(4):
        seen = env.step(np.ones((2, 2)))[0]
    assert seen[0, 0] != seen[1, 0]


def test_noise_of_an_observation_has_its_deviation_and_leaves_the_others():
    fields = {"observation": {"q": q, "time": lambda world: world.time}, "duration": 50.0, "start": None}
    noisy, exact = vec(100, options={"noise": {"q": 0.1}}, **fields), vec(100, **fields)
    difference = noisy.reset(seed=1)[0] - exact.reset(seed=1)[0]
    assert difference[:, :2].std() == pytest.approx(0.1, rel=0.25)
    assert not difference[:, 2].any()
    with pytest.raises(PliantError, match="no observation 'p'; must be one of q"):
        vec(options={"noise": {"p": 0.1}})


def test_pictures_of_cameras_are_observed():
    env = single(options={"cameras": ["front"], "width": 40, "height": 30, "render_mode": None})
    space = env.observation_space["front"]
    assert (space.shape, space.dtype, space.low.min(), space.high.max()) == ((30, 40, 3), np.uint8, 0, 255)
    first = env.reset(seed=1)[0]
    assert env.observation_space.contains(first)
    for _ in range(8):
        last = env.step([1.0, 1.0])[0]
    assert (last["front"] != first["front"]).any()
    env.close()
    for made in (single, vec):
        with pytest.raises(PliantError, match="no camera 'frnt'; did you mean 'front'"):
            made(options={"cameras": ["frnt"]})


def test_worlds_of_a_batch_show_the_pictures_of_single_environments():
    """The third action ends the episodes; the world that began at -0.3 rad is set back to its second state."""
    options = {"cameras": ["front"], "width": 40, "height": 30}
    more = {"duration": 0.03, "start": lambda rng, count: {"joint_1": rng.choice([-0.3, 0.3], count)}}
    env, one = vec(2, options={**options, "autoreset_mode": "SameStep"}, **more), single(options=options, **more)
    seen = env.reset(seed=3)[0]
    assert env.observation_space.contains(seen)
    pictures = [one.reset(seed=4)[0]["front"]]
    np.testing.assert_array_equal(seen["front"][1], pictures[0])
    for k in range(3):
        state = env.get_state()
        before, (seen, *_, infos) = seen, env.step(np.full((2, 2), 0.8))
        pictures.append(one.step([0.8, 0.8])[0]["front"])
        if k < 2:
            assert np.mean(seen["front"][1] != pictures[-1]) < 0.01
    last = infos["final_obs"][1]
    assert env.single_observation_space.contains(last)
    assert np.mean(last["front"] != pictures[-1]) < 0.01 < np.mean(last["front"] != pictures[0])
    assert np.mean(seen["front"][1] != last["front"]) > 0.01  # the next episode
    np.testing.assert_array_equal(env.set_state(state)["front"], before["front"])
    env.close()
    one.close()


@pytest.mark.parametrize("name", task_names())
def test_worlds_of_every_task_do_the_same_whatever_their_number(name):
    envs = [BatchEnv(find_task(name), worlds) for worlds in (1, 2, 5)]
    starts = [env.reset(seed=11)[0] for env in envs]
    assert [np.array_equal(few, starts[-1][: len(few)]) for few in starts] == [True] * 3
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = rng.uniform(-1.0, 1.0, (5, *envs[0].single_action_space.shape))
        *some, most = (env.step(actions[: env.num_envs])[:4] for env in envs)
        for env, found in zip(envs, some, strict=False):
            for mine, theirs in zip(found, most, strict=True):
                assert mine.tobytes() == theirs[: env.num_envs].tobytes()


def test_a_closed_environment_refuses_steps_resets_and_pictures():
    options = {"render_mode": "rgb_array"}
    for env, action in ((vec(2, options=options), np.zeros((2, 2))), (single(options=options), np.zeros(2))):
        env.reset(seed=1)
        env.close()
        for call in (lambda env=env, action=action: env.step(action), env.reset, env.render):
            with pytest.raises(PliantError, match="the environment is closed"):
                call()


def test_the_last_infos_of_an_episode_are_where_gymnasium_puts_them():
    env = vec(2, options={"autoreset_mode": "SameStep"})
    env.reset(seed=1)
    for _ in range(10):
        _, rewards, _, truncated, infos = env.step(np.zeros((2, 2)))
    assert truncated.all()
    assert infos["final_info"]["reward"]["reward"].tolist() == rewards.tolist()
    assert infos["final_info"]["_reward"].all()
    assert not infos["_reward"].any()
    assert infos["final_info"]["reason"].tolist() == ["duration", "duration"]


def test_gymnasium_gives_every_option_of_a_batch_on():
    from pliant.learn.envs import make
    from pliant.learn.envs.vector import BatchOptions

    assert sorted(make._VECTOR) == sorted(BatchOptions.__slots__)
    with pytest.raises(PliantError, match="BatchEnv has no option 'latenci'; did you mean 'latency'"):
        vec(2, options={"latenci": 0.1})

"""Environments of Gymnasium: Gymnasium's own checker, endings with reasons, resets, bad input."""

import subprocess
import sys
import warnings
from functools import partial

import mujoco
import numpy as np
import pytest
from native_actuators import continuum_robot
from warp_devices import BATCHES

from pliant.base.errors import ModelError, PliantError, PortError
from pliant.batch.distributions import Uniform
from pliant.batch.worlds import CpuBatch
from pliant.learn.envs.make import find_task, make_env, make_vec, task_names, task_of
from pliant.learn.envs.registration import register
from pliant.learn.envs.task import Action, Task
from pliant.learn.warp import WarpBatch
from pliant.model import Imu, Robot
from pliant.robots import build_robot

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'pliant[learn]'")

JOINTS = ("joint_1", "joint_2")
CHEAP = {"walk": {"feet": "rigid"}}
"""Options of tasks whose robot takes seconds to compile."""


def q(world):
    return np.concatenate([world.port(f"{joint}/position") for joint in JOINTS], axis=1)


def near(world):
    return -np.abs(world.port("joint_1/position")[:, 0] - 0.5)


def far(world):
    return world.port("joint_1/position")[:, 0] > 0.4


def arm():
    return build_robot("qbmove-2dof", {"mounting": "vertical"})


FIELDS = {"observation": {"q": q}, "reward": near, "period": 0.01, "duration": 0.5}


def vec(worlds=3, *, options=None, **changes):
    return make_vec(arm, worlds, options=options, **{**FIELDS, **changes})


def single(*, options=None, **changes):
    return make_env(arm, options=options, **{**FIELDS, **changes})


# -- what Gymnasium asks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", task_names())
def test_every_task_passes_the_checker_of_gymnasium(name):
    from gymnasium.utils.env_checker import check_env

    register()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(minimum value is -infinity|maximum value is infinity).*")
        warnings.filterwarnings("ignore", message=".*alternative render modes.*")
        env = gymnasium.make(f"pliant/{name.title().replace('_', '')}-v0", **CHEAP.get(name, {}))
        check_env(env.unwrapped, skip_render_check=True)
        env.close()


@pytest.mark.parametrize("name", task_names())
def test_gymnasium_makes_many_worlds_of_every_task_by_name(name):
    register()
    env = gymnasium.make_vec(f"pliant/{name.title().replace('_', '')}-v0", num_envs=4, **CHEAP.get(name, {}))
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP
    env.action_space.seed(1)
    observations, infos = env.reset(seed=1)
    assert observations in env.observation_space
    assert infos == {}
    for _ in range(5):
        observations, rewards, terminated, truncated, _ = env.step(env.action_space.sample())
        assert observations in env.observation_space
        assert rewards.shape == terminated.shape == truncated.shape == (4,)
    env.close()


def test_registering_twice_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register()
        register()


def test_importing_the_package_names_every_task_to_gymnasium_and_loads_no_physics():
    code = (
        "import sys, gymnasium, pliant.learn.envs; "
        "print('mujoco' in sys.modules, 'numba' in sys.modules, *(k for k in gymnasium.registry if 'pliant' in k))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = [f"pliant/{name.title().replace('_', '')}-v0" for name in task_names()]
    assert done.stdout.split() == ["False", "False", *expected]


def test_without_gymnasium_the_package_can_be_imported_and_an_environment_names_the_command():
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import pliant.learn.envs\n"
        "try: pliant.learn.envs.BatchEnv\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingDependency")
    assert 'pip install "pliant[learn]"' in done.stdout


# -- what an environment does -----------------------------------------------------------------------------------------


def test_an_action_of_one_is_the_upper_value_of_its_port_and_what_lies_beyond_is_clipped():
    env = vec(actions=[Action("joint_1/reference_1", -0.2, 0.6), Action("joint_2/reference_1", 0.5, -0.5)])
    env.reset(seed=1)
    env.step([[1.0, 1.0], [-1.0, 0.0], [3.0, -9.0]])
    np.testing.assert_allclose(env.batch.read("joint_1/reference_1")[:, 0], [0.6, -0.2, 0.6])
    np.testing.assert_allclose(env.batch.read("joint_2/reference_1")[:, 0], [-0.5, 0.0, 0.5])


def test_a_step_of_the_environment_is_the_same_steps_of_the_batch():
    env = vec(actions=[Action("joint_1/reference_1", -1.0, 1.0)])
    batch = CpuBatch(arm(), 3)
    env.reset(seed=1)
    for value in (0.5, -0.2, 0.8):
        observation = env.step(np.full((3, 1), value))[0]
        batch.write("joint_1/reference_1", value)
        batch.step(10)
    np.testing.assert_array_equal(env.batch.read("state/qpos"), batch.read("state/qpos"))
    np.testing.assert_array_equal(observation, batch.read("state/qpos").astype(np.float32))


def test_one_robot_without_latency_moves_as_a_world_of_the_batch_does():
    actions = [Action("joint_1/reference_1", -1.0, 1.0), Action("joint_1/reference_2", 0.1, 0.6)]
    one, many = single(actions=actions), vec(1, actions=actions)
    one.reset(seed=1)
    many.reset(seed=1)
    for value in (0.5, -0.2, 0.8):
        observation, reward, *_ = one.step([value, -value])
        observations, rewards, *_ = many.step([[value, -value]])
        np.testing.assert_allclose(observation, observations[0], rtol=0.0, atol=1e-7)
        assert reward == pytest.approx(rewards[0], abs=1e-7)
    one.close()


def test_with_latency_a_robot_observes_what_was_before():
    actions = [Action("joint_1/reference_1", -1.0, 1.0)]
    prompt, late = single(actions=actions), single(actions=actions, options={"latency": 0.02})
    seen = {}
    for name, env in (("prompt", prompt), ("late", late)):
        env.reset(seed=1)
        seen[name] = [env.step([0.8])[0] for _ in range(10)]
        env.close()
    np.testing.assert_array_equal(seen["late"][5:], seen["prompt"][3:8])


def test_a_robot_observes_fields_of_devices_that_are_no_ports():
    def with_imu():
        robot = arm()
        robot.devices = [*robot.devices, Imu(name="imu", body="link_2")]
        return robot

    def observation(world):
        return np.concatenate([world.port("imu/linear_acceleration"), world.port("board/position")], axis=1)

    env = make_env(with_imu, **{**FIELDS, "observation": {"devices": observation}})
    assert env.reset(seed=1)[0] == pytest.approx(np.zeros(5))
    for _ in range(40):
        seen = env.step([0.0, 0.0])[0]
    # At rest, an inertial unit measures gravity upwards, whichever way it is turned.
    assert np.linalg.norm(seen[:3]) == pytest.approx(9.81, abs=0.01)
    joints = [env.simulation.sample(joint).values["position"] for joint in JOINTS]
    np.testing.assert_allclose(seen[3:], joints, atol=1e-3)
    env.close()
    with pytest.raises(PortError, match="no port and no field of a device 'imu/acceleration'"):
        make_env(with_imu, **{**FIELDS, "observation": {"a": lambda world: world.port("imu/acceleration")}})


class FarBatch(CpuBatch):
    """A batch whose memory is elsewhere, as on a GPU: fields come as copies, and only `write` changes them."""

    def __init__(self, robot, worlds):
        self.copies = []
        super().__init__(robot, worlds)

    def port(self, name):
        return memoryview(self.field(self.place(name).field))

    def field(self, name):
        self.copies.append(name)
        return super().field(name).copy()

    def _put(self, name, values, mask):
        place = self.place(name)
        super().field(place.field)[(mask, *place.index)] = values


def batch_of(kind):
    """Return what makes a batch of a kind; that of Warp where Warp is installed."""
    if kind == "far":
        return FarBatch
    pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed: pip install 'pliant[warp]'")
    return partial(WarpBatch, device=BATCHES[kind])


@pytest.mark.parametrize(("kind", "atol"), [("far", 0.0), *((kind, 2e-5) for kind in BATCHES if kind != "cpu")])
def test_worlds_on_another_device_are_the_same_environment(kind, atol):
    def start(rng, count):
        return {"joint_1": rng.uniform(-0.3, 0.3, count)}

    fields = {
        "terminated": {"far": far},
        "start": start,
        "duration": 0.2,
        "randomize": {"joint_1.k1": Uniform(0.001, 0.002)},
    }
    here, there = vec(**fields), vec(**fields, options={"batch": batch_of(kind)})
    np.testing.assert_allclose(there.reset(seed=4)[0], here.reset(seed=4)[0], rtol=0.0, atol=atol)
    rng = np.random.default_rng(1)
    ended = np.zeros(3, dtype=int)
    for _ in range(45):  # two episodes of each world and more
        action = rng.uniform(-1.0, 1.0, (3, 2))
        mine, theirs = here.step(action), there.step(action)
        np.testing.assert_allclose(theirs[0], mine[0], rtol=0.0, atol=atol)
        np.testing.assert_allclose(theirs[1], mine[1], rtol=0.0, atol=atol)
        np.testing.assert_array_equal(theirs[2:4], mine[2:4])
        assert list(theirs[4].get("reason", [])) == list(mine[4].get("reason", []))
        ended += mine[2] | mine[3]
    assert (ended >= 2).all()


def test_worlds_on_another_device_copy_every_field_at_most_once_an_action():
    env = vec(options={"batch": FarBatch})
    env.reset(seed=1)
    env.batch.copies.clear()
    for _ in range(3):
        env.step(np.zeros((3, 2)))
    assert env.batch.copies == ["qpos"] * 3


def test_equal_seeds_and_actions_give_equal_episodes_and_others_differ():
    def start(rng, count):
        return {"joint_1": rng.uniform(-0.3, 0.3, count)}

    def episode(seed):
        env = vec(start=start, randomize={"joint_1.k1": Uniform(0.0015, 0.0024)})
        found = [env.reset(seed=seed)[0]]
        found += [env.step(np.full((3, 2), 0.3))[0] for _ in range(60)]
        return np.array(found), env.batch.parameter("joint_1.k1")

    first, k1 = episode(1)
    again, k1_again = episode(1)
    other, k1_other = episode(2)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(k1, k1_again)
    assert len(set(k1)) == 3
    assert not np.array_equal(first, other)
    assert not np.array_equal(k1, k1_other)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_worlds_that_end_restart_as_the_mode_says_and_the_others_go_on(mode):
    actions = [Action("joint_1/reference_1", 0.0, 1.0)]
    env = vec(2, actions=actions, terminated={"far": far}, options={"autoreset_mode": mode})
    env.reset(seed=1)
    command = np.array([[1.0], [-1.0]])
    for _ in range(49):
        observation, rewards, terminated, _, infos = env.step(command)
        if terminated.any():
            break
    assert terminated.tolist() == [True, False]
    others = env.batch.steps()[1]
    if mode == "SameStep":
        assert infos["final_info"]["reason"][0] == "far"
        assert infos["final_obs"][0][0] > 0.4
        assert infos["final_obs"][1] is None
        assert observation[0, 0] == 0.0
        return
    assert infos["reason"].tolist() == ["far", None]
    assert infos["_reason"].tolist() == [True, False]
    assert observation[0, 0] > 0.4
    if mode == "Disabled":
        with pytest.raises(PliantError, match="environment 0 ended and was not reset"):
            env.step(command)
        observation, _ = env.reset(options={"reset_mask": np.array([True, False])})
        assert env.batch.steps().tolist() == [0, others]
    else:
        observation, rewards, terminated, truncated, _ = env.step(command)
        assert rewards[0] == 0.0
        assert not terminated.any()
        assert not truncated.any()
        assert env.batch.steps().tolist() == [0, others + 10]
    assert observation[0, 0] == 0.0


def test_an_episode_is_truncated_at_its_duration():
    env = vec(2)
    env.reset(seed=1)
    ends = [env.step(np.zeros((2, 2)))[3].all() for _ in range(50)]
    assert ends == [False] * 49 + [True]
    one = single()
    one.reset(seed=1)
    for _ in range(50):
        _, _, terminated, truncated, info = one.step(np.zeros(2))
    assert (terminated, truncated, info["reason"]) == (False, True, "duration")
    one.close()


def test_the_terms_of_a_reward_are_in_the_infos_and_their_sum_is_the_reward():
    env = vec(reward={"near": near, "bonus": lambda w: 2.0 * far(w)})
    env.reset(seed=1)
    _, rewards, _, _, infos = env.step(np.ones((3, 2)))
    np.testing.assert_allclose(infos["reward"]["near"] + infos["reward"]["bonus"], rewards)
    assert infos["_reward"].all()


def test_an_episode_starts_from_a_key_frame_or_from_given_positions():
    def keyed():
        robot = arm()
        robot.spec.add_key(name="bent", qpos=[0.4, -0.2])
        return robot

    env = make_vec(keyed, 2, **FIELDS)
    np.testing.assert_allclose(env.reset(seed=1, options={"key": "bent"})[0], [[0.4, -0.2]] * 2)
    np.testing.assert_allclose(env.reset(options={"positions": {"joint_2": [0.1, 0.3]}})[0], [[0.0, 0.1], [0.0, 0.3]])
    one = make_env(keyed, **FIELDS, key="bent")
    np.testing.assert_allclose(one.reset(seed=1)[0], [0.4, -0.2])
    one.close()


# -- what goes wrong --------------------------------------------------------------------------------------------------


def test_a_world_that_diverges_ends_with_a_reason_and_the_others_go_on():
    env, calm = vec(3), vec(3)
    for each in (env, calm):
        each.reset(seed=1)
        each.step(np.zeros((3, 2)))
    env.batch.port("joint_1/velocity")[1] = 1e30
    observation, rewards, terminated, truncated, infos = env.step(np.zeros((3, 2)))
    expected = calm.step(np.zeros((3, 2)))[0]
    assert terminated.tolist() == [False, True, False]
    assert not truncated.any()
    assert infos["reason"][1].startswith("diverged: the velocity of joint_")
    assert np.isfinite(observation).all()
    assert np.isfinite(rewards).all()
    np.testing.assert_array_equal(observation[[0, 2]], expected[[0, 2]])
    observation, _, terminated, _, _ = env.step(np.zeros((3, 2)))
    assert not terminated.any()
    np.testing.assert_array_equal(observation[1], [0.0, 0.0])


def test_a_robot_that_diverges_ends_with_a_reason_and_can_be_reset():
    env = single()
    env.reset(seed=1)
    env.simulation.engine.port("joint_1/velocity")[:] = 1e30
    observation, reward, terminated, truncated, info = env.step(np.zeros(2))
    assert terminated
    assert not truncated
    assert "joint_" in info["reason"]
    assert np.isfinite(observation).all()
    assert reward == 0.0
    observation, _ = env.reset(seed=1)
    np.testing.assert_array_equal(observation, [0.0, 0.0])
    assert not env.step(np.zeros(2))[2]
    env.close()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (np.zeros((2, 2)), r"shape \(2, 2\); must be \(3, 2\)"),
        (np.zeros(2), r"shape \(2,\); must be \(3, 2\)"),
        ([[0, 0], [0, np.nan], [0, 0]], "number 1 of environment 1 is nan"),
        ([[0, 0], [0, 0], [np.inf, 0]], "number 0 of environment 2 is inf"),
        ("fast", "not an array of numbers"),
        (None, "is nan|shape"),
        (np.zeros((3, 2)) * 1j, "not an array of numbers"),
    ],
)
def test_a_bad_action_is_refused_and_nothing_moves(action, message):
    env = vec()
    env.reset(seed=1)
    with pytest.raises(PortError, match=message):
        env.step(action)
    assert env.batch.steps().tolist() == [0, 0, 0]
    one = single()
    one.reset(seed=1)
    with pytest.raises(PortError):
        one.step(np.full(3, 0.0) if np.shape(action) == (2,) else action)
    assert one.simulation.time == 0.0
    one.close()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": [Action("joint_1/reference_9")]}, "no port 'joint_1/reference_9'.*joint_1/reference_1"),
        ({"actions": [Action("joint_1/stiffness")]}, "is a result"),
        ({"actions": [Action("state/qpos")]}, r"has shape \(2,\)"),
        ({"actions": [Action("joint_1/reference_1")] * 2}, "two actions write 'joint_1/reference_1'"),
        ({"actions": []}, "one or more Action"),
        ({"observation": {}}, "observation is empty"),
        ({"observation": {"q": lambda w: w.port("joint_3/position")}}, "no port 'joint_3/position'"),
        ({"observation": {"q": lambda w: np.zeros(7)}}, r"observation 'q' returned shape \(7,\)"),
        ({"observation": {"q": 3}}, "must be a function of a World"),
        ({"observation": {"q": lambda w: q(w) * np.nan}}, "observation 'q' is not finite in environment 0"),
        ({"period": 0.0}, "period is 0.0"),
        ({"duration": float("nan")}, "duration is nan"),
        ({"horizon": 3}, "no field 'horizon'"),
        ({"options": {"autoreset_mode": "later"}}, "autoreset_mode is 'later'"),
        ({"options": {"render_mode": "human"}}, "render_mode is 'human'"),
        ({"options": {"width": 0}}, "width is 0; must be a whole number"),
        ({"options": {"max_episode_steps": 0}}, "max_episode_steps is 0"),
        ({"worlds": 0}, "worlds is 0"),
    ],
)
def test_what_a_task_cannot_be_is_refused(changes, message):
    with pytest.raises(PliantError, match=message):
        vec(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reward": lambda w: q(w)}, r"reward 'reward' returned shape \(3, 2\)"),
        ({"reward": lambda w: near(w) * np.nan}, "reward 'reward' is not finite in environment 0"),
        ({"terminated": {"far": q}}, r"terminated 'far' returned shape \(3, 2\)"),
    ],
)
def test_a_function_that_gives_nonsense_is_named(changes, message):
    env = vec(**changes)
    env.reset(seed=1)
    with pytest.raises(ModelError, match=message):
        env.step(np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keys": "bent"}, "no option 'keys'"),
        ({"key": "bent"}, "no key frame 'bent'"),
        ({"positions": {"joint_3": 0.1}}, "no port 'joint_3/position'"),
        ({"reset_mask": [True]}, "mask has shape"),
    ],
)
def test_a_reset_that_cannot_be_is_refused(options, message):
    with pytest.raises(PliantError, match=message):
        vec().reset(seed=1, options=options)


def test_stepping_before_a_reset_is_refused():
    with pytest.raises(PliantError, match="before reset"):
        vec().step(np.zeros((3, 2)))
    env = single()
    with pytest.raises(PliantError, match="before reset"):
        env.step(np.zeros(2))
    env.close()


def test_a_task_or_an_option_that_does_not_exist_is_refused():
    with pytest.raises(PliantError, match="no task 'trow'; did you mean 'throw'"):
        find_task("trow")
    with pytest.raises(PliantError, match="no option 'presset'; did you mean 'preset'"):
        find_task("throw", presset=0.2)
    with pytest.raises(ModelError, match="preset is 3"):
        find_task("throw", preset=3.0)


def test_a_file_a_name_a_robot_and_a_function_make_the_same_task():
    robot = arm()
    for source in (robot, arm, "qbmove-2dof"):
        task = task_of(source, observation={"q": q}, reward=near)
        assert isinstance(task, Task)
        assert [a.command for a in task.actions] == ["joint_1/reference_1", "joint_2/reference_1"]
        assert list(task.robot().actuators) == list(JOINTS)


def test_pictures_have_the_size_that_was_asked_and_show_the_robot():
    env = vec(2, options={"render_mode": "rgb_array", "width": 64, "height": 48})
    env.reset(seed=1, options={"positions": {"joint_1": [0.0, 1.0]}})
    try:
        first, second = env.render()
    except PliantError as error:
        pytest.skip(f"no picture can be rendered here: {error}")
    assert first.shape == (48, 64, 3)
    assert first.dtype == np.uint8
    assert np.abs(first.astype(int) - second).max() > 50
    env.close()
    env.close()


@pytest.mark.parametrize("kind", ["motor", "position"])
def test_the_controls_of_a_model_s_own_actuators_are_the_actions_within_their_ranges(kind):
    robot = Robot(mujoco.MjSpec.from_string(continuum_robot(kind)))
    rest = {"observation": {"length": lambda w: w.port("pull_0/length")}, "reward": lambda w: 0.0 * w.time}
    env, vec = make_env(robot, period=0.01, **rest), make_vec(robot, 2, period=0.01, **rest)
    low, high = {"motor": (-20.0, 0.0), "position": (0.1, 0.2)}[kind]
    found = [(a.command, a.low, a.high) for a in env.task.actions]
    assert found == [(f"pull_{c}/control", low, high) for c in range(4)]
    action = np.array([-1.0, 1.0, 1.0, 1.0], dtype=np.float32)
    env.reset(seed=0)
    env.step(action)
    vec.reset(seed=0)
    vec.step(np.tile(action, (2, 1)))
    data = mujoco.MjData(model := robot.compile())
    data.ctrl[:] = env.simulation.engine.port("state/ctrl")
    np.testing.assert_allclose(data.ctrl, [low, high, high, high], rtol=1e-12)
    mujoco.mj_step(model, data, 10)
    np.testing.assert_array_equal(env.simulation.engine.port("state/qpos"), data.qpos)
    np.testing.assert_array_equal(vec.batch.port("state/qpos")[1], data.qpos)
    env.close()
    vec.close()

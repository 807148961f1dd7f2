"""Stable-Baselines3 over a batch: episodes, endings, seeds, options, and the actor as a policy."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need Gymnasium: pip install 'pliant[learn]'")
from pliant.base.errors import MissingDependency, PliantError, PortError
from pliant.learn.envs import Action, BatchEnv, RobotEnv, Task
from pliant.learn.envs.tasks import touch
from pliant.robots import build_robot


def task(**changes):
    """Point with one joint; an episode takes three actions, or ends beyond 0.2 rad."""
    values = {
        "robot": lambda: build_robot("qbmove-1dof", {"mounting": "hanging"}),
        "actions": [Action("joint/reference_1", -1.0, 1.0)],
        "observation": {"q": lambda w: w.port("joint/position")},
        "reward": {"near": lambda w: -np.abs(w.port("joint/position")[:, 0]), "alive": lambda w: np.ones(w.worlds)},
        "terminated": {"far": lambda w: w.port("joint/position")[:, 0] > 0.2},
        "period": 0.02,
        "duration": 0.06,
        "start": lambda rng, worlds: {"joint": rng.uniform(-0.1, 0.1, worlds)},
    }
    return Task(**(values | changes))


def batch(worlds=4, **changes):
    return BatchEnv(task(**changes), worlds, autoreset_mode="SameStep")


def test_without_stable_baselines3_the_message_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    monkeypatch.setitem(sys.modules, "stable_baselines3.common", None)
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    monkeypatch.delitem(sys.modules, "pliant.learn.envs.sb3", raising=False)
    with pytest.raises(MissingDependency, match=r'pip install "pliant\[sb3\]"'):
        import pliant.learn.envs.sb3  # noqa: F401


@pytest.fixture
def sb3():
    """The adapter, where Stable-Baselines3 is installed."""
    pytest.importorskip("stable_baselines3", reason="needs Stable-Baselines3: pip install 'pliant[sb3]'")
    try:
        import pliant.learn.envs.sb3 as module
    except PliantError as error:  # another test rendered a picture in this process
        pytest.skip(str(error))
    return module


def test_a_step_gives_what_the_batch_gives_and_ends_as_stable_baselines3_expects(sb3):
    env, other = sb3.Sb3VecEnv(batch()), batch()
    env.seed(7)
    np.testing.assert_array_equal(env.reset(), other.reset(seed=7)[0])
    for k in range(7):
        actions = np.full((4, 1), 0.3 * (-1) ** k)
        found, rewards, done, infos = env.step(actions)
        expected, values, terminated, truncated, more = other.step(actions)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_allclose(rewards, values, rtol=1e-6)
        np.testing.assert_array_equal(done, terminated | truncated)
        assert found.dtype == rewards.dtype == np.float32
        for i, info in enumerate(infos):
            assert info["reward"]["near"] + info["reward"]["alive"] == pytest.approx(values[i], abs=1e-12)
            assert ("terminal_observation" in info) == done[i]
            if done[i]:
                np.testing.assert_array_equal(info["terminal_observation"], more["final_obs"][i])
        assert all(done) == (k % 3 == 2)
        assert [info["TimeLimit.truncated"] for info in infos] == list(done)
        if all(done):
            assert {info["reason"] for info in infos} == {"duration"}
            assert not np.array_equal(found, np.stack([info["terminal_observation"] for info in infos]))


def test_a_world_that_ends_by_itself_is_not_truncated(sb3):
    env = sb3.Sb3VecEnv(batch())
    env.set_options([{"positions": {"joint": 0.5 if world == 2 else 0.0}} for world in range(4)])
    start = env.reset()
    assert start[:, 0] == pytest.approx([0.0, 0.0, 0.5, 0.0])
    _, _, done, infos = env.step(np.zeros((4, 1)))
    assert done.tolist() == [False, False, True, False]
    assert infos[2]["reason"] == "far"
    assert infos[2]["TimeLimit.truncated"] is False
    assert infos[2]["terminal_observation"][0] > 0.2


def test_a_seed_and_options_apply_to_one_reset(sb3):
    env = sb3.Sb3VecEnv(batch())
    env.seed(3)
    first, second = env.reset(), env.reset()
    env.seed(3)
    np.testing.assert_array_equal(env.reset(), first)
    assert not np.array_equal(first, second)
    env.set_options({"positions": {"joint": 0.05}})
    assert env.reset()[:, 0] == pytest.approx(0.05)
    assert env.reset()[:, 0] != pytest.approx(0.05)


def test_attributes_and_methods_are_those_of_the_batch_for_all_worlds(sb3):
    env = sb3.Sb3VecEnv(batch())
    assert env.get_attr("frames", indices=[0, 2]) == [env.env.frames] * 2
    assert not env.has_attr("no_such_thing")
    env.set_attr("render_mode", None)
    with pytest.raises(AttributeError):
        env.set_attr("no_such_thing", 1)
    with pytest.raises(PliantError, match="must be for all, because they are one batch"):
        env.set_attr("render_mode", None, indices=1)
    assert env.env_method("render") == [None] * 4
    with pytest.raises(PliantError, match="some of the worlds"):
        env.env_method("render", indices=[1])
    with pytest.raises(PliantError, match=r"call reset\(\) instead"):
        env.env_method("reset")
    assert env.env_is_wrapped(object) == [False] * 4


def test_what_the_adapter_cannot_take_is_refused(sb3):
    with pytest.raises(PliantError, match="must be 'SameStep'"):
        sb3.Sb3VecEnv(BatchEnv(task(), 2))
    with pytest.raises(PliantError, match=r"must be a pliant\.learn\.envs\.BatchEnv"):
        sb3.Sb3VecEnv("touch")
    env = sb3.Sb3VecEnv(batch())
    env.set_options([{"key": "home"}, {}, {}, {}])
    with pytest.raises(PliantError, match="options of world 1 differ"):
        env.reset()
    env.set_options({"reset_mask": [True] * 4})
    with pytest.raises(PliantError, match="all worlds start together"):
        env.reset()
    env.set_options()
    env.reset()
    with pytest.raises(PortError, match=r"number 0 of environment 1 is nan"):
        env.step(np.array([[0.0], [np.nan], [0.0], [0.0]]))
    with pytest.raises(PliantError, match=r"before step_async"):
        env.step_wait()


def test_the_single_environment_passes_the_checker_of_stable_baselines3(sb3):
    from stable_baselines3.common.env_checker import check_env

    env = RobotEnv(task())
    check_env(env, skip_render_check=True)
    env.close()


def test_the_wrappers_of_stable_baselines3_count_episodes_and_find_no_nan(sb3):
    from stable_baselines3.common.vec_env import VecCheckNan, VecMonitor

    env = VecMonitor(VecCheckNan(sb3.Sb3VecEnv(batch()), raise_exception=True))
    env.reset()
    episodes = []
    for _ in range(6):
        _, _, _, infos = env.step(np.zeros((4, 1)))
        episodes += [info["episode"]["l"] for info in infos if "episode" in info]
    assert episodes == [3] * 8


def test_after_a_picture_the_import_is_refused_instead_of_a_crash(tmp_path):
    if importlib.util.find_spec("stable_baselines3") is None:
        pytest.skip("needs Stable-Baselines3: pip install 'pliant[sb3]'")
    if importlib.util.find_spec("triton") is None:  # not imported: this process may have rendered a picture, too
        pytest.skip("torch is installed without triton")
    code = (
        "from pliant.learn.envs.vector import BatchEnv; from pliant.learn.envs.tasks import touch\n"
        "env = BatchEnv(touch.task(), 1, render_mode='rgb_array', width=64, height=48)\n"
        "env.reset(); env.render()\n"
        "llvm = 'libLLVM' in open('/proc/self/maps').read()\n"
        "from pliant.base.errors import PliantError\n"
        "try:\n    import pliant.learn.envs.sb3\nexcept PliantError as error:\n    print('refused', error)\n"
        "else:\n    print('loaded after llvm' if llvm else 'no llvm')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=280, cwd=tmp_path)
    if "MissingDependency" in done.stderr or "no llvm" in done.stdout:
        pytest.skip("no picture is rendered with Mesa's LLVM here")
    assert done.returncode == 0, done.stderr
    assert "import pliant.learn.envs.sb3 before the first picture" in done.stdout


def test_pictures_of_the_worlds_become_one(sb3):
    env = sb3.Sb3VecEnv(BatchEnv(task(), 2, autoreset_mode="SameStep", render_mode="rgb_array", width=64, height=48))
    env.reset()
    try:
        picture = env.render()
    except MissingDependency as error:
        pytest.skip(str(error))
    assert picture.shape == (96, 64, 3)
    env.close()


@pytest.mark.parametrize("activation", ["Tanh", "ReLU"])
def test_the_exported_actor_commands_what_the_model_predicts(sb3, activation):
    import torch
    from stable_baselines3 import PPO

    from pliant.learn.envs.export import export_policy

    chosen = touch.task(randomize={})
    env = sb3.Sb3VecEnv(BatchEnv(chosen, 2, autoreset_mode="SameStep"))
    model = PPO(
        "MlpPolicy",
        env,
        n_steps=4,
        batch_size=8,
        n_epochs=1,
        seed=1,
        device="cpu",
        policy_kwargs={"net_arch": [8, 8], "activation_fn": getattr(torch.nn, activation)},
    ).learn(8)
    layers, name = sb3.policy_layers(model)
    policy = export_policy(chosen, layers, touch.NAMES, activation=name, settings=touch.OPTIONS)
    for seed in range(5):
        seen = np.random.default_rng(seed).normal(size=4).astype(np.float32) * 3.0
        action, _ = model.predict(seen, deterministic=True)
        expected = policy.low + (policy.high - policy.low) * (action.astype(float) + 1.0) / 2.0
        np.testing.assert_allclose(policy.act(seen), expected, atol=2e-6)


def test_normalised_observations_are_part_of_the_exported_policy(sb3):
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import VecNormalize

    from pliant.learn.envs.export import export_policy

    chosen = touch.task(randomize={})
    env = VecNormalize(sb3.Sb3VecEnv(BatchEnv(chosen, 2, autoreset_mode="SameStep")))
    options = {"n_steps": 4, "batch_size": 8, "n_epochs": 1, "seed": 1, "device": "cpu"}
    model = PPO("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, **options).learn(8)
    layers, name = sb3.policy_layers(model)
    policy = export_policy(chosen, layers, touch.NAMES, activation=name, **sb3.normalization(model))
    seen = np.array([-0.2, 0.1, -0.5, 0.0], dtype=np.float32)
    action, _ = model.predict(env.normalize_obs(seen), deterministic=True)
    expected = policy.low + (policy.high - policy.low) * (action.astype(float) + 1.0) / 2.0
    np.testing.assert_allclose(policy.act(seen), expected, atol=2e-6)
    assert not np.allclose(policy.mean, 0.0)
    plain = PPO("MlpPolicy", sb3.Sb3VecEnv(BatchEnv(chosen, 2, autoreset_mode="SameStep")), device="cpu")
    assert sb3.normalization(plain) == {}


def test_an_actor_that_is_no_mlp_is_refused(sb3):
    import torch
    from stable_baselines3 import PPO, SAC

    env = sb3.Sb3VecEnv(batch())
    with pytest.raises(PliantError, match="SAC has no actor of fully connected layers"):
        sb3.policy_layers(SAC("MlpPolicy", env, device="cpu", buffer_size=10))
    model = PPO("MlpPolicy", env, device="cpu", policy_kwargs={"activation_fn": torch.nn.ELU})
    with pytest.raises(PliantError, match="a layer ELU; must be Linear, Tanh or ReLU"):
        sb3.policy_layers(model)

    class Learned(sb3.layers_of.BaseFeaturesExtractor):
        def __init__(self, space):
            super().__init__(space, 3)
            self.layer = torch.nn.Linear(1, 3)

        def forward(self, observations):
            return self.layer(observations)

    model = PPO("MlpPolicy", env, device="cpu", policy_kwargs={"features_extractor_class": Learned})
    with pytest.raises(PliantError, match="the features extractor Learned; must have none"):
        sb3.policy_layers(model)

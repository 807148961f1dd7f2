"""rsl_rl and skrl over a batch: steps, endings, refusals, and a short training run."""

import sys

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need Gymnasium: pip install 'pliant[learn]'")
from pliant.base.errors import MissingDependency, PliantError
from pliant.learn.envs import Action, BatchEnv, Task
from pliant.robots import build_robot

HIDDEN = {"class_name": "MLPModel", "hidden_dims": [16], "activation": "tanh", "obs_normalization": False}
RUNNER = {
    "num_steps_per_env": 16,
    "save_interval": 1000,
    "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
    "actor": {**HIDDEN, "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 0.3}},
    "critic": dict(HIDDEN),
    "algorithm": {
        "class_name": "PPO", "num_learning_epochs": 4, "num_mini_batches": 2, "learning_rate": 5e-3,
        "schedule": "fixed", "gamma": 0.9, "lam": 0.95, "entropy_coef": 0.0, "clip_param": 0.2, "value_loss_coef": 1.0,
        "use_clipped_value_loss": True, "max_grad_norm": 1.0, "desired_kl": 0.01,
    },
}  # fmt: skip


def batch(worlds=4, **more):
    """Point with one joint towards 0.5 rad; an episode takes five actions, or ends beyond 1 rad."""
    task = Task(
        robot=lambda: build_robot("qbmove-1dof", {"mounting": "hanging"}),
        actions=[Action("joint/reference_1", -1.0, 1.0)],
        observation={"q": lambda w: w.port("joint/position")},
        reward={"near": lambda w: -np.abs(w.port("joint/position")[:, 0] - 0.5)},
        terminated={"far": lambda w: w.port("joint/position")[:, 0] > 1.0},
        period=0.05,
        duration=0.25,
        start=lambda rng, n: {"joint": rng.uniform(-0.1, 0.1, n)},
    )
    return BatchEnv(task, worlds, **{"autoreset_mode": "SameStep", **more})


@pytest.mark.parametrize(("module", "package"), [("rsl_rl", "rsl-rl-lib"), ("skrl", "skrl")])
def test_without_the_package_the_message_names_the_command(module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    for name in [name for name in sys.modules if name.startswith(f"{module}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"pliant.learn.envs.{module}", raising=False)
    with pytest.raises(MissingDependency, match=rf"pip install {package}"):
        __import__(f"pliant.learn.envs.{module}")


def test_rsl_rl_gets_the_steps_of_the_batch_and_time_outs():
    torch = pytest.importorskip("torch")
    pytest.importorskip("rsl_rl", reason="needs rsl_rl: pip install rsl-rl-lib")
    from pliant.learn.envs.rsl_rl import RslRlVecEnv

    env = RslRlVecEnv(batch())
    assert (env.num_envs, env.num_actions, env.max_episode_length) == (4, 1, 5)
    assert RslRlVecEnv(batch(max_episode_steps=3)).max_episode_length == 3
    for k in range(7):
        found, rewards, dones, extras = env.step(torch.full((4, 1), 0.2))
        assert found["policy"].shape == (4, 1)
        assert dones.tolist() == [int(k == 4)] * 4
        assert extras["time_outs"].tolist() == [float(k == 4)] * 4
        assert torch.isfinite(rewards).all()
        assert extras["log"]["/reward/near"] == pytest.approx(float(rewards.mean()), abs=1e-6) or k == 4
    assert env.episode_length_buf.tolist() == [2] * 4
    with pytest.raises(PliantError, match="shape"):
        env.step(torch.zeros(3, 1))
    with pytest.raises(PliantError, match="must be 'SameStep', because rsl_rl"):
        RslRlVecEnv(batch(autoreset_mode="NextStep"))
    with pytest.raises(PliantError, match=r"must be a pliant.learn.envs.BatchEnv"):
        RslRlVecEnv("touch")


@pytest.mark.slow
def test_rsl_rl_learns_to_reach_an_angle():
    torch = pytest.importorskip("torch")
    pytest.importorskip("rsl_rl", reason="needs rsl_rl: pip install rsl-rl-lib")
    from rsl_rl.runners import OnPolicyRunner

    from pliant.learn.envs.rsl_rl import RslRlVecEnv

    torch.set_num_threads(1)
    torch.manual_seed(1)
    env = RslRlVecEnv(batch(16))

    def mean_reward(policy):
        total = 0.0
        with torch.inference_mode():
            for _ in range(10):
                total += float(env.step(policy(env.get_observations()))[1].mean())
        return total / 10.0

    runner = OnPolicyRunner(env, RUNNER, log_dir=None, device="cpu")
    before = mean_reward(runner.get_inference_policy())
    runner.learn(12)
    after = mean_reward(runner.get_inference_policy())
    print(f"reward an action: {before:.3f} before, {after:.3f} after")
    assert after > before + 0.05


def test_skrl_gets_the_steps_of_the_batch():
    torch = pytest.importorskip("torch")
    pytest.importorskip("skrl", reason="needs skrl: pip install skrl")
    from pliant.learn.envs.skrl import SkrlEnv

    env = SkrlEnv(batch())
    first, _ = env.reset()
    assert first.shape == (4, 1)
    for k in range(7):
        found, rewards, terminated, truncated, _ = env.step(torch.full((4, 1), 0.2))
        assert found.shape == rewards.shape == terminated.shape == truncated.shape == (4, 1)
        assert truncated.flatten().tolist() == [k == 4] * 4
        assert not terminated.any()
    assert torch.equal(env.reset()[0], found)
    assert (env.num_envs, env.action_space.shape, env.observation_space.shape) == (4, (1,), (1,))
    with pytest.raises(PliantError, match="shape"):
        env.step(torch.zeros(3, 1))
    with pytest.raises(PliantError, match="must be 'SameStep', because skrl"):
        SkrlEnv(batch(autoreset_mode="NextStep"))


@pytest.mark.slow
def test_skrl_learns_to_reach_an_angle():
    torch = pytest.importorskip("torch")
    pytest.importorskip("skrl", reason="needs skrl: pip install skrl")
    from skrl.agents.torch.ppo import PPO, PPO_CFG
    from skrl.memories.torch import RandomMemory
    from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
    from skrl.trainers.torch import SequentialTrainer

    from pliant.learn.envs.skrl import SkrlEnv

    class Actor(GaussianMixin, Model):
        def __init__(self, **spaces):
            Model.__init__(self, **spaces)
            GaussianMixin.__init__(self)
            self.net = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
            self.spread = torch.nn.Parameter(torch.full((1,), -1.2))

        def compute(self, inputs, role):
            return self.net(inputs["observations"]), {"log_std": self.spread}

    class Critic(DeterministicMixin, Model):
        def __init__(self, **spaces):
            Model.__init__(self, **spaces)
            DeterministicMixin.__init__(self)
            self.net = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))

        def compute(self, inputs, role):
            return self.net(inputs["observations"]), {}

    torch.set_num_threads(1)
    torch.manual_seed(1)
    env = SkrlEnv(batch(16))
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space, "device": env.device}
    models = {"policy": Actor(**spaces), "value": Critic(**spaces)}

    def mean_reward():
        seen, total = env.reset()[0], 0.0
        with torch.no_grad():
            for _ in range(10):
                seen, reward, *_ = env.step(models["policy"].net(seen))
                total += float(reward.mean())
        return total / 10.0

    cfg = PPO_CFG(
        rollouts=16, learning_epochs=4, mini_batches=2, learning_rate=5e-3, discount_factor=0.9, entropy_loss_scale=0.0
    )
    cfg.experiment.write_interval = cfg.experiment.checkpoint_interval = 0
    agent = PPO(models=models, memory=RandomMemory(memory_size=16, num_envs=16, device=env.device), cfg=cfg, **spaces)
    before = mean_reward()
    trainer = {"timesteps": 12 * 16, "headless": True, "disable_progressbar": True, "close_environment_at_exit": False}
    SequentialTrainer(cfg=trainer, env=env, agents=agent).train()
    after = mean_reward()
    print(f"reward an action: {before:.3f} before, {after:.3f} after")
    assert after > before + 0.05

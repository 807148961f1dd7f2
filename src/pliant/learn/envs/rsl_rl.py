"""Adapter from a `BatchEnv` to a `VecEnv` of rsl_rl."""

from __future__ import annotations

import numpy as np

from pliant.base.errors import importing
from pliant.learn.envs.vector import BatchEnv, check_same_step

with importing("rsl_rl", command="pip install rsl-rl-lib", purpose="training with rsl_rl"):
    import torch
    from rsl_rl.env import VecEnv
    from tensordict import TensorDict


class RslRlVecEnv(VecEnv):
    """A `BatchEnv` with the interface that the runners of rsl_rl need.

    When the episode of a world ends, the world is reset in the same step; ``extras["time_outs"]`` is 1 where it ended
    only because of its duration. Observations are the group ``policy``. Actions beyond -1 to 1 are clipped.

    Args:
        env: vector environment with ``autoreset_mode="SameStep"``.
        device: device of the tensors.

    Raises:
        PliantError: ``env`` is not a `BatchEnv`, or has another autoreset mode.

    Example:
        >>> env = RslRlVecEnv(BatchEnv(touch.task(), 64, autoreset_mode="SameStep"))
        >>> OnPolicyRunner(env, config).learn(100)
    """

    def __init__(self, env: BatchEnv, device: str = "cpu") -> None:
        check_same_step(env, "rsl_rl")
        self.env = env
        """The worlds."""
        self.device = device
        self.num_envs = env.num_envs
        self.num_actions = int(np.prod(env.single_action_space.shape))
        self.max_episode_length = env.max_episode_steps
        self.cfg: dict[str, object] = {}
        self.episode_length_buf = torch.zeros(self.num_envs, dtype=torch.long, device=device)
        self._observations = self._tensor(env.reset()[0])

    def _tensor(self, values: object) -> torch.Tensor:
        return torch.as_tensor(np.array(values, dtype=np.float32), device=self.device)

    def _group(self) -> TensorDict:
        return TensorDict({"policy": self._observations}, batch_size=[self.num_envs], device=self.device)

    def get_observations(self) -> TensorDict:
        """Return the observations, a `TensorDict` with the group ``policy`` of shape (num_envs, n)."""
        return self._group()

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, object]]:
        """Advance every world by one period; return observations, rewards, ends of episodes and extras.

        Args:
            actions: shape (num_envs, num_actions).

        Raises:
            PliantError: the actions have another shape, or are not finite.
        """
        values = actions.detach().cpu().numpy().astype(float)
        found, rewards, terminated, truncated, infos = self.env.step(np.clip(values, -1.0, 1.0))
        done = terminated | truncated
        self._observations = self._tensor(found)
        self.episode_length_buf += 1
        self.episode_length_buf[torch.as_tensor(done, device=self.device)] = 0
        terms = {f"/reward/{k}": float(np.mean(v)) for k, v in infos["reward"].items() if not k.startswith("_")}
        extras = {"time_outs": self._tensor(truncated & ~terminated), "log": terms}
        return self._group(), self._tensor(rewards), torch.as_tensor(done.astype(np.int64), device=self.device), extras

    def close(self) -> None:
        """Close the worlds."""
        self.env.close()

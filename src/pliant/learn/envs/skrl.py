"""Adapter from a `BatchEnv` to an environment of skrl."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import importing
from pliant.learn.envs.vector import BatchEnv, check_same_step

if TYPE_CHECKING:
    from gymnasium import Space

with importing("skrl", command="pip install skrl", purpose="training with skrl"):
    import torch
    from skrl.envs.wrappers.torch import Wrapper


class SkrlEnv(Wrapper):
    """A `BatchEnv` with the interface that the agents and trainers of skrl need.

    When the episode of a world ends, the world is reset in the same step, as in the environments of Isaac Lab: trainers
    reset only once. Actions beyond -1 to 1 are clipped.

    Args:
        env: vector environment with ``autoreset_mode="SameStep"``; `close` closes it.
        device: device of the tensors.

    Raises:
        PliantError: ``env`` is not a `BatchEnv`, or has another autoreset mode.

    Example:
        >>> env = SkrlEnv(BatchEnv(touch.task(), 64, autoreset_mode="SameStep"))
        >>> SequentialTrainer(cfg={"timesteps": 1000}, env=env, agents=agent).train()
    """

    def __init__(self, env: BatchEnv, device: str = "cpu") -> None:
        check_same_step(env, "skrl")
        super().__init__(env)
        self._device = torch.device(device)
        self._seen: torch.Tensor | None = None

    @property
    def observation_space(self) -> Space:
        """Observations of one world."""
        return self._env.single_observation_space

    @property
    def action_space(self) -> Space:
        """Actions of one world."""
        return self._env.single_action_space

    def _tensor(self, values: ArrayLike) -> torch.Tensor:
        return torch.as_tensor(np.array(values), device=self._device)

    def reset(self) -> tuple[torch.Tensor, dict[str, object]]:
        """Start an episode in every world at the first call; later return the last observations, as the worlds restart
        by themselves."""
        if self._seen is None:
            self._seen = self._tensor(self._env.reset()[0])
        return self._seen, {}

    def step(
        self, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, object]]:
        """Advance every world by one period; return observations, rewards, the two kinds of ends and infos.

        Args:
            actions: shape (num_envs, actions).

        Returns:
            Observations of shape (num_envs, n); rewards, terminated and truncated of shape (num_envs, 1); infos.

        Raises:
            PliantError: the actions have another shape, or are not finite.
        """
        values = np.clip(actions.detach().cpu().numpy().astype(float), -1.0, 1.0)
        found, rewards, terminated, truncated, infos = self._env.step(values)
        self._seen = self._tensor(found)
        reward = self._tensor(rewards.astype(np.float32)).view(-1, 1)
        return self._seen, reward, self._tensor(terminated).view(-1, 1), self._tensor(truncated).view(-1, 1), infos

    def state(self) -> None:
        """Return nothing: there is no state beside the observations."""

    def render(self, *_: object, **__: object) -> Sequence[np.ndarray] | None:
        """Return images of the first 16 worlds."""
        return self._env.render()

    def close(self) -> None:
        """Close the worlds."""
        self._env.close()

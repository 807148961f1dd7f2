"""Adapter from a `BatchEnv` to a `VecEnv` of Stable-Baselines3."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import PliantError, importing
from pliant.learn.envs.vector import BatchEnv, check_same_step
from pliant.learn.policy import ACTIVATIONS

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm


def _load_triton() -> None:
    """Load triton before Mesa: torch loads it with the first optimiser, and after Mesa's LLVM this ends the process.

    Raises:
        PliantError: Mesa's LLVM is loaded, because a picture was rendered.
    """
    if "triton" in sys.modules or importlib.util.find_spec("triton") is None:
        return
    with contextlib.suppress(OSError):
        if "libLLVM" in Path("/proc/self/maps").read_text():
            raise PliantError(
                "a picture was rendered in this process before; torch's triton ends the process where it is loaded "
                "after Mesa's LLVM: import pliant.learn.envs.sb3 before the first picture"
            )
    import triton  # noqa: F401


with importing("stable-baselines3", command='pip install "pliant[sb3]"', purpose="training with Stable-Baselines3"):
    import stable_baselines3.common.torch_layers as layers_of
    import stable_baselines3.common.vec_env as vec_env
    import torch
_load_triton()


Indices: TypeAlias = int | Iterable[int] | None
"""Selected worlds; None for all."""


class Sb3VecEnv(vec_env.VecEnv):
    """A `BatchEnv` with the interface that the algorithms of Stable-Baselines3 need.

    When the episode of a world ends, the world is reset in the same step. ``infos[i]["terminal_observation"]`` is its
    last observation, and ``infos[i]["TimeLimit.truncated"]`` is True if the episode ended only because of its
    duration. An info also has ``reward``, the terms of the reward, and, at the end of an episode, ``reason``.

    Args:
        env: vector environment with ``autoreset_mode="SameStep"``; `close` closes it.

    Raises:
        PliantError: ``env`` is not a `BatchEnv`, or has another autoreset mode.

    Example:
        >>> env = Sb3VecEnv(BatchEnv(touch.task(), 64, autoreset_mode="SameStep"))
        >>> PPO("MlpPolicy", env).learn(100_000)
    """

    def __init__(self, env: BatchEnv) -> None:
        check_same_step(env, "Stable-Baselines3", pictures=True)
        self.env = env
        """The worlds."""
        self._actions: NDArray[np.float64] | None = None
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> NDArray[np.float32]:
        """Start an episode in every world; return the observations, shape (num_envs, n).

        This reset uses the values given to `seed` and `set_options`. All worlds share one random generator, so only
        the seed of the first world is used. Options are those of `BatchEnv.reset` except ``reset_mask``; ``positions``
        may differ between worlds.

        Raises:
            PliantError: an option is invalid, or ``key`` differs between worlds.
        """
        observations, _ = self.env.reset(seed=self._seeds[0], options=self._merged())
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return observations

    def _merged(self) -> dict[str, object]:
        """Return the options of all worlds as those of the batch."""
        if len(self._options) != self.num_envs:
            raise PliantError(f"options of {len(self._options)} worlds; must be {self.num_envs}", field="options")
        merged = dict(self._options[0])
        if "reset_mask" in merged:
            raise PliantError("reset has no option 'reset_mask' here: all worlds start together", field="reset_mask")
        start = merged.pop("positions", None)
        starts = []
        for world, options in enumerate(self._options):
            rest = dict(options)
            starts.append(dict(rest.pop("positions", None) or {}))
            if rest != merged or starts[world].keys() != starts[0].keys():
                raise PliantError(
                    f"the options of world {world} differ from those of world 0; only the values of 'positions' may "
                    "differ",
                    field="options",
                )
        if start:
            try:
                merged["positions"] = {
                    joint: np.array([float(values[joint]) for values in starts]) for joint in starts[0]
                }
            except (TypeError, ValueError):
                raise PliantError("positions must be one number a joint in each world", field="positions") from None
        return merged

    def step_async(self, actions: ArrayLike) -> None:
        """Store the actions for `step_wait`, shape (num_envs, actions), from -1 to 1."""
        self._actions = np.array(actions, dtype=float)

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, object]]]:
        """Advance every world by one period; return observations, rewards, ends of episodes and infos.

        Raises:
            PortError: the actions have another shape, or are not finite.
            PliantError: `step_async` was not called.
        """
        if self._actions is None:
            raise PliantError("step_wait() was called before step_async()")
        actions, self._actions = self._actions, None
        observations, rewards, terminated, truncated, found = self.env.step(actions)
        done = terminated | truncated
        last = found["final_info"]["reward"] if done.any() else {}
        terms = {name: values for name, values in found["reward"].items() if not name.startswith("_")}
        infos: list[dict[str, object]] = [
            {
                "TimeLimit.truncated": False,
                "reward": {name: float((last[name] if done[i] else values)[i]) for name, values in terms.items()},
            }
            for i in range(self.num_envs)
        ]
        for i in np.flatnonzero(done):
            infos[i]["TimeLimit.truncated"] = bool(truncated[i])
            infos[i]["terminal_observation"] = found["final_obs"][i]
            infos[i]["reason"] = found["final_info"]["reason"][i]
        return observations, rewards.astype(np.float32), done, infos

    def close(self) -> None:
        """Close the vector environment and release its resources."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[object]:
        """Return an attribute of the `BatchEnv`, which all worlds share, once for each world."""
        value = getattr(self.env, attr_name)
        return [value for _ in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: object, indices: Indices = None) -> None:
        """Set an attribute of the `BatchEnv`, for all worlds.

        Raises:
            PliantError: ``indices`` selects only some of the worlds.
            AttributeError: the attribute does not exist.
        """
        getattr(self.env, attr_name)
        self._all(f"set_attr({attr_name!r})", indices)
        setattr(self.env, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: object, indices: Indices = None, **method_kwargs: object
    ) -> list[object]:
        """Call a method of the `BatchEnv` once, for all worlds; return its result once for each world.

        Raises:
            PliantError: ``indices`` selects only some of the worlds, or only this object may call the method.
            AttributeError: the method does not exist.
        """
        if method_name in ("reset", "step", "close"):
            raise PliantError(f"env_method({method_name!r}) acts on all worlds at once; call {method_name}() instead")
        method = getattr(self.env, method_name)
        self._all(f"env_method({method_name!r})", indices)
        result = method(*method_args, **method_kwargs)
        return [result for _ in range(self.num_envs)]

    def env_is_wrapped(self, wrapper_class: type, indices: Indices = None) -> list[bool]:
        """Return False for each world: single worlds of a batch cannot have wrappers."""
        return [False for _ in self._chosen(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return images of the first 16 worlds, each of shape (height, width, 3)."""
        return self.env.render() or ()

    def _chosen(self, indices: Indices) -> Iterable[int]:
        return self._get_indices(indices)

    def _all(self, what: str, indices: Indices) -> None:
        if sorted(set(self._chosen(indices))) != list(range(self.num_envs)):
            raise PliantError(
                f"{what} was asked for some of the worlds; must be for all, because they are one batch", field="indices"
            )


def policy_layers(model: OnPolicyAlgorithm) -> tuple[list[tuple[NDArray[np.float64], NDArray[np.float64]]], str]:
    """Return the layers of a trained actor from the observation to the mean action, for `export_policy`.

    Args:
        model: an algorithm with an actor-critic policy of fully connected layers on a vector, such as PPO or A2C with
            ``"MlpPolicy"``.

    Returns:
        Weights and biases of each layer, and the name of the activation between them.

    Raises:
        PliantError: the actor has another structure.
    """
    try:
        modules = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    except (AttributeError, TypeError):
        raise PliantError(
            f"{type(model).__name__} has no actor of fully connected layers; must be PPO or A2C with 'MlpPolicy'",
            field="model",
        ) from None
    if not isinstance(model.policy.features_extractor, layers_of.FlattenExtractor):
        kind = type(model.policy.features_extractor).__name__
        raise PliantError(f"the actor has the features extractor {kind}; must have none", field="model")
    if getattr(model.policy, "use_sde", False) or getattr(model.policy, "squash_output", False):
        raise PliantError("the policy squashes its output or explores by state (use_sde); must do neither")
    names = {torch.nn.Tanh: "tanh", torch.nn.ReLU: "relu"}
    layers, activations = [], set()
    for module in modules:
        if isinstance(module, torch.nn.Linear):
            with torch.no_grad():
                weight = module.weight.cpu().numpy().astype(float)
                bias = np.zeros(len(weight)) if module.bias is None else module.bias.cpu().numpy().astype(float)
            layers.append((weight, bias))
        elif type(module) in names:
            activations.add(names[type(module)])
        else:
            raise PliantError(f"the actor has a layer {type(module).__name__}; must be Linear, Tanh or ReLU")
    if len(activations) > 1 or len(layers) != sum(type(m) in names for m in modules) + 1:
        raise PliantError(f"the actor must have one of {', '.join(ACTIVATIONS)} after each layer but the last")
    return layers, next(iter(activations), "tanh")


def normalization(model: BaseAlgorithm) -> dict[str, NDArray[np.float64]]:
    """Return ``mean`` and ``scale`` of observations for `export_policy`; empty for a model without `VecNormalize`.

    `VecNormalize` also clips normalised observations, by default at 10; the exported policy does not.
    """
    wrapper = model.get_vec_normalize_env()
    if wrapper is None or not wrapper.norm_obs:
        return {}
    found = wrapper.obs_rms
    return {"mean": np.array(found.mean), "scale": np.sqrt(found.var + wrapper.epsilon)}

"""Trained policies as files with observations, layers, commands and period.

A file is a NumPy .npz archive with a JSON header and arrays. It contains no pickles and no code.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.documents.files import read_file
from pliant.base.documents.tables import read_npz
from pliant.base.errors import PliantError, nearest
from pliant.base.numerics import is_number
from pliant.learn.onnx import Network, OnnxError, read_network, write_network

FORMAT = 1
"""Version of the file format."""
MAX_BYTES = 64 * 2**20
"""Maximum total size of the arrays of an archive [bytes]."""
MAX_HEADER = 2**20
"""Maximum length of the header [bytes]."""
ACTIVATIONS = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
    "elu": lambda x: np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0))),
}
"""Activation functions after every layer except the last."""
OUTPUTS = {"clip": lambda x: np.clip(x, -1.0, 1.0), "tanh": np.tanh}
"""Functions that limit the output of the last layer to -1 to 1."""
INPUT = "input/"
"""Prefix of observations that are supplied by the user, such as a target."""
CLOCK = "clock/"
"""Prefix of observations of the time t since the start: ``clock/<f>/sin`` and ``clock/<f>/cos``, of 2 pi f t."""
_TEXTS = ("robot", "namespace", "activation", "output", "version")


_OPTIONAL = ("range_low", "range_high", "start")
"""Arrays that an archive may have."""


class PolicyError(PliantError):
    """A policy or its file is invalid."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policy:
    """Feed-forward network from observations to commands.

    The input is x = (observation - mean) / scale, and every layer computes W x + b. The outputs a are limited to -1 to
    1; the commands are low + (high - low) (a + 1) / 2.

    Raises:
        PolicyError: the shapes are inconsistent, a number is not finite, or the activation is unknown.
    """

    robot: str
    """Name of the robot in the catalogue, or of its model."""
    observations: tuple[str, ...]
    """Names of the observations in the order of the first layer: ``<device>/<quantity>``, one element of an array
    ``<device>/<quantity>[<i>]``, ``input/<name>``, or ``clock/<frequency [Hz]>/sin`` or ``cos``."""
    commands: tuple[str, ...]
    """Names of the commands, ``<device>/<command>`` or ``<device>/<command>[<i>]``, in the order of the last layer; see
    `pliant.learn.envs.task.Action`."""
    low: NDArray[np.float64]
    """Commands for an output of -1, in their units, shape (commands,)."""
    high: NDArray[np.float64]
    """Commands for an output of 1, in their units, shape (commands,)."""
    layers: tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]
    """Weights, shape (outputs, inputs), and biases, shape (outputs,), of each layer."""
    period: float
    """Time between two commands [s]."""
    mean: NDArray[np.float64]
    """Mean that is subtracted from the observations, in their units, shape (observations,)."""
    scale: NDArray[np.float64]
    """Scale by which the result is divided, in the units of the observations, > 0, shape (observations,)."""
    range_low: NDArray[np.float64] | None = None
    """Least observations of the training, in their units, shape (observations,); None if they are not known."""
    range_high: NDArray[np.float64] | None = None
    """Largest observations of the training, in their units, shape (observations,)."""
    start: NDArray[np.float64] | None = None
    """Commands of the pose from which an episode begins, in their units, shape (commands,); None if it has none."""
    activation: str = "tanh"
    """Activation after every layer except the last: ``tanh``, ``relu`` or ``elu``."""
    output: str = "clip"
    """Limit of the last layer: ``clip`` or ``tanh``."""
    namespace: str = ""
    """Prefix of the robot's topics."""
    joints: tuple[str, ...] = ()
    """All compliant joints of the robot, by which `pliant policy run` identifies it; empty if they are not known."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Options with which the robot of the catalogue is created."""
    version: str = ""
    """Version of pliant that wrote the file."""

    def __post_init__(self) -> None:
        n, m = len(self.observations), len(self.commands)
        if not n or not m or not self.layers:
            raise PolicyError("a policy must have one observation, one command and one layer, or more")
        for what, names in (("observation", self.observations), ("command", self.commands)):
            for name in names:
                if not isinstance(name, str) or name.count("/") < 1 or name.startswith("/") or name.endswith("/"):
                    raise PolicyError(f"the {what} {name!r} must be <device>/<quantity>", field=what)
            if what == "observation":
                for name in names:
                    if name.startswith(CLOCK):
                        clock_value(name, 0.0)
            if len(set(names)) < len(names):
                raise PolicyError(f"an {what} of {list(names)} is named twice", field=what)
        for name, size in (("mean", n), ("scale", n), ("low", m), ("high", m)):
            object.__setattr__(self, name, _array(name, getattr(self, name), (size,)))
        if (self.range_low is None) != (self.range_high is None):
            raise PolicyError("range_low and range_high must be given together", field="range_low")
        for name, size in (("range_low", n), ("range_high", n), ("start", m)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _array(name, getattr(self, name), (size,)))
        if not all(isinstance(name, str) and name for name in self.joints):
            raise PolicyError(f"joints is {list(self.joints)}; must be names", field="joints")
        if not (self.scale > 0.0).all():
            raise PolicyError("scale must be positive", field="scale")
        if not is_number(self.period) or not 1e-4 <= self.period <= 60.0:
            raise PolicyError(f"period is {self.period!r}; must be 0.0001 to 60 s", field="period")
        layers, width = [], n
        for k, (weight, bias) in enumerate(self.layers):
            rows = np.asarray(bias).size
            layers.append((_array(f"weight_{k}", weight, (rows, width)), _array(f"bias_{k}", bias, (rows,))))
            width = rows
        if width != m:
            raise PolicyError(f"the last layer has {width} outputs; must be {m}, one for each command", field="layers")
        object.__setattr__(self, "layers", tuple(layers))
        for name, valid in (("activation", ACTIVATIONS), ("output", OUTPUTS)):
            if getattr(self, name) not in valid:
                raise PolicyError(f"{name} is {getattr(self, name)!r}; {nearest(getattr(self, name), valid)}")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the observations that are supplied by the user."""
        return tuple(name.removeprefix(INPUT) for name in self.observations if name.startswith(INPUT))

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of the observations that the robot measures."""
        return tuple(name for name in self.observations if not name.startswith((INPUT, CLOCK)))

    def act(self, observation: ArrayLike) -> NDArray[np.float64]:
        """Return the commands for an observation, in their units.

        Args:
            observation: observations in their order and units, shape (observations,).

        Returns:
            Commands, shape (commands,).

        Raises:
            PolicyError: the observation has another shape, or is not finite.
        """
        x = (_array("observation", observation, self.mean.shape) - self.mean) / self.scale
        for weight, bias in self.layers[:-1]:
            x = ACTIVATIONS[self.activation](weight @ x + bias)
        weight, bias = self.layers[-1]
        return self.low + 0.5 * (self.high - self.low) * (OUTPUTS[self.output](weight @ x + bias) + 1.0)

    def save(self, path: str | Path) -> Path:
        """Write the policy to a file, whose name must end in .npz or .onnx; return its path.

        An ONNX file has the layers in float32, from ``observation`` to ``commands``, and all else in its metadata.
        """
        path = Path(path)
        if path.suffix not in (".npz", ".onnx"):
            raise PolicyError(f"the name of a policy is {path.name!r}; must end in .npz or .onnx", field="path")
        header = {
            "format": FORMAT,
            "observations": self.observations,
            "commands": self.commands,
            "joints": self.joints,
            "period": self.period,
            "settings": dict(self.settings),
            **{name: getattr(self, name) for name in _TEXTS},
        }
        arrays = {"mean": self.mean, "scale": self.scale, "low": self.low, "high": self.high}
        arrays |= {name: getattr(self, name) for name in _OPTIONAL if getattr(self, name) is not None}
        if path.suffix == ".onnx":
            return self._save_onnx(path, {**header, **{name: array.tolist() for name, array in arrays.items()}})
        for k, (weight, bias) in enumerate(self.layers):
            arrays[f"weight_{k}"], arrays[f"bias_{k}"] = weight, bias
        try:
            np.savez(path, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays)
        except (OSError, TypeError) as error:
            raise PolicyError(f"cannot write {path}: {error}") from None
        return path

    def _save_onnx(self, path: Path, header: Mapping[str, object]) -> Path:
        half = 0.5 * (self.high - self.low)
        network = Network(
            mean=self.mean,
            scale=self.scale,
            layers=list(self.layers),
            activation=self.activation,
            output=self.output,
            middle=self.low + half,
            half=half,
            header=json.dumps(header),
        )
        try:
            path.write_bytes(write_network(network))
        except OSError as error:
            raise PolicyError(f"cannot write {path}: {error}") from None
        return path

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy from a file, an archive or an ONNX file that `save` has written.

        Raises:
            PolicyError: the file cannot be read, is too large, or a part of it is missing or invalid; an ONNX file of
                another program, see `pliant.learn.onnx.read_network`.
        """
        path = Path(path)
        arrays = _onnx_arrays(path) if path.suffix == ".onnx" else _arrays(path)
        header = _header(path, arrays)
        layers: list[tuple[Any, Any]] = []
        while f"weight_{len(layers)}" in arrays:
            k = len(layers)
            if f"bias_{k}" not in arrays:
                raise PolicyError(f"{path}: there is no array bias_{k}")
            layers.append((arrays[f"weight_{k}"], arrays[f"bias_{k}"]))
        try:
            return cls(
                observations=tuple(header["observations"]),
                commands=tuple(header["commands"]),
                joints=tuple(header["joints"]),
                period=header["period"],
                settings=header["settings"],
                layers=tuple(layers),
                **{name: arrays[name] for name in ("mean", "scale", "low", "high")},
                **{name: arrays[name] for name in _OPTIONAL if name in arrays},
                **{name: header[name] for name in _TEXTS},
            )
        except PolicyError as error:
            raise PolicyError(f"{path}: {error}", field=error.field) from None


def clock_value(name: str, t: float) -> float:
    """Return the value of an observation ``clock/<frequency>/sin`` or ``cos`` at a time [s].

    Raises:
        PolicyError: another form, or a frequency that is not >= 0 Hz.
    """
    _, _, rest = name.partition("/")
    frequency, _, function = rest.partition("/")
    try:
        hertz = float(frequency)
    except ValueError:
        hertz = math.nan
    if not 0.0 <= hertz < math.inf or function not in ("sin", "cos"):
        raise PolicyError(f"the observation {name!r} must be clock/<frequency in Hz>/sin or cos", field="observations")
    return getattr(math, function)(2.0 * math.pi * hertz * t)


def _array(name: str, value: object, shape: tuple[int, ...]) -> NDArray[np.float64]:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise PolicyError(f"{name} is not an array of numbers", field=name) from None
    if array.shape != shape:
        raise PolicyError(f"{name} has shape {array.shape}; must be {shape}", field=name)
    if not np.isfinite(array).all():
        raise PolicyError(f"{name} contains a number that is not finite", field=name)
    return array


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of an archive, none of them pickled."""
    return read_npz(path, PolicyError, max_expanded=MAX_BYTES)


def _onnx_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the layers and the header of an ONNX file as an archive would have them."""
    try:
        network = read_network(read_file(path, PolicyError, max_bytes=MAX_BYTES))
        header = json.loads(network.header or "{}")
        if not isinstance(header, dict):
            raise OnnxError("the header of the policy is no object")
    except (OnnxError, ValueError, RecursionError) as error:
        raise PolicyError(f"{path} is not an ONNX file of a feed-forward network: {error}", field="path") from None
    if not header:
        raise PolicyError(
            f"{path} is an ONNX file of another program, which names no observations and commands; give them with "
            "export_policy(task, read_network(data), names)",
            field="path",
        )
    try:
        names = ("mean", "scale", "low", "high", *_OPTIONAL)
        arrays = {name: np.array(header.pop(name), dtype=float) for name in names if name in header}
    except (TypeError, ValueError):
        raise PolicyError(f"{path}: the header of the policy has no numbers where they must be", field="path") from None
    for k, (weight, bias) in enumerate(network.layers):
        arrays[f"weight_{k}"], arrays[f"bias_{k}"] = weight, bias
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    return arrays


def _header(path: Path, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    missing = [name for name in ("header", "mean", "scale", "low", "high", "weight_0") if name not in arrays]
    if missing:
        raise PolicyError(f"{path} is not the archive of a policy: there is no array {missing[0]}")
    raw = arrays["header"]
    try:
        if raw.dtype != np.uint8 or raw.size > MAX_HEADER:
            raise ValueError("it is not text, or it is too long")
        header = json.loads(raw.tobytes().decode())
        if not isinstance(header, dict):
            raise ValueError("it is not an object")
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"{path}: the header cannot be read: {error}") from None
    if header.get("format") != FORMAT:
        raise PolicyError(f"{path} has the format {header.get('format')!r}; must be {FORMAT}", field="format")
    kinds: dict[str, type] = dict.fromkeys(_TEXTS, str) | dict.fromkeys(("observations", "commands", "joints"), list)
    kinds["settings"] = dict
    for name, kind in kinds.items():
        if not isinstance(header.get(name), kind):
            raise PolicyError(f"{path}: {name} in the header must be a {kind.__name__}", field=name)
    if not isinstance(header.get("period"), float | int) or not math.isfinite(header["period"]):
        raise PolicyError(f"{path}: period in the header must be a number", field="period")
    return header

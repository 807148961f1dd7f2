"""Specification of a sweep: parameters that vary, and what is simulated with each combination of their values."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import PliantError, nearest
from pliant.base.wing import offers
from pliant.sweep.backends import CPU, check_device_name
from pliant.tasks.journal import code_digest

if TYPE_CHECKING:
    from pliant.model.robot import Robot

MAX_COUNT = 10_000_000
"""Most values of one parameter in a sweep."""
CODE = (
    "pliant.base",
    "pliant.tasks",
    "pliant.laws",
    "pliant.model",
    "pliant.formats",
    "pliant.engine",
    "pliant.batch",
    "pliant.command_tables",
    "pliant.devices",
    "pliant.simulation",
    "pliant.robots",
    "pliant.sweep.chunks",
    "pliant.sweep.device_runs",
    "pliant.sweep.events",
    "pliant.sweep.backends",
)
"""Packages and modules of the core and of sweeps that the results of a sweep depend on."""
OFFERED = ("robots", "devices", "formats", "tags", "blocks", "batches", "commanders", "laws", "derivation")
"""Fields of a wing whose code makes, reads, commands or simulates the robot of a sweep."""

_FORMS = (
    "must be PATH=v1,v2,...  PATH=low:high:count[:log]  PATH=uniform(low,high)  PATH=loguniform(low,high)  "
    "PATH=normal(mean,std)"
)
_DISTRIBUTIONS = ("uniform", "loguniform", "normal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """Variation of one parameter over a sweep."""

    path: str
    """Dotted path of the parameter, as in `Robot.set`; or a constant command, "<device>/<field>" or
    "<device>/<field>[<i>]", of a robot without compliant joints."""
    values: tuple[object, ...] = ()
    """Grid values; empty for a random parameter."""
    distribution: str = ""
    """"uniform", "loguniform" or "normal"; empty for a grid."""
    a: float = 0.0
    """Lower bound, or mean of a normal distribution, in the unit of the parameter."""
    b: float = 0.0
    """Upper bound, or standard deviation of a normal distribution, in the unit of the parameter."""

    def draw(self, rng: np.random.Generator) -> float:
        """Return one random value."""
        if self.distribution == "uniform":
            return float(rng.uniform(self.a, self.b))
        if self.distribution == "loguniform":
            return float(math.exp(rng.uniform(math.log(self.a), math.log(self.b))))
        return float(rng.normal(self.a, self.b))


def _offering() -> list[str]:
    """Return the packages of the wings that offer something of `OFFERED`, such as ``pliant.feet`` or another's own."""
    places = [offer.value.partition(":")[0].split(".") for kind in OFFERED for offer in offers(kind)]
    return sorted({".".join(parts[: 2 if parts[0] == "pliant" else 1]) for parts in places})


def is_command_path(path: str) -> bool:
    """Return whether a command varies, ``<device>/<field>``, not a parameter: the path of a parameter has a dot."""
    return "/" in path and "." not in path


def parse_variation(text: str) -> Variation:
    """Parse a variation in the syntax of the command line.

    ``elbow.k1=0.001,0.002`` lists values. ``elbow.k1=0.001:0.01:10`` gives ten evenly spaced values, and ``...:10:log``
    ten values with equal ratios. ``uniform(low,high)``, ``loguniform(low,high)`` and ``normal(mean,std)`` are random.

    Raises:
        PliantError: the syntax is not valid.
    """
    path, eq, rest = text.partition("=")
    path, rest = path.strip(), rest.strip()
    if not eq or not path or not rest:
        raise PliantError(f"the variation {text!r} has no '=' between a path and its values; {_FORMS}")
    if rest.endswith(")") and "(" in rest:
        return _random_variation(path, rest)
    if ":" in rest:
        return Variation(path=path, values=_spaced_values(path, rest))
    return Variation(path=path, values=tuple(_listed_value(part.strip()) for part in rest.split(",")))


def _number(path: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise PliantError(f"{path}: {text!r} is not a number; {_FORMS}", field=path) from None
    if not math.isfinite(value):
        raise PliantError(f"{path}: {text!r} is not finite; {_FORMS}", field=path)
    return value


def _listed_value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _random_variation(path: str, text: str) -> Variation:
    name, _, arguments = text[:-1].partition("(")
    parts = [_number(path, p) for p in arguments.split(",")] if arguments else []
    if name not in _DISTRIBUTIONS:
        raise PliantError(f"{path}: no distribution {name!r}; {nearest(name, _DISTRIBUTIONS)}", field=path)
    if len(parts) != 2:
        raise PliantError(f"{path}: {name} takes two numbers; found {len(parts)}", field=path)
    a, b = parts
    if name != "normal" and not a < b:
        raise PliantError(f"{path}: {name}({a:g},{b:g}): the lower bound is not below the upper", field=path)
    if name == "loguniform" and a <= 0.0:
        raise PliantError(f"{path}: loguniform needs bounds above 0; found {a:g}", field=path)
    if name == "normal" and b < 0.0:
        raise PliantError(f"{path}: normal needs a standard deviation of 0 or more; found {b:g}", field=path)
    return Variation(path=path, distribution=name, a=a, b=b)


def _spaced_values(path: str, text: str) -> tuple[float, ...]:
    parts = text.split(":")
    if len(parts) not in (3, 4) or (len(parts) == 4 and parts[3] not in ("log", "lin")):
        raise PliantError(f"{path}: {text!r}; {_FORMS}", field=path)
    low, high = _number(path, parts[0]), _number(path, parts[1])
    try:
        count = int(parts[2])
    except ValueError:
        raise PliantError(f"{path}: the count {parts[2]!r} is not a whole number; {_FORMS}", field=path) from None
    if not 1 <= count <= MAX_COUNT:
        raise PliantError(f"{path}: the count is {count}; must be from 1 to {MAX_COUNT}", field=path)
    if parts[3:] != ["log"]:
        return tuple(float(v) for v in np.linspace(low, high, count))
    if low <= 0.0 or high <= 0.0:
        raise PliantError(f"{path}: equal ratios need bounds above 0", field=path)
    return tuple(float(v) for v in np.geomspace(low, high, count))


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """Specification of a sweep, as plain data: it is hashed, stored with the result and sent to other machines."""

    source: str
    """File or catalogue name of the robot."""
    variations: tuple[Variation, ...]
    """Parameters that vary. All combinations of grid values are simulated; random values are drawn per simulation."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Parameters that are equal in all simulations, by path."""
    commands: Mapping[str, Any] = field(default_factory=dict)
    """Constant commands from t = 0 on: "<joint>/<command>" -> value, in the unit of the command."""
    command_file: str | None = None
    """File with a table of commands, as for `pliant run --command`; only commands of joints are accepted."""
    duration: float = 1.0
    """Length of each simulation [s]."""
    samples: int = 1
    """Number of draws of the random parameters per grid point."""
    seed: int = 0
    """Seed of the random parameters."""
    timestep: float | None = None
    """Time step [s]; None uses the time step of the robot."""
    package_paths: tuple[str, ...] = ()
    """Folders that contain ROS packages."""
    imports: tuple[str, ...] = ()
    """Python files or modules with the user's laws and robots, imported in every process that runs a chunk."""
    device: str = CPU
    """Processor of the simulations: "cpu", the cores, or a device of `pliant.sweep.backends`."""

    def __post_init__(self) -> None:
        check_device_name(self.device)
        if not (math.isfinite(self.duration) and self.duration > 0.0):
            raise PliantError(f"duration is {self.duration!r}; must be more than 0 s", field="duration")
        if self.samples < 1:
            raise PliantError(f"samples is {self.samples}; must be at least 1", field="samples")
        if self.seed < 0:
            raise PliantError(f"seed is {self.seed}; must be a whole number >= 0", field="seed")
        seen = set()
        for v in self.variations:
            if v.path in seen:
                raise PliantError(f"{v.path} is varied twice; combine the two", field=v.path)
            seen.add(v.path)

    @property
    def size(self) -> int:
        """Number of simulations."""
        grid = math.prod(len(v.values) for v in self.variations if not v.distribution)
        return grid * self.samples

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield the parameters of each simulation, in order; they do not depend on the division into chunks."""
        grids = [[(v.path, value) for value in v.values] for v in self.variations if not v.distribution]
        random = [v for v in self.variations if v.distribution]
        index = 0
        for combination in itertools.product(*grids):
            for _ in range(self.samples):
                rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index,)))
                yield {**dict(combination), **{v.path: v.draw(rng) for v in random}}
                index += 1

    def as_dict(self) -> dict[str, object]:
        """Return the plan as plain data."""
        return dataclasses.asdict(self)

    def digest(self, robot: Robot | None = None) -> str:
        """Return a hash of the plan, of the files that it refers to, and of the code that simulates it.

        Args:
            robot: the robot of the first point, which tells of files that the source itself refers to: a model, meshes,
                tables.
        """
        code = code_digest(*CODE, *_offering())
        digest = hashlib.sha256(json.dumps([code, self.as_dict()], sort_keys=True, default=str).encode())
        for name in (self.source, self.command_file, *self.imports):
            if name and Path(name).is_file():
                digest.update(Path(name).read_bytes())
        if robot is not None:
            from pliant.engine.mujoco_engine import hash_of_model
            from pliant.model.sensors import SensorDescription

            digest.update(hash_of_model(robot.compile()).encode())
            digest.update(repr([d for d in robot.devices if isinstance(d, SensorDescription)]).encode())
        return digest.hexdigest()[:16]

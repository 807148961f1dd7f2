"""The engine as the rooms above see it: a clock, a step, named ports, modes and gains of the compliant actuators.

Most devices know nothing of MuJoCo. They ask the engine once, in ``attach``, for a port by name and then read or
write the numpy view they were given. Cameras, arm controllers and parallel robots need MuJoCo's model and data: they
ask `mujoco_state` for them. Any class with the members of `Engine` is an engine; the contract tests in
``tests/simulation`` run on each that `register_engine` knows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from pliant.errors import DeviceError
from pliant.laws import Mode
from pliant.options import Registry

if TYPE_CHECKING:
    import mujoco

    from pliant.engine.payload import Payloads

__all__ = ["ENGINES", "Engine", "MujocoState", "PortInfo", "mujoco_state", "register_engine"]


@dataclass(frozen=True, slots=True)
class PortInfo:
    """What a port carries."""

    shape: tuple[int, ...]
    """Shape of the array; a scalar quantity has shape (1,)."""
    unit: str
    """Unit of every element, SI and radians: "rad", "N m", "m/s2", "" for none."""
    writable: bool
    """True for an input of the engine (a reference, an external torque), False for a result."""
    description: str = ""
    """One sentence: the quantity, its sign convention and frame."""
    low: float = -math.inf
    """Lowest value that makes sense: of a position the limit of the joint. Values below it are not refused."""
    high: float = math.inf
    """Highest value that makes sense; of a torque on a joint, the largest that does not end the run within 1 s."""


@runtime_checkable
class Engine(Protocol):
    """Physics that advances in equal steps, owned by one thread."""

    dt: float
    """Length of a step [s]; a whole number of nanoseconds."""
    time_ns: int
    """Simulation time [ns] = steps since the last reset x dt."""
    model_hash: str
    """Digest of the model, which recordings carry; "" where there is none."""

    def reset(self, seed: int | None = None) -> None:
        """Return to the initial state and to time 0.

        Args:
            seed: seed of whatever the engine draws at random; None keeps the present one.
        """
        ...

    def step(self, n: int = 1) -> None:
        """Advance by ``n`` steps.

        Raises:
            DivergedError: the state holds NaN or infinity, or the energy blew up.
        """
        ...

    def port(self, name: str) -> np.ndarray:
        """Return the live view of a port: float64, shape as in ``ports()``; it stays valid until the end.

        Raises:
            PortError: there is no such port; the message names the nearest.
        """
        ...

    def ports(self) -> Mapping[str, PortInfo]:
        """Return every port by name."""
        ...

    def save(self) -> Any:
        """Return the whole state, time included, as bytes or as an array that no later step changes."""
        ...

    def load(self, state: Any) -> None:
        """Return to a state that ``save`` gave: what follows is equal, bit by bit, to what followed then."""
        ...

    def mode(self, joint: str) -> Mode:
        """Return the operation mode of a compliant actuator.

        Raises:
            PortError: there is no such actuator.
        """
        ...

    def set_mode(self, joint: str, mode: Mode | int) -> None:
        """Switch the operation mode of a compliant actuator; it holds the present pose in the new mode.

        Raises:
            PortError: there is no such actuator.
            ModelError: the mode needs another state than the model was compiled with.
        """
        ...

    def set_gains(self, joint: str, motor: int = 1, **gains: float) -> None:
        """Change controller gains of a compliant actuator.

        Args:
            joint: name of the actuator.
            motor: 1 or 2.
            gains: kp, ki, kd, each >= 0.

        Raises:
            PortError: there is no such actuator.
            LawError: an unknown gain or motor, or a value that is negative or not finite.
        """
        ...


@runtime_checkable
class MujocoState(Protocol):
    """An engine that gives its devices MuJoCo's own model and data, for what no port carries."""

    model: mujoco.MjModel
    """The compiled model."""
    data: mujoco.MjData
    """Its state. Only the loop thread may touch it."""
    observed: np.ndarray
    """What the laws give at the end of the last step: a row for each compliant joint, columns of
    `pliant.laws.layout.OUT`."""
    motor_friction: np.ndarray
    """Friction that devices subtract from the torques of their motors, per degree of freedom, shape (nv,) [N m]. A
    device writes it with the torques, so that the energy audit can tell losses from the work of the motors."""
    textures: dict[int, int]
    """Index of a texture whose pixels a device has changed -> how often: cameras load it again."""

    payloads: Payloads
    """Point masses that bodies carry; to be changed by `set_payload` only."""

    def compliant_joints(self) -> list[str]:
        """Return the names of the compliant joints, in the order of the rows of ``observed``."""
        ...

    def forward(self) -> None:
        """Bring everything that is derived from the state up to date, without a step (``mj_forward``)."""
        ...

    def watch_model(self, finish: Callable[[], None]) -> None:
        """Call a method before a device changes the compiled model or jumps the state: who reads the model in another
        thread finishes there. The engine does not keep the method's object alive."""
        ...

    def change_model(self) -> AbstractContextManager[None]:
        """Return a context in which a device may change constants of the compiled model, or let the state jump. The
        energy audit counts neither as work."""
        ...

    def set_payload(self, body: str, mass: float, offset: Sequence[float] | None = None) -> None:
        """Fix a point mass [kg] to a body, at an offset in its frame [m]; 0 kg removes it, and so does a reset.

        Raises:
            ModelError: no such body, a body that cannot carry a payload, or numbers that are not valid.
        """
        ...


def mujoco_state(engine: Engine, device: str) -> MujocoState:
    """Return the engine as MuJoCo's model and data, for a device that cannot do without them.

    Args:
        engine: what the device is attached to.
        device: name of the device, for the message.

    Raises:
        DeviceError: the engine has no MuJoCo model.
    """
    if not isinstance(engine, MujocoState):
        raise DeviceError(
            f"{device} needs MuJoCo's model and data, which {type(engine).__name__} does not have; the engine must be "
            "a MujocoEngine",
            field="engine",
        )
    return engine


ENGINES: Registry[Callable[[mujoco.MjModel], Engine]] = Registry("engine")
"""Name -> function that makes an engine of a compiled model; contract tests run on each."""

E = TypeVar("E", bound="Callable[[mujoco.MjModel], Engine]")


def register_engine(name: str) -> Callable[[E], E]:
    """Register an engine: a class, or a function, that takes a compiled `mujoco.MjModel`.

    Args:
        name: its name; a name that is taken is refused, with both places.

    Example:
        >>> @register_engine("slow")
        ... class SlowEngine: ...
    """

    def register(factory: E) -> E:
        ENGINES.add(name, factory)
        return factory

    return register

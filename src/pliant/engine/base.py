"""Engine interface: clock, step, named ports, and the modes and gains of the compliant actuators.

Most devices do not depend on MuJoCo. In ``attach`` they request ports by name from the engine, and then read or write
the numpy views that they received. Cameras, arm controllers and parallel robots need MuJoCo's model and data, which
`mujoco_state` returns. Any class with the members of `Engine` is an engine; the contract tests in ``tests/simulation``
run on every registered engine (`register_engine`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

import numpy as np

from pliant.base.errors import DeviceError, PliantError
from pliant.base.options import Registry
from pliant.laws import Mode

if TYPE_CHECKING:
    import mujoco

    from pliant.engine.payload import Payloads


@dataclass(frozen=True, slots=True)
class PortInfo:
    """Description of a port: shape, unit, direction and range."""

    shape: tuple[int, ...]
    """Shape of the array; a scalar quantity has shape (1,)."""
    unit: str
    """Unit of every element in SI units and radians, such as "rad", "N m" or "m/s2"; "" for dimensionless values."""
    writable: bool
    """True for an input of the engine (a reference, an external torque), False for a result."""
    description: str = ""
    """One sentence with the quantity, its sign convention and its frame."""
    low: float = -math.inf
    """Lowest useful value; for a position, the joint limit. Lower values are accepted."""
    high: float = math.inf
    """Highest useful value; for a torque on a joint, the largest one that does not end the run within 1 s."""


@runtime_checkable
class Engine(Protocol):
    """Physics engine with a fixed time step, owned by one thread."""

    dt: float
    """Length of a step [s]; a whole number of nanoseconds."""

    @property
    def time_ns(self) -> int:
        """Simulation time [ns]: number of steps since the last reset times dt."""
        ...

    @property
    def model_hash(self) -> str:
        """Hash of the model, stored in recordings; "" if there is none."""
        ...

    def reset(self, seed: int | None = None) -> None:
        """Return to the initial state and to time 0.

        Args:
            seed: seed of the engine's random numbers; None keeps the current seed.
        """
        ...

    def step(self, n: int = 1) -> None:
        """Advance by ``n`` steps.

        Raises:
            DivergedError: the state holds NaN or infinity, or the energy blew up.
        """
        ...

    def port(self, name: str) -> np.ndarray:
        """Return the live view of a port: float64, shape as in ``ports()``, valid for the life of the engine.

        Raises:
            PortError: there is no such port; the message suggests the most similar name.
        """
        ...

    def ports(self) -> Mapping[str, PortInfo]:
        """Return the description of every port by name."""
        ...

    def save(self) -> object:
        """Return a copy of the whole state, including the time, as bytes or as an array."""
        ...

    def load(self, state: object) -> None:
        """Restore a state returned by ``save``; the subsequent run is then reproduced bit by bit."""
        ...

    def mode(self, joint: str) -> Mode:
        """Return the operation mode of a compliant actuator.

        Raises:
            PortError: there is no such actuator.
        """
        ...

    def set_mode(self, joint: str, mode: Mode | int) -> None:
        """Switch the operation mode of a compliant actuator; it holds the current pose in the new mode.

        Raises:
            PortError: there is no such actuator.
            ModelError: the mode needs different state variables from those in the compiled model.
        """
        ...

    def set_gains(self, joint: str, motor: int = 1, **gains: float) -> None:
        """Change the controller gains of a compliant actuator.

        Args:
            joint: name of the actuator.
            motor: 1 or 2.
            gains: new values of kp, ki, kd, each >= 0; units as in `pliant.laws.pid.PID`.

        Raises:
            PortError: there is no such actuator.
            LawError: an unknown gain or motor, or a value that is negative or not finite.
        """
        ...


@runtime_checkable
class MujocoState(Protocol):
    """Engine that gives devices access to MuJoCo's model and data, for quantities without a port."""

    model: mujoco.MjModel
    """The compiled model."""
    data: mujoco.MjData
    """State of the model. Only the loop thread may access it."""
    observed: np.ndarray
    """Output of the laws at the end of the last step: one row per compliant joint, columns as in
    `pliant.laws.layout.OUT`."""
    motor_friction: np.ndarray
    """Friction that devices subtract from the torques of their motors, per degree of freedom, shape (nv,) [N m]. A
    device writes it together with the torques, so that losses can be told from the work of the motors."""
    textures: dict[int, int]
    """Index of each texture that a device has changed -> number of changes, from which cameras know when
    to reload it."""

    payloads: Payloads
    """Point masses attached to bodies; changed only through `set_payload`."""

    def compliant_joints(self) -> list[str]:
        """Return the names of the compliant joints, in the order of the rows of ``observed``."""
        ...

    def forward(self) -> None:
        """Update all quantities derived from the state, without a step (``mj_forward``)."""
        ...

    def watch_model(self, finish: Callable[[], None]) -> None:
        """Register a bound method that is called before a device changes the compiled model or makes the state jump. A
        reader of the model in another thread finishes its work in this method. The engine does not keep its object
        alive."""
        ...

    def change_model(self) -> AbstractContextManager[None]:
        """Return a context in which a device may change constants of the compiled model or make the state jump."""
        ...

    def set_payload(self, body: str, mass: float, offset: Sequence[float] | None = None) -> None:
        """Attach a point mass [kg] to a body at an offset in the body frame [m]; 0 kg or a reset removes it.

        Raises:
            ModelError: there is no such body, it cannot carry a payload, or a number is not valid.
        """
        ...


def check_engine(given: object, asker: str = "Simulation") -> None:
    """Refuse what is no engine, and say how to make one of a robot.

    Args:
        given: what was passed.
        asker: the class or function that expects an engine.

    Raises:
        PliantError: it is no engine.
    """
    if not isinstance(given, type) and all(hasattr(given, name) for name in ("dt", "step", "ports", "reset")):
        return
    text = repr(given) if isinstance(given, str | int | float | type | None) else type(given).__name__
    raise PliantError(
        f"{asker} got {text}; must be an engine: Simulation(MujocoEngine(robot), make_devices(robot)) with "
        "MujocoEngine of pliant.engine and make_devices of pliant.devices; pliant.load(file or name) returns a robot",
        field="engine",
    )


def mujoco_state(engine: object, device: str) -> MujocoState:
    """Return the engine as a `MujocoState`, for a device that needs MuJoCo's model and data.

    Args:
        engine: the engine that the device is attached to.
        device: name of the device, for the error message.

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
"""Name -> function that creates an engine from a compiled model; the contract tests run on each engine."""

E = TypeVar("E", bound="Callable[[mujoco.MjModel], Engine]")


def register_engine(name: str) -> Callable[[E], E]:
    """Register an engine: a class, or a function, that takes a compiled `mujoco.MjModel`.

    Args:
        name: its name. A name that is already registered is refused; the message names both places.

    Example:
        >>> @register_engine("slow")
        ... class SlowEngine: ...
    """

    def register(factory: E) -> E:
        ENGINES.add(name, factory)
        return factory

    return register

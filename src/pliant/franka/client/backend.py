"""The two kinds of arm that a `FrankaRobot` drives: of a simulation in this process, or behind the interface."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import DeviceError
from pliant.base.numerics import Array
from pliant.franka.device.parameters import Arm, Payload

Motion = Literal["velocity", "torque"]
PERIOD = 1e-3
"""The robot's cycle [s]."""


class Backend(Protocol):
    """One arm with its state, which counts robot time in cycles of one millisecond and runs one motion at a time.

    Every vector has shape (7,) unless stated otherwise.
    """

    arm: Arm
    """Parameters of the arm."""
    address: str
    """Address for messages."""

    def get(self, name: str) -> Array:
        """Return a vector of the state by its name in the interface, such as "q" or "O_F_ext_hat_K" (a copy)."""
        ...

    def pose(self, name: str) -> Array:
        """Return a pose of the state, such as "F_T_EE", shape (4, 4)."""
        ...

    @property
    def time(self) -> float:
        """Robot time of the state [s]."""
        ...

    @property
    def mode(self) -> str:
        """The robot's mode in lower case: "idle", "move", "reflex", "user_stopped", ..."""
        ...

    def payload(self) -> Payload:
        """Return end effector and load as one body, in the flange's frame."""
        ...

    def served_arm(self) -> str:
        """Return the type of the arm that answers, "fer", "fr3", "fp3" or "fr3v2"; "" where it does not tell."""
        ...

    def refresh(self) -> None:
        """Bring the state of an idle robot up to date."""
        ...

    def idle(self) -> None:
        """Let one cycle pass without a motion."""
        ...

    def begin(self, motion: Motion) -> None:
        """Start a motion; `receive` then takes the first state that needs a command."""
        ...

    def exchange(self, values: Array) -> None:
        """Answer the state with a command, and take the next state: `send`, then `receive`."""
        ...

    def send(self, values: Array) -> None:
        """Answer the state with a command."""
        ...

    def receive(self) -> None:
        """Take the next state of a motion.

        Raises:
            DeviceError: the motion was aborted.
        """
        ...

    def finish(self, values: Array) -> None:
        """End the motion with a last command and wait until the arm rests; `refresh` then takes a state of rest."""
        ...

    def abort(self) -> None:
        """Stop at once, whatever runs."""
        ...

    def recover(self) -> None:
        """Clear the errors of a reflex."""
        ...

    def press(self, button: str, pressed: bool) -> None:
        """Switch "guide", "user_stop" or "brakes"."""
        ...

    def set_load(self, load: Payload) -> None:
        """Set the load that the controller compensates beside the end effector."""
        ...

    def set_end_effector(self, F_T_EE: Array) -> None:
        """Set the pose of the end effector in the flange, shape (4, 4)."""
        ...

    def begin_hand(self, action: str, *values: float) -> Callable[[], bool | None]:
        """Begin "homing", "move" (width, speed), "grasp" (width, speed, force, inner, outer) or "stop" of the hand.

        The hand moves while the arm goes through its cycles, at rest or in a motion: a request that stands before
        `send` acts from the cycle of that command on.

        Returns:
            A function that returns whether it succeeded, None while it lasts.
        """
        ...

    def hand_width(self) -> float:
        """Return the opening of the hand [m]."""
        ...

    def close(self) -> None:
        """End the running motion and disconnect."""
        ...


def as_array(values: ArrayLike, name: str, wanted: str) -> Array:
    """Return values as a new array of numbers of any shape.

    Args:
        values: what the caller gave.
        name: of the argument, for messages.
        wanted: what it must be, in words.

    Raises:
        DeviceError: they are no numbers.
    """
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise DeviceError(f"{name} is {values!r}; must be {wanted}", field=name) from None


def as_vector(values: ArrayLike, size: int, name: str) -> Array:
    """Return values as an array of finite numbers of a given length.

    Raises:
        DeviceError: another shape, or numbers that are not finite.
    """
    found = as_array(values, name, f"{size} numbers")
    if found.shape != (size,):
        raise DeviceError(f"{name} has shape {found.shape}; must be ({size},)", field=name)
    if not np.isfinite(found).all():
        raise DeviceError(f"{name} is {found.tolist()}; must be finite numbers", field=name)
    return found


def as_number(value: float | np.floating | np.integer, name: str, wanted: str, *, low: float = -math.inf) -> float:
    """Return a finite number that is at least `low`.

    Args:
        value: what the caller gave.
        name: of the argument, for messages.
        wanted: what it must be, in words.
        low: least value.

    Raises:
        DeviceError: it is something else.
    """
    good = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or value < low:
        raise DeviceError(f"{name} is {value!r}; must be {wanted}", field=name)
    return float(value)

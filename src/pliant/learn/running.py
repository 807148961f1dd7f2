"""Run a policy as the controller of a real or simulated robot, over the bridges that wings declare.

A wing declares a `PolicyDriver` for a bridge (`pliant.base.wing.Wing.controllers`).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import BridgeError, nearest
from pliant.learn.policy import CLOCK, INPUT, Policy, PolicyError, clock_value

__all__ = [
    "TIMEOUT_S",
    "PolicyClock",
    "PolicyDriver",
    "PolicyJoints",
    "PolicyRun",
    "WallClock",
    "check_inputs",
    "full_observation",
    "run_policy",
]

TIMEOUT_S = 0.5
"""Age of an observation after which the run stops [s]."""


class PolicyClock(Protocol):
    """A monotonic clock."""

    def now(self) -> float:
        """Return the time [s]."""
        ...

    def wait_until(self, due: float, stop: threading.Event) -> None:
        """Wait until a time, or until ``stop`` is set.

        Raises:
            BridgeError: the time has stopped.
        """
        ...


class WallClock:
    """The monotonic clock of this machine."""

    def now(self) -> float:
        """Return the time [s]."""
        return time.monotonic()

    def wait_until(self, due: float, stop: threading.Event) -> None:
        """Wait until a time, or until ``stop`` is set."""
        ahead = due - time.monotonic()
        if ahead > 0.0:
            stop.wait(ahead)


class PolicyJoints(Protocol):
    """Interface to the joints of a robot."""

    @property
    def clock(self) -> PolicyClock:
        """Clock that measures the period of the policy."""
        ...

    def wait(self, *, silence: float) -> None:
        """Wait until the robot answers.

        Args:
            silence: longest time without progress of the clock afterwards [s of wall time].

        Raises:
            BridgeError: the robot does not answer, or is another one.
        """
        ...

    def lost(self) -> str:
        """Return why the connection is lost, "" while it is not."""
        ...

    def observe(self) -> tuple[NDArray[np.float64], float]:
        """Return the measured observations in the policy's order, and the age of the oldest [s]."""
        ...

    def send(self, commands: NDArray[np.float64]) -> None:
        """Send the commands in their units, shape (commands,)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDriver:
    """How a policy drives a robot over a bridge."""

    options: tuple[str, ...]
    """Options of ``pliant policy run`` that it takes, beside those of all bridges."""
    run: Callable[[Policy, Mapping[str, float], Mapping[str, Any], float, float], tuple[dict[str, int], str]]
    """Function of the policy, its inputs, the options by name, the longest duration [s] and the timeout [s]. It returns
    what happened, for ``--json`` and as a sentence."""


def check_inputs(policy: Policy, inputs: Mapping[str, float], timeout: float) -> None:
    """Check the inputs of a policy and a timeout [s].

    Raises:
        PolicyError: an input is unknown, missing or not finite, or the timeout is not > 0.
    """
    for name in inputs:
        if name not in policy.inputs:
            raise PolicyError(f"the policy has no input {name!r}; {nearest(name, policy.inputs)}", field=name)
    for name in policy.inputs:
        if name not in inputs:
            raise PolicyError(f"the policy needs the input {name!r}; give it as --input {name}=VALUE", field=name)
        if not math.isfinite(inputs[name]):
            raise PolicyError(f"the input {name} is {inputs[name]}; must be a finite number", field=name)
    if not timeout > 0.0:
        raise PolicyError(f"timeout is {timeout:g}; must be > 0 s", field="timeout")


def full_observation(policy: Policy, inputs: Mapping[str, float], measured: Iterable[float], steps: int) -> list[float]:
    """Combine inputs, measured observations and those of the time in the order of the policy.

    Args:
        policy: the policy.
        inputs: input name, without ``input/`` -> value.
        measured: what the robot measures, in the order of ``policy.measured``.
        steps: number of periods since the start.
    """
    rest, t = iter(measured), steps * policy.period
    return [
        inputs[name.removeprefix(INPUT)]
        if name.startswith(INPUT)
        else clock_value(name, t)
        if name.startswith(CLOCK)
        else float(next(rest))
        for name in policy.observations
    ]


@dataclass(slots=True)
class PolicyRun:
    """Runs a policy on the joints of a robot, once per period.

    Raises:
        PolicyError: an input is unknown or missing.
    """

    policy: Policy
    """The policy."""
    joints: PolicyJoints
    """Interface to the joints of the robot."""
    inputs: Mapping[str, float]
    """Input name, without ``input/`` -> value."""
    timeout: float = TIMEOUT_S
    """Age of an observation above which `step` raises an error [s]."""
    steps: int = 0
    """Number of commands sent."""
    late: int = 0
    """Number of commands sent more than one period late."""

    def __post_init__(self) -> None:
        check_inputs(self.policy, self.inputs, self.timeout)

    def step(self) -> NDArray[np.float64]:
        """Read the observations, evaluate the policy and send the commands; return the commands.

        Raises:
            BridgeError: the last message of a joint is too old, the connection is lost, or a message contains NaN. No
                command is sent then, and the robot keeps its last references.
        """
        lost = self.joints.lost()
        if lost:
            raise BridgeError(f"the policy stopped: {lost}")
        measured, age = self.joints.observe()
        if age > self.timeout:
            raise BridgeError(
                f"the policy stopped: the last message of a joint is {age:.2f} s old, more than {self.timeout:g} s; "
                "the robot keeps its last references",
                field="timeout",
            )
        try:
            commands = self.policy.act(full_observation(self.policy, self.inputs, measured, self.steps))
        except PolicyError as error:
            raise BridgeError(f"the policy stopped: {error}; the robot keeps its last references") from None
        self.joints.send(commands)
        self.steps += 1
        return commands


def run_policy(run: PolicyRun, *, duration: float = math.inf, stop: threading.Event | None = None) -> None:
    """Run a policy once per period of the clock of the joints, for a duration [s] or until ``stop`` is set.

    Raises:
        BridgeError: the robot sends no messages, has other joints than the policy, or its clock has stopped.
    """
    run.joints.wait(silence=run.timeout)
    stop = stop or threading.Event()
    clock, period = run.joints.clock, run.policy.period
    first = clock.now()
    while run.steps * period < duration - 1e-9:
        due = first + run.steps * period
        behind = clock.now() - due
        clock.wait_until(due, stop)
        if stop.is_set():
            return
        if behind > period:
            run.late += 1
            first += behind
        run.step()
    clock.wait_until(first + run.steps * period, stop)

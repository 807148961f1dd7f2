"""Run a policy as the controller of a real or simulated robot, over the bridges that wings declare.

A wing declares a `PolicyDriver` for a bridge (`pliant.base.wing.Wing.controllers`).
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Protocol, Self, TextIO

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import BridgeError, nearest
from pliant.learn.policy import CLOCK, INPUT, Policy, PolicyError, clock_value

TIMEOUT_S = 0.5
"""Age of an observation after which the run stops [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    """Limits that keep a policy from harming a robot.

    Raises:
        PolicyError: a value is out of range.
    """

    timeout: float = TIMEOUT_S
    """Stop if the robot sends no state for this time [s]."""
    outside: Literal["stop", "clip", "ignore"] = "stop"
    """Observation beyond the training's: stop; clip: give the policy the nearest trained value; or ignore."""
    margin: float = 0.1
    """Fraction of the training's range by which an observation may leave it."""
    slew: float = 0.0
    """Largest change of a command in one second, as a fraction of its range; 0: no limit."""
    approach: float = 0.0
    """Time in which the commands go to the policy's start pose first [s]; 0: none."""
    end: Literal["hold", "start"] = "hold"
    """At the end: hold the last command, or go back to the start pose in the time of the approach."""
    dead_man: float = 0.0
    """Stop unless a line arrives at standard input at least this often [s]; 0: none."""

    def __post_init__(self) -> None:
        if not self.timeout > 0.0:
            raise PolicyError(f"timeout is {self.timeout:g}; must be > 0 s", field="timeout")
        for name in ("margin", "slew", "approach", "dead_man"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise PolicyError(f"{name} is {getattr(self, name)}; must be >= 0", field=name)
        for name, valid in (("outside", ("stop", "clip", "ignore")), ("end", ("hold", "start"))):
            if getattr(self, name) not in valid:
                raise PolicyError(
                    f"{name} is {getattr(self, name)!r}; {nearest(getattr(self, name), valid)}", field=name
                )

        if self.end == "start" and not self.approach > 0.0:
            raise PolicyError(
                "the end is the start pose, without a time to get there; give --approach", field="approach"
            )

    def check(self, policy: Policy) -> None:
        """Check that a policy has what is asked of it.

        Raises:
            PolicyError: it has no start pose.
        """
        if policy.start is None and self.approach > 0.0:
            raise PolicyError(
                "the policy has no start pose; export it with start=, or leave out the approach", field="start"
            )


class PolicyGuard:
    """Checks the observations of a policy and limits the change of its commands."""

    def __init__(self, policy: Policy, safety: Safety) -> None:
        self._policy, self._safety = policy, safety
        low, high = policy.range_low, policy.range_high
        self._low = self._high = None
        if low is not None and high is not None and safety.outside != "ignore":
            room = safety.margin * (high - low) + 1e-9
            self._low, self._high = low - room, high + room
        self._most = safety.slew * policy.period * np.abs(policy.high - policy.low)
        self.last: NDArray[np.float64] | None = None
        """Commands that were sent last."""

    def act(self, observation: Sequence[float]) -> NDArray[np.float64]:
        """Return the commands for an observation.

        Raises:
            BridgeError: an observation is beyond the training's, or is not finite.
        """
        x = np.asarray(observation, dtype=float)
        if self._low is not None and self._high is not None:
            wrong = np.flatnonzero((x < self._low) | (x > self._high))
            if wrong.size and self._safety.outside == "stop":
                k = int(wrong[0])
                raise BridgeError(
                    f"the policy stopped: {self._policy.observations[k]} is {x[k]:.4g}, and was {self._low[k]:.4g} to "
                    f"{self._high[k]:.4g} in the training, margin included",
                    field="outside",
                )
            x = np.clip(x, self._low, self._high) if np.isfinite(x).all() else x
        try:
            commands = self._policy.act(x)
        except PolicyError as error:
            raise BridgeError(f"the policy stopped: {error}; the robot keeps its last references") from None
        return self.limited(commands)

    def limited(self, commands: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return commands that differ from the last ones by no more than the slew limit."""
        if self._safety.slew > 0.0 and self.last is not None:
            commands = np.clip(commands, self.last - self._most, self.last + self._most)
        self.last = commands
        return commands


class DeadMan:
    """Reads lines from a stream in a thread; `lost` says when none has come for too long.

    Args:
        limit: longest time between two lines [s]; 0: never lost.
        stream: the stream; None for standard input.
    """

    def __init__(self, limit: float, stream: TextIO | None = None) -> None:
        self._limit, self._stream = limit, stream or sys.stdin
        self._last = time.monotonic()
        if limit > 0.0:
            threading.Thread(target=self._read, name="pliant-dead-man", daemon=True).start()

    def _read(self) -> None:
        for _ in self._stream:
            self._last = time.monotonic()

    def lost(self) -> bool:
        """Return whether the last line is older than the limit."""
        return self._limit > 0.0 and time.monotonic() - self._last > self._limit


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


class Started:
    """A connection that is started on entry of a ``with`` block, and stopped where that fails and on exit."""

    def start(self) -> None:
        """Open the connection."""
        raise NotImplementedError

    def stop(self) -> None:
        """Close it; may be called twice."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.stop()


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

    def present(self) -> NDArray[np.float64]:
        """Return the commands in effect, NaN where the robot does not tell, shape (commands,)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDriver:
    """How a policy drives a robot over a bridge."""

    options: tuple[str, ...]
    """Options of ``pliant policy run`` that it takes, beside those of all bridges."""
    run: Callable[[Policy, Mapping[str, float], Mapping[str, object], float, Safety], tuple[dict[str, int], str]]
    """Function of the policy, its inputs, the options by name, the longest duration [s] and the limits. It returns what
    happened, for ``--json`` and as a sentence."""


def check_inputs(policy: Policy, inputs: Mapping[str, float]) -> None:
    """Check the inputs of a policy.

    Raises:
        PolicyError: an input is unknown, missing or not finite.
    """
    for name in inputs:
        if name not in policy.inputs:
            raise PolicyError(f"the policy has no input {name!r}; {nearest(name, policy.inputs)}", field=name)
    for name in policy.inputs:
        if name not in inputs:
            raise PolicyError(f"the policy needs the input {name!r}; give it as --input {name}=VALUE", field=name)
        if not math.isfinite(inputs[name]):
            raise PolicyError(f"the input {name} is {inputs[name]}; must be a finite number", field=name)


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
    safety: Safety = field(default_factory=Safety)
    """Limits."""
    steps: int = 0
    """Number of commands of the policy that were sent."""
    late: int = 0
    """Number of commands sent more than one period late."""
    guard: PolicyGuard = field(init=False)
    """Checks observations and limits commands."""

    def __post_init__(self) -> None:
        check_inputs(self.policy, self.inputs)
        self.safety.check(self.policy)
        self.guard = PolicyGuard(self.policy, self.safety)

    def measured(self) -> NDArray[np.float64]:
        """Return what the robot measures.

        Raises:
            BridgeError: the last message of a joint is too old, or the connection is lost.
        """
        lost = self.joints.lost()
        if lost:
            raise BridgeError(f"the policy stopped: {lost}")
        measured, age = self.joints.observe()
        if age > self.safety.timeout:
            raise BridgeError(
                f"the policy stopped: the last message of a joint is {age:.2f} s old, more than "
                f"{self.safety.timeout:g} s; the robot keeps its last references",
                field="timeout",
            )
        return measured

    def step(self) -> NDArray[np.float64]:
        """Read the observations, evaluate the policy and send the commands; return the commands.

        Raises:
            BridgeError: the last message of a joint is too old, the connection is lost, or an observation is NaN or
                beyond the training's. No command is sent then, and the robot keeps its last references.
        """
        commands = self.guard.act(full_observation(self.policy, self.inputs, self.measured(), self.steps))
        self.joints.send(commands)
        self.steps += 1
        return commands

    def glide(self, stop: threading.Event, *, back: bool = False) -> None:
        """Bring the commands to the start pose in a straight line, in the time of the approach.

        Args:
            stop: ends it.
            back: whether this is the end of the run, which begins at the last command.

        Raises:
            BridgeError: the robot is lost.
        """
        goal, clock, period = self.policy.start, self.joints.clock, self.policy.period
        if goal is None or self.safety.approach <= 0.0:
            return
        present = self.guard.last if back and self.guard.last is not None else self.joints.present()
        origin = np.where(np.isfinite(present), present, goal)
        count, first = max(1, round(self.safety.approach / period)), clock.now()
        for k in range(1, count + 1):
            self.measured()
            commands = origin + (goal - origin) * (k / count)
            self.guard.last = commands
            self.joints.send(commands)
            clock.wait_until(first + k * period, stop)
            if stop.is_set():
                return


def run_policy(
    run: PolicyRun,
    *,
    duration: float = math.inf,
    stop: threading.Event | None = None,
    dead_man: DeadMan | None = None,
) -> None:
    """Approach the start pose, run a policy once per period of the clock of the joints, and end in the end pose.

    Args:
        run: the run.
        duration: longest time of the policy [s].
        stop: ends the run, which then holds the last command.
        dead_man: ends the run with an error when it is lost; None for that of standard input.

    Raises:
        BridgeError: the robot sends no messages, has other joints than the policy, its clock has stopped, an
            observation is beyond the training's, or the dead man's switch was let go.
    """
    run.joints.wait(silence=run.safety.timeout)
    stop = stop or threading.Event()
    dead_man = dead_man or DeadMan(run.safety.dead_man)
    run.glide(stop)
    clock, period = run.joints.clock, run.policy.period
    first = clock.now()
    try:
        while run.steps * period < duration - 1e-9 and not stop.is_set():
            due = first + run.steps * period
            behind = clock.now() - due
            clock.wait_until(due, stop)
            if stop.is_set():
                return
            if dead_man.lost():
                raise BridgeError(
                    f"the policy stopped: no line at standard input for {run.safety.dead_man:g} s", field="dead_man"
                )
            if behind > period:
                run.late += 1
                first += behind
            run.step()
    except BridgeError as error:
        if run.safety.end == "start" and error.field in ("outside", "dead_man"):
            with contextlib.suppress(BridgeError):
                run.glide(threading.Event(), back=True)
        raise
    clock.wait_until(first + run.steps * period, stop)
    if run.safety.end == "start":
        run.glide(stop, back=True)

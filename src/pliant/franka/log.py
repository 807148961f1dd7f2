"""Recorded motions of a Franka arm beside its identified dynamics: what `pliant shadow --fci-log` compares.

A log is the CSV of libfranka's ``franka::logToCSV`` or a recording of pliant. The torque sensors of an arm measure on
the link's side of the gears, so that with the measured motion, and no simulation over time,

    tau_J     = M(q) ddq + C(q, dq) dq + g(q)                                          (links and load),
    tau_J     = tau_J_d + g(q) + f(dq) - s f(dq)                                       (drives, in torque control),
    theta - q = tau_J / K                                                              (springs of the gears).

f is the identified friction, which the cabinet compensates; s is 1 for the friction of the description. Static friction
is not known and acts near rest: drives are compared where a joint moves faster than `MOVING`. libfranka writes no motor
positions theta, so that its logs say nothing of the springs; the command tau_J_d of a row is that of the cycle before
the state of the row (libfranka, ``Record``). Motions are smoothed over `SMOOTHED` samples by local parabolas (Savitzky
and Golay 1964).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.documents.files import read_text
from pliant.base.errors import ModelError, RecordingError, nearest
from pliant.base.numerics import Array
from pliant.franka.device.arm import FrankaArmDescription
from pliant.franka.device.parameters import Payload
from pliant.franka.device.plant import gravity_in
from pliant.franka.robots.dynamics import coriolis, friction, gravity, mass
from pliant.franka.wire.fci.state import ControllerMode
from pliant.recording.recording import read_recording
from pliant.shadow.candidates import FACTOR, Candidate, Compared

if TYPE_CHECKING:
    from pliant.model.robot import Robot

PERIOD = 1e-3
"""Cycle of the interface [s]."""
SMOOTHED = 41
"""Samples over which motions and torques are smoothed."""
KEPT = 5
"""Of so many samples one is compared."""
LOAD_STEP = 1.0
"""Mass at the end effector with which the load is tried [kg]."""
LAG = 1
"""Cycles from the command of a state to the torque that follows it; that of the simulated cabinet."""  # assumed
DELAY_STEP = 2e-3
"""Delay with which that of the commands is tried [s]."""
ZERO_STEP = 0.5
"""Offset with which the zeros of the torque sensors are tried [N m]."""
MOVING = 0.1
"""Speed of a joint above which its drive is compared [rad/s]."""
MAX_BYTES = 1 << 30
"""Largest CSV [bytes]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmLog:
    """The states of an arm at 1 kHz."""

    time: Array
    """Shape (n,) [s]."""
    q: Array
    """Joint positions, shape (n, 7) [rad]."""
    dq: Array
    """Joint velocities, shape (n, 7) [rad/s]."""
    tau_J: Array
    """Measured torques, gravity included, shape (n, 7) [N m]."""
    tau_J_d: Array | None = None
    """Commanded torques without gravity, shape (n, 7) [N m]; None outside torque control."""
    theta: Array | None = None
    """Motor positions, shape (n, 7) [rad]; None where they were not recorded."""


@dataclass(frozen=True, kw_only=True)
class ArmLogOptions:
    """The options of ``--fci-log``."""

    file: str = ""
    """CSV of libfranka's logToCSV, or a recording (.mcap)."""
    arm: str = ""
    """The arm, where the robot has several."""


def read_arm_log(path: str | Path, device: str) -> ArmLog:
    """Read a log.

    Args:
        path: CSV of libfranka's ``logToCSV``, or a recording of pliant (.mcap).
        device: name of the arm in a recording.

    Raises:
        RecordingError: it cannot be read, or has no positions, velocities and torques of an arm.
    """
    path = Path(path)
    return _recorded(path, device) if path.suffix == ".mcap" else _csv(path)


def _recorded(path: Path, device: str) -> ArmLog:
    recording = read_recording(path)
    if device not in recording.devices or "tau_J" not in recording.devices[device].samples:
        raise RecordingError(f"no arm {device!r} is recorded; {nearest(device, recording.devices)}", file=path)
    found = {name: np.asarray(recording[f"{device}/{name}"], float) for name in ("time", "q", "dq", "tau_J", "theta")}
    commanded = np.any(recording[f"{device}/controller_mode"] == ControllerMode.EXTERNAL)
    tau_J_d = np.asarray(recording[f"{device}/tau_J_d"], float) if commanded else None
    return ArmLog(tau_J_d=tau_J_d, **found)


def _csv(path: Path) -> ArmLog:
    header, *rows = read_text(path, RecordingError, max_bytes=MAX_BYTES).splitlines()
    names = [name.strip() for name in header.split(",")]
    needed = ["time", *(f"state.{name}[{i}]" for name in ("q", "dq", "tau_J") for i in range(7))]
    for name in needed:
        if name not in names:
            raise RecordingError(
                f"there is no column {name!r}; must be what libfranka's logToCSV writes: {nearest(name, names)}",
                file=path,
                field=name,
            )
    try:
        table = np.loadtxt(rows, delimiter=",", ndmin=2)
    except ValueError as error:
        raise RecordingError(f"a row is no row of numbers: {error}", file=path) from None
    if table.ndim != 2 or table.shape[1] != len(names) or not np.isfinite(table).all():
        raise RecordingError(f"rows must be {len(names)} finite numbers each", file=path)

    def columns(name: str) -> Array:
        return table[:, [names.index(f"{name}[{i}]") for i in range(7)]]

    commanded = "cmd.tau_J_d[0]" in names and all(f"cmd.tau_J_d[{i}]" in names for i in range(7))
    torque = columns("cmd.tau_J_d") if commanded else None
    return ArmLog(
        time=1e-3 * table[:, names.index("time")],
        q=columns("state.q"),
        dq=columns("state.dq"),
        tau_J=columns("state.tau_J"),
        tau_J_d=torque if torque is not None and np.any(torque) else None,
    )


class ArmWorlds:
    """A log beside the arm as described, and with each candidate changed up and down.

    Args:
        robot: the robot.
        log: what one of its arms did.
        arm: name of the arm; "" for the only one.

    Raises:
        ModelError: the robot has no such arm.
        RecordingError: no part of the log without gaps is long enough.
    """

    unit = "N m"
    """Unit of most that is compared."""

    def __init__(self, robot: Robot, log: ArmLog, arm: str = "") -> None:
        self._arm = _arm(robot, arm)
        self.dt = PERIOD
        self._log = log
        model = robot.compile()
        self._gravity = gravity_in(model, int(model.body(f"{self._arm.name}_link0").id))
        step = math.log(FACTOR)
        joints = [f"joint{i}" for i in range(1, 8)]
        self.candidates = [Candidate("load", "mass", {"end effector": 0.0}, LOAD_STEP, "kg")]
        if log.tau_J_d is not None:
            self.candidates += [Candidate(f"{j} friction", "factor", {f"{j}.friction": 1.0}, step) for j in joints]
            self.candidates.append(Candidate("delay", "delay", {"tau_J_d": 0.0}, DELAY_STEP, "s"))
        if log.theta is not None:
            self.candidates += [
                Candidate(f"{j} spring", "factor", {f"{j}.stiffness": k}, step)
                for j, k in zip(joints, self._arm.arm.joint_stiffness, strict=True)
            ]
        sensed = ("torque", "drive") if log.tau_J_d is not None else ("torque",)
        self.offsets = [
            Candidate(f"{j} zero", "offset", {f"{j}/{s}": 0.0 for s in sensed}, ZERO_STEP, "N m") for j in joints
        ]
        self.notes: list[str] = []
        """What is odd about the log."""

    def compare(self) -> dict[str, Compared]:
        """Return what was measured and what the worlds would measure, by port."""
        parts = [self._part(part) for part in self._whole_parts()]
        return {
            port: Compared(*(np.concatenate([getattr(p[port], name) for p in parts]) for name in Compared._fields))
            for port in parts[0]
        }

    def _whole_parts(self) -> list[slice]:
        time = self._log.time
        if time.size < 2 or not (np.diff(time) > 0.0).all():
            raise RecordingError("the time of the log does not increase; cut it where it begins anew", field="time")
        breaks = np.flatnonzero(np.diff(time) > 1.5 * PERIOD) + 1
        edges = [0, *breaks.tolist(), time.size]
        found = [slice(a, b) for a, b in itertools.pairwise(edges) if b - a >= 4 * SMOOTHED]
        if breaks.size:
            self.notes.append(
                f"{breaks.size} gaps of up to {1e3 * np.diff(time).max():.0f} ms; {len(found)} parts are compared"
            )
        if not found:
            raise RecordingError(
                f"the log has no {4 * SMOOTHED} states of 1 kHz without a gap; libfranka keeps 50 unless "
                "Robot(..., log_size) asks for more",
                field="time",
            )
        return found

    def _part(self, part: slice) -> dict[str, Compared]:
        log, description = self._log, self._arm
        dq = _smooth(log.dq[part])
        ddq = _smooth(log.dq[part], derivative=1)
        q, tau = _smooth(log.q[part]), _smooth(log.tau_J[part])
        kept = slice(SMOOTHED // 2, len(q) - SMOOTHED // 2, KEPT)
        time = log.time[part][kept]
        q, dq, ddq, tau = q[kept], dq[kept], ddq[kept], tau[kept]
        carried = description.end_effector or Payload(mass=0.0)
        tool = np.eye(4) if description.F_T_NE is None else np.array(description.F_T_NE)
        heavier = carried.combined(Payload(mass=LOAD_STEP, center_of_mass=tuple(tool[:3, 3].tolist())))
        link = self._links(q, dq, ddq, carried)
        found = {f"joint{i + 1}/torque": (tau[:, i], link[:, i]) for i in range(7)}
        changes: dict[str, dict[str, tuple[Array, Array]]] = {
            c.name: {} for c in self.candidates
        }  # candidate -> port -> values above and below
        more = self._links(q, dq, ddq, heavier) - link
        for i in range(7):
            changes["load"][f"joint{i + 1}/torque"] = link[:, i] + more[:, i], link[:, i] - more[:, i]
        if log.tau_J_d is not None:
            self._drives(log.tau_J_d[part], kept, (q, dq, tau), found, changes)
        if log.theta is not None:
            twist = (_smooth(log.theta[part] - log.q[part]))[kept]
            for i, k in enumerate(description.arm.joint_stiffness):
                port, name = f"joint{i + 1}/twist", f"joint{i + 1} spring"
                found[port] = k * twist[:, i], tau[:, i]
                changes[name][port] = tau[:, i] / FACTOR, tau[:, i] * FACTOR
        compared = {}
        for port, (y, y0) in found.items():
            joint, _, kind = port.partition("/")
            fast = np.abs(dq[:, int(joint[-1]) - 1]) > (MOVING if kind == "drive" else -1.0)
            compared[port] = Compared(time[fast], y[fast], self._worlds(port, y0, changes)[fast])
        return compared

    def _drives(
        self,
        commanded: Array,
        kept: slice,
        motion: tuple[Array, Array, Array],
        found: dict[str, tuple[Array, Array]],
        changes: Mapping[str, dict[str, tuple[Array, Array]]],
    ) -> None:
        """Add the equations of the drives."""
        q, dq, tau = motion
        description = self._arm
        rest = gravity(q, description.end_effector, self._gravity, arm=description.arm)
        # Delays in whole samples, then smoothed like everything else.
        shift = round(DELAY_STEP / PERIOD)
        late = [np.roll(commanded, LAG + k, axis=0) for k in (0, shift, -shift)]
        now, later, earlier = (_smooth(each)[kept] + rest for each in late)
        rubbed = friction(dq, arm=description.arm)
        for i in range(7):
            port = f"joint{i + 1}/drive"
            found[port] = tau[:, i], now[:, i]
            changes["delay"][port] = later[:, i], earlier[:, i]
            f = rubbed[:, i]
            changes[f"joint{i + 1} friction"][port] = (
                now[:, i] - (FACTOR - 1.0) * f,
                now[:, i] - (1.0 / FACTOR - 1.0) * f,
            )

    def _links(self, q: Array, dq: Array, ddq: Array, carried: Payload) -> Array:
        """Return the torques of links and load, shape (n, 7) [N m]."""
        arm = self._arm.arm
        inertial = np.einsum("nij,nj->ni", mass(q, carried, arm=arm), ddq)
        centrifugal = np.einsum("nij,nj->ni", coriolis(q, dq, carried, arm=arm), dq)
        return inertial + centrifugal + gravity(q, carried, self._gravity, arm=arm)

    def _worlds(self, port: str, y0: Array, changes: Mapping[str, Mapping[str, tuple[Array, Array]]]) -> Array:
        columns = [y0]
        for candidate in self.candidates:
            columns += changes[candidate.name].get(port, (y0, y0))
        return np.column_stack(columns)


def _smooth(values: Array, derivative: int = 0) -> Array:
    from scipy.signal import savgol_filter

    return np.asarray(savgol_filter(values, SMOOTHED, 2, deriv=derivative, delta=PERIOD, axis=0), np.float64)


def _arm(robot: Robot, name: str) -> FrankaArmDescription:
    arms = {d.name: d for d in robot.devices if isinstance(d, FrankaArmDescription)}
    if not arms:
        raise ModelError(f"{robot.name!r} has no Franka arm; must be a robot such as fr3 or franka", field="robot")
    if not name and len(arms) == 1:
        return next(iter(arms.values()))
    if name not in arms:
        raise ModelError(f"arm is {name!r}; {nearest(name, arms)} (--fci-log FILE,arm=NAME)", field="arm")
    return arms[name]


def open_log(robot: Robot, options: ArmLogOptions) -> ArmWorlds:
    """Return the worlds beside a log, for the listener ``fci-log``."""
    if not options.file:
        raise RecordingError("--fci-log needs a file: a CSV of libfranka's logToCSV, or a recording", field="file")
    arm = _arm(robot, options.arm)
    return ArmWorlds(robot, read_arm_log(options.file, arm.name), arm.name)

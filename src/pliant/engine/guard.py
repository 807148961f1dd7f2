"""Guard: stops a diverging simulation and stores its last states for analysis."""

from __future__ import annotations

import ctypes
import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

import mujoco
import numpy as np

from pliant.base.errors import DivergedError
from pliant.engine.abi import data_offset
from pliant.engine.program import state_copy
from pliant.laws.compile import BoundKernel, bound

KEPT = 200
"""Number of states kept for the dump."""

MAX_SPEED = 1.0e5
"""Norm of the joint velocities above which the simulation is stopped as diverged [rad/s and m/s]."""

_output: ContextVar[Path | None] = ContextVar("output folder of the run", default=None)


@contextmanager
def dumps_into(folder: str | Path) -> Iterator[None]:
    """Let the guards of engines that are made inside write into the output folder of a run.

    Args:
        folder: folder of the dumps; made when the first is written.
    """
    token = _output.set(Path(folder))
    try:
        yield
    finally:
        _output.reset(token)


def state_folder() -> Path:
    """Return pliant's folder in the user's state folder: ``$XDG_STATE_HOME/pliant`` or ``~/.local/state/pliant``.

    Raises:
        RuntimeError: the user has no home folder.
    """
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "state") / "pliant"


def log_to_console_only() -> None:
    """Let MuJoCo print its warnings only, unless the program has named a log file: by default MuJoCo also writes them
    to a file in the working folder."""
    config = mujoco.MjLogConfig.get()
    if config.logto_file and config.logfile == "MUJOCO_LOG.TXT":
        config.logto_file = False
        config.set()


def check_speed(qvel, nv, limit, stop):
    """Set ``stop`` where the square of the norm of the joint velocities is not below a limit (C arrays)."""
    square = 0.0
    for k in range(nv):
        square += qvel[k] * qvel[k]
    if not square < limit:  # NaN, infinity and runaways alike: every comparison with NaN is false
        stop[0] = 1


_STATE = mujoco.mjtState
_MOVING = int(
    _STATE.mjSTATE_TIME | _STATE.mjSTATE_QPOS | _STATE.mjSTATE_QVEL | _STATE.mjSTATE_ACT | _STATE.mjSTATE_WARMSTART
)
"""What `keep_state` copies."""
_GIVEN = int(_STATE.mjSTATE_USER)
"""What MuJoCo leaves as it is."""


class Rows(NamedTuple):
    """Kept rows."""

    width: int
    """Numbers of a row."""
    numbers: np.ndarray
    """The rows, in C order."""


class Moving(NamedTuple):
    """Arrays that MuJoCo changes in a step, and the number of elements of each (C arrays)."""

    time: np.ndarray
    """Time [s], shape (1,)."""
    qpos: np.ndarray
    """Positions."""
    nq: int
    """Number of positions."""
    qvel: np.ndarray
    """Velocities."""
    nv: int
    """Number of velocities."""
    act: np.ndarray
    """States of the actuators."""
    na: int
    """Number of states."""
    warmstart: np.ndarray
    """Accelerations from which the solver starts, as many as velocities."""


def keep_row(row, rows, kept, place):
    """Copy a row to the next of the kept ones, and count it (C arrays)."""
    width, states = rows
    first = place[0] % kept * width
    for k in range(width):
        states[first + k] = row[k]
    place[0] += 1


def keep_state(moving, rows, kept, place, inputs):
    """Copy what moves to the next of the kept rows, and which row the inputs have, and count it (C arrays)."""
    time, qpos, nq, qvel, nv, act, na, warmstart = moving
    width, states = rows
    k = place[0] % kept * width
    states[k] = time[0]
    k += 1
    for i in range(nq):
        states[k + i] = qpos[i]
    k += nq
    for i in range(nv):
        states[k + i] = qvel[i]
    k += nv
    for i in range(na):
        states[k + i] = act[i]
    k += na
    for i in range(nv):
        states[k + i] = warmstart[i]
    states[k + nv] = (inputs[0] - 1) % kept
    place[0] += 1


class Guard:
    """Detect divergence of one simulation.

    Args:
        model: the compiled model.
        data: its state.
        clock: function that returns the simulation time [ns].
        stop: int64 array of one element; the check sets it to 1.
        folder: folder of the dump; None for the one of `dumps_into`, or else `state_folder`.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        clock: Callable[[], int],
        stop: np.ndarray,
        folder: str | Path | None,
    ) -> None:
        self._model, self._data, self._clock = model, data, clock
        self._folder = _output.get() if folder is None else Path(folder)
        whole = int(mujoco.mjtState.mjSTATE_INTEGRATION)  # without the elements that the model does not have
        self._spec = sum(1 << k for k in range(whole.bit_length()) if mujoco.mj_stateSize(model, whole & 1 << k))
        self._rest = self._spec & ~_MOVING
        width = 2 + model.nq + 2 * model.nv + model.na
        self._states = np.full((KEPT, width), np.nan)
        self._inputs = np.full((KEPT, mujoco.mj_stateSize(model, self._rest)), np.nan)
        self._places = np.zeros((2, 1), dtype=np.int64)
        self._time = np.ctypeslib.as_array((ctypes.c_double * 1).from_address(data._address + data_offset("time")))
        moving = Moving(
            self._time, data.qpos, model.nq, data.qvel, model.nv, data.act, model.na, data.qacc_warmstart
        )  # fmt: skip
        row = np.zeros(self._inputs.shape[1])
        states, inputs = self._places
        self.check = bound(check_speed, data.qvel, model.nv, MAX_SPEED**2, stop)
        """Call that checks the joint velocities after a step."""
        given = [
            state_copy(model, data, row, self._rest),
            bound(keep_row, row, Rows(self._inputs.shape[1], self._inputs), KEPT, inputs),
        ]
        kept = bound(keep_state, moving, Rows(width, self._states), KEPT, states, inputs)
        alone = not self._rest & ~_GIVEN
        self.first: list[BoundKernel] = given if alone else []
        """Calls before the first of some steps: inputs, which only others than MuJoCo change."""
        self.remember: list[BoundKernel] = [kept] if alone else [*given, kept]
        """Calls of each step that store the current state."""

    def reset(self) -> None:
        """Discard the stored states and store the current one."""
        self._states[:] = np.nan
        self._places[:] = 0
        for call in (*self.first, *self.remember):
            call()

    def states(self) -> np.ndarray:
        """Return the stored states, the oldest first, in the order of ``mj_getState``."""
        model, probe = self._model, mujoco.MjData(self._model)
        rows = np.roll(self._states, -self._places[0, 0], axis=0)
        rows = rows[np.isfinite(rows[:, -1])]
        out = np.zeros((len(rows), mujoco.mj_stateSize(model, self._spec)))
        for row, state in zip(rows, out, strict=True):
            mujoco.mj_setState(model, probe, self._inputs[int(row[-1])], self._rest)
            probe.time = row[0]
            ends = np.cumsum((1, model.nq, model.nv, model.na, model.nv))
            probe.qpos[:], probe.qvel[:], probe.act[:], probe.qacc_warmstart[:] = (
                row[begin:end] for begin, end in itertools.pairwise(ends)
            )
            mujoco.mj_getState(model, probe, state, self._spec)
        return out

    def stop(self) -> NoReturn:
        """Write the stored states to a file and raise.

        Raises:
            DivergedError: always; names the joint that diverged first and the dump file.
        """
        model, data = self._model, self._data
        velocity = np.where(np.isfinite(data.qvel), np.abs(data.qvel), np.inf)
        kept = self.states()
        first = int(np.argmax(velocity))
        if np.isinf(velocity).sum() > 1:
            # All are NaN by now: the fastest joint of the last good state went first.
            probe = mujoco.MjData(model)
            mujoco.mj_setState(model, probe, np.ascontiguousarray(kept[-1]), self._spec)
            first = int(np.argmax(np.abs(probe.qvel)))
        joint = model.joint(int(model.dof_jntid[first])).name or f"dof {first}"
        time = self._clock() * 1e-9
        dump = self._write(kept)
        found = "is not finite" if not np.isfinite(data.qvel).all() else f"exceeds {MAX_SPEED:g} rad/s"
        raise DivergedError(
            f"the simulation diverged at t = {time:.6g} s: the velocity of joint {joint!r} {found}. "
            "Usual causes: a time step beyond the stable bound (pliant check prints it), a NaN command, "
            f"a spring that is too stiff for the inertia. The last {len(kept)} states are in {dump or 'no file'}"
            + (f"; look at them with: pliant replay {dump}" if dump else ""),
            joint=joint,
            time=time,
            dump=dump,
        )

    def _write(self, states: np.ndarray) -> str | None:
        model = self._model
        joints = [model.joint(int(j)).name for j in model.dof_jntid]
        probe = mujoco.MjData(model)
        rows = {name: [] for name in ("time", "qpos", "qvel", "act", "ctrl")}
        for state in states:
            mujoco.mj_setState(model, probe, np.ascontiguousarray(state), self._spec)
            for name, values in rows.items():
                values.append(probe.time if name == "time" else getattr(probe, name).copy())
        try:
            with _new_file(state_folder() if self._folder is None else self._folder) as file:
                np.savez_compressed(
                    file,
                    states=states,
                    joints=np.array(joints),
                    dt=model.opt.timestep,
                    time=np.array(rows["time"]),
                    qpos=np.array(rows["qpos"]),
                    qvel=np.array(rows["qvel"]),
                    act=np.array(rows["act"]),
                    ctrl=np.array(rows["ctrl"]),
                )
                return file.name
        except (OSError, RuntimeError):  # RuntimeError: the user has no home folder
            return None


def _new_file(folder: Path) -> BinaryIO:
    """Open a file that did not exist before, ``pliant_diverged_<date>-<time>.npz``, numbered where there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    path, number = folder.absolute() / f"pliant_diverged_{stamp}.npz", 1
    while True:
        try:
            return path.open("xb")
        except FileExistsError:
            number += 1
            path = path.with_name(f"pliant_diverged_{stamp}-{number}.npz")

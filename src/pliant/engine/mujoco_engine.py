"""MuJoCo engine: one simulation, with the laws evaluated inside the step."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import mujoco
import numpy as np

from pliant.base.errors import LawError, ModelError, PortError, nearest
from pliant.base.options import parse_number
from pliant.engine import callbacks
from pliant.engine.base import PortInfo, register_engine
from pliant.engine.flush import step_and_flush
from pliant.engine.guard import Guard, log_to_console_only
from pliant.engine.payload import Payloads
from pliant.engine.ports import port_places
from pliant.engine.program import StepProgram, physics
from pliant.laws import Mode, layout
from pliant.laws.actuator import call_hold
from pliant.laws.compile import bound, compiled
from pliant.model.check import check as check_parts
from pliant.model.wanted import check_robot

if TYPE_CHECKING:
    from pliant.engine.monitor import Monitor
    from pliant.laws import Law
    from pliant.model.robot import Robot

M = TypeVar("M", bound="Monitor")
log = logging.getLogger("pliant")
_MODES = tuple(Mode)
"""Number of a mode -> the mode."""


def hold_pose(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    presets: Mapping[str, float] | None = None,
    *,
    zero: Collection[str] = (),
) -> None:
    """Set every compliant actuator to rest at the current `qpos`: motors, friction anchors, delay lines, references.

    Needed only with plain MuJoCo; `MujocoEngine.reset` calls it.

    Args:
        model: compiled model.
        data: its data; `act` and `ctrl` are written.
        presets: actuator name -> stiffness preset [rad], lever position [m] or pressure [Pa]; default 0 rad, 0.01 m or
            1.5e5 Pa.
        zero: names of actuators whose motors start at 0 for any joint position, as in the original toolbox.
    """
    callbacks.install(model)
    for i, cls in callbacks.laws_of(model).items():
        row = np.ascontiguousarray(model.actuator_user[i])
        name = model.actuator(i).name
        kind = layout.SECOND_INPUTS[int(row[layout.P_SECOND])]
        preset = (presets or {}).get(name, layout.USUAL_PRESETS[kind])
        states = int(row[layout.P_STATES])
        q = 0.0 if name in zero else _link_angle(model, data, i)
        state, refs = actuator_at_rest(cls, row, q, float(preset))
        first = int(model.actuator_actadr[i])
        data.act[first : first + states] = state[:states]
        _refer(model, data, i, refs)


def actuator_at_rest(cls: type[Law], row: np.ndarray, q: float, preset: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the state of an actuator at rest at a joint position, and the two references that hold it there."""
    state, refs = np.zeros(max(1, int(row[layout.P_STATES]))), np.zeros(2)
    call_hold(compiled(cls).hold, row, q, preset, state, refs)
    return state, refs


def _refer(model: mujoco.MjModel, data: mujoco.MjData, i: int, refs: np.ndarray) -> None:
    """Write the references of an actuator."""
    data.ctrl[model.actuator_ctrladr[i]] = refs[0]
    if model.actuator_user[i, layout.P_COMPANION] > 0.5:
        data.ctrl[model.actuator_ctrladr[i + 1]] = refs[1]


def runnable_model(robot: Robot | mujoco.MjModel, asker: str, *, check: bool = True) -> mujoco.MjModel:
    """Return the compiled model of a robot, if it can run.

    Args:
        robot: a robot, or a compiled model, which is returned.
        asker: the class that runs it.
        check: whether to refuse a robot whose check finds errors.

    Raises:
        ModelError: it is no robot, its check found errors, or it uses RK4 with motor states.
    """
    check_robot(robot, asker)
    if not isinstance(robot, mujoco.MjModel) and check:
        errors = [p for p in check_parts(robot, surfaces=False) if p.severity == "error"]
        if errors:
            raise ModelError("\n".join(f"{p.subject}: {p.message}. {p.hint}" for p in errors), file=robot.file)
    model = robot if isinstance(robot, mujoco.MjModel) else robot.compile()
    stateful = any(model.actuator_actnum[callbacks.compliant_ids(model)])
    if stateful and int(model.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4):
        raise ModelError(
            "the integrator is RK4 and an actuator has motor states, which advance once a step; "
            "must be implicitfast (the default), implicit or Euler",
            field="integrator",
        )
    return model


def starts_of(robot: Robot | mujoco.MjModel) -> tuple[dict[str, float], frozenset[str]]:
    """Return the initial preset of each compliant joint of a robot, and the joints whose motors start at 0."""
    actuators = {} if isinstance(robot, mujoco.MjModel) else robot.actuators
    presets = {joint: float(a.initial_preset or 0.0) for joint, a in actuators.items()}
    return presets, frozenset(joint for joint, a in actuators.items() if a.start == "zero")


def reset_to_rest(
    model: mujoco.MjModel, data: mujoco.MjData, presets: Mapping[str, float], zero: Collection[str]
) -> None:
    """Reset to the key frame "rest" or the initial pose, with every actuator at rest; arguments as of `hold_pose`."""
    key = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "rest")
    if key >= 0:
        mujoco.mj_resetDataKeyframe(model, data, key)
    else:
        mujoco.mj_resetData(model, data)
    hold_pose(model, data, presets, zero=zero)


def _link_angle(model: mujoco.MjModel, data: mujoco.MjData, actuator: int) -> float:
    if int(model.actuator_trntype[actuator]) == int(mujoco.mjtTrn.mjTRN_JOINT):
        return float(data.qpos[model.jnt_qposadr[model.actuator_trnid[actuator, 0]]])
    mujoco.mj_forward(model, data)
    return float(data.actuator_length[model.actuator_outadr[actuator]])


def hash_of_model(model: mujoco.MjModel) -> str:
    """Return a hash of all that is in a compiled model."""
    buffer = np.zeros(mujoco.mj_sizeModel(model), dtype=np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return hashlib.sha256(buffer.tobytes()).hexdigest()[:16]


@register_engine("mujoco")
class MujocoEngine:
    """One simulation of a compiled model.

    Ports (float64 views that stay valid for the life of the engine):

    * ``<joint>/position``, ``<joint>/velocity``, ``<joint>/external_torque`` of every hinge and slide joint;
    * ``<joint>/reference_1``, ``<joint>/reference_2`` of every compliant actuator, and each of
      `pliant.laws.fields.OBSERVED` as ``<joint>/<field>``, for the state at the end of the last step;
    * those of `pliant.engine.native.NATIVE_FIELDS` of every other actuator, such as ``<actuator>/control``;
    * ``sensor/<name>``; ``body/<name>/wrench`` (force [N] and torque [N m] in world axes at the centre of mass),
      ``body/<name>/position``, ``body/<name>/orientation``;
    * ``state/qpos``, ``state/qvel``, ``state/act``, ``state/ctrl``.

    Args:
        robot: a robot, or a compiled `mujoco.MjModel`.
        guard: whether to stop at NaN, infinity or a runaway, and write the last states to a file.
        dump_folder: folder of the guard's file; None for the run's output folder (`pliant.engine.guard.dumps_into`) or
            else the user's state folder.
        check: whether to refuse a robot whose `check()` finds errors.

    Raises:
        ModelError: the robot's check found errors, or the model uses RK4 with motor states.
    """

    def __init__(
        self,
        robot: Robot | mujoco.MjModel,
        *,
        guard: bool = True,
        dump_folder: str | Path | None = None,
        check: bool = True,
    ) -> None:
        self.model = model = runnable_model(robot, "MujocoEngine", check=check)
        self.robot: Robot | None = None if isinstance(robot, mujoco.MjModel) else robot
        self._mode_cells: dict[str, np.ndarray] = {}
        self._presets, self._zero = starts_of(robot)
        # A reset that MuJoCo does by itself would hide the fault from the guard.
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        log_to_console_only()
        callbacks.install(model)
        # Gains and modes change while it runs; a reset returns to those of the model.
        self._parameters = model.actuator_user.copy()
        self.payloads = Payloads(model)
        self.data = mujoco.MjData(model)
        self.dt = float(model.opt.timestep)
        self._dt_ns = round(self.dt * 1e9)
        self._steps, self._hash = 0, ""
        self._where = callbacks.addresses(model)
        self.observed = np.zeros((self._where.shape[0], layout.OBSERVATIONS))
        self._observe = callbacks.observer(model, self.data, self._where, self.observed)
        self._ports, self._info = self._build_ports()
        self._counted, self._stop = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self.guard = Guard(model, self.data, lambda: self.time_ns, self._stop, dump_folder) if guard else None
        self.motor_friction = np.zeros(model.nv)
        self.textures: dict[int, int] = {}
        self._watchers: list[weakref.WeakMethod[Callable[[], None]]] = []
        self._monitors: list[Monitor] = []
        self._program = self._make_program()
        self.reset()

    # -- clock -----------------------------------------------------------------------------------------

    @property
    def time_ns(self) -> int:
        """Simulation time [ns]: number of steps times dt."""
        return self._steps * self._dt_ns

    @property
    def steps(self) -> int:
        """Number of steps since the last reset."""
        return self._steps

    @property
    def model_hash(self) -> str:
        """Hash of the model as it was compiled, stored in recordings."""
        if not self._hash:
            self._hash = hash_of_model(self.model)
        return self._hash

    def reset(self, seed: int | None = None) -> None:
        """Reset to the key frame "rest" or the initial pose of the model, with every actuator at rest, and to time 0.

        Args:
            seed: not used, because MuJoCo draws no random numbers; part of the `Engine` interface.
        """
        if not callbacks.installed():
            callbacks.install(self.model)
        self.model.actuator_user[:] = self._parameters
        self.payloads.clear()
        reset_to_rest(self.model, self.data, self._presets, self._zero)
        self._settle()

    def forward(self) -> None:
        """Update all quantities derived from the state, without a step."""
        mujoco.mj_forward(self.model, self.data)

    def watch_model(self, finish: Callable[[], None]) -> None:
        """Register a method that is called before a device changes the compiled model or makes the state jump.

        Args:
            finish: a bound method; the engine does not keep its object alive.
        """
        self._watchers.append(weakref.WeakMethod(finish))

    def add_monitor(self, monitor: M) -> M:
        """Let a monitor follow every step from now on, and return it."""
        self._monitors.append(monitor)
        self._program = self._make_program()
        return monitor

    @contextlib.contextmanager
    def change_model(self) -> Iterator[None]:
        """Return a context in which a device may change constants of the model or make the state jump, between two
        steps.

        Readers of the model in other threads finish first. Monitors know of it (`Monitor.change`).
        """
        _ = self.model_hash  # recordings name the model as it was compiled
        self._watchers = [watcher for watcher in self._watchers if watcher() is not None]
        for watcher in self._watchers:
            finish = watcher()
            if finish is not None:
                finish()
        with contextlib.ExitStack() as stack:
            for monitor in self._monitors:
                stack.enter_context(monitor.change())
            yield

    def set_payload(self, body: str, mass: float, offset: Sequence[float] | None = None) -> None:
        """Attach a point mass to a body, replacing its current payload; a reset removes it.

        Args:
            body: name of a moving body.
            mass: mass of the payload [kg]; 0 removes it.
            offset: position in the body frame [m]; None for the centre of mass of the body.

        Raises:
            ModelError: there is no such body, it cannot carry a payload, or a number is not valid.
        """
        with self.change_model():
            self.payloads.put(body, mass, offset)

    def _settle(self) -> None:
        mujoco.mj_forward(self.model, self.data)
        self._steps = self._counted[0] = self._stop[0] = 0
        self._observe()
        if self.guard is not None:
            self.guard.reset()
        for monitor in self._monitors:
            monitor.reset()

    def set_pose(self, positions: Mapping[str, float]) -> None:
        """Set joint positions, with everything at rest, and restart the clock.

        Args:
            positions: joint name -> position [rad or m]; other joints keep their positions.

        Raises:
            ModelError: the model has no such joint, or a position is not a finite number.
        """
        numbers: dict[int, float] = {}
        for name, value in positions.items():
            joint = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, name)
            if joint < 0:
                names = [self.model.joint(j).name for j in range(self.model.njnt)]
                raise ModelError(f"no joint {name!r}; {nearest(name, names)}", field=name)
            number = float(parse_number(value, f"set_pose: {name}"))
            if not np.isfinite(number):
                raise ModelError(f"set_pose: {name} is {value!r}; must be a finite number", field=name)
            numbers[int(self.model.jnt_qposadr[joint])] = number
        for address, number in numbers.items():
            self.data.qpos[address] = number
        self.data.qvel[:] = 0.0
        hold_pose(self.model, self.data, self._presets, zero=self._zero)
        self._settle()

    def step(self, n: int = 1) -> None:
        """Advance by n steps.

        Raises:
            DivergedError: the state contains NaN or infinity, or the velocities exceed the limit of the guard.
        """
        if n <= 0:
            return
        if self._monitors:  # faster than a loop over none
            for monitor in self._monitors:
                monitor.begin()
        try:
            stopped = self._program.run(n)
        finally:
            self._steps = self._counted.item()
        if stopped and self.guard is not None:
            self._stop[0] = 0
            self.guard.stop()

    def _make_program(self) -> StepProgram:
        """Return the calls of a step. The laws are observed for the ports after the last of n steps."""
        model, data, guard, monitors = self.model, self.data, self.guard, self._monitors
        first = [call for monitor in monitors for call in monitor.first]
        flush = bound(
            step_and_flush, self._counted, data.qpos, model.nq, data.qvel, model.nv, data.act, model.na,
            data.qacc_warmstart,
        )  # fmt: skip
        each = [*(call for monitor in monitors for call in monitor.before), physics(model, data), flush]
        if guard is not None:
            first = [*guard.first, *first]
            each += [guard.check, *guard.remember]
        each += [call for monitor in monitors for call in monitor.after]
        return StepProgram(first, each, [self._observe], self._stop)

    # -- state -----------------------------------------------------------------------------------------

    def save(self) -> np.ndarray:
        """Return the whole state that determines the following steps, as one float64 array."""
        spec = int(mujoco.mjtState.mjSTATE_INTEGRATION)
        out = np.empty(mujoco.mj_stateSize(self.model, spec) + 1)
        mujoco.mj_getState(self.model, self.data, out[:-1], spec)
        out[-1] = self._steps
        return out

    def load(self, state: object) -> None:
        """Restore a state returned by `save`.

        Raises:
            PortError: the array belongs to another model.
        """
        spec = int(mujoco.mjtState.mjSTATE_INTEGRATION)
        size = mujoco.mj_stateSize(self.model, spec) + 1
        given = np.asarray(state)
        if given.shape != (size,):
            raise PortError(f"a state of this model has shape ({size},); found {given.shape}")
        mujoco.mj_setState(self.model, self.data, np.ascontiguousarray(given[:-1]), spec)
        warmstart = self.data.qacc_warmstart.copy()
        mujoco.mj_forward(self.model, self.data)
        self.data.qacc_warmstart[:] = warmstart
        self._steps = self._counted[0] = int(given[-1])
        self._observe()

    # -- ports -----------------------------------------------------------------------------------------

    def port(self, name: str) -> np.ndarray:
        """Return the live view of a port.

        Raises:
            PortError: there is no such port.
        """
        try:
            return self._ports[name]
        except KeyError:
            raise PortError(f"no port {name!r}; {nearest(name, self._ports)}", field=name) from None

    def ports(self) -> Mapping[str, PortInfo]:
        """Return the description of each port, by name."""
        return self._info

    def mode(self, joint: str) -> Mode:
        """Return the operation mode of a compliant actuator."""
        cell = self._mode_cells.get(joint)
        if cell is None:  # looked up by name once: boards ask at every command
            cell = self._mode_cells[joint] = self._row(joint)[layout.P_MODE :]
        return _MODES[int(cell[0])]

    def set_mode(self, joint: str, mode: Mode | int) -> None:
        """Switch the operation mode of a compliant actuator, among the modes with the same state variables.

        Modes 0, 2 and 3 have no motors; modes 4, 5 and 6 have motors. The references become those that hold the motors
        where they are; of mode 4, no torque. What a delay or a slew limit still had on its way is dropped.

        Raises:
            ModelError: the mode needs different state variables from those in the compiled model.
        """
        row = self._row(joint)
        old = Mode(int(row[layout.P_MODE]))
        try:
            new = Mode(int(mode))
        except ValueError:
            raise LawError(f"{joint}: mode is {mode!r}; must be 0 to 6", field="mode") from None
        if new not in old.switchable:
            valid = [int(mode) for mode in old.switchable]
            raise ModelError(
                f"{joint}: cannot switch from mode {old.value} to mode {new.value} in a running simulation, because "
                f"its states differ; the mode must now be one of {valid}. Or compile the "
                f"robot with mode {new.value}",
                field="mode",
            )
        i = self.model.actuator(joint).id
        row = self.model.actuator_user[i]
        if self.robot is not None:
            packed = self.robot.actuators[joint].replace(mode=new).pack(self.dt)
            quanta = slice(layout.P_RESOLUTION_1, layout.P_RESOLUTION_2 + 1)
            row[quanta] = packed[quanta]
        row[layout.P_MODE] = float(new)
        self._hold(joint, i, old)

    def _hold(self, joint: str, i: int, old: Mode) -> None:
        """Hold the motors of an actuator where they are, or the link where it has none, after a change of its mode."""
        row = np.ascontiguousarray(self.model.actuator_user[i])
        cls = callbacks.laws_of(self.model)[i]
        seen = self.observed[self._index(joint)]
        preset, place = (float(seen[layout.OUT[name]]) for name in ("preset", "equilibrium"))
        if cls.second_input == "pressure" or not np.isfinite(place):
            place = _link_angle(self.model, self.data, i)
        state, refs = actuator_at_rest(cls, row, place, preset if np.isfinite(preset) else 0.0)
        # References on their way are in the unit of the old mode; the controllers of mode 4 were off.
        stale = [(layout.A_SLEW, 0, 2), (layout.A_DELAY, 0, 1 + 2 * int(row[layout.P_DELAY]))]
        stale += [(layout.A_PREVIOUS_1, 0, 1), (layout.A_PREVIOUS_2, 0, 1)]
        if old == Mode.MOTOR_TORQUES:
            stale += [(motor, layout.S_INTEGRAL, 1) for motor in (layout.A_MOTOR_1, layout.A_MOTOR_2)]
        if row[layout.A_RATES] > 0.0:
            stale += [(layout.A_RATES, 0, 2)]
        first = int(self.model.actuator_actadr[i])
        for where, offset, length in stale:
            if row[where] >= 0.0:
                begin = int(row[where]) + offset
                self.data.act[first + begin : first + begin + length] = state[begin : begin + length]
        _refer(self.model, self.data, i, refs)
        self._observe()

    def set_gains(self, joint: str, motor: int = 1, **gains: float) -> None:
        """Change the controller gains of a compliant actuator during a run.

        Args:
            joint: name of the actuator.
            motor: 1 or 2.
            gains: new values of kp, ki, kd, each >= 0; units as in `pliant.laws.pid.PID`.

        Raises:
            LawError: an unknown gain or motor, or a value that is negative or not finite.
        """
        row = self._row(joint)
        base = {1: layout.C_1, 2: layout.C_2}.get(motor)
        if base is None:
            raise LawError(f"{joint}: motor is {motor!r}; must be 1 or 2", field="motor")
        names = {"kp": layout.C_KP, "ki": layout.C_KI, "kd": layout.C_KD}
        for name, value in gains.items():
            if name not in names:
                raise LawError(f"{joint}: no gain {name!r}; {nearest(name, names)}", field=name)
            if not (np.isfinite(value) and value >= 0.0):
                raise LawError(f"{joint}: {name} is {value!r}; must be at least 0", field=name)
        for name, value in gains.items():
            row[base + names[name]] = float(value)

    def _row(self, joint: str) -> np.ndarray:
        self._index(joint)
        return self.model.actuator_user[self.model.actuator(joint).id]

    def _index(self, joint: str) -> int:
        names = self.compliant_joints()
        if joint not in names:
            raise PortError(f"no compliant actuator {joint!r}; {nearest(joint, names)}", field=joint)
        return names.index(joint)

    def compliant_joints(self) -> list[str]:
        """Return the names of the compliant actuators, in the order of `observed`."""
        return [self.model.actuator(int(i)).name for i in self._where[:, 0]]

    def _build_ports(self) -> tuple[dict[str, np.ndarray], dict[str, PortInfo]]:
        places = port_places(self.model, self.data, self._where)
        fields = {
            p.field: self.observed if p.field == "observed" else getattr(self.data, p.field) for p in places.values()
        }
        ports = {name: fields[p.field][p.index] for name, p in places.items()}
        return ports, {name: p.info for name, p in places.items()}

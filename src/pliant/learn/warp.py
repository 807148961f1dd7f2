"""Batches in MuJoCo Warp: many worlds of one robot on an NVIDIA GPU or on the CPU, with the laws as Warp functions.

MuJoCo Warp neither integrates the states of user actuators nor stores their parameters. pliant therefore keeps both in
its own arrays, with one row per world and joint. Two callbacks run in every step: ``act_dyn`` computes the rate of
change of the motor states and ``act_bias`` computes the torque. After the step a kernel integrates the states. MuJoCo
Warp computes the physics in single precision; the laws are evaluated in double precision by default.
"""

# Warp declares the arrays of a kernel by calls.
# pyright: reportInvalidTypeForm=false
from __future__ import annotations

import copy
import dataclasses
import functools
import logging
import os
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import LawError, MissingDependency, ModelError
from pliant.batch.worlds import Index, RobotBatch, check_step_count
from pliant.engine.guard import MAX_SPEED
from pliant.laws import layout
from pliant.learn.laws import PRECISIONS, WarpLaw, load_warp, warp_device, warp_law

if TYPE_CHECKING:
    import mujoco_warp as mjwarp
    import warp as wp

    from pliant.model.robot import Robot

log = logging.getLogger("pliant")

T = TypeVar("T")

STEP_MODULES = ("forward", "smooth", "passive", "derivative", "solver", "support", "constraint")
"""Modules of MuJoCo Warp whose kernels a step of almost any model launches."""

# Columns of the table of addresses, a row for each compliant actuator.
_ACTUATOR, _CTRL_1, _CTRL_2, _QPOS, _DOF, _ACT, _STATES = range(7)

_POINT = f"""\
    w, k = wp.tid()
    i = ids[k]
    r1 = real(ctrl[w, where[i, {_CTRL_1}]])
    r2 = real(0.0)
    if where[i, {_CTRL_2}] >= 0:
        r2 = real(ctrl[w, where[i, {_CTRL_2}]])
"""
_STEP_ARGUMENTS = """\
    ids: wp.array(dtype=wp.int32),
    where: wp.array2d(dtype=wp.int32),
    length: wp.array2d(dtype=wp.float32),
    velocity: wp.array2d(dtype=wp.float32),
    ctrl: wp.array2d(dtype=wp.float32),
    par: wp.array3d(dtype=real),
    h: real,
    act: wp.array3d(dtype=real),
    rate: wp.array3d(dtype=real),
"""
_CALL = "par[w, i], real(length[w, a]), real(velocity[w, a]), r1, r2, h, act[w, i], rate[w, i]"

_ADVANCE = f"""\
def advance_kernel(
{_STEP_ARGUMENTS}):
{_POINT}    a = where[i, {_ACTUATOR}]
    advance({_CALL})
"""

_BIAS = f"""\
def bias_kernel(
{_STEP_ARGUMENTS}    force: wp.array2d(dtype=wp.float32),
):
{_POINT}    a = where[i, {_ACTUATOR}]
    force[w, a] = wp.float32(link_torque({_CALL}))
"""

_FINISH = f"""\
def finish_kernel(
    ids: wp.array(dtype=wp.int32),
    where: wp.array2d(dtype=wp.int32),
    h: real,
    act: wp.array3d(dtype=real),
    rate: wp.array3d(dtype=real),
    mirror: wp.array2d(dtype=wp.float32),
):
    w, k = wp.tid()
    i = ids[k]
    for s in range(where[i, {_STATES}]):
        act[w, i, s] = act[w, i, s] + h * rate[w, i, s]
        mirror[w, where[i, {_ACT}] + s] = wp.float32(act[w, i, s])
"""

_OBSERVE = f"""\
def observe_kernel(
{_STEP_ARGUMENTS}    qpos: wp.array2d(dtype=wp.float32),
    qvel: wp.array2d(dtype=wp.float32),
    out: wp.array3d(dtype=real),
):
{_POINT}    a = where[i, {_ACTUATOR}]
    q = real(length[w, a])
    dq = real(velocity[w, a])
    if where[i, {_QPOS}] >= 0:
        q = real(qpos[w, where[i, {_QPOS}]])
        dq = real(qvel[w, where[i, {_DOF}]])
    observe(par[w, i], q, dq, r1, r2, h, act[w, i], real(1.0), out[w, i])
"""

_HOLD = f"""\
def hold_kernel(
    mask: wp.array(dtype=wp.bool),
    ids: wp.array(dtype=wp.int32),
    where: wp.array2d(dtype=wp.int32),
    length: wp.array2d(dtype=wp.float32),
    qpos: wp.array2d(dtype=wp.float32),
    zero: wp.array(dtype=wp.bool),
    preset: wp.array2d(dtype=real),
    par: wp.array3d(dtype=real),
    act: wp.array3d(dtype=real),
    ctrl: wp.array2d(dtype=wp.float32),
    mirror: wp.array2d(dtype=wp.float32),
):
    w, k = wp.tid()
    if not mask[w]:
        return
    i = ids[k]
    q = real(length[w, where[i, {_ACTUATOR}]])
    if where[i, {_QPOS}] >= 0:
        q = real(qpos[w, where[i, {_QPOS}]])
    if zero[i]:
        q = real(0.0)
    r1, r2 = hold(par[w, i], q, preset[w, i], act[w, i])
    ctrl[w, where[i, {_CTRL_1}]] = wp.float32(r1)
    if where[i, {_CTRL_2}] >= 0:
        ctrl[w, where[i, {_CTRL_2}]] = wp.float32(r2)
    for s in range(where[i, {_STATES}]):
        mirror[w, where[i, {_ACT}] + s] = wp.float32(act[w, i, s])
"""


def load_mujoco_warp() -> ModuleType:
    """Return the module `mujoco_warp`.

    Raises:
        MissingDependency: Warp or MuJoCo Warp is not installed.
    """
    load_warp()
    try:
        import mujoco_warp
    except ImportError as error:
        missing = "MuJoCo Warp" if (error.name or "").startswith("mujoco_warp") else str(error.name)
        raise MissingDependency(
            missing, command='pip install "pliant[warp]"', purpose="a batch in MuJoCo Warp"
        ) from None
    return mujoco_warp


@functools.cache
def _kernels() -> dict[str, wp.Kernel]:
    """Return the kernels that know no law."""
    wp = load_warp()

    @wp.kernel(enable_backward=False, module="unique")
    def watch(
        qvel: wp.array2d(dtype=wp.float32),
        limit: wp.float32,
        steps: wp.array(dtype=wp.int64),
        bad: wp.array(dtype=wp.int64),
    ):
        w = wp.tid()
        steps[w] = steps[w] + wp.int64(1)
        total = wp.float32(0.0)
        for k in range(qvel.shape[1]):
            total += qvel[w, k] * qvel[w, k]
        if not (total < limit) and bad[w] == wp.int64(0):
            bad[w] = steps[w]

    @wp.kernel(enable_backward=False, module="unique")
    def put_rows(
        mask: wp.array(dtype=wp.bool),
        source: wp.array2d(dtype=wp.float32),
        target: wp.array2d(dtype=wp.float32),
    ):
        w, k = wp.tid()
        if mask[w]:
            target[w, k] = source[w % source.shape[0], k]

    @wp.kernel(enable_backward=False, module="unique")
    def zero_counters(
        mask: wp.array(dtype=wp.bool),
        steps: wp.array(dtype=wp.int64),
        bad: wp.array(dtype=wp.int64),
    ):
        w = wp.tid()
        if mask[w]:
            steps[w] = wp.int64(0)
            bad[w] = wp.int64(0)

    return {"watch": watch, "put_rows": put_rows, "zero_counters": zero_counters}


def _bytes(value: object, seen: set[int]) -> int:
    """Return the size of all arrays of Warp that an object holds [bytes]."""
    wp = load_warp()
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, wp.array):
        return int(value.capacity or 0)
    if dataclasses.is_dataclass(value):
        return sum(_bytes(getattr(value, f.name, None), seen) for f in dataclasses.fields(value))
    if isinstance(value, tuple | list):
        return sum(_bytes(v, seen) for v in value)
    return 0


def free_memory(device: wp.Device) -> int:
    """Return the free memory of a Warp device [bytes]."""
    if device.is_cuda:
        return int(device.free_memory)
    try:
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return 2**62


class WarpBatch(RobotBatch):
    """Batch of worlds in MuJoCo Warp, with the same interface as `pliant.batch.CpuBatch`.

    On a GPU the first step of each kind is recorded as a CUDA graph and replayed afterwards.

    Args:
        robot: a robot, or a compiled `mujoco.MjModel`.
        worlds: number of worlds, >= 1.
        device: "cpu", "cuda" or "cuda:0".
        precision: precision of the laws, "float64" or "float32"; the physics is float32.
        contacts: mean number of contacts to allocate per world; None uses the estimate of MuJoCo Warp.
        constraints: number of constraint rows to allocate per world; None uses the estimate of MuJoCo Warp.
        check: whether to refuse a robot whose check finds errors.

    Raises:
        MissingDependency: Warp or MuJoCo Warp is not installed.
        LawError: there is no such device, or Warp cannot compile a law.
        ModelError: MuJoCo Warp does not support an element of the model, or the worlds do not fit into the memory.

    Example:
        >>> batch = WarpBatch(build_robot("qbmove-5dof"), 4096, device="cuda:0")
        >>> batch.write("joint_1/reference_1", 0.6)
        >>> batch.step(1000)
    """

    def __init__(
        self,
        robot: Robot | mujoco.MjModel,
        worlds: int,
        device: str = "cpu",
        *,
        precision: str = "float64",
        contacts: int | None = None,
        constraints: int | None = None,
        check: bool = True,
    ) -> None:
        if precision not in PRECISIONS:
            raise LawError(f"precision is {precision!r}; must be one of {', '.join(PRECISIONS)}", field="precision")
        self._mjw = load_mujoco_warp()
        self._wp = load_warp()
        self.device = warp_device(device)
        """The Warp device."""
        super().__init__(robot, worlds, check=check)
        self._compiled = {cls: warp_law(cls, precision) for cls in self._laws.values()}
        self._real: type = self._wp.float64 if precision == "float64" else self._wp.float32
        sizes = {"nconmax": contacts, "njmax": constraints}
        self._sizes = {name: int(size) for name, size in sizes.items() if size is not None}
        with self._wp.ScopedDevice(self.device):
            self._make()
            self._load_modules()
        self._wants_observation = bool(self.joints)
        self._graph: wp.Graph | None = None
        self._previous: dict[str, Callable[[mjwarp.Model, mjwarp.Data], None] | None] = {
            "act_dyn": None,
            "act_bias": None,
        }
        self._chaining = False
        self._constants = False
        self.reset()

    # -- construction -----------------------------------------------------------------------------------------------

    def _make(self) -> None:
        wp, m = self._wp, self.model
        plain = copy.copy(m)  # MuJoCo Warp knows no flag against resets by itself, which it never does
        plain.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self.warp_model = self._supported(lambda: self._mjw.put_model(plain))
        """MuJoCo Warp's model. Its callbacks may be set; those of pliant are called first."""
        self._check_memory()
        self.warp_data = self._supported(lambda: self._mjw.make_data(m, nworld=self.worlds, **self._sizes))
        """MuJoCo Warp's data, on the device."""
        n = len(self.joints)
        rows, states = [], []
        for i, qa, va in self._where.tolist():
            second = int(m.actuator_ctrladr[i + 1]) if m.actuator_user[i, layout.P_COMPANION] > 0.5 else -1
            count = int(m.actuator_user[i, layout.P_STATES])
            first = int(m.actuator_actadr[i]) if count else -1
            rows.append((i, int(m.actuator_ctrladr[i]), second, qa, va, first, count))
            states.append(count)
        table = np.array(rows, dtype=np.int32).reshape(-1, 7)
        self._table = wp.array(table, dtype=wp.int32)
        self._start_at_zero = wp.array(np.array([j in self._zero for j in self.joints], dtype=bool), dtype=wp.bool)
        width = max([1, *states])
        self._par = self._zeros(n, m.nuser_actuator)
        if n:
            self._par.assign(np.broadcast_to(m.actuator_user[table[:, _ACTUATOR]], self._par.shape))
        self._act, self._rate = self._zeros(n, width), self._zeros(n, width)
        self.observed = self._zeros(n, layout.OBSERVATIONS)
        """Outputs of the laws at the end of the last step, an array of Warp."""
        self._step_count = wp.zeros(self.worlds, dtype=wp.int64)
        self._bad = wp.zeros(self.worlds, dtype=wp.int64)
        groups: dict[WarpLaw, list[int]] = {}
        for k, i in enumerate(table[:, _ACTUATOR].tolist()):
            groups.setdefault(self._compiled[self._laws[i]], []).append(k)
        self._groups = [(law, wp.array(np.array(ids, dtype=np.int32), dtype=wp.int32)) for law, ids in groups.items()]
        self._start = {
            field: wp.array(np.asarray(getattr(self._data, field), dtype=np.float32)[None], dtype=wp.float32, ndim=2)
            for field in ("qpos", "qvel", "ctrl", "act")
            if getattr(self._data, field).size
        }

    def _zeros(self, joints: int, width: int) -> wp.array:
        """Return zeros of shape (worlds, joints, width) whose first two axes are contiguous in memory.

        A thread computes one joint of one world, so that the threads of a GPU read the same element of adjacent rows at
        the same time.
        """
        columns = self._wp.zeros((width, self.worlds, max(1, joints)), dtype=self._real)
        return columns.transpose([1, 2, 0])

    def _load_modules(self) -> None:
        """Compile in parallel, where they are not in Warp's cache, the kernels that every step needs.

        Each is compiled by the first launch otherwise, one after another.
        """
        wp = self._wp
        names = [f"mujoco_warp._src.{name}" for name in STEP_MODULES]
        modules = [wp.get_module(name) for name in names if name in sys.modules]
        texts = (_ADVANCE, _BIAS, _FINISH, _OBSERVE, _HOLD)
        modules += [law.kernel(text).module for law, _ in self._groups for text in texts]
        wp.force_load(self.device, modules=modules, max_workers=os.cpu_count())

    def _supported(self, make: Callable[[], T]) -> T:
        """Run a function of MuJoCo Warp; what it does not have is refused by name."""
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                made = make()
        except (NotImplementedError, ValueError) as error:
            raise ModelError(
                f"MuJoCo Warp cannot run this model: {error} Use CpuBatch, or change the model", field="model"
            ) from error
        for warning in caught:
            log.warning("MuJoCo Warp: %s", warning.message)
        return made

    def _check_memory(self) -> None:
        wp = self._wp
        sizes = []
        with wp.ScopedDevice("cpu"):
            for count in (1, 3):
                data = self._supported(lambda n=count: self._mjw.make_data(self.model, nworld=n, **self._sizes))
                sizes.append(_bytes(data, set()))
        item = np.dtype(np.float64 if self._real is wp.float64 else np.float32).itemsize
        width = max([1, *(int(self.model.actuator_user[i, layout.P_STATES]) for i in self._where[:, 0])])
        own = item * len(self.joints) * (self.model.nuser_actuator + layout.OBSERVATIONS + 2 * width)
        each = (sizes[1] - sizes[0]) // 2 + own
        free = free_memory(self.device)
        need = (
            f"{self.worlds} worlds need {each * self.worlds / 1e9:.3g} GB on {self.device}, where {free / 1e9:.3g} GB"
        )
        log.info("%s are free", need)
        if each * self.worlds > free:
            raise ModelError(
                f"{need} are free; must be at most {free // each} worlds",
                field="worlds",
            )

    # -- the step ---------------------------------------------------------------------------------------------------

    def _launch(self, text: str, inputs: Callable[[wp.array], list[object]]) -> None:
        for law, ids in self._groups:
            law.launch(law.kernel(text), (self.worlds, ids.shape[0]), inputs(ids), self.device)

    def _arguments(self, ids: wp.array) -> list[object]:
        d = self.warp_data
        table = self._table
        dt = self._real(self.dt)
        return [ids, table, d.actuator_length, d.actuator_velocity, d.ctrl, self._par, dt, self._act, self._rate]

    def _act_dyn(self, model: mjwarp.Model, data: mjwarp.Data) -> None:
        self._launch(_ADVANCE, self._arguments)
        self._chain("act_dyn", model, data)

    def _act_bias(self, model: mjwarp.Model, data: mjwarp.Data) -> None:
        self._launch(_BIAS, lambda ids: [*self._arguments(ids), data.actuator_force])
        self._chain("act_bias", model, data)

    def _chain(self, name: str, model: mjwarp.Model, data: mjwarp.Data) -> None:
        before = self._previous[name]
        if before is not None and not self._chaining:  # theirs may call ours
            self._chaining = True
            try:
                before(model, data)
            finally:
                self._chaining = False

    def _install(self) -> None:
        """Put the callbacks in place, and keep those that somebody else has put there."""
        slots = self.warp_model.callback
        for name, ours in (("act_dyn", self._act_dyn), ("act_bias", self._act_bias)):
            present = getattr(slots, name)
            if present != ours:
                self._previous[name] = present
                setattr(slots, name, ours)
                self._graph = None

    def _step_once(self) -> None:
        d = self.warp_data
        self._mjw.step(self.warp_model, d)
        dt = self._real(self.dt)
        self._launch(_FINISH, lambda ids: [ids, self._table, dt, self._act, self._rate, d.act])
        inputs = [d.qvel, self._wp.float32(MAX_SPEED**2), self._step_count, self._bad]
        self._wp.launch(_kernels()["watch"], dim=self.worlds, inputs=inputs, device=self.device)

    def step(self, n: int = 1) -> None:
        """Advance every world by n steps."""
        check_step_count(n)
        with self._wp.ScopedDevice(self.device):
            self._install()
            if self._constants:
                self._mjw.set_const(self.warp_model, self.warp_data)
                self._constants = False
            for _ in range(n):
                if self._graph is not None:
                    self._wp.capture_launch(self._graph)
                    continue
                self._step_once()
                if self.device.is_cuda:  # all kernels are loaded now, so the next step can be recorded
                    with self._wp.ScopedCapture(self.device) as capture:
                        self._step_once()
                    self._graph = capture.graph
            self._observe()

    def _observe(self) -> None:
        d = self.warp_data
        self._launch(_OBSERVE, lambda ids: [*self._arguments(ids), d.qpos, d.qvel, self.observed])

    # -- the interface ----------------------------------------------------------------------------------------------

    def _array(self, field: str) -> wp.array:
        return self.observed if field == "observed" else getattr(self.warp_data, field)

    def port(self, name: str) -> np.ndarray | wp.array:
        """Return the live array of a port, shape (worlds, ...): a numpy array on "cpu", a Warp array on a GPU."""
        place = self.place(name)
        array = self._array(place.field)
        if not self.device.is_cuda:
            return array.numpy()[(slice(None), *place.index)]
        return array[(slice(None), *place.index)]

    def field(self, name: str) -> NDArray[np.float64]:
        """Return a whole field on the host: the live array on the device "cpu", a copy on a GPU."""
        return self._array(name).numpy()

    def steps(self) -> NDArray[np.int64]:
        return np.array(self._step_count.numpy())

    def diverged_at(self) -> NDArray[np.int64]:
        return np.array(self._bad.numpy())

    def _put(self, name: str, values: NDArray[np.float64], mask: NDArray[np.bool_]) -> None:
        place = self.place(name)
        self._write(self._array(place.field), place.index, values, mask)

    def _write(
        self, array: wp.array, index: tuple[object, ...], values: NDArray[np.float64], mask: NDArray[np.bool_]
    ) -> None:
        """Write some worlds of an array of the device."""
        if self.device.is_cuda and mask.all() and index == (slice(None),):  # all of it: nothing to fetch first
            array.assign(np.ascontiguousarray(values, dtype=self._wp.dtype_to_numpy(array.dtype)))
            return
        host = array.numpy()
        host[:][(mask, *index)] = values
        if self.device.is_cuda:
            array.assign(host)

    def _reset(self, mask: NDArray[np.bool_], qpos: NDArray[np.float64] | None) -> None:
        wp, d = self._wp, self.warp_data
        if not mask.any():
            return
        with wp.ScopedDevice(self.device):
            chosen = wp.array(mask, dtype=wp.bool)
            self._mjw.reset_data(self.warp_model, d, chosen)
            start = dict(self._start)
            if qpos is not None:
                rows = np.repeat(self._data.qpos[None], self.worlds, axis=0)
                rows[mask] = qpos
                start["qpos"] = wp.array(rows.astype(np.float32), dtype=wp.float32, ndim=2)
            for field, source in start.items():
                target = getattr(d, field)
                wp.launch(_kernels()["put_rows"], dim=target.shape, inputs=[chosen, source, target])
            wp.launch(_kernels()["zero_counters"], dim=self.worlds, inputs=[chosen, self._step_count, self._bad])
            if (self._where[:, 1] < 0).any():  # a tendon's length follows from the pose
                self._mjw.fwd_position(self.warp_model, d)
            columns = [self._presets[joint] for joint in self.joints]
            presets = wp.array(np.array(columns).reshape(-1, self.worlds).T.copy(), dtype=self._real, ndim=2)
            self._launch(
                _HOLD,
                lambda ids: [
                    *(chosen, ids, self._table, d.actuator_length, d.qpos, self._start_at_zero, presets),
                    *(self._par, self._act, d.ctrl, d.act),
                ],
            )
            self._install()
            self._mjw.forward(self.warp_model, d)
            self._observe()

    def _put_rows(self, row: int, rows: NDArray[np.float64], mask: NDArray[np.bool_]) -> None:
        self._write(self._par, (row, slice(rows.shape[1])), rows, mask)

    def _put_field(self, field: str, index: Index, values: NDArray[np.float64], mask: NDArray[np.bool_]) -> None:
        wp = self._wp
        array = getattr(self.warp_model, field)
        if array.shape[0] != self.worlds:
            host = np.repeat(array.numpy()[:1], self.worlds, axis=0)
            array = wp.array(np.ascontiguousarray(host), dtype=array.dtype, device=self.device)
            setattr(self.warp_model, field, array)
            self._graph = None
        place = index if isinstance(index, tuple) else (index,)
        self._write(array, place, values, mask)
        self._constants = self._constants or field in ("body_mass", "body_inertia", "dof_armature")

    def get_data(self, world: int) -> mujoco.MjData:
        """Return one world as MuJoCo's data, for rendering or analysis.

        Args:
            world: index of the world.
        """
        self.select(world)
        data = mujoco.MjData(self.model)
        self._mjw.get_data_into(data, self.model, self.warp_data, world_id=world)
        return data

"""MuJoCo callbacks that evaluate the laws.

Two small functions in LLVM assembly connect MuJoCo to the machine code of the laws: ``advance`` is `mjcb_act_dyn`,
``bias`` is `mjcb_act_bias`. They recognise pliant's actuators by the mark in `actuator_user`, find the law in a table
by its key, gather the arguments from `mjModel` and `mjData` and call it. An actuator that is not pliant's goes to the
callback that was installed before, so other libraries keep working. All state is in `mjData.act`, so threads and
batches need no lock. A third function, ``observe``, is called by the engine after a step; it gets the addresses of the
arguments of all actuators, which do not change.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import ModelError, PliantError
from pliant.engine import abi
from pliant.laws import layout, registered_laws
from pliant.laws.base import Law
from pliant.laws.compile import BoundKernel, assemble, compiled, from_block, optimised

if TYPE_CHECKING:
    import mujoco

_SLOTS = 1024
_EMPTY = -1
_PREVIOUS = {"mjcb_act_dyn": 0, "mjcb_act_bias": 1}

# The table has one row per slot: key, then the addresses of advance, torque, observe, hold. `_previous` has the
# addresses of the callbacks that were installed before pliant's, in the order of `_PREVIOUS`. Both arrays live as long
# as the process, because the machine code contains their addresses.
_table = np.full((_SLOTS, 5), _EMPTY, dtype=np.int64)
_previous = np.zeros(2, dtype=np.int64)
_lock = threading.RLock()
_registered: dict[int, type[Law]] = {}
_ZERO = np.zeros(1)
"""The second reference of an actuator that has none."""

_FIND = """
define private ptr @find(ptr %m, i32 %id, ptr %parout) {{
entry:
  %id64 = sext i32 %id to i64
  %nuser_p = getelementptr i8, ptr %m, i64 {nuser}
  %nuser = load i64, ptr %nuser_p
  %enough = icmp sge i64 %nuser, {parameters}
  br i1 %enough, label %read, label %foreign
read:
  %user_p = getelementptr i8, ptr %m, i64 {user}
  %user = load ptr, ptr %user_p
  %row = mul i64 %id64, %nuser
  %par = getelementptr double, ptr %user, i64 %row
  %magic_p = getelementptr double, ptr %par, i64 {p_magic}
  %magic = load double, ptr %magic_p
  %ours = fcmp oeq double %magic, {magic}
  br i1 %ours, label %look, label %foreign
look:
  store ptr %par, ptr %parout
  %law_p = getelementptr double, ptr %par, i64 {p_law}
  %law = load double, ptr %law_p
  %key = fptosi double %law to i64
  %first = and i64 %key, {mask}
  br label %probe
probe:
  %slot = phi i64 [ %first, %look ], [ %next, %miss ]
  %bytes = mul i64 %slot, 40
  %entry_p = getelementptr i8, ptr inttoptr (i64 {table} to ptr), i64 %bytes
  %found = load i64, ptr %entry_p
  %hit = icmp eq i64 %found, %key
  br i1 %hit, label %done, label %miss
miss:
  %more = add i64 %slot, 1
  %next = and i64 %more, {mask}
  %empty = icmp eq i64 %found, {empty}
  br i1 %empty, label %foreign, label %probe
done:
  ret ptr %entry_p
foreign:
  ret ptr null
}}
"""

_INDICES = "".join(
    f"""\
  %{name}_pp = getelementptr i8, ptr %m, i64 {{{field}}}
  %{name}_a = load ptr, ptr %{name}_pp
  %{name}_p = getelementptr i32, ptr %{name}_a, i64 %id64
  %{name}32 = load i32, ptr %{name}_p
  %{name} = sext i32 %{name}32 to i64
"""
    for name, field in (("out", "outadr"), ("c", "ctrladr"), ("a", "actadr"))
)
_ELEMENTS = "".join(
    f"""\
  %{name}s_pp = getelementptr i8, ptr %d, i64 {{{field}}}
  %{name}s = load ptr, ptr %{name}s_pp
  %{name}_p = getelementptr double, ptr %{name}s, i64 %{index}
"""
    for name, field, index in (
        ("q", "length", "out"), ("dq", "velocity", "out"), ("r1", "ctrl", "c"), ("act", "act", "a"),
        ("dot", "act_dot", "a"),
    )
)  # fmt: skip
_LOAD = (
    f"""
  %id64 = sext i32 %id to i64
{_INDICES}{_ELEMENTS}"""
    """\
  %q = load double, ptr %q_p
  %dq = load double, ptr %dq_p
  %r1 = load double, ptr %r1_p
  %h_p = getelementptr i8, ptr %m, i64 {timestep}
  %h = load double, ptr %h_p
  %companion_p = getelementptr double, ptr %par, i64 {p_companion}
  %companion = load double, ptr %companion_p
  %two = fcmp ogt double %companion, 0.5
  br i1 %two, label %second, label %evaluate
second:
  %after_p = getelementptr i32, ptr %c_p, i64 1
  %after32 = load i32, ptr %after_p
  %after = sext i32 %after32 to i64
  %second_p = getelementptr double, ptr %r1s, i64 %after
  %second_value = load double, ptr %second_p
  br label %evaluate
evaluate:
  %r2 = phi double [ 0.0, %ours ], [ %second_value, %second ]
"""
)
"""Loads what a law gets from `mjModel` and `mjData`."""

_CALLBACK = """
define double @{name}(ptr %m, ptr %d, i32 %id) {{
entry:
  %parout = alloca ptr
  %row = call ptr @find(ptr %m, i32 %id, ptr %parout)
  %known = icmp ne ptr %row, null
  br i1 %known, label %ours, label %foreign
ours:
  %par = load ptr, ptr %parout
{load}
  %code_p = getelementptr i64, ptr %row, i64 {column}
  %code = load ptr, ptr %code_p
  %value = call double %code(ptr %par, double %q, double %dq, double %r1, double %r2, double %h, ptr %act_p, ptr %dot_p)
  ret double %value
foreign:
  %before = load ptr, ptr inttoptr (i64 {previous} to ptr)
  %exists = icmp ne ptr %before, null
  br i1 %exists, label %chain, label %none
chain:
  %theirs = call double %before(ptr %m, ptr %d, i32 %id)
  ret double %theirs
none:
  ret double 0.0
}}
"""

_OBSERVE = """
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

define void @observe(ptr %rows, i64 %n, ptr %step, double %full, ptr %out) {{
entry:
  %h = load double, ptr %step
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %next = add i64 %i, 1
  %first = mul i64 %i, {width}
  %row = getelementptr ptr, ptr %rows, i64 %first
{loads}\
  %ahead_p = getelementptr ptr, ptr %row, i64 {width}
  %ahead = load ptr, ptr %ahead_p
{fetches}\
  %q = load double, ptr %q_p
  %dq = load double, ptr %dq_p
  %r1 = load double, ptr %r1_p
  %r2 = load double, ptr %r2_p
  %offset = mul i64 %i, {observations}
  %into = getelementptr double, ptr %out, i64 %offset
  call void %code(ptr %par, double %q, double %dq, double %r1, double %r2, double %h,
                  ptr %act, double %full, ptr %into)
  br label %head
end:
  ret void
}}
"""

_ROW = ("par", "code", "q_p", "dq_p", "r1_p", "r2_p", "act")
"""Addresses of an actuator in the rows that ``observe`` reads: parameters, law, angle, rate, references, states."""


def _assembly() -> str:
    fields = {
        "nuser": abi.model_offset("nuser_actuator"),
        "user": abi.model_offset("actuator_user"),
        "outadr": abi.model_offset("actuator_outadr"),
        "ctrladr": abi.model_offset("actuator_ctrladr"),
        "actadr": abi.model_offset("actuator_actadr"),
        "timestep": abi.model_offset("opt.timestep"),
        "length": abi.data_offset("actuator_length"),
        "velocity": abi.data_offset("actuator_velocity"),
        "ctrl": abi.data_offset("ctrl"),
        "act": abi.data_offset("act"),
        "act_dot": abi.data_offset("act_dot"),
        "parameters": layout.PARAMETERS,
        "p_magic": layout.P_MAGIC,
        "p_law": layout.P_LAW,
        "p_companion": layout.P_COMPANION,
        "magic": f"{layout.MAGIC:.1f}",
        "mask": _SLOTS - 1,
        "empty": _EMPTY,
        "table": _table.ctypes.data,
    }
    parts = [_FIND.format(**fields)]
    for name, column, slot in (("advance", 1, "mjcb_act_dyn"), ("bias", 2, "mjcb_act_bias")):
        parts.append(
            _CALLBACK.format(
                name=name,
                column=column,
                load=_LOAD.format(**fields),
                previous=_previous.ctypes.data + 8 * _PREVIOUS[slot],
            )
        )
    loads = "".join(
        f"  %{name}_at = getelementptr ptr, ptr %row, i64 {k}\n  %{name} = load ptr, ptr %{name}_at\n"
        for k, name in enumerate(_ROW)
    )
    # The parameters of many actuators are larger than the processor's first cache: those of the next one are on their
    # way while one is evaluated.
    fetches = "".join(
        f"  %line{k} = getelementptr i8, ptr %ahead, i64 {k}\n"
        f"  call void @llvm.prefetch.p0(ptr %line{k}, i32 0, i32 3, i32 1)\n"
        for k in range(0, 8 * layout.PARAMETERS, 64)
    )
    parts.append(_OBSERVE.format(width=len(_ROW), loads=loads, fetches=fetches, observations=layout.OBSERVATIONS))
    parts.append(from_block("observe_block", "@observe", ("ptr", "i64", "ptr", "double", "ptr")))
    return "\n".join(parts)


class _Machine:
    """The dispatchers as machine code."""

    def __init__(self) -> None:
        abi.verify()
        self._engine, self.observe = assemble(optimised(_assembly()), "observe_block")
        self.advance = self._engine.get_function_address("advance")
        self.bias = self._engine.get_function_address("bias")


_machine: _Machine | None = None


def _get_machine() -> _Machine:
    global _machine
    with _lock:
        if _machine is None:
            _machine = _Machine()
        return _machine


def register(cls: type[Law]) -> None:
    """Compile a law, or load it from the cache, and add it to the table.

    Raises:
        LawError: a kernel cannot be compiled.
        PliantError: two laws share a key, or the table is full.
    """
    key = int(layout.law_key(cls.name))
    with _lock:
        other = _registered.get(key)
        if other is cls:
            return
        if other is not None and other.name != cls.name:
            raise PliantError(f"the laws {other.name!r} and {cls.name!r} share the key {key}; rename one of them")
        if len(_registered) >= _SLOTS // 2:
            raise PliantError(f"more than {_SLOTS // 2} laws in one process")
        code = compiled(cls)
        machine_code = (code.advance, code.torque, code.observe, code.hold)
        slot = key & (_SLOTS - 1)
        while _table[slot, 0] not in (_EMPTY, key):
            slot = (slot + 1) & (_SLOTS - 1)
        _table[slot, 1:] = machine_code
        _table[slot, 0] = key  # last: threads of a batch may be reading the table
        _registered[key] = cls


def compliant_ids(model: mujoco.MjModel) -> np.ndarray:
    """Return the ids of pliant's actuators in a model, shape (n,), int32."""
    if model.nuser_actuator < layout.PARAMETERS:
        return np.zeros(0, dtype=np.int32)
    return np.flatnonzero(model.actuator_user[:, layout.P_MAGIC] == layout.MAGIC).astype(np.int32)


def laws_of(model: mujoco.MjModel) -> dict[int, type[Law]]:
    """Return the law class of each of pliant's actuators by actuator id.

    Raises:
        ModelError: an actuator names a law that nobody has registered, or its second reference has moved.
    """
    by_key = {int(layout.law_key(name)): cls for name, cls in registered_laws().items()}
    found: dict[int, type[Law]] = {}
    for i in compliant_ids(model):
        row = model.actuator_user[i]
        name = model.actuator(int(i)).name
        key = int(row[layout.P_LAW])
        if key not in by_key:
            raise ModelError(
                f"the actuator {name!r} uses a law (key {key}) that is not registered; import the module that "
                f"defines it first. Registered: {', '.join(sorted(registered_laws()))}",
                field=name,
            )
        if row[layout.P_COMPANION] > 0.5:
            follower = model.actuator(int(i) + 1).name if i + 1 < model.nactuator else ""
            if follower != f"{name}/ref_2":
                raise ModelError(
                    f"the actuator {name!r} needs the actuator '{name}/ref_2' directly after it; found {follower!r}",
                    field=name,
                )
        if model.actuator_actnum[i] != int(row[layout.P_STATES]):
            raise ModelError(
                f"the actuator {name!r} has {model.actuator_actnum[i]} states; its parameters ask for "
                f"{int(row[layout.P_STATES])}",
                field=name,
            )
        found[int(i)] = by_key[key]
    return found


@functools.cache
def _pointer(symbol: str) -> ctypes.c_void_p:
    """Return MuJoCo's pointer of a callback itself: its value is always the present one."""
    return ctypes.c_void_p.in_dll(abi.library(), symbol)


def installed() -> bool:
    """Return whether pliant's callbacks are currently installed in MuJoCo."""
    if _machine is None:
        return False
    return _pointer("mjcb_act_dyn").value == _machine.advance and _pointer("mjcb_act_bias").value == _machine.bias


def install(model: mujoco.MjModel | None = None, laws: Iterable[type[Law]] = ()) -> None:
    """Install pliant's callbacks in MuJoCo for this process; may be called repeatedly.

    Callbacks of other libraries that are already installed still handle the actuators that are not pliant's. A callback
    that is installed later replaces pliant's; call `install` again after it.

    Args:
        model: a compiled model whose laws are prepared; None prepares only ``laws``.
        laws: further law classes to prepare.

    Raises:
        ModelError: the model uses a law that is not registered.
        PliantError: the memory layout of this MuJoCo build does not match its declarations.
    """
    machine = _get_machine()
    wanted = set(laws)
    if model is not None:
        wanted |= set(laws_of(model).values())
    for cls in sorted(wanted, key=lambda c: c.name):
        register(cls)
    with _lock:
        for symbol, ours in (("mjcb_act_dyn", machine.advance), ("mjcb_act_bias", machine.bias)):
            slot = _pointer(symbol)
            if slot.value != ours:
                _previous[_PREVIOUS[symbol]] = slot.value or 0
                slot.value = ours


def addresses(model: mujoco.MjModel) -> np.ndarray:
    """Return actuator id, qpos address and dof address of each of pliant's actuators, int32, shape (n, 3).

    The last two are -1 for an actuator that does not act on a joint.
    """
    import mujoco

    rows = []
    for i in compliant_ids(model):
        on_joint = int(model.actuator_trntype[i]) == int(mujoco.mjtTrn.mjTRN_JOINT)
        joint = model.actuator_trnid[i, 0]
        rows.append((i, *((model.jnt_qposadr[joint], model.jnt_dofadr[joint]) if on_joint else (-1, -1))))
    return np.array(rows, dtype=np.int32).reshape(-1, 3)


def observer(
    model: mujoco.MjModel, data: mujoco.MjData, where: np.ndarray, out: np.ndarray, *, full: bool = True
) -> BoundKernel:
    """Return the call that evaluates the fields of `pliant.laws.fields.OBSERVED` for the current state of ``data``.

    Args:
        model: compiled model.
        data: its data.
        where: addresses of the actuators, as returned by `addresses`.
        out: result, float64, C order, shape (n, OBSERVATIONS).
        full: whether it evaluates the stiffness too.
    """
    n = len(where)
    rows = np.zeros((n + 1, len(_ROW)), dtype=np.int64)
    for row, (i, qa, va) in zip(rows, where.tolist(), strict=False):
        par, c = model.actuator_user[i], int(model.actuator_ctrladr[i])
        out_i = int(model.actuator_outadr[i])
        q = data.actuator_length[out_i:] if qa < 0 else data.qpos[qa:]
        dq = data.actuator_velocity[out_i:] if qa < 0 else data.qvel[va:]
        second = data.ctrl[c + 1 :] if par[layout.P_COMPANION] > 0.5 else _ZERO
        code = compiled(_registered[int(par[layout.P_LAW])]).observe
        act = data.act.ctypes.data + 8 * int(model.actuator_actadr[i])
        row[:] = par.ctypes.data, code, *(a.ctypes.data for a in (q, dq, data.ctrl[c:], second)), act
    rows[n] = rows[n - 1]
    step = model._address + abi.model_offset("opt.timestep")
    return BoundKernel(_get_machine().observe, (rows, n, step, float(full), out), (model, data))

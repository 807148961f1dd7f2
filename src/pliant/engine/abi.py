"""Memory offsets of the fields of `mjModel` and `mjData`.

The offsets are computed from the declarations in the mujoco package (`mujoco.introspect`) and the C layout rules of
this platform (ctypes). They are compared with live pointers before a callback is installed.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from pliant.base.errors import PliantError

_SCALARS: dict[str, object] = {
    "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint,
    "unsigned char": ctypes.c_ubyte,
    "char": ctypes.c_char,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "mjtNum": ctypes.c_double,
    "mjtSize": ctypes.c_int64,
    "mjtBool": ctypes.c_bool,
    "mjtByte": ctypes.c_ubyte,
    "size_t": ctypes.c_size_t,
    "uint64_t": ctypes.c_uint64,
    "int64_t": ctypes.c_int64,
    "uintptr_t": ctypes.c_void_p,
}


def _ctype(declared: Any) -> Any:
    from mujoco.introspect import structs

    kind = type(declared).__name__
    if kind == "PointerType":
        return ctypes.c_void_p
    if kind == "ArrayType":
        inner = _ctype(declared.inner_type)
        for extent in reversed(declared.extents):
            inner = inner * extent
        return inner
    if kind == "ValueType":
        if declared.name in _SCALARS:
            return _SCALARS[declared.name]
        if declared.name in structs.STRUCTS:
            return _structure(declared.name)
        return ctypes.c_int  # an enumeration
    return _aggregate(kind, declared.fields, union="Union" in kind)


def _aggregate(name: str, fields: Any, *, union: bool = False) -> Any:
    base = ctypes.Union if union else ctypes.Structure
    members = [(getattr(f, "name", "") or f"_{i}", _ctype(f.type)) for i, f in enumerate(fields)]
    return type(name, (base,), {"_fields_": members})


@functools.cache
def _structure(name: str) -> Any:
    from mujoco.introspect import structs

    return _aggregate(name, structs.STRUCTS[name].fields)


def model_offset(field: str) -> int:
    """Return the offset of a field of mjModel [bytes]; a dotted name such as "opt.timestep" addresses mjOption."""
    structure, offset = _structure("mjModel"), 0
    *outer, last = field.split(".")
    for name in outer:
        offset += getattr(structure, name).offset
        structure = dict(structure._fields_)[name]
    return offset + getattr(structure, last).offset


def data_offset(field: str) -> int:
    """Return the offset of a field of mjData [bytes]."""
    return getattr(_structure("mjData"), field).offset


@functools.cache
def library() -> ctypes.CDLL:
    """Return the MuJoCo library that the mujoco package has loaded.

    Raises:
        PliantError: the library is not in the folder of the package.
    """
    from pathlib import Path

    import mujoco

    folder = Path(mujoco.__file__).parent
    found = sorted(p for pattern in ("libmujoco*.so*", "libmujoco*.dylib", "mujoco.dll") for p in folder.glob(pattern))
    if not found:
        raise PliantError(f"no MuJoCo library in {folder}; reinstall it: pip install --force-reinstall mujoco")
    return ctypes.CDLL(str(found[0]))


_PROBE = """
<mujoco><option timestep="0.00321"/><size nuser_actuator="3"/>
<worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
<actuator><general joint="j" dyntype="user" actdim="2" user="1 2 3"/><motor joint="j"/></actuator></mujoco>
"""


@functools.cache
def verify() -> None:
    """Compare the computed offsets with live pointers of a small model.

    Raises:
        PliantError: they differ: the memory layout of this MuJoCo build does not match its declarations.
    """
    import mujoco

    if ctypes.sizeof(ctypes.c_void_p) != 8:
        raise PliantError("pliant needs a 64-bit Python")
    model = mujoco.MjModel.from_xml_string(_PROBE)
    data = mujoco.MjData(model)
    wrong = []
    for owner, address, offset, names in (
        (
            model,
            model._address,
            model_offset,
            ("actuator_user", "actuator_ctrladr", "actuator_outadr", "actuator_actadr"),
        ),
        (
            data,
            data._address,
            data_offset,
            ("actuator_length", "actuator_velocity", "ctrl", "act", "act_dot", "qpos", "qvel"),
        ),
    ):
        for name in names:
            pointer = ctypes.c_void_p.from_address(address + offset(name)).value
            if pointer != getattr(owner, name).ctypes.data:
                wrong.append(name)
    timestep = ctypes.c_double.from_address(model._address + model_offset("opt.timestep")).value
    nuser = ctypes.c_int64.from_address(model._address + model_offset("nuser_actuator")).value
    if timestep != model.opt.timestep:
        wrong.append("opt.timestep")
    if nuser != model.nuser_actuator:
        wrong.append("nuser_actuator")
    if wrong:
        raise PliantError(
            f"the memory layout of MuJoCo {mujoco.__version__} does not match its declarations ({', '.join(wrong)}); "
            "pliant refuses to install its callbacks. Valid: an official mujoco wheel, version 4"
        )

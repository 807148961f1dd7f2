"""Fields of MuJoCo's own actuators, each declared once: `NATIVE_FIELDS`.

An actuator that is no compliant one, of any transmission (joint, tendon, site, body, slider-crank, ...) and any kind
(motor, position, velocity, muscle, ...), has an engine port for each of its fields; its device, and with it recordings,
messages, pages and sweeps, use the same table.

Units are derived from the transmission and from what MuJoCo calls the input signature of an actuator
(``mjModel.actuator_ctrlspec``). A quantity whose unit depends on the model has none: the control of a muscle or of an
adhesion, and all quantities of a general actuator with a gain other than 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.engine.base import PortInfo

FORCE_OF = {"rad": "N m", "m": "N"}
"""Unit of a length -> unit of its force."""
INPUTS = (
    mujoco.mjtCtrlInput.mjINPUT_POS,
    mujoco.mjtCtrlInput.mjINPUT_VEL,
    mujoco.mjtCtrlInput.mjINPUT_FF,
    mujoco.mjtCtrlInput.mjINPUT_VOLTAGE,
    mujoco.mjtCtrlInput.mjINPUT_PRESSURE,
)
"""Bits of an input signature, in the order of the controls."""
INTEGRATED = int(mujoco.mjtDyn.mjDYN_INTEGRATOR)


@dataclass(frozen=True, slots=True)
class NativeField:
    """One quantity of an actuator of MuJoCo."""

    name: str
    """Name in samples and commands."""
    port: str
    """Last part of its engine port, ``<actuator>/<port>``."""
    array: str
    """Array of `mjData`."""
    first: str
    """Array of `mjModel` with the first index of each actuator."""
    count: str
    """Array of `mjModel` with the number of elements of each actuator, which may be 0."""
    unit: Callable[[mujoco.MjModel, int], str]
    """Function of a model and the number of an actuator that returns the unit; "" if it is not known."""
    description: str
    """One sentence: the quantity and its sign convention."""
    writable: bool = False
    """Whether it is an input."""


@dataclass(frozen=True, slots=True)
class NativePort:
    """A field of one actuator: where it is, and what it carries."""

    field: NativeField
    """The field."""
    index: slice
    """Elements of ``field.array``."""
    info: PortInfo
    """Description of the port, with the range of the control."""


def length_unit(model: mujoco.MjModel, actuator: int) -> str:
    """Return the unit of the length of an actuator, times its gear: "rad", "m", or "" if it has several or none."""
    kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
    trn = mujoco.mjtTrn
    if kind == trn.mjTRN_SO3:
        return "rad"
    if kind == trn.mjTRN_SLIDERCRANK:
        return "m"
    if kind == trn.mjTRN_TENDON:
        return _tendon_unit(model, target)
    gear = model.actuator_gear[actuator]
    if kind in (trn.mjTRN_JOINT, trn.mjTRN_JOINTINPARENT):
        joint = int(model.jnt_type[target])
        if joint != mujoco.mjtJoint.mjJNT_FREE:
            return "m" if joint == mujoco.mjtJoint.mjJNT_SLIDE else "rad"
    elif kind != trn.mjTRN_SITE:
        return "m" if kind == trn.mjTRN_BODY else ""
    moves, turns = bool(gear[:3].any()), bool(gear[3:].any())
    return "" if moves == turns else ("m" if moves else "rad")


def _tendon_unit(model: mujoco.MjModel, tendon: int) -> str:
    first, count = int(model.tendon_adr[tendon]), int(model.tendon_num[tendon])
    if int(model.wrap_type[first]) != mujoco.mjtWrap.mjWRAP_JOINT:
        return "m"
    kinds = {int(model.jnt_type[j]) for j in model.wrap_objid[first : first + count]}
    if len(kinds) > 1:
        return ""
    return "m" if kinds == {int(mujoco.mjtJoint.mjJNT_SLIDE)} else "rad"


def _rate_unit(model: mujoco.MjModel, actuator: int) -> str:
    unit = length_unit(model, actuator)
    return unit and f"{unit}/s"


def _force_unit(model: mujoco.MjModel, actuator: int) -> str:
    return FORCE_OF.get(length_unit(model, actuator), "")


def _control_unit(model: mujoco.MjModel, actuator: int) -> str:
    m, i = model, actuator
    spec, gain, bias = int(m.actuator_ctrlspec[i]), int(m.actuator_gaintype[i]), int(m.actuator_biastype[i])
    if gain == mujoco.mjtGain.mjGAIN_SO3:
        return "rad" if spec == mujoco.mjtCtrlChart.mjCHART_EXPMAP else ""
    if spec:
        length, rate, force = length_unit(m, i), _rate_unit(m, i), _force_unit(m, i)
        units = [unit for bit, unit in zip(INPUTS, (length, rate, force, "V", "Pa"), strict=True) if spec & int(bit)]
        return ", ".join(dict.fromkeys(units)) if all(units) else ""
    return "" if int(m.actuator_dyntype[i]) in (INTEGRATED, int(mujoco.mjtDyn.mjDYN_MUSCLE)) else _driven(m, i, bias)


def _driven(model: mujoco.MjModel, actuator: int, bias: int) -> str:
    """Return the unit of what a general actuator with a fixed gain multiplies by it."""
    gain, affine = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
    if int(model.actuator_gaintype[actuator]) != mujoco.mjtGain.mjGAIN_FIXED:
        return ""
    if bias == mujoco.mjtBias.mjBIAS_NONE:
        return _force_unit(model, actuator) if gain[0] == 1.0 else ""
    if bias != mujoco.mjtBias.mjBIAS_AFFINE or gain[0] == 0.0:
        return ""
    if affine[1] == -gain[0]:
        return length_unit(model, actuator)
    return _rate_unit(model, actuator) if affine[1] == 0.0 and affine[2] == -gain[0] else ""


def _activation_unit(model: mujoco.MjModel, actuator: int) -> str:
    m, i = model, actuator
    if int(m.actuator_actnum[i]) != 1:
        return ""
    kind = int(m.actuator_dyntype[i])
    if kind == INTEGRATED:
        return length_unit(m, i) if int(m.actuator_ctrlspec[i]) == int(mujoco.mjtCtrlInput.mjINPUT_VEL) else ""
    filters = (int(mujoco.mjtDyn.mjDYN_FILTER), int(mujoco.mjtDyn.mjDYN_FILTEREXACT))
    return _control_unit(m, i) if kind in filters else ""


_OUT = ("actuator_outadr", "actuator_outnum")
NATIVE_FIELDS: dict[str, NativeField] = {
    field.name: field
    for field in (
        NativeField(
            "control", "control", "ctrl", "actuator_ctrladr", "actuator_ctrlnum", _control_unit,
            "control of the actuator, which MuJoCo clamps to its range", True,
        ),
        NativeField("force", "force", "actuator_force", *_OUT, _force_unit, "force of the actuator, along its length"),
        NativeField("length", "length", "actuator_length", *_OUT, length_unit, "length of the transmission"),
        # A joint of the same name has a port <name>/velocity.
        NativeField("velocity", "length_rate", "actuator_velocity", *_OUT, _rate_unit, "rate of the length"),
        NativeField(
            "activation", "activation", "act", "actuator_actadr", "actuator_actnum", _activation_unit,
            "internal state of the actuator, such as the activation of a muscle",
        ),
    )
}  # fmt: skip
"""Name -> field. Force, length and velocity are those that MuJoCo computed during the last step, as its sensors are."""


def native_ports(model: mujoco.MjModel, actuator: int) -> dict[str, NativePort]:
    """Return the fields that an actuator has, by the name of the field.

    Args:
        model: compiled model.
        actuator: number of the actuator.
    """
    found: dict[str, NativePort] = {}
    for name, field in NATIVE_FIELDS.items():
        first, count = int(getattr(model, field.first)[actuator]), int(getattr(model, field.count)[actuator])
        if count == 0:
            continue
        index = slice(first, first + count)
        low, high = _range(model, index) if field.writable else (-math.inf, math.inf)
        info = PortInfo((count,), field.unit(model, actuator), field.writable, field.description, low, high)
        found[name] = NativePort(field, index, info)
    return found


def _range(model: mujoco.MjModel, controls: slice) -> tuple[float, float]:
    """Return the least and the largest control, of several the least and the largest of all."""
    clamped = not int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL)
    limited = model.actuator_ctrllimited[controls].astype(bool) & clamped
    low = np.where(limited, model.actuator_ctrlrange[controls, 0], -math.inf)
    high = np.where(limited, model.actuator_ctrlrange[controls, 1], math.inf)
    return float(low.min()), float(high.max())

"""Components of a robot, and the MuJoCo model compiled from them.

Each compliant actuator becomes one MuJoCo user actuator with the name of its joint. It has dyntype "user" with
``actdim = actuator.states(timestep)`` ("none" without states), fixed gain 0, biastype "user", gear 1, no limits of
control, force or activation, and ``actuator.pack(timestep)`` as its ``user`` row. If the mode has two references, the
next actuator is a companion ``<joint>/ref_2`` on the same joint, without gain and bias, whose control is reference 2.
The compiled model has a key frame "rest" in which every actuator holds its pose.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import mujoco
import numpy as np

from pliant.base.errors import LawError, ModelError, nearest
from pliant.base.names import numbered_name
from pliant.laws import CompliantActuator
from pliant.model.defaults import neutral_defaults
from pliant.model.interface import DescribedDevice, Interface, ModelPart
from pliant.model.sensors import SensorDescription

COMPANION_SUFFIX = "/ref_2"
"""Suffix of the joint name in the name of the actuator for reference 2."""
TAKES_PLACE = "in a robot file, 'replace: true' of the joint's actuator removes it"
"""Remedy for an actuator of MuJoCo's on a compliant joint."""
REST_KEY = "rest"
"""Name of the key frame in which the actuators hold the initial pose."""

INTEGRATORS: dict[str, int] = {
    "euler": int(mujoco.mjtIntegrator.mjINT_EULER),
    "rk4": int(mujoco.mjtIntegrator.mjINT_RK4),
    "implicit": int(mujoco.mjtIntegrator.mjINT_IMPLICIT),
    "implicitfast": int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST),
    "discrete": int(mujoco.mjtIntegrator.mjINT_DISCRETE),
}


def companion_name(joint: str) -> str:
    """Return the name of the MuJoCo actuator whose control is reference 2 of a joint."""
    return joint + COMPANION_SUFFIX


def actuator_names(joint: str) -> tuple[str, str]:
    """Return the names of the MuJoCo actuators of a compliant joint: (actuator, companion).

    The companion exists only where `CompliantActuator.commands` is 2; it is the next actuator.
    """
    return joint, companion_name(joint)


class Description:
    """Components of a robot: rigid bodies, compliant actuators, devices, interface.

    `pliant.model.Robot` adds methods that modify and check them. Actuators of the spec that have no name get one, that
    of what they drive and "_actuator", because ports and devices are found by name.

    Args:
        spec: the rigid bodies; stored without copying. `compile` does not change it.
        actuators: compliant actuators by joint.
        devices: descriptions of devices, each with a ``name`` and ``prefixed(prefix)`` (see `DeviceSpec`).
        interface: names of the robot's external interface; None for the defaults.
        notes: remarks of a loader, such as unknown plugins or omitted meshes.
        file: file from which the robot was read.
        set_defaults: whether to use the integrator implicitfast instead of MuJoCo's default (Euler) if the spec does
            not name an integrator and has no elastic flex, which MuJoCo does not integrate so.
    """

    def __init__(
        self,
        spec: mujoco.MjSpec,
        actuators: Mapping[str, CompliantActuator] | None = None,
        devices: Iterable[DescribedDevice] = (),
        interface: Interface | None = None,
        *,
        notes: Iterable[str] = (),
        file: str | Path | None = None,
        set_defaults: bool = True,
    ) -> None:
        if not isinstance(spec, mujoco.MjSpec):
            raise ModelError(f"Robot: spec is a {type(spec).__name__}; must be a mujoco.MjSpec", field="spec")
        self.spec = spec
        """The MuJoCo spec with bodies, joints and other elements, but without the compliant actuators."""
        self.actuators: dict[str, CompliantActuator] = dict(actuators or {})
        """Compliant actuators by joint, in the order of the model."""
        self.devices: list[DescribedDevice] = list(devices)
        """Descriptions of the devices."""
        self.interface: Interface = interface if interface is not None else Interface()
        """Names of the robot's external interface."""
        self.notes: list[str] = list(notes)
        """Elements that the loader omitted and assumptions that it made, one sentence each."""
        self.file: str | None = None if file is None else str(file)
        """File from which the robot was read, or None."""
        self.chosen_options: set[str] = set()
        """MuJoCo options that were set with `update`; the report of assumptions omits them."""
        for joint, actuator in self.actuators.items():
            if not isinstance(actuator, CompliantActuator):
                raise ModelError(
                    f"the actuator of joint {joint!r} is a {type(actuator).__name__}; must be a CompliantActuator",
                    field=joint,
                )
        free = not is_authored(spec, "integrator") and not any(flex.young > 0.0 for flex in spec.flexes)
        if set_defaults and free and spec.option.integrator == INTEGRATORS["euler"]:
            spec.option.integrator = INTEGRATORS["implicitfast"]
        self.notes += _name_actuators(spec)

    # -- what it is -------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.spec.modelname

    @property
    def timestep(self) -> float:
        """Length of a step [s]."""
        return float(self.spec.option.timestep)

    @property
    def joints(self) -> list[str]:
        """Names of the joints, in the order of the spec."""
        return [joint.name for joint in self.spec.joints]

    def names_option(self, name: str) -> bool:
        """Return whether a MuJoCo option was set explicitly, in the file or with `update`."""
        return name in self.chosen_options or is_authored(self.spec, name)

    def add_actuator(self, joint: str, actuator: CompliantActuator) -> CompliantActuator:
        """Add a compliant actuator to a hinge or slide joint.

        Args:
            joint: name of a joint of the spec.
            actuator: law, mode, motors and controllers.

        Returns:
            The actuator.

        Raises:
            ModelError: there is no such joint, it is a ball or free joint, or it has a compliant actuator already.
        """
        if not isinstance(actuator, CompliantActuator):
            raise ModelError(
                f"add_actuator({joint!r}): actuator is a {type(actuator).__name__}; must be a CompliantActuator",
                field=joint,
            )
        self.find_joint(joint)
        if joint in self.actuators:
            raise ModelError(
                f"joint {joint!r} has a compliant actuator already ({self.actuators[joint].law.label}); one per joint",
                field=joint,
            )
        self.refuse_taken_names(joint, actuator)
        self.actuators[joint] = actuator
        return actuator

    def assemble(self) -> mujoco.MjSpec:
        """Return a copy of the spec with the compliant actuators, the elements of described sensors and an empty key
        frame "rest".

        Raises:
            ModelError: an actuator cannot be added to the model, or the integrator does not support it.
        """
        spec = self.spec.copy()
        dt = self.timestep
        if not (math.isfinite(dt) and dt > 0.0):
            raise ModelError(f"option.timestep is {dt}; must be more than 0 s", field="option.timestep")
        if self.actuators:
            spec.nuser_actuator = max(spec.nuser_actuator, *(a.pack(dt).size for a in self.actuators.values()))
        states = {joint: actuator.states(dt) for joint, actuator in self.actuators.items()}
        if spec.option.integrator == INTEGRATORS["rk4"] and any(states.values()):
            joint = next(j for j, n in states.items() if n)
            raise ModelError(
                f"the integrator is RK4 and the actuator of joint {joint!r} has {states[joint]} states of its own, "
                "which advance once a step; must be implicitfast, implicit, Euler, or modes 0, 2, 3 without states",
                file=self.file,
                field="option.integrator",
            )
        with neutral_defaults(spec):
            self._install(spec, dt, states)
        if not any(key.name == REST_KEY for key in spec.keys):
            spec.add_key(name=REST_KEY)
        return spec

    def _install(self, spec: mujoco.MjSpec, dt: float, states: Mapping[str, int]) -> None:
        """Add the compliant actuators, with their numbers of states, and the elements of devices."""
        for joint, actuator in self.actuators.items():
            self.find_joint(joint)
            self.refuse_taken_names(joint, actuator)
            name, companion = actuator_names(joint)
            main = spec.add_actuator(name=name)
            _as_user_actuator(main, joint)
            main.biastype = mujoco.mjtBias.mjBIAS_USER
            if states[joint]:
                main.dyntype = mujoco.mjtDyn.mjDYN_USER
                main.actdim = states[joint]
            main.userdata = actuator.pack(dt)
            if actuator.commands == 2:
                _as_user_actuator(spec.add_actuator(name=companion), joint)
        for device in self.devices:
            if isinstance(device, ModelPart) or (isinstance(device, SensorDescription) and device.enabled):
                device.install(spec, self.spec)

    def compile(self) -> mujoco.MjModel:
        """Return the compiled MuJoCo model; the robot is not changed.

        Raises:
            ModelError: the description is not valid; the message contains the reason given by MuJoCo.
        """
        spec = self.assemble()
        widened = self._widen_keys(spec)
        try:
            model = spec.compile()
        except (ValueError, RuntimeError) as error:
            raise self.compile_error(error) from error
        self._hold_in_keys(model, widened)
        for device in self.devices:
            if isinstance(device, ModelPart):
                device.finish(model)
        return model

    def find_joint(self, name: str) -> mujoco.MjsJoint:
        """Return the hinge or slide joint of a given name.

        Raises:
            ModelError: there is no such joint, or it is a ball or free joint.
        """
        joint = next((j for j in self.spec.joints if j.name == name), None)
        if joint is None:
            raise ModelError(
                f"there is no joint {name!r} for a compliant actuator; {nearest(name, filter(None, self.joints))}",
                file=self.file,
                field=name,
            )
        if joint.type not in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            kind = {mujoco.mjtJoint.mjJNT_BALL: "ball", mujoco.mjtJoint.mjJNT_FREE: "free"}.get(joint.type, "?")
            raise ModelError(
                f"joint {name!r} is a {kind} joint; a compliant actuator drives hinge and slide joints",
                file=self.file,
                field=name,
            )
        return joint

    def slides(self, name: str) -> bool:
        """Return whether a joint slides, so that its positions are lengths."""
        return self.find_joint(name).type == mujoco.mjtJoint.mjJNT_SLIDE

    def refuse_taken_names(self, joint: str, actuator: CompliantActuator) -> None:
        """Raise ModelError if the spec has an actuator with a name that the compliant actuator needs."""
        names = actuator_names(joint)[: actuator.commands]
        for other in self.spec.actuators:
            if other.name in names:
                raise ModelError(
                    f"the model has an actuator named {other.name!r} already (on {other.target!r}), a name that "
                    f"belongs to the compliant actuator of joint {joint!r}; {TAKES_PLACE}, or rename it",
                    file=self.file,
                    field=joint,
                )

    def own_actuators(self, joint: str) -> list[mujoco.MjsActuator]:
        """Return the actuators of MuJoCo's that drive a joint."""
        kinds = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
        return [a for a in self.spec.actuators if a.target == joint and a.trntype in kinds]

    def remove_own_actuators(self, joint: str) -> list[str]:
        """Remove the actuators of MuJoCo's that drive a joint, also from the key frames; return their names.

        Raises:
            ModelError: MuJoCo refuses the model, before or after.
        """
        removed = self.own_actuators(joint)
        if not removed:
            return []
        names = [actuator.name or "without a name" for actuator in removed]
        try:
            plain = self.spec.copy().compile()
            gone = [self.spec.actuators.index(actuator) for actuator in removed]
            for key in self.spec.keys:
                for field, size, at, count in (
                    ("ctrl", plain.nu, plain.actuator_ctrladr, plain.actuator_ctrlnum),
                    ("act", plain.na, plain.actuator_actadr, plain.actuator_actnum),
                ):
                    values = list(getattr(key, field))
                    if len(values) == size:
                        left_out = {k for i in gone for k in range(at[i], at[i] + count[i])}
                        setattr(key, field, [v for k, v in enumerate(values) if k not in left_out])
            for actuator in removed:
                self.spec.delete(actuator)
            self.spec.copy().compile()
        except (ValueError, RuntimeError) as error:
            raise self.compile_error(error) from error
        return names

    def _widen_keys(self, spec: mujoco.MjSpec) -> list[str]:
        """Lengthen the key frames that were written for the model without compliant actuators; return their names."""
        if not self.actuators or not self.spec.keys:
            return [REST_KEY]
        try:
            plain = self.spec.copy().compile()
        except (ValueError, RuntimeError) as error:
            raise self.compile_error(error) from error
        widened = [] if any(k.name == REST_KEY for k in self.spec.keys) else [REST_KEY]
        dt = self.timestep
        more_act = sum(a.states(dt) for a in self.actuators.values())
        more_ctrl = sum(a.commands for a in self.actuators.values())
        for key in spec.keys:
            act, ctrl = list(key.act), list(key.ctrl)
            if len(act) in (0, plain.na) and len(ctrl) in (0, plain.nu):
                if act:
                    key.act = [*act, *[0.0] * more_act]
                if ctrl:
                    key.ctrl = [*ctrl, *[0.0] * more_ctrl]
                if key.name not in widened:
                    widened.append(key.name)
        return widened

    def _hold_in_keys(self, model: mujoco.MjModel, keys: list[str]) -> None:
        """Let the compliant actuators hold the pose of each of the named key frames."""
        dt = float(model.opt.timestep)
        for index in range(model.nkey):
            if model.key(index).name not in keys:
                continue
            for joint, actuator in self.actuators.items():
                q = float(model.key_qpos[index, model.joint(joint).qposadr[0]])
                row = model.actuator(joint).id
                try:
                    state, references = actuator.hold(q, dt)
                except LawError as error:
                    raise ModelError(f"the actuator of joint {joint!r}: {error.message}", field=joint) from error
                if state.size:
                    start = int(model.actuator_actadr[row])
                    model.key_act[index, start : start + state.size] = state
                first = int(model.actuator_ctrladr[row])  # an actuator before it may have several controls
                model.key_ctrl[index, first : first + actuator.commands] = references[: actuator.commands]

    def compile_error(self, error: Exception) -> ModelError:
        """Return a compile error of MuJoCo as a ModelError that names file and element."""
        text = tidy(error)
        named = re.search(r"Element name '([^']*)'", text)
        hint = ""
        if "mass and inertia of moving bodies" in text:
            hint = "; give the body an inertial element with positive mass and inertia"
        flat = "coplanar vertices" in text or "4 vertices required" in text
        if named and (flat or "volume is too small" in text):
            users = {geom.parent.name or "the world" for geom in self.spec.geoms if geom.meshname == named.group(1)}
            needs = "a mesh with a volume" if flat else "a closed mesh, or give the body an inertial element"
            hint = f"; it is a shape of {', '.join(map(repr, sorted(users)))}: must be {needs}"
        return ModelError(
            f"MuJoCo refuses the model: {text}{hint}", file=self.file, field=named.group(1) if named else None
        )


def key_frames(spec: mujoco.MjSpec, model: mujoco.MjModel) -> list[tuple[mujoco.MjsKey, int]]:
    """Return the key frames of a spec with their place in its model, also those without a name."""
    unnamed = iter([k for k in range(model.nkey) if not model.key(k).name])
    return [(key, model.key(key.name).id if key.name else next(unnamed)) for key in spec.keys]


def unit_of_joint(joint: mujoco.MjsJoint) -> float:
    """Return the unit of the positions that a spec has of a joint: a degree or a radian [rad], or a metre [m]."""
    degrees = joint.type == mujoco.mjtJoint.mjJNT_HINGE and joint.compiler.degree
    return math.pi / 180.0 if degrees else 1.0


def is_authored(spec: mujoco.MjSpec, option: str) -> bool:
    """Return whether a file sets an option, as recorded by MuJoCo."""
    bit = _authored_bits().get(option)
    return bit is None or bool(spec.authored.option & bit)


def _authored_bits() -> dict[str, int]:
    """Return the bits of MuJoCo's record of named options, found by reading two short models."""
    if not _BITS:
        for option, text in (("integrator", 'integrator="RK4"'), ("timestep", 'timestep="0.5"')):
            spec = mujoco.MjSpec.from_string(f"<mujoco><option {text}/></mujoco>")
            _BITS[option] = int(spec.authored.option)
        text = "<mujoco><option gravity='0 0 -1'/></mujoco>"
        _BITS["gravity"] = int(mujoco.MjSpec.from_string(text).authored.option)
    return _BITS


_BITS: dict[str, int] = {}


def _name_actuators(spec: mujoco.MjSpec) -> list[str]:
    """Give every actuator a name; return a note for each that had none."""
    taken, notes = {actuator.name for actuator in spec.actuators}, []
    for actuator in spec.actuators:
        if actuator.name:
            continue
        actuator.name = name = numbered_name(f"{actuator.target or 'unnamed'}_actuator", taken)
        taken.add(name)
        notes.append(f"the actuator of {actuator.target!r} has no name; it is called {name!r}")
    return notes


def _as_user_actuator(actuator: mujoco.MjsActuator, joint: str) -> None:
    actuator.target = joint
    actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
    actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED
    actuator.gainprm = np.zeros(10)
    actuator.biastype = mujoco.mjtBias.mjBIAS_NONE
    actuator.dyntype = mujoco.mjtDyn.mjDYN_NONE
    actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE
    actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_FALSE
    actuator.actlimited = mujoco.mjtLimited.mjLIMITED_FALSE


def tidy(error: Exception) -> str:
    """Return the message of a MuJoCo error in one line."""
    return " ".join(str(error).split()).removeprefix("Error: ")

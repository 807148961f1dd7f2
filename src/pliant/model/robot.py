"""Robots: components, attachment of other robots, parameters by dotted path, checks."""

from __future__ import annotations

import dataclasses
import fnmatch
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, SupportsInt, TypeVar

import mujoco
import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.base.options import parse_bool, parse_number, parse_vector
from pliant.model.check import check
from pliant.model.description import INTEGRATORS, Description, tidy, unit_of_joint
from pliant.model.interface import DescribedDevice
from pliant.model.parameters import PASSIVE_SPRING, change_actuator, put_value
from pliant.model.problem import Problem
from pliant.model.sensor_reading import change_sensor
from pliant.model.sensors import SensorDescription

_Assignment = tuple[object, str, int | None, object]
"""An element of the spec or "option", its attribute, the index in it (None for the whole), the value."""


def actuator_hint(joint: str, mode: bool = False) -> str:
    """Return how a joint gets a compliant actuator, as the end of a message.

    Args:
        joint: name of the joint.
        mode: whether to mention the mode.
    """
    return f"a YAML file adds one: model: FILE, actuators: {{{joint}: {{law: qbmove{', mode: 6' if mode else ''}}}}}"


class Robot(Description):
    """Robot: rigid bodies, compliant actuators, devices, interface. Its arguments are those of `Description`.

    Example:
        >>> robot = Robot(mujoco.MjSpec.from_file("arm.xml"))
        >>> robot.add_actuator("elbow", CompliantActuator(QbMove(), mode=6))
        >>> model = robot.compile()
    """

    def __repr__(self) -> str:
        laws = ", ".join(f"{joint}: {a.law.name} mode {a.mode.value}" for joint, a in list(self.actuators.items())[:6])
        return f"Robot({self.name!r}, {len(self.spec.joints)} joints, compliant: {{{laws}}})"

    def _repr_html_(self) -> str:
        """Return a picture and a table of the joints, for notebooks."""
        from pliant.model.notebook import robot_html

        return robot_html(self)

    def copy(self) -> Robot:
        """Return an independent copy, which shares the immutable actuators and devices."""
        twin = Robot(
            self.spec.copy(),
            self.actuators,
            self.devices,
            self.interface,
            notes=self.notes,
            file=self.file,
            set_defaults=False,
        )
        twin.chosen_options = set(self.chosen_options)
        return twin

    def __copy__(self) -> Robot:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> Robot:
        return self.copy()

    def __reduce__(self) -> NoReturn:
        source = repr(self.file) if self.file is not None else "the file or the name in the catalogue"
        raise ModelError(
            f"a Robot cannot be pickled, because its mujoco.MjSpec cannot; pass the arguments of pliant.load({source}, "
            "...) to the other process and load it there, or pass robot.compile(), a mujoco.MjModel"
        )

    # -- joining and checking ---------------------------------------------------------------------------

    def check(
        self,
        *,
        timestep: float | None = None,
        presets: Mapping[str, tuple[float, float]] | None = None,
        poses: int = 4,
        seed: int = 0,
    ) -> list[Problem]:
        """Return all problems of the robot, errors first; see `pliant.model.check.check`."""
        return check(self, timestep=timestep, presets=presets, poses=poses, seed=seed)

    def attach(
        self,
        other: Robot,
        *,
        frame: str | mujoco.MjsFrame | None = None,
        site: str | mujoco.MjsSite | None = None,
        body: str | mujoco.MjsBody | None = None,
        prefix: str = "",
    ) -> Robot:
        """Attach another robot, with its actuators, devices and interface, under a prefix.

        The simulation options (time step, gravity, integrator) of this robot apply to both.

        Args:
            other: the robot to attach; it is copied, not changed.
            frame: frame to attach to, as a name or an object.
            site: site to attach to, as a name or an object.
            body: body to attach to, as a name or an object; "world" for the world, which is the default.
            prefix: prefix of every name of ``other``.

        Returns:
            This robot.

        Raises:
            ModelError: more than one of ``frame``, ``site`` and ``body`` is given, there is no such place, or names
                collide.
        """
        given = {k: v for k, v in (("frame", frame), ("site", site), ("body", body)) if v is not None}
        if len(given) > 1:
            raise ModelError(
                f"attach: {' and '.join(given)} are given; must be one of frame, site, body", field="attach"
            )
        if site is not None:
            place = _element(self.spec.sites, "site", site) if isinstance(site, str) else site
        elif frame is not None:
            place = _element(self.spec.frames, "frame", frame) if isinstance(frame, str) else frame
        elif body is None or body == "world":
            place = self.spec.worldbody
        else:
            place = _element(self.spec.bodies, "body", body) if isinstance(body, str) else body
        taken = {
            "joint": {j.name for j in self.spec.joints if j.name},
            "body": {b.name for b in self.spec.bodies if b.name} - {"world"},
            "actuator": set(self.actuators) | {a.name for a in self.spec.actuators if a.name},
        }
        new = {
            "joint": [j.name for j in other.spec.joints],
            "body": [b.name for b in other.spec.bodies if b.name != "world"],
            "actuator": [*other.actuators, *(a.name for a in other.spec.actuators)],
        }
        for what, names in new.items():
            clash = sorted({prefix + n for n in names if n} & taken[what])
            if clash:
                raise ModelError(
                    f"attach: the {what} {clash[0]!r} exists in both robots; give another prefix than {prefix!r}",
                    field="prefix",
                )
        devices = [self._prefixed(device, prefix) for device in other.devices]
        child = other.spec.copy()
        self._take_over_options(child)
        try:
            if isinstance(place, mujoco.MjsBody):
                place = place.add_frame()
            if isinstance(place, mujoco.MjsSite):
                self.spec.attach(child, prefix=prefix, site=place)
            else:
                self.spec.attach(child, prefix=prefix, frame=place)
        except (ValueError, TypeError) as error:
            raise ModelError(f"attach: MuJoCo refuses it: {tidy(error)}", field="attach") from error
        for joint, actuator in other.actuators.items():
            self.actuators[prefix + joint] = actuator
        self.devices.extend(devices)
        self.interface = self.interface.merged(other.interface.prefixed(prefix))
        self.notes.extend(f"{prefix or other.name}: {note}" for note in other.notes)
        return self

    # -- parameters -------------------------------------------------------------------------------------

    def set(self, path: str, value: object) -> Robot:
        """Set one parameter by its dotted path; see `update` for the paths."""
        return self.update({path: value})

    def update(self, values: Mapping[str, object]) -> Robot:
        """Set parameters by dotted path. If one of them is not valid, none is changed.

        Paths: ``actuator.<parameter>`` for all compliant actuators and ``<joint>.<parameter>`` for one, with parameters
        of the law (``k``), of the actuator (``mode``, ``command_delay``) and of its components (``motor_1.inertia``,
        ``pid_1.kp``, ``motor_1.friction.torque``); ``<joint>.damping``, ``friction``, ``armature``, ``lower``,
        ``upper``, ``effort``, and of a joint that is not compliant ``stiffness`` and ``springref``;
        ``<body>.mass``, ``inertia``, ``pos``, ``quat``, ``gravcomp``;
        ``<geom>.mass``, ``friction``, ``size``; ``<sensor>.rate``, ``enabled``, ``force_noise.std`` and the other
        fields of a described sensor; ``option.timestep``, ``option.gravity``, ``option.integrator`` and
        the other MuJoCo options. Values are in SI units and radians. ``*`` in a name matches any text.

        Args:
            values: new values by path; strings are converted to the type of the parameter.

        Returns:
            This robot.

        Raises:
            ModelError: a name is unknown (the message suggests the most similar one), or a value is not valid.
        """
        # Another law has other parameters: it comes first, and all of it is tried on a copy.
        laws = {path: value for path, value in values.items() if str(path).rsplit(".", 1)[-1] == "law"}
        if laws and len(laws) < len(values):
            rest = {path: value for path, value in values.items() if path not in laws}
            self.copy().update(laws).update(rest)
            return self.update(laws).update(rest)
        trees: dict[str, dict[str, object]] = {}
        sensor_trees: dict[str, dict[str, object]] = {}
        assignments: list[_Assignment] = []
        for path, value in values.items():
            for kind, name, rest in self._resolve(str(path)):
                if kind in ("actuator", "sensor"):
                    put_value((trees if kind == "actuator" else sensor_trees).setdefault(name, {}), rest, value, path)
                else:
                    assignments.extend(self._assignment(kind, name, rest, value, str(path)))
        changed = {joint: change_actuator(self.actuators[joint], tree, joint) for joint, tree in trees.items()}
        for joint, actuator in changed.items():
            self.refuse_taken_names(joint, actuator)
        sensors = {name: change_sensor(self._sensors()[name], tree, name) for name, tree in sensor_trees.items()}
        self.devices = [sensors.get(device.name, device) for device in self.devices]
        self.actuators.update(changed)
        option = self.spec.option
        for target, attribute, index, value in assignments:
            if isinstance(target, str):
                target = option
                self.chosen_options.add(attribute)
            if index is not None:
                vector = np.array(getattr(target, attribute), dtype=float)
                vector[index] = value
                value = vector
            setattr(target, attribute, value)
        return self

    # -- the parts of the above -------------------------------------------------------------------------

    @staticmethod
    def _prefixed(device: DescribedDevice, prefix: str) -> DescribedDevice:
        if not prefix:
            return device
        if not isinstance(device, DescribedDevice):
            raise ModelError(
                f"attach: the device {device!r} cannot follow under a prefix: it has no name or no prefixed(prefix); "
                "describe it with a DeviceSpec",
                field="devices",
            )
        return device.prefixed(prefix)

    def _take_over_options(self, child: mujoco.MjSpec) -> None:
        """Give the child this spec's options, so that nothing of the simulation changes or conflicts."""
        for name in _option_names():
            setattr(child.option, name, getattr(self.spec.option, name))
        for name in dir(child.authored):
            if not name.startswith("_"):
                setattr(child.authored, name, 0)
        for name in ("nuserdata", *(n for n in dir(child) if n.startswith("nuser_"))):
            size = max(getattr(child, name), getattr(self.spec, name))
            setattr(child, name, size)
            setattr(self.spec, name, size)

    def _resolve(self, path: str) -> list[tuple[str, str, list[str]]]:
        """Return (kind, name, remaining parts) of what a path means, one entry per element."""
        if path.startswith("option."):
            return [("option", "option", path.split(".")[1:])]
        if path.startswith("actuator.") and "actuator" not in self._names():
            rest = path.split(".")[1:]
            if not self.actuators:
                raise ModelError(f"{path}: the robot has no compliant actuator", field=path)
            return [("actuator", joint, rest) for joint in self.actuators]
        names = self._names()
        head = max((n for n in names if path.startswith(n + ".")), key=len, default=None)
        if head is not None:
            heads, rest = [head], path[len(head) + 1 :].split(".")
        else:
            pattern, _, tail = path.partition(".")
            heads = [n for n in names if fnmatch.fnmatchcase(n, pattern)] if re.search(r"[*?\[]", pattern) else []
            rest = tail.split(".")
            if heads:
                # A pattern means those of its matches that have such a parameter.
                heads = [h for h in heads if self._kinds_with(names, h, rest)] or heads[:1]
        if not heads or not rest[0]:
            name = path.split(".")[0]
            valid = ["option", *(["actuator"] if self.actuators else []), *names]
            if path in names:
                parts = [p for kind in names[path] for p in self._parameters(kind, path)]
                raise ModelError(f"{path}: a path is {path}.PARAMETER; PARAMETER {nearest('', parts)}", field=path)
            owner = next((n for n in names if "." not in path and self._kinds_with(names, n, [path])), None)
            where = (
                "" if "." in path else f" (a path is <name>.<parameter>{f', such as {owner}.{path}' if owner else ''})"
            )
            raise ModelError(f"{path}: nothing is named {name!r}{where}; {nearest(name, valid)}", field=path)
        found = []
        for head in heads:
            kinds = self._kinds_with(names, head, rest)
            if not kinds and head in self.actuators and rest[0] in PASSIVE_SPRING:
                kinds = ["actuator"]  # which refuses it by saying what is meant
            if not kinds:
                if rest[0] in ("law", "mode") and "joint" in names[head]:
                    raise ModelError(
                        f"{path}: {head!r} has no compliant actuator; {actuator_hint(head, rest[0] == 'mode')}",
                        field=path,
                    )
                valid = sorted({p for kind in names[head] for p in self._parameters(kind, head)})
                raise ModelError(
                    f"{path}: {head!r} has no {rest[0]!r}; {nearest(rest[0], valid, limit=60)}", field=path
                )
            found.append((kinds[0], head, rest))
        return found

    def _names(self) -> dict[str, list[str]]:
        """Return the kinds of element behind each name, the most particular first."""
        names: dict[str, list[str]] = {joint: ["actuator"] for joint in self.actuators}
        for kind, elements in (("joint", self.spec.joints), ("body", self.spec.bodies), ("geom", self.spec.geoms)):
            for element in elements:
                if element.name and (kind, element.name) != ("body", "world"):
                    names.setdefault(element.name, []).append(kind)
        for name in self._sensors():
            names.setdefault(name, []).append("sensor")
        return names

    def _sensors(self) -> dict[str, SensorDescription]:
        """Return the described sensors by name."""
        return {device.name: device for device in self.devices if isinstance(device, SensorDescription)}

    def _kinds_with(self, names: dict[str, list[str]], name: str, rest: list[str]) -> list[str]:
        kinds = names.get(name, [])
        if len(rest) > 1:
            return [k for k in kinds if k in ("actuator", "sensor") and rest[0] in self._parameters(k, name)]
        return [k for k in kinds if rest[0] in self._parameters(k, name)]

    def _parameters(self, kind: str, name: str) -> list[str]:
        if kind == "actuator":
            actuator = self.actuators[name]
            return [f.name for f in (*dataclasses.fields(actuator), *dataclasses.fields(actuator.law))]
        if kind == "sensor":
            return [f.name for f in dataclasses.fields(self._sensors()[name]) if f.name != "name"]
        compliant = kind == "joint" and name in self.actuators
        return [field for field in _FIELDS[kind] if not (compliant and field in PASSIVE_SPRING)]

    def _assignment(self, kind: str, name: str, rest: list[str], value: Any, path: str) -> list[_Assignment]:
        if len(rest) != 1:
            raise ModelError(f"{path}: {rest[0]!r} has no parts", field=path)
        field = rest[0]
        if kind == "option":
            return [("option", field, None, self._option_value(field, value, path))]
        every = {"joint": self.spec.joints, "body": self.spec.bodies, "geom": self.spec.geoms}[kind]
        element = next(e for e in every if e.name == name)
        if kind == "joint":
            return self._joint_assignment(element, field, value, path)
        attribute, length = _FIELDS[kind][field]
        if kind == "geom":
            self._check_geom_field(element, field, path)
        if kind == "body" and field in ("mass", "inertia") and not element.explicitinertial:
            geoms = list(element.geoms)
            if field == "mass" and len(geoms) == 1:
                element = geoms[0]
            else:
                raise ModelError(
                    f"{path}: the body's inertia comes from its {len(geoms)} geoms; set the mass of a geom, or give "
                    "the body an inertial element",
                    field=path,
                )
        if length == 1:
            number = parse_number(value, path)
            if field in ("mass", "density") and number < 0.0:
                raise ModelError(f"{path} is {number:g}; must be 0 or more", field=path)
            return [(element, attribute, None, number)]
        if field == "friction":
            count = len(value.replace(",", " ").split()) if isinstance(value, str) else np.size(value)
            if count == 1:
                # One number is the sliding friction; torsion and rolling stay.
                return [(element, attribute, 0, float(parse_number(value, path)))]
        return [(element, attribute, None, parse_vector(value, path, length))]

    def _check_geom_field(self, geom: mujoco.MjsGeom, field: str, path: str) -> None:
        """Raise ModelError where a value of a geom would change nothing in the compiled model."""
        body, reason = geom.parent, ""
        if field in ("mass", "density"):
            always = self.spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
            if body.id == 0:
                reason = "the geom is fixed in the world"
            elif body.explicitinertial and not always:
                reason = f"the inertia of its body is given; set {body.name}.mass"
            elif field == "density" and not math.isnan(geom.mass):
                reason = "the mass of the geom is given"
        elif field in ("pos", "quat") and np.isfinite(geom.fromto).all():
            reason = "the two ends of the geom are given (fromto)"
        if reason:
            raise ModelError(f"{path} would have no effect: {reason}", field=path)

    def _joint_assignment(self, joint: mujoco.MjsJoint, field: str, value: object, path: str) -> list[_Assignment]:
        number = float(parse_number(value, path))
        scale = 1.0 / unit_of_joint(joint)
        if field in ("damping", "friction", "frictionloss", "armature", "stiffness", "effort") and number < 0.0:
            raise ModelError(f"{path} is {number:g}; must be 0 or more", field=path)
        if field in ("damping", "stiffness"):
            return [(joint, field, 0, number)]
        if field in ("lower", "upper"):
            return [
                (joint, "range", 0 if field == "lower" else 1, number * scale),
                (joint, "limited", None, mujoco.mjtLimited.mjLIMITED_TRUE),
            ]
        if field == "effort":
            return [
                (joint, "actfrcrange", None, np.array([-number, number])),
                (joint, "actfrclimited", None, mujoco.mjtLimited.mjLIMITED_TRUE),
            ]
        attribute = _FIELDS["joint"][field][0]
        return [(joint, attribute, None, number * scale if field in ("ref", "springref") else number)]

    def _option_value(self, field: str, value: object, path: str) -> object:
        valid = _option_names()
        if field not in valid:
            raise ModelError(f"{path}: MuJoCo has no option {field!r}; {nearest(field, valid, limit=40)}", field=path)
        current = getattr(self.spec.option, field)
        if field in _OPTION_ENUMS and isinstance(value, str) and not value.strip().isdigit():
            names = _OPTION_ENUMS[field]
            if value.strip().lower() not in names:
                raise ModelError(f"{path} is {value!r}; {nearest(value, names)}", field=path)
            return names[value.strip().lower()]
        if isinstance(current, np.ndarray):
            try:
                single = parse_number(value, path)
            except ModelError:
                single = None
            if single == 0.0:
                return np.zeros(current.size)
            vector = np.array(parse_vector(value, path, current.size))
            if not np.all(np.isfinite(vector)):
                raise ModelError(f"{path} is {value!r}; must be finite numbers", field=path)
            return vector
        if isinstance(current, bool):
            return parse_bool(value, path)
        number = parse_number(value, path, integer=isinstance(current, int))
        if field == "timestep" and not 0.0 < number < 10.0:
            raise ModelError(f"{path} is {number:g}; must be a time step above 0 s and below 10 s", field=path)
        if not math.isfinite(number):
            raise ModelError(f"{path} is {number}; must be a finite number", field=path)
        return number


_FIELDS: dict[str, dict[str, tuple[str, int]]] = {
    "joint": {
        "damping": ("damping", 1),
        "friction": ("frictionloss", 1),
        "frictionloss": ("frictionloss", 1),
        "armature": ("armature", 1),
        "stiffness": ("stiffness", 1),
        "springref": ("springref", 1),
        "ref": ("ref", 1),
        "lower": ("range", 1),
        "upper": ("range", 1),
        "effort": ("actfrcrange", 1),
    },
    "body": {
        "mass": ("mass", 1),
        "inertia": ("inertia", 3),
        "pos": ("pos", 3),
        "quat": ("quat", 4),
        "gravcomp": ("gravcomp", 1),
    },
    "geom": {
        "mass": ("mass", 1),
        "density": ("density", 1),
        "friction": ("friction", 3),
        "size": ("size", 3),
        "pos": ("pos", 3),
        "quat": ("quat", 4),
        "margin": ("margin", 1),
    },
}
"""Parameters of the spec's elements that have a path: MuJoCo's attribute and the count of numbers."""


_Element = TypeVar("_Element", mujoco.MjsFrame, mujoco.MjsSite, mujoco.MjsBody)


def _element(every: Sequence[_Element], kind: str, name: str) -> _Element:
    """Return the element of a name to which a robot can be attached."""
    for element in every:
        if element.name == name:
            return element
    raise ModelError(
        f"attach: there is no {kind} {name!r}; {nearest(name, (e.name for e in every if e.name))}", field=kind
    )


def _enum_names(members: Mapping[str, SupportsInt], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix).lower(): int(value) for name, value in members.items()}


_OPTION_ENUMS: dict[str, dict[str, int]] = {
    "integrator": INTEGRATORS,
    "cone": _enum_names(mujoco.mjtCone.__members__, "mjCONE_"),
    "jacobian": _enum_names(mujoco.mjtJacobian.__members__, "mjJAC_"),
    "solver": _enum_names(mujoco.mjtSolver.__members__, "mjSOL_"),
}


def _option_names() -> list[str]:
    return [name for name in dir(mujoco.MjOption) if not name.startswith("_")]

"""Named ports of a model as locations in MuJoCo's arrays, for single and batched simulations."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.engine.base import PortInfo
from pliant.engine.guard import MAX_SPEED
from pliant.engine.native import native_ports
from pliant.laws import JOINT_FIELDS, layout


@dataclass(frozen=True, slots=True)
class PortPlace:
    """Location of a port in MuJoCo's arrays."""

    field: str
    """Field of `mjData`, or "observed" for the output of the laws, with one row per compliant joint."""
    index: tuple[int | slice, ...]
    """Index into that field, for one simulation."""
    info: PortInfo
    """Description of the port."""


def port_places(model: mujoco.MjModel, data: mujoco.MjData, where: np.ndarray) -> dict[str, PortPlace]:
    """Return the location of every port of a model, by name; see `pliant.engine.MujocoEngine` for the list of ports.

    Args:
        model: compiled model.
        data: data of the model, which gives the shapes of the fields.
        where: addresses of the actuators, as returned by `callbacks.addresses`.
    """
    m = model
    ports: dict[str, PortPlace] = {}

    def add(
        name: str,
        field: str,
        index: tuple[int | slice, ...],
        unit: str,
        writable: bool,
        text: str,
        low: float = -np.inf,
        high: float = np.inf,
    ) -> None:
        shape = (1,) if field == "observed" else getattr(data, field)[index].shape
        ports[name] = PortPlace(field, index, PortInfo(shape, unit, writable, text, low, high))

    sliding: set[str] = set()
    for j in range(m.njnt):
        kind = int(m.jnt_type[j])
        if kind not in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)):
            continue
        name, q, v = m.joint(j).name, int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        if not name:
            continue
        linear = kind == int(mujoco.mjtJoint.mjJNT_SLIDE)
        if linear:
            sliding.add(name)
        low, high = (float(x) for x in m.jnt_range[j]) if m.jnt_limited[j] else (-np.inf, np.inf)
        # A torque that reaches the speed at which the guard ends the run within 1 s, with the inertia at rest.
        largest = MAX_SPEED * float(m.dof_M0[v]) or np.inf
        at, moves = (slice(q, q + 1),), (slice(v, v + 1),)
        add(f"{name}/position", "qpos", at, "m" if linear else "rad", True, "joint position", low, high)
        add(f"{name}/velocity", "qvel", moves, "m/s" if linear else "rad/s", True, "joint velocity")
        add(
            f"{name}/external_torque",
            "qfrc_applied",
            moves,
            "N" if linear else "N m",
            True,
            "external torque on the joint, positive along the joint's axis",
            -largest,
            largest,
        )
    compliant = {int(i): k for k, i in enumerate(where[:, 0])}
    companions = {i + 1 for i in compliant if m.actuator_user[i, layout.P_COMPANION] > 0.5}
    for i in range(m.nactuator):
        name = m.actuator(i).name
        c = int(m.actuator_ctrladr[i])
        if i in companions or not name:
            continue
        if i in compliant:
            add(f"{name}/reference_1", "ctrl", (slice(c, c + 1),), "", True, "first reference of the mode")
            if i + 1 in companions:
                c2 = int(m.actuator_ctrladr[i + 1])
                add(f"{name}/reference_2", "ctrl", (slice(c2, c2 + 1),), "", True, "second reference of the mode")
            kind = layout.SECOND_INPUTS[int(m.actuator_user[i, layout.P_SECOND])]
            for field, column in layout.OUT.items():
                declared = JOINT_FIELDS[field]
                index = (compliant[i], slice(column, column + 1))
                unit = declared.unit_of(kind, slides=name in sliding)
                add(f"{name}/{field}", "observed", index, unit, False, declared.description)
        else:
            for port in native_ports(m, i).values():
                ports[f"{name}/{port.field.port}"] = PortPlace(port.field.array, (port.index,), port.info)
    for s in range(m.nsensor):
        name, a = m.sensor(s).name, int(m.sensor_adr[s])
        if name:
            add(f"sensor/{name}", "sensordata", (slice(a, a + int(m.sensor_dim[s])),), "", False, "sensor value")
    for b in range(1, m.nbody):
        name = m.body(b).name
        if name:
            add(f"body/{name}/wrench", "xfrc_applied", (b,), "N, N m", True, "force and torque, world axes, at CoM")
            add(f"body/{name}/position", "xpos", (b,), "m", False, "origin of the body frame in the world")
            add(f"body/{name}/orientation", "xquat", (b,), "", False, "quaternion (w, x, y, z) of the body frame")
    for field in ("qpos", "qvel", "act", "ctrl"):
        add(f"state/{field}", field, (slice(None),), "", True, f"all of mjData.{field}")
    return ports

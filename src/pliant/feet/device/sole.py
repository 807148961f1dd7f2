"""The sensing of a SoftFoot's sole as a device: angles of its joints and the contact forces that hold its shape."""

from __future__ import annotations

import json
import math
from typing import Unpack

import mujoco
import numpy as np

from pliant.base.errors import DeviceError
from pliant.base.numerics import GRAVITY
from pliant.devices.base import DeviceOptions, FieldInfo
from pliant.devices.kinds import device_for
from pliant.devices.sensors import SensorDevice, sample_period
from pliant.engine.base import Engine, mujoco_state
from pliant.feet.model.sole import ROOT, Sole
from pliant.feet.sole_estimation import RelativeAngleFilter, SoleForceEstimator, SoleHinge, SoleModel
from pliant.model.contacts import contact_wrench
from pliant.model.robot import Robot


def _plane_angle(quat: np.ndarray) -> float:
    """Return the angle of a rotation about z [rad]."""
    return 2.0 * math.atan2(float(quat[3]), float(quat[0]))


def _axis(quat: np.ndarray) -> np.ndarray:
    """Return the z axis of a turned frame."""
    axis = np.zeros(3)
    mujoco.mju_rotVecQuat(axis, np.array([0.0, 0.0, 1.0]), quat)
    return axis


def _point(vector: np.ndarray) -> complex:
    return complex(float(vector[0]), float(vector[1]))


def _subtree(model: mujoco.MjModel, root: int) -> list[int]:
    """Return the bodies of a subtree, parents first."""
    found = [root]
    for body in range(root + 1, model.nbody):
        if int(model.body_parentid[body]) in found:
            found.append(body)
    return found


def _joints(model: mujoco.MjModel, body: int) -> list[int]:
    """Return the joints of a body that turn in the sagittal plane."""
    start = int(model.body_jntadr[body])
    return [j for j in range(start, start + int(model.body_jntnum[body])) if model.jnt_axis[j, 2] > 0.9]


def coordinates(model: mujoco.MjModel, root: str) -> dict[str, tuple[int, ...]]:
    """Return the angles of a foot that its sensing measures, in its order: name -> numbers of the joints.

    A rolling coupling of two hinges is one angle, their sum, named as the one hinge of the midpoint coupling.

    Args:
        model: the compiled model.
        root: name of the foot's root.
    """
    found = {}
    for body in _subtree(model, model.body(root).id)[1:]:
        joints = _joints(model, body)
        if not joints:
            continue
        first, last = model.joint(joints[0]).name, model.joint(joints[-1]).name
        name = first if len(joints) == 1 else f"{first.partition('_to_')[0]}_to_{last.partition('_to_')[2]}"
        found[name] = tuple(joints)
    return found


def read_sole(model: mujoco.MjModel, root: str) -> SoleModel:
    """Return the mechanism of a SoftFoot in its sagittal plane, from a compiled model.

    Args:
        model: the compiled model, with the foot in it under any prefix.
        root: name of the foot's root, which ends with "attachment_cube".
    """
    prefix = root.removesuffix(ROOT)
    bodies = _subtree(model, model.body(root).id)
    number = {body: k for k, body in enumerate(bodies)}
    named = coordinates(model, root)
    hinges: list[SoleHinge] = []
    place: dict[int, int] = {}
    limits = []
    for k, joints in enumerate(named.values()):
        limited = all(bool(model.jnt_limited[j]) for j in joints)
        low, high = (float(sum(model.jnt_range[j][i] for j in joints)) for i in (0, 1))
        limits.append((low, high) if limited else (-math.inf, math.inf))
        for j in joints:
            place[j] = len(hinges)
            hinges.append(
                SoleHinge(
                    body=number[int(model.jnt_bodyid[j])],
                    position=_point(model.jnt_pos[j]),
                    coordinate=k,
                    ratio=1.0 / len(joints),
                    stiffness=float(np.ravel(model.jnt_stiffness[j])[0]),
                )
            )
    contacts, pad = _contacts(model, prefix, number)
    closures = []
    for e in range(model.neq):
        one, two = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
        if model.eq_type[e] == mujoco.mjtEq.mjEQ_CONNECT and one in number and two in number:
            data = model.eq_data[e]
            closures.append((number[two], _point(data[3:5]), number[one], _point(data[0:2])))
    return SoleModel(
        coordinates=tuple(named),
        bodies=tuple(model.body(body).name for body in bodies),
        parents=(-1, *(number[int(model.body_parentid[body])] for body in bodies[1:])),
        positions=(0j, *(_point(model.body_pos[body]) for body in bodies[1:])),
        angles=(0.0, *(_plane_angle(model.body_quat[body]) for body in bodies[1:])),
        masses=tuple(float(model.body_mass[body]) for body in bodies),
        centers=tuple(_point(model.body_ipos[body]) for body in bodies),
        hinges=tuple(hinges),
        limits=tuple(limits),
        contacts=contacts,
        closures=tuple(closures),
        tendons=_tendons(model, place),
        pad=pad,
    )


def _contacts(
    model: mujoco.MjModel, prefix: str, number: dict[int, int]
) -> tuple[tuple[tuple[int, complex], ...], tuple[int, int] | None]:
    """Return the lower edges of the soles, and which of them are those of the heel, rear and front.

    The sole of a part is the lower side of the box around its colliding shapes, in the axes of the first of them, or
    level at rest where that is a capsule.
    """
    contacts: list[tuple[int, complex]] = []
    pad = None
    for body, k in number.items():
        name = model.body(body).name.removeprefix(prefix)
        start = int(model.body_geomadr[body])
        shapes = [g for g in range(start, start + int(model.body_geomnum[body])) if model.geom_contype[g]]
        if not (name == "heel" or "phalanx" in name) or not shapes:
            continue
        if name == "heel":
            pad = (len(contacts), len(contacts) + 1)
        box = model.geom_type[shapes[0]] == mujoco.mjtGeom.mjGEOM_BOX
        # The frame of the body is level at rest, but that of the heel.
        level = _plane_angle(model.geom_quat[shapes[0]]) if box else -_plane_angle(model.body_quat[body])
        turn = complex(math.cos(level), math.sin(level))
        corners = []
        for g in shapes:
            size = model.geom_size[g]
            # Where a capsule lies along the foot it touches over the length of its cylinder, across it on a line.
            along = abs(float(_axis(model.geom_quat[g])[0])) * float(size[1])
            half = (float(size[0]), float(size[1])) if box else (along, float(size[0]))
            center = _point(model.geom_pos[g]) / turn
            corners += [center + complex(s * half[0], half[1]) for s in (-1.0, 1.0)]
        below = max(corner.imag for corner in corners)
        edges = {round(end(corner.real for corner in corners), 9) for end in (min, max)}
        contacts += [(k, turn * complex(x, below)) for x in sorted(edges)]
        if name == "heel" and len(edges) == 1:
            pad = None
    return tuple(contacts), pad


def _tendons(model: mujoco.MjModel, place: dict[int, int]) -> tuple[tuple[tuple[float, ...], float], ...]:
    """Return the levers of the tendons on the hinges at rest, and their slacks."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    found = []
    for t in range(model.ntendon):
        if not model.tendon_limited[t]:
            continue  # a spring between chains
        start, count = int(model.ten_J_rowadr[t]), int(model.ten_J_rownnz[t])
        by_dof = dict(
            zip(
                (int(i) for i in model.ten_J_colind[start : start + count]),
                (float(v) for v in np.ravel(data.ten_J)[start : start + count]),
                strict=True,
            )
        )
        levers = [0.0] * len(place)
        for joint, hinge in place.items():
            levers[hinge] = by_dof.get(int(model.jnt_dofadr[joint]), 0.0)
        if any(levers):
            found.append((tuple(levers), float(model.tendon_range[t][1] - data.ten_length[t])))
    return tuple(found)


@device_for(Sole)
class SoleDevice(SensorDevice):
    """Measurements of the sensing of a sole, and the estimates from them.

    ROS gets its angles as joint states and its contact wrench as a stamped wrench. The inertial units are read, and
    the filter runs, once per sample.

    Args:
        description: the sole.
        robot: the robot that it is described on.
        options: of `DeviceBase`.
    """

    signatures = ("sole", "wrench", "joint_states")

    description: Sole

    def __init__(self, description: Sole, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        dt = float(robot.spec.option.timestep)
        self._parts = description.parts(robot.spec)
        model = robot.spec.copy().compile()
        self._sole = read_sole(model, description.body)
        self._joints = list(coordinates(model, description.body).values())
        soles = dict.fromkeys(body for body, _ in self._sole.contacts)
        self.contact_bodies = tuple(self._sole.bodies[body] for body in soles)
        count, contacts, tendons = len(self._joints), len(soles), len(self._sole.tendons)
        axes = "in the axes of the foot's root (x to the toes, y down)"
        sideways = "as the ankle measures it, 0 where it measures nothing"
        fields = {
            "position": FieldInfo((count,), "rad", "measured angles of the joints, positive with the distal end down"),
            "velocity": FieldInfo((count,), "rad/s", "measured rates of the joints"),
            "effort": FieldInfo((count,), "N m", "torque of the elastic bands at the measured angles"),
            "pitch": FieldInfo((), "rad", "measured pitch of the foot's root, positive with the toes down"),
            "force": FieldInfo((3,), "N", f"estimated force of the ground on the foot, {axes}; z {sideways}"),
            "torque": FieldInfo((3,), "N m", f"its estimated moment about the ankle, {axes}; x, y {sideways}"),
            "contact_force": FieldInfo((contacts,), "N", "estimated force upwards on each body of the sole"),
            "tension": FieldInfo((tendons,), "N", "estimated tension of each tendon"),
            "imbalance": FieldInfo((), "N m", "root mean square of the joint torques that the estimate leaves over"),
        }
        if description.truth:
            fields |= {
                "true_position": FieldInfo((count,), "rad", "angles of the joints in the simulation"),
                "true_force": FieldInfo((3,), "N", f"force of the ground on the foot in the simulation, {axes}"),
                "true_contact_force": FieldInfo((contacts,), "N", "force upwards on each body in the simulation"),
            }
        period = sample_period(description.rate, dt)
        super().__init__(description, fields, {}, dt=dt, **{"period": period, **options})
        self.joints = tuple(self._sole.coordinates)
        self.metadata = {"contact_bodies": json.dumps(self.contact_bodies)}
        self._group = np.zeros((contacts, len(self._sole.contacts)))
        for k, (body, _) in enumerate(self._sole.contacts):
            self._group[list(soles).index(body), k] = 1.0
        stiffness = np.zeros(count)
        for hinge in self._sole.hinges:
            stiffness[hinge.coordinate] += hinge.ratio**2 * hinge.stiffness
        self._stiffness = stiffness
        self._estimator = SoleForceEstimator(self._sole, friction=description.friction)
        # The last unit stands for the world: at rest, with the specific force straight up.
        unit = {part: k for k, part in enumerate(self._parts)}
        first, second, rest = [len(self._parts)], [0], [0.0]
        for joints in self._joints:
            body = int(model.jnt_bodyid[joints[0]])
            parent = model.body(int(model.body_parentid[body])).name
            if parent not in unit:
                parent = description.body
            first.append(unit[parent])
            second.append(unit[model.body(body).name])
            rest.append(_plane_angle(model.body_quat[body]))
        self._filter = RelativeAngleFilter(first, second, rest, description.time_constant)
        self._rates = np.zeros((len(self._parts) + 1, 3))
        self._accelerations = np.zeros((len(self._parts) + 1, 3))
        self._accelerations[-1, 1] = -GRAVITY

    def _connect(self, engine: Engine) -> None:
        names = [self.description.unit_sensors(part) for part in self._parts]
        self._rate_ports = [self._port(engine, name["rate"]) for name in names]
        self._acceleration_ports = [self._port(engine, name["acceleration"]) for name in names]
        self._ankle = {key: self._port(engine, name) for key, name in self.description.ankle_sensors().items()}
        state = mujoco_state(engine, self.name)
        self._state = state
        self._root = state.model.body(self.description.body).id
        named = coordinates(state.model, self.description.body)
        if tuple(named) != self.joints:
            raise DeviceError(
                f"{self.name}: the foot has other joints than when the device was made; make the devices after the "
                "last change of the robot",
                field=self.name,
            )
        self._addresses = [[int(state.model.jnt_qposadr[j]) for j in joints] for joints in named.values()]
        wanted = {state.model.body(name).id: k for k, name in enumerate(self.contact_bodies)}
        self._body_row = np.full(state.model.nbody, -1)
        for body, row in wanted.items():
            self._body_row[body] = row
        self._in_foot = np.zeros(state.model.nbody, dtype=bool)
        self._in_foot[_subtree(state.model, self._root)] = True

    def _restart(self, rng: np.random.Generator) -> None:
        self._filter.reset()
        units = (len(self._parts), 3)
        described = self.description
        self._biases = [
            described.angular_velocity_noise.offset(rng, units),
            described.linear_acceleration_noise.offset(rng, units),
            described.force_noise.offset(rng, (3,)),
            described.torque_noise.offset(rng, (3,)),
        ]

    def _measure(self) -> dict[str, float | np.ndarray]:
        described, rng = self.description, self._rng
        self._rates[:-1] = described.angular_velocity_noise.disturb(np.array(self._rate_ports), self._biases[0], rng)
        self._accelerations[:-1] = described.linear_acceleration_noise.disturb(
            np.array(self._acceleration_ports), self._biases[1], rng
        )
        angles, rates = self._filter.update(self._rates, self._accelerations, self.sample_period_ns * 1e-9)
        pitch, angles, rates = float(angles[0]), angles[1:], rates[1:]
        wrench = load = None
        sideways = np.zeros(3)
        if self._ankle:
            force = described.force_noise.disturb(self._ankle["force"], self._biases[2], rng)
            torque = described.torque_noise.disturb(self._ankle["torque"], self._biases[3], rng)
            wrench = np.array([force[0], force[1], torque[2]])
            sideways = self._sideways(angles, force, torque)
        elif described.ankle == "load":
            load = described.load
        found = self._estimator.estimate(angles, pitch=pitch, ankle=wrench, load=load)
        values: dict[str, float | np.ndarray] = {
            "position": angles,
            "velocity": rates,
            "effort": -self._stiffness * angles,
            "pitch": pitch,
            "force": np.array([*found.force, sideways[2]]),
            "torque": np.array([sideways[0], sideways[1], found.moment]),
            "contact_force": self._group @ found.normal,
            "tension": found.tension,
            "imbalance": found.residual,
        }
        if described.truth:
            total, upwards = self._true_forces()
            values["true_position"] = np.array(
                [sum(float(self._state.data.qpos[a]) for a in addresses) for addresses in self._addresses]
            )
            values["true_force"] = total
            values["true_contact_force"] = upwards
        return values

    def _sideways(self, angles: np.ndarray, force: np.ndarray, torque: np.ndarray) -> np.ndarray:
        """Return what the ankle measures of the ground out of the sagittal plane: moments about x and y, force along z.

        It is what the leg does to the foot at rest less the weight of the foot, which the unit on the root feels.
        """
        felt = self._accelerations[0]
        weight = felt * (-GRAVITY * sum(self._sole.masses) / max(float(np.linalg.norm(felt)), 1.0))
        center = self._estimator.center_of_mass(angles)
        about = torque + np.cross([center.real, center.imag, 0.0], weight)
        return -np.array([about[0], about[1], force[2] + weight[2]])

    def _true_forces(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the force of all contacts on the foot in the axes of its root, and the one upwards on each body."""
        model, data = self._state.model, self._state.data
        total, upwards = np.zeros(3), np.zeros(len(self.contact_bodies))
        for i in range(data.ncon):
            one, two = (int(model.geom_bodyid[g]) for g in data.contact[i].geom)
            if not (self._in_foot[one] or self._in_foot[two]):
                continue
            world, _ = contact_wrench(model, data, i)
            # The force is that of the first body on the second one.
            body = two if self._in_foot[two] else one
            world = world if body == two else -world
            total += world
            if self._body_row[body] >= 0:
                upwards[self._body_row[body]] += world[2]
        return data.xmat[self._root].reshape(3, 3).T @ total, upwards

"""Continuum parallel robots as dynamic models: the rods' description and an equilibrium become a MuJoCo model.

Two variants:

* ``chain`` (the default): rigid links with two bending hinges and one twist hinge at each of n nodes, springs E I / h_k
  and G J / h_k. The hinges stand at the nodes of Gauss and Legendre's quadrature and h_k are its weights times the
  length: compliances are integrals along the rod, and these the rule takes exactly up to polynomials of degree
  2 n - 1. (Hinges at equal distances, which is the midpoint rule, make a 6PFR with six links a rod 35 % too stiff.) The
  links are the chords of the equilibrium that the model starts from, and the springs are at rest where its moments are,
  so the model starts exactly in it. Every rod that the statics knows: tapered, rectangular, precurved, extensible,
  planar.
* ``flex``: MuJoCo's one-dimensional flex (discrete elastic rods), whose inextensibility is a soft constraint. Uniform
  straight rods of fixed length on revolute plate joints about the rod's axis (a flex clamped to a free plate is
  unstable in MuJoCo 4.0). Points stand at s = (k - 1/2) L/n, so that both ends are clamped halfway between two of
  them: second order in 1/n, where a clamp at a point is of first order.

Both run under the integrator ``discrete`` with Newton's method, which takes stiff springs at any time step; its
numerical damping of a mode of frequency f is pi f dt. Stretching and shear of the rods are left out: notes say how
large they are.

An extensible limb changes its rest length while it runs, which no MuJoCo element offers. Its joint is a spool with the
length as position; `ParallelRobot.update` writes lengths, masses and springs of the links into the model, once a step
(`pliant.devices` does it). The pull of the rod on its spool is not felt: the servo is taken as not backdrivable.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import ModelError, PliantError, nearest
from pliant.model.description import REST_KEY
from pliant.model.robot import Robot
from pliant.spatial import inverse, log_so3, pose

if TYPE_CHECKING:
    from pliant.rods import ContinuumParallelRobot, Limb, RobotDescription, Rod, Solution

__all__ = [
    "VARIANTS",
    "Finding",
    "ParallelRobot",
    "RodModel",
    "build_parallel",
    "check_parallel",
    "first_frequency",
    "settle",
]

Array = NDArray[np.float64]
VARIANTS = ("chain", "flex")
PLATE = "plate"
ROD_CONTACT, OBJECT_CONTACT = 2, 1  # contype bits: rods and plate meet objects, not each other
CONTACT_SOLREF = (0.002, 1.0)  # thin rods tunnel through objects with MuJoCo's default of 0.02
CONTACT_SOLIMP = (0.99, 0.9999, 0.0005, 0.5, 2.0)
SAMPLES = 401  # of a centreline, from which links are taken
STIFF_SOLIMP = (0.9999, 0.9999, 0.001, 0.5, 2.0)
CANTILEVER = 1.8751040687119611  # first root of cos(b) cosh(b) = -1: clamped-free beam


@dataclass(frozen=True, slots=True, kw_only=True)
class RodModel:
    """How the rods become a MuJoCo model."""

    variant: Literal["chain", "flex"] = "chain"
    """Rigid links with hinges, or MuJoCo's one-dimensional flex."""
    segments: int = 10
    """Elements a rod, 3 to 200."""
    timestep: float = 1e-3
    """Time step [s], more than 0."""
    damping: float = 1e-3
    """Damping of the material: moment = E I (curvature + damping x its rate) [s], at least 0.  # assumed"""
    contact: bool = True
    """Rods and plate meet objects of contact type 1 (MuJoCo's default for a geom)."""
    servo_stiffness: tuple[float, float] = (1e6, 2e4)
    """Stiffness of the position servos of sliding [N/m] and turning [N m/rad] joints, more than 0.  # assumed"""
    servo_mass: float = 0.1
    """Mass of what a base joint moves beside the rod [kg], more than 0.  # assumed"""
    plate_mass: float = 0.1
    """Mass of a plate that the description gives none [kg]; it is weightless.  # assumed"""
    plate_inertia: tuple[float, float, float] | None = None
    """Principal inertia of the plate about its centre of mass, plate axes [kg m^2]; None: a disc."""

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise ModelError(
                f"rod variant {self.variant!r} is not known; {nearest(self.variant, VARIANTS)}", field="variant"
            )
        if isinstance(self.segments, bool) or not isinstance(self.segments, int) or not 3 <= self.segments <= 200:
            raise ModelError(f"segments is {self.segments!r}; valid: a whole number from 3 to 200", field="segments")
        for name in ("timestep", "servo_mass", "plate_mass"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise ModelError(f"{name} is {value!r}; valid: a number above 0", field=name)
        if not (np.isfinite(self.damping) and self.damping >= 0.0):
            raise ModelError(f"damping is {self.damping!r}; valid: a number of seconds >= 0", field="damping")
        if not all(np.isfinite(k) and k > 0.0 for k in self.servo_stiffness):
            raise ModelError(
                f"servo_stiffness is {self.servo_stiffness!r}; valid: two numbers above 0", field="servo_stiffness"
            )
        if self.plate_inertia is not None and not all(np.isfinite(i) and i > 0.0 for i in self.plate_inertia):
            raise ModelError(
                f"plate_inertia is {self.plate_inertia!r}; valid: three numbers above 0", field="plate_inertia"
            )


@dataclass(slots=True, kw_only=True)
class _Stretch:
    """What `ParallelRobot.update` changes when the length of one limb changes."""

    joint: str
    """Joint of the spool."""
    length: float
    """Rest length that the model was built with [m]."""
    bodies: list[str]
    """Links from the base outward, the tip last."""
    geoms: list[str]
    """Capsules of the links, the half element at the base first."""
    root: Array
    """Where the rod begins, in the frame of the body that carries it [m]."""
    end: Array
    """From the last hinge to the rod's tip, in the frame of the last link [m]."""
    turns: list[float]
    """By how much each hinge is turned at the start against a straight chain [rad]."""


class ParallelRobot(Robot):
    """A continuum parallel robot as a dynamic model, starting from one of its equilibria.

    Bodies: ``plate``, ``<limb>/base``, ``<limb>/link<k>``. Actuators: a position servo for each actuated joint, in the
    order of q, named ``<limb>/<kind>`` (``<kind>2`` for a second one), whose control is the joint value [m or rad].
    """

    def __init__(self, spec: mujoco.MjSpec, solution: Solution, options: RodModel, **rest: Any) -> None:
        super().__init__(spec, **rest)
        self.solution = solution
        """The equilibrium that the model starts from."""
        self.options = options
        """How the rods became a model."""
        self.actuator_names: list[str] = []
        """Names of the servos, in the order of q."""
        self._stretches: list[_Stretch] = []
        self._bent: dict[str, Array] = {}
        self._edges: dict[str, Array] = {}
        self._com = np.zeros(3)
        self._known: tuple[mujoco.MjModel, list[_Reference]] | None = None

    @property
    def description(self) -> RobotDescription:
        """What the robot is made of."""
        return self.solution.robot.description

    def copy(self) -> ParallelRobot:
        """Return an independent copy."""
        twin = ParallelRobot(self.spec.copy(), self.solution, self.options, notes=self.notes, set_defaults=False)
        twin.devices, twin.interface, twin.actuators = list(self.devices), self.interface, dict(self.actuators)
        twin.chosen_options = set(self.chosen_options)
        twin.actuator_names = list(self.actuator_names)
        twin._stretches, twin._bent, twin._edges, twin._com = self._stretches, self._bent, self._edges, self._com
        return twin

    def compile(self) -> mujoco.MjModel:
        """Return the MuJoCo model, whose initial state is the equilibrium.

        The key frame "rest" holds the servos' controls; `start` writes them, and the load, into a simulation.
        """
        model = super().compile()
        if self._bent:
            _bend(model, self._bent, self._edges)
        key = model.key(REST_KEY).id
        model.key_qpos[key] = model.qpos0
        for name, q in zip(self.actuator_names, self.solution.q):
            model.key_ctrl[key, model.actuator_ctrladr[model.actuator(name).id]] = q
        return model

    def start(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Put a simulation at rest in the equilibrium: positions, controls, external wrench; time 0."""
        mujoco.mj_resetDataKeyframe(model, data, model.key(REST_KEY).id)
        self.update(model, data)
        self.set_wrench(model, data, self.solution.wrench)
        mujoco.mj_forward(model, data)

    def set_joints(self, model: mujoco.MjModel, data: mujoco.MjData, q: ArrayLike) -> None:
        """Command the servos: actuated joint values, shape (actuators,) [m or rad].

        Raises:
            ModelError: the values do not fit the robot.
        """
        for name, value in zip(self.actuator_names, self.solution.robot._joints(q)):
            data.ctrl[model.actuator_ctrladr[model.actuator(name).id]] = value

    def joints(self, model: mujoco.MjModel, data: mujoco.MjData) -> Array:
        """Return the actuated joint values, shape (actuators,) [m or rad]."""
        return np.array([data.qpos[model.jnt_qposadr[model.joint(name).id]] for name in self.actuator_names])

    def plate_pose(self, model: mujoco.MjModel, data: mujoco.MjData) -> Array:
        """Return the plate pose, shape (4, 4)."""
        body = model.body(PLATE).id
        return pose(data.xpos[body], data.xmat[body].reshape(3, 3))

    def set_wrench(self, model: mujoco.MjModel, data: mujoco.MjData, wrench: ArrayLike) -> None:
        """Apply a dead wrench to the plate about its origin, world axes, shape (6,) or planar (3,) [N, N m].

        MuJoCo refers a wrench to the centre of mass: where that is off the origin, call it once a step.
        """
        w = self.solution.robot._wrench(wrench)
        body = model.body(PLATE).id
        arm = data.xmat[body].reshape(3, 3) @ self._com
        data.xfrc_applied[body, :3] = w[:3]
        data.xfrc_applied[body, 3:] = w[3:] - np.cross(arm, w[:3])

    def update(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Write the present lengths of extensible limbs into the model; nothing for a robot without any."""
        if not self._stretches:
            return
        if self._known is None or self._known[0] is not model:
            self._known = (model, [_Reference(self, one, model) for one in self._stretches])
        for one in self._known[1]:
            one.apply(model, max(float(data.qpos[one.spool]), 0.02 * one.length))

    @property
    def extensible(self) -> bool:
        """Whether `update` must be called once a step."""
        return bool(self._stretches)


# -- the common parts -----------------------------------------------------------------------------------------


def build_parallel(
    robot: ContinuumParallelRobot | str,
    *,
    start: Solution | None = None,
    options: RodModel | None = None,
    **changes: Any,
) -> ParallelRobot:
    """Build the dynamic model of a continuum parallel robot.

    Args:
        robot: from `pliant.rods.load_robot`, or a name or path for it.
        start: equilibrium to start from; None: the home pose.
        options: how the rods become a model.
        changes: fields of `RodModel` that differ from ``options``.

    Raises:
        ModelError: the variant cannot carry this robot, or a value is out of range.
        NoEquilibrium: no start is given and the home pose has none.

    Example:
        >>> robot = build_parallel("Stewart_Gough_6PFR", segments=10)
        >>> model = robot.compile()
        >>> data = mujoco.MjData(model)
        >>> robot.start(model, data)
    """
    import dataclasses

    from pliant.rods import load_robot

    if isinstance(robot, str):
        robot = load_robot(robot)
    base = options if options is not None else RodModel()
    for name in changes:
        names = [f.name for f in dataclasses.fields(RodModel)]
        if name not in names:
            raise ModelError(f"rod model: there is no option {name!r}; {nearest(name, names)}", field=name)
    options = dataclasses.replace(base, **changes)
    solution = robot.home() if start is None else start
    if solution.robot.description is not robot.description:
        raise ModelError(f"start belongs to {solution.robot.name!r}, not to {robot.name!r}", field="start")
    d = robot.description
    spec = mujoco.MjSpec()
    spec.modelname = "".join(c if c.isalnum() or c in "-_" else "_" for c in d.name)
    spec.compiler.degree = False
    spec.option.timestep = options.timestep
    spec.option.gravity = d.gravity
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    out = ParallelRobot(spec, solution, options, set_defaults=False)
    out.chosen_options |= {"integrator", "timestep", "solver"}
    if solution.follower and np.any(solution.wrench):
        out.notes.append("the start's wrench turns with the plate; `start` applies it in world axes")
    if solution.morse_index:
        out.notes.append(f"the start is unstable (index {solution.morse_index}): the model will leave it")
    _add_scene(spec, d, solution)
    builder = _chain if options.variant == "chain" else _flex
    _stretching_note(out, solution)
    if any(np.any(limb.rod.distributed_force) or np.any(limb.rod.distributed_moment) for limb in d.limbs):
        out.notes.append("distributed loads beside self weight are left out of the dynamic model")
    frames = [_root(out, limb, i) for i, limb in enumerate(d.limbs)]
    tips = [builder(out, limb, i, frames[i]) for i, limb in enumerate(d.limbs)]
    # The plate comes last, so that the limbs do not fill in each other's rows of the factor.
    _add_plate(out, d, solution)
    for i, limb in enumerate(d.limbs):
        tips[i](limb)
    for a, (i, j) in enumerate(d.actuators):
        _add_servo(out, out.actuator_names[a], d.limbs[i].joints[j])
    return out


def _limb(d: RobotDescription, i: int) -> str:
    name = d.limb_name(i).replace(" ", "").replace("/", "_")
    taken = [d.limb_name(k).replace(" ", "").replace("/", "_") for k in range(i)]
    return f"{name}_{i + 1}" if name in taken else name


def _quat(R: Array) -> Array:
    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, np.ascontiguousarray(R, dtype=float).ravel())
    return q


def _add_scene(spec: mujoco.MjSpec, d: RobotDescription, solution: Solution) -> None:
    points = np.array([np.asarray(limb.base)[:3, 3] for limb in d.limbs] + [solution.plate_pose[:3, 3]])
    middle = points.mean(axis=0)
    extent = max(0.2, float(np.linalg.norm(points - middle, axis=1).max()))
    spec.stat.center, spec.stat.extent = middle, extent
    world = spec.worldbody
    world.add_light(pos=middle + np.array([0.0, 0.0, 4.0 * extent]), dir=[0.0, 0.0, -1.0])
    view = np.array([0.0, 0.0, 3.5 * extent]) if d.planar else np.array([2.2, -2.2, 1.0]) * extent
    z = view / np.linalg.norm(view)
    x = np.array([1.0, 0.0, 0.0]) if d.planar else np.cross([0.0, 0.0, 1.0], z)
    x = x / np.linalg.norm(x)
    world.add_camera(name="overview", pos=middle + view, quat=_quat(np.column_stack([x, np.cross(z, x), z])))


def _stretching_note(out: ParallelRobot, solution: Solution) -> None:
    d = out.description
    worst = 0.0
    for i, limb in enumerate(d.limbs):
        line = solution.centreline(i, 11)
        for k, s in enumerate(line.s):
            v = limb.rod.values(float(s))
            n = line.rotation[k].T @ line.force[k]
            worst = max(worst, float(np.linalg.norm(n / np.array([*v.shear, v.axial]))))
    if worst > 1e-4:
        out.notes.append(f"stretching and shear of the rods (strain up to {worst:.1e} at the start) are left out here")


def _section_radius(rod: Rod, s: float = 0.5) -> float:
    section = rod.section
    if hasattr(section, "radius"):
        tip = section.radius if section.tip_radius is None else section.tip_radius
        return float(section.radius + s * (tip - section.radius))
    v = rod.values(s)
    return float(2.0 * np.sqrt(min(v.bending) / v.axial))


def _polar(rod: Rod, s: float) -> float:
    """Return the polar moment of inertia per length [kg m]."""
    v = rod.values(s)
    return v.mass * (v.bending[0] + v.bending[1]) / v.axial


def _root(out: ParallelRobot, limb: Limb, i: int) -> Any:
    """Add the base joints of a limb; return the body that carries the rod, with the frame of the rod's base in it."""
    spec, d, options = out.spec, out.description, out.options
    name = _limb(d, i)
    values = out.solution._state[1][i]
    body, frame = spec.worldbody, np.asarray(limb.base, dtype=float)
    size = 0.02 * max(0.2, limb.rod.length)
    counts: dict[str, int] = {}
    for j, joint in enumerate(limb.joints):
        frame = frame @ np.asarray(joint.pose, dtype=float)
        axis = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
        counts[joint.kind] = counts.get(joint.kind, 0) + 1
        label = f"{name}/{joint.kind}" + (str(counts[joint.kind]) if counts[joint.kind] > 1 else "")
        if joint.actuated:
            out.actuator_names.append(label)
        limits = {} if joint.limits is None else {"range": joint.limits, "limited": 1}
        if joint.kind == "extension":
            # A spool beside the rod: its position is the rest length, nothing else hangs on it.
            spool = spec.worldbody.add_body(name=f"{label}/spool", pos=(np.asarray(limb.base))[:3, 3])
            _inertial(spool, options.servo_mass, size, gravcomp=1.0)
            spool.add_joint(
                name=label, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis, ref=float(values[j]),
                range=joint.limits or (0.02 * limb.rod.length, 1e3), limited=1,
            )  # fmt: skip
            continue
        q = float(values[j])
        moved = np.eye(4)
        if joint.kind == "prismatic":
            moved[:3, 3] = q * axis
        else:
            from pliant.spatial import exp_so3

            moved[:3, :3] = exp_so3(q * axis)
        frame = frame @ moved
        body = body.add_body(name=f"{label}/carrier", pos=frame[:3, 3], quat=_quat(frame[:3, :3]))
        _inertial(body, options.servo_mass, size, gravcomp=1.0)
        kind = mujoco.mjtJoint.mjJNT_SLIDE if joint.kind == "prismatic" else mujoco.mjtJoint.mjJNT_HINGE
        body.add_joint(name=label, type=kind, axis=axis, ref=q, **limits)
        body.add_geom(
            name=f"{label}/carrier", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.6 * size] * 3, rgba=[0.35, 0.38, 0.42, 1],
            contype=0, conaffinity=0, group=1,
        )  # fmt: skip
        frame = np.eye(4)
    if body is spec.worldbody:
        body = body.add_body(name=f"{name}/base", pos=frame[:3, 3], quat=_quat(frame[:3, :3]))
        frame = np.eye(4)
    return body, frame @ np.asarray(limb.attach, dtype=float)


def _inertial(body: Any, mass: float, size: float, *, gravcomp: float = 0.0) -> None:
    body.explicitinertial = True
    body.mass = mass
    body.inertia = [0.4 * mass * size**2] * 3
    body.gravcomp = gravcomp


def _add_servo(out: ParallelRobot, name: str, joint: Any) -> None:
    sliding = joint.kind != "revolute"
    kp = out.options.servo_stiffness[0 if sliding else 1]
    length = max(limb.rod.length for limb in out.description.limbs)
    inertia = out.options.servo_mass * (1.0 if sliding else 0.4 * (0.02 * max(0.2, length)) ** 2)
    actuator = out.spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
    # A servo as fast as two steps of the simulation allow: critically damped, or slower where the mass is small.
    kv = max(2.0 * np.sqrt(kp * inertia), 2.0 * kp * out.options.timestep)
    actuator.set_to_position(kp=kp, kv=kv)
    if joint.limits is not None:
        actuator.ctrllimited, actuator.ctrlrange = 1, joint.limits


def _add_plate(out: ParallelRobot, d: RobotDescription, solution: Solution) -> None:
    X = solution.plate_pose
    reach = solution.robot.characteristic_length()
    plate = out.spec.worldbody.add_body(name=PLATE, pos=X[:3, 3], quat=_quat(X[:3, :3]))
    mass = d.plate.mass if d.plate.mass > 0.0 else out.options.plate_mass
    if d.plate.mass <= 0.0:
        plate.gravcomp = 1.0
        out.notes.append(f"the plate has no mass: {mass:g} kg without weight is assumed")
    plate.explicitinertial = True
    plate.mass = mass
    plate.ipos = d.plate.com
    plate.inertia = out.options.plate_inertia or (
        mass * reach**2 * np.array([0.25, 0.25, 0.5]) + mass * (0.01 * reach) ** 2
    )
    if out.options.plate_inertia is None:
        out.notes.append(f"the plate's inertia is that of a disc of radius {reach:.3g} m")
    out._com = np.asarray(d.plate.com, dtype=float)
    if d.planar:
        for name, kind, axis in (("x", "SLIDE", (1, 0, 0)), ("y", "SLIDE", (0, 1, 0)), ("angle", "HINGE", (0, 0, 1))):
            # The plate's frame is turned, its joints are not.
            plate.add_joint(
                name=f"{PLATE}/{name}", type=getattr(mujoco.mjtJoint, f"mjJNT_{kind}"), axis=X[:3, :3].T @ axis
            )
    else:
        plate.add_freejoint(name=PLATE)
    bits = (
        {"contype": ROD_CONTACT, "conaffinity": OBJECT_CONTACT}
        if out.options.contact
        else {"contype": 0, "conaffinity": 0}
    )
    corners = [np.asarray(limb.distal.pose)[:3, 3] for limb in d.limbs]
    thick = 0.03 * reach
    plate.add_geom(
        name=PLATE, type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[reach, 0.5 * thick, 0], rgba=[0.20, 0.45, 0.70, 0.55],
        pos=np.mean(corners, axis=0) * [0, 0, 1], **bits,
    )  # fmt: skip


def _connect(spec: mujoco.MjSpec, one: str, *points: ArrayLike, dt: float) -> None:
    """Hold points of a body (its frame) where they are on the plate: one for a ball, two for an axis, three for all.

    A weld would be soft here: MuJoCo scales its rotations by the inertia of the last link, which is next to nothing.
    """
    for k, point in enumerate(points):
        e = spec.add_equality(
            name=f"{one}/{k}", type=mujoco.mjtEq.mjEQ_CONNECT, name1=one, name2=PLATE, objtype=mujoco.mjtObj.mjOBJ_BODY
        )
        data = np.zeros(len(e.data))
        data[:3] = point
        e.data = data
        e.solref, e.solimp = (2.0 * dt, 1.0), STIFF_SOLIMP


def _across(a: Array) -> Array:
    """Return a unit vector perpendicular to a unit vector."""
    other = np.eye(3)[int(np.argmin(np.abs(a)))]
    b = np.cross(a, other)
    return b / np.linalg.norm(b)


def _fasten(out: ParallelRobot, limb: Limb, tip: Any, name: str, X_tip: Array, X_body_tip: Array) -> None:
    """Join a body that carries the rod's tip to the plate, as the distal joint says.

    Args:
        tip: the body.
        X_tip: the tip's frame in the world.
        X_body_tip: the tip's frame in the body.
    """
    spec, dt, d = out.spec, out.options.timestep, limb.distal
    reach = 0.05 * limb.rod.length
    X_BJ = X_body_tip @ inverse(np.asarray(d.attach, dtype=float))
    axis = np.asarray(d.axis, dtype=float) / np.linalg.norm(d.axis)
    a, at = X_BJ[:3, :3] @ axis, X_BJ[:3, 3]
    planar = out.description.planar
    X_z = (X_tip @ inverse(X_body_tip))[:3, :3].T @ [0.0, 0.0, 1.0]
    small = 0.05 * max(limb.rod.values(1.0).mass * limb.rod.length, 1e-3)
    if d.kind in ("fixed", "prismatic"):
        holder, origin = tip.name, at
        if d.kind == "prismatic":
            # The tip's frame stands in the joint's: the slider begins where it is now.
            slider = tip.add_body(name=f"{name}/slider", pos=at, quat=_quat(X_BJ[:3, :3]))
            _inertial(slider, small, reach, gravcomp=1.0)
            slider.add_joint(name=f"{name}/slider", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
            holder, origin, a = slider.name, np.zeros(3), axis
        if planar:
            b = np.cross(X_z, a) if abs(a @ X_z) < 0.9 else _across(X_z)
            _connect(spec, holder, origin + reach * b, origin - reach * b, dt=dt)
        else:
            b = _across(a)
            _connect(spec, holder, origin + reach * a, origin - reach * a, origin + reach * b, dt=dt)
    elif d.kind == "spherical" or (d.kind == "revolute" and planar):
        _connect(spec, tip.name, at, dt=dt)
    elif d.kind == "revolute":
        _connect(spec, tip.name, at - reach * a, at + reach * a, dt=dt)
    else:
        second = np.asarray(d.axis_2, dtype=float) / np.linalg.norm(d.axis_2)
        cross = tip.add_body(name=f"{name}/cross", pos=at, quat=_quat(X_BJ[:3, :3]))
        _inertial(cross, small, reach, gravcomp=1.0)
        cross.add_joint(name=f"{name}/cross", type=mujoco.mjtJoint.mjJNT_HINGE, axis=second)
        # The axis on the plate: the rod's joint frame carries the second axis only.
        J = out.solution.plate_pose @ np.asarray(d.pose)
        first = (X_tip @ inverse(X_body_tip) @ X_BJ)[:3, :3].T @ J[:3, :3] @ axis
        _connect(spec, cross.name, -reach * first, reach * first, dt=dt)


# -- rigid links with hinges ----------------------------------------------------------------------------------


def _chain(out: ParallelRobot, limb: Limb, i: int, root: Any) -> Any:
    """Add one rod as links with hinges; return what joins its tip to the plate."""
    d, options, rod = out.description, out.options, limb.rod
    n, name = options.segments, _limb(d, i)
    curve = _Curve(out.solution.centreline(i, SAMPLES))
    length = curve.length
    nodes, weights = np.polynomial.legendre.leggauss(n)
    at, share = 0.5 * (nodes + 1.0), 0.5 * weights  # where the hinges are, what part of the rod bends in each
    ends = np.cumsum(share)  # the link after hinge k has the frame of the rod there
    body, X_body_rod = root
    X_parent = pose(curve.position(0.0), curve.rotation(0.0)) @ inverse(X_body_rod)  # frame of the body in the world
    stretch = _Stretch(
        joint="", length=length, bodies=[], geoms=[], root=X_body_rod[:3, 3].copy(), end=np.zeros(3), turns=[]
    )
    radius = _section_radius(rod)
    bits = (
        {"contype": ROD_CONTACT, "conaffinity": OBJECT_CONTACT} if options.contact else {"contype": 0, "conaffinity": 0}
    )

    def capsule(carrier: Any, label: str, a: Array, b: Array) -> None:
        carrier.add_geom(
            name=label, type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[*a, *b], size=[radius, 0, 0],
            rgba=[0.93, 0.55, 0.14, 1], solref=CONTACT_SOLREF, solimp=CONTACT_SOLIMP, priority=1, mass=0.0, **bits,
        )  # fmt: skip
        stretch.geoms.append(label)

    first = inverse(X_parent) @ np.append(curve.position(at[0]), 1.0)
    capsule(body, f"{name}/link0", X_body_rod[:3, 3], first[:3])
    before = curve.rotation(0.0)
    x4, w4 = np.polynomial.legendre.leggauss(4)
    for k in range(n):
        s, here, last = at[k], curve.rotation(ends[k]), k == n - 1
        X_link = pose(curve.position(s), here)
        X = inverse(X_parent) @ X_link
        body = body.add_body(name=f"{name}/link{k + 1}", pos=X[:3, 3], quat=_quat(X[:3, :3]))
        stretch.bodies.append(body.name)
        v = rod.values(float(s))
        until = 1.0 if last else at[k + 1]
        span = 0.5 * (s + until) + 0.5 * (until - s) * x4
        lineal = 0.5 * w4 * np.array([rod.values(float(t)).mass for t in span])
        density, size = float(lineal.sum()), length * (until - s)
        body.explicitinertial = True
        mass = max(density * size, 1e-9)
        points = np.array([curve.position(t) for t in span])
        com = lineal @ points / density if density > 0.0 else 0.5 * w4 @ points
        body.mass = mass
        body.ipos = here.T @ (com - curve.position(s))
        polar = max(_polar(rod, float(ends[k])) * size, 1e-12)
        slim = mass * size**2 / 12.0 + 0.5 * polar
        body.inertia = [slim, slim, polar]
        # The hinges turn about the axes of the link before (bending d1, d2; torsion d3); at the start they are at 0.
        axes = [before[:, 0], before[:, 1], before[:, 2]]
        h = share[k] * length
        stiffness = [v.bending[0] / h, v.bending[1] / h, v.torsion / h]
        labels = [f"{name}/bend{k + 1}", f"{name}/bend{k + 1}b", f"{name}/twist{k + 1}"]
        if d.planar:
            pick = int(np.argmax([abs(a[2]) for a in axes]))
            axes, stiffness = [axes[pick]], [stiffness[pick]]
        turn, moment = log_so3(here @ before.T), curve.moment(s)
        for label, axis, stiff in zip(labels, axes, stiffness):
            body.add_joint(
                name=label, type=mujoco.mjtJoint.mjJNT_HINGE, axis=here.T @ axis, stiffness=[stiff, 0, 0],
                damping=[stiff * options.damping, 0, 0], springref=-float(moment @ axis) / stiff,
            )  # fmt: skip
            stretch.turns.append(float(turn @ axis))
        end = curve.position(until)
        capsule(body, f"{name}/link{k + 1}", np.zeros(3), here.T @ (end - curve.position(s)))
        X_parent, before = X_link, here
    spools = [label for label in out.actuator_names if label.startswith(f"{name}/extension")]
    if spools:
        stretch.joint = spools[-1]
        out._stretches.append(stretch)
    X_tip = pose(curve.position(1.0), curve.rotation(1.0))
    tip = body
    stretch.end = before.T @ (curve.position(1.0) - curve.position(at[-1]))
    X_body_tip = inverse(X_parent) @ X_tip
    return lambda one: _fasten(out, one, tip, name, X_tip, X_body_tip)


class _Curve:
    """A rod's centreline between its samples."""

    def __init__(self, line: Any) -> None:
        from scipy.interpolate import CubicSpline

        self.length = float(line.length)
        self._s, self._R = line.s, line.rotation
        self._position, self._moment = CubicSpline(line.s, line.position), CubicSpline(line.s, line.moment)

    def position(self, s: float) -> Array:
        return self._position(s)

    def moment(self, s: float) -> Array:
        return self._moment(s)

    def rotation(self, s: float) -> Array:
        from pliant.spatial import exp_so3

        k = min(int(s * (len(self._s) - 1)), len(self._s) - 2)
        part = (s - self._s[k]) / (self._s[k + 1] - self._s[k])
        return exp_so3(part * log_so3(self._R[k + 1] @ self._R[k].T)) @ self._R[k]


class _Reference:
    """The values of one limb's chain as built, and where they stand in a model."""

    def __init__(self, robot: ParallelRobot, one: _Stretch, model: mujoco.MjModel) -> None:
        spec = robot.spec
        bodies = [spec.body(name) for name in one.bodies]
        self.length, self.ratio = one.length, 1.0
        self.spool = int(model.jnt_qposadr[model.joint(one.joint).id])
        self.bodies = np.array([model.body(name).id for name in one.bodies])
        self.pos = np.array([b.pos for b in bodies])
        self.pos[0] -= one.root
        self.root = np.zeros_like(self.pos)
        self.root[0] = one.root
        self.ipos = np.array([b.ipos for b in bodies])
        self.mass = np.array([b.mass for b in bodies])
        self.inertia = np.array([b.inertia for b in bodies])
        joints = [joint for b in bodies for joint in b.joints]
        ids = [model.joint(joint.name).id for joint in joints]
        self.joints, self.dofs, self.springs = np.array(ids), model.jnt_dofadr[ids], model.jnt_qposadr[ids]
        self.stiffness = np.array([joint.stiffness[0] for joint in joints])
        self.damping = np.array([joint.damping[0] for joint in joints])
        self.straight = -np.array(one.turns)
        self.rest = np.array([joint.springref for joint in joints]) - self.straight
        self.geoms = np.array([model.geom(name).id for name in one.geoms])
        ends = np.array([spec.geom(name).fromto for name in one.geoms]).reshape(-1, 2, 3)
        self.geom_root = np.zeros((len(ends), 3))
        self.geom_root[0] = one.root
        self.geom_pos = ends.mean(axis=1) - self.geom_root
        self.geom_half = 0.5 * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        # What sits at the tip moves with the end of the last link: anchors on it, or a body that it carries.
        tip, self.end = one.bodies[-1], one.end
        fasten = [e for e in spec.equalities if e.name1 == tip and e.name]
        self.anchors = np.array([model.equality(e.name).id for e in fasten], dtype=int)
        self.anchor = np.array([np.array(e.data)[:3] for e in fasten]).reshape(-1, 3)
        carried = [b for b in spec.bodies if b.parent is not None and b.parent.name == tip and b.name != "world"]
        self.carried = np.array([model.body(b.name).id for b in carried], dtype=int)
        self.carried_pos = np.array([b.pos for b in carried]).reshape(-1, 3)
        self.tail = float(model.body_subtreemass[self.bodies[-1]] - model.body_mass[self.bodies[-1]])
        self.ancestors, above = [], int(model.body_parentid[self.bodies[0]])
        while above:
            self.ancestors.append(above)
            above = int(model.body_parentid[above])
        self.ancestors.append(0)

    def apply(self, model: mujoco.MjModel, length: float) -> None:
        """Give the chain another rest length: links, masses, springs."""
        r = length / self.length
        if r == self.ratio:
            return
        self.ratio = r
        model.body_pos[self.bodies] = self.root + r * self.pos
        model.body_ipos[self.bodies] = r * self.ipos
        mass = r * self.mass
        model.body_subtreemass[self.ancestors] += mass.sum() - model.body_mass[self.bodies].sum()
        model.body_mass[self.bodies] = mass
        model.body_subtreemass[self.bodies] = np.cumsum(mass[::-1])[::-1] + self.tail
        model.body_inertia[self.bodies] = self.inertia * np.array([r**3, r**3, r])
        model.jnt_stiffness[self.joints] = self.stiffness / r
        model.dof_damping[self.dofs] = self.damping / r
        # Precurvature, and what the start corrects, grow with the element; where it is straight does not change.
        model.qpos_spring[self.springs] = self.straight + r * self.rest
        model.eq_data[self.anchors, :3] = self.anchor + (r - 1.0) * self.end
        model.body_pos[self.carried] = self.carried_pos + (r - 1.0) * self.end
        model.geom_pos[self.geoms] = self.geom_root + r * self.geom_pos
        model.geom_size[self.geoms, 1] = r * self.geom_half


# -- MuJoCo's one-dimensional flex ----------------------------------------------------------------------------


def _flex(out: ParallelRobot, limb: Limb, i: int, root: Any) -> Any:
    """Add one rod as a flex: n + 2 points at s = (k - 1/2) h, the first two on the base, the last two on a tip body.

    The model is compiled straight, since MuJoCo takes what is bent then for precurved; `_bend` bends it afterwards.
    """
    d, options, rod = out.description, out.options, limb.rod
    spec, n, name = out.spec, options.segments, _limb(d, i)
    who = d.limb_name(i)
    v, tip_v = rod.values(0.0), rod.values(1.0)
    middle = rod.values(0.5)
    refused = None
    if d.planar:
        refused = "planar robot"
    elif any(joint.kind == "extension" for joint in limb.joints):
        refused = "extensible limb"
    elif rod.precurvature and np.any(np.asarray(rod.precurvature)[:, 1:]):
        refused = "precurved rod"
    elif not (np.allclose(v.bending, tip_v.bending) and np.allclose(v.bending, middle.bending)):
        refused = "tapered rod"
    elif not np.isclose(*v.bending, rtol=1e-6):
        refused = "rod that bends differently about its two axes"
    elif limb.distal.kind != "revolute":
        refused = f"{limb.distal.kind} plate joint"
    elif limb.distal.kind == "revolute" and not _along_rod(limb):
        refused = "plate joint whose axis is not the rod's own"
    if refused:
        raise ModelError(f"{who}: the flex variant has no {refused}; use variant='chain'", field="variant")
    line = out.solution.centreline(i, 4 * n + 1)
    p, R, length = line.position, line.rotation, line.length
    h = length / n
    body, X_body_rod = root
    X_root = pose(p[0], R[0])
    radius = _section_radius(rod)
    at = [pose(p[0] + (k - 0.5) * h * R[0][:, 2], R[0]) for k in range(n + 2)]  # straight
    element = max(v.mass, 1e-6) * h
    polar = max(_polar(rod, 0.5) * h, 1e-12)
    names = [body.name, body.name]
    points = [(X_body_rod @ inverse(X_root) @ at[k])[:3, 3] for k in (0, 1)]
    for k in range(2, n + 2):
        vertex = spec.worldbody.add_body(name=f"{name}/point{k}", pos=at[k][:3, 3])
        # The last element stands between the last two points: most of it on the one at its middle.
        _inertial(vertex, element * (0.9 if k == n else 0.1 if k == n + 1 else 1.0), 0.5 * h)
        for axis, unit in zip("xyz", np.eye(3)):
            vertex.add_joint(name=f"{name}/point{k}/{axis}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=unit)
        names.append(vertex.name)
        points.append(np.zeros(3))
    ends = [pose(p[-1] + side * 0.5 * h * R[-1][:, 2], R[-1]) for side in (-1.0, 1.0)]
    label = f"{name}/rod"
    twists = {e: f"{label}_twist_{e}" for e in range(1, n)} | {n: f"{label}_twist"}
    for twist_name in twists.values():
        twist = spec.worldbody.add_body(name=twist_name)
        twist.explicitinertial = True
        twist.mass, twist.inertia = element, [polar] * 3
        twist.gravcomp = 1.0
        twist.add_joint(name=twist_name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    flex = spec.add_flex(name=label, dim=1, radius=radius, rgba=[0.93, 0.55, 0.14, 1])
    flex.vertbody, flex.vert = names, np.concatenate(points)
    flex.elem = [e + c for e in range(n + 1) for c in (0, 1)]
    area = 0.25 * np.pi * radius**4
    flex.young, flex.shear = v.bending[0] / area, v.torsion / (2.0 * area)
    flex.damping = options.damping
    flex.selfcollide = mujoco.mjtFlexSelf.mjFLEXSELF_NONE
    flex.contype, flex.conaffinity = (ROD_CONTACT, OBJECT_CONTACT) if options.contact else (0, 0)
    flex.solref, flex.solimp, flex.priority = CONTACT_SOLREF, CONTACT_SOLIMP, 1
    edges = spec.add_equality(name=label, type=mujoco.mjtEq.mjEQ_FLEX, name1=label)
    edges.solref, edges.solimp = (2.0 * options.timestep, 1.0), STIFF_SOLIMP
    # Where the start has them: points, the tip's pose, the twist of each edge against parallel transport.
    clamped = at[1][:3, 3]
    nodes = [at[0][:3, 3], clamped, *(p[4 * k - 2] for k in range(2, n)), *(X[:3, 3] for X in ends)]
    bent: dict[str, Any] = {f"{name}/point{k}": nodes[k] for k in range(2, n + 2)}
    tangents = np.diff(nodes, axis=0)
    lengths = np.linalg.norm(tangents, axis=1)
    tangents /= lengths[:, None]
    u, angle = R[0][:, 0], 0.0
    for e, twist_name in twists.items():
        u = _transport(tangents[e - 1], tangents[e]) @ u
        d1 = R[4 * e][:, 0]
        d1 = d1 - tangents[e] * (tangents[e] @ d1)
        found = np.arctan2(tangents[e] @ np.cross(u, d1), u @ d1)
        angle += (found - angle + np.pi) % (2.0 * np.pi) - np.pi
        bent[twist_name] = angle
    out._bent.update({key: np.atleast_1d(value) for key, value in bent.items()})
    out._edges[label] = lengths

    def fasten(_: Limb) -> None:
        for k in (n, n + 1):
            _connect(spec, f"{name}/point{k}", np.zeros(3), dt=options.timestep)

    return fasten


def _along_rod(limb: Limb) -> bool:
    """Say whether the axis of the plate joint is the line of the rod at its tip."""
    axis = np.asarray(limb.distal.axis, dtype=float) / np.linalg.norm(limb.distal.axis)
    attach = np.asarray(limb.distal.attach, dtype=float)
    aside = attach[:3, 3] - axis * (axis @ attach[:3, 3])
    return bool(abs(attach[:3, 2] @ axis) > 1.0 - 1e-9 and np.linalg.norm(aside) < 1e-9)


def _transport(a: Array, b: Array) -> Array:
    """Return the smallest rotation that turns one unit vector into another."""
    from pliant.spatial import exp_so3

    axis = np.cross(a, b)
    sine = float(np.linalg.norm(axis))
    return np.eye(3) if sine < 1e-12 else exp_so3(axis / sine * np.arctan2(sine, float(a @ b)))


def _bend(model: mujoco.MjModel, bent: dict[str, Array], edges: dict[str, Array]) -> None:
    """Make the equilibrium the model's initial state.

    MuJoCo derives the second anchor of a connection from the initial state of the compiled (straight) model, so these
    are written again.
    """
    for name, value in bent.items():
        if value.size == 3:  # the three sliders of a point: they measure from where the body stands
            model.body_pos[model.body(name).id] = value
            continue
        at = model.jnt_qposadr[model.joint(name).id]
        model.qpos0[at : at + len(value)] = value
    for name, lengths in edges.items():
        at = model.flex_edgeadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_FLEX, name)]
        model.flexedge_length0[at : at + len(lengths)] = lengths
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for e in range(model.neq):
        if model.eq_type[e] == mujoco.mjtEq.mjEQ_CONNECT:
            one, two = model.eq_obj1id[e], model.eq_obj2id[e]
            point = data.xpos[one] + data.xmat[one].reshape(3, 3) @ model.eq_data[e, :3]
            model.eq_data[e, 3:6] = data.xmat[two].reshape(3, 3).T @ (point - data.xpos[two])


# -- the automatic check --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One number of `check_parallel`."""

    name: str
    """What was measured."""
    value: float
    """The measured value."""
    limit: float
    """What it may be at most (at least, for the speed)."""
    unit: str
    """Unit of both."""
    passed: bool
    """Whether it is inside the limit."""


def settle(
    robot: ParallelRobot, model: mujoco.MjModel, data: mujoco.MjData, *, tolerance: float = 1e-11, limit: float = 30.0
) -> float:
    """Run until everything rests, and return the simulated seconds it took.

    Kinetic damping: whenever the kinetic energy has passed a maximum, all velocities are set to zero. Where it comes to
    rest is an equilibrium of the model all the same.

    Args:
        tolerance: kinetic energy at rest [J], for 50 steps.
        limit: longest simulated time [s].

    Raises:
        DivergedError: the state is no longer finite.
        PliantError: it does not come to rest in that time.
    """
    from pliant.errors import DivergedError

    momentum = np.zeros(model.nv)
    before = quiet = 0.0
    began = data.time
    while data.time - began < limit:
        robot.update(model, data)
        mujoco.mj_step(model, data)
        mujoco.mj_mulM(model, data, momentum, data.qvel)
        energy = 0.5 * float(momentum @ data.qvel)
        if not np.isfinite(energy) or data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
            raise DivergedError(f"{robot.name}: the dynamic model diverged while settling", time=data.time)
        quiet = quiet + 1 if energy < tolerance else 0
        if quiet >= 50:
            return data.time - began
        if energy < before:
            data.qvel[:] = 0.0
            energy = 0.0
        before = energy
    raise PliantError(f"{robot.name}: the dynamic model is still moving after {limit:g} s ({before:.1e} J)")


def first_frequency(rod: Rod, options: RodModel | None = None) -> tuple[float, float]:
    """Return the first bending frequency of a rod clamped at one end: as simulated, and of Euler and Bernoulli [Hz].

    The simulation is that of the robot's rods: same elements, time step and constraints, without material damping. The
    theory is f = 1.8751^2 / (2 pi) sqrt(E I / (rho A L^4)) for a uniform rod.

    Raises:
        ModelError: the rod is not uniform, or has no mass.
    """
    import dataclasses

    from pliant.rods import ContinuumParallelRobot, DistalJoint, Limb, Plate, RobotDescription

    ends = [rod.values(s) for s in (0.0, 0.5, 1.0)]
    if not all(np.allclose(v.bending, ends[0].bending) and np.isclose(v.mass, ends[0].mass) for v in ends):
        raise ModelError("the theory's frequency is that of a uniform rod", field="rod")
    if ends[0].mass <= 0.0:
        raise ModelError("a rod without mass has no frequency", field="density")
    options = dataclasses.replace(options or RodModel(), damping=0.0, contact=False)
    straight = dataclasses.replace(
        rod, precurvature=(), distributed_force=(0.0, 0.0, 0.0), distributed_moment=(0.0, 0.0, 0.0)
    )
    tip = pose((0.0, 0.0, rod.length))
    description = RobotDescription(
        name="cantilever", gravity=(0.0, 0.0, 0.0), home=tip, plate=Plate(),
        limbs=(Limb(rod=straight, distal=DistalJoint(kind="revolute"), name="rod"),),
    )  # fmt: skip
    robot = ContinuumParallelRobot(description)
    solution = robot.solve_dgm(np.zeros(0))
    out = build_parallel(robot, start=solution, options=options, plate_mass=1e-3)
    for e in list(out.spec.equalities):
        if e.type == mujoco.mjtEq.mjEQ_CONNECT:
            out.spec.delete(e)
    out._bent = {k: v for k, v in out._bent.items() if k != PLATE}
    model = out.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key(REST_KEY).id)
    last = f"rod/link{options.segments}" if options.variant == "chain" else f"rod/point{options.segments}"
    body = model.body(last).id
    # The stiffer plane where the two differ is not the first one.
    softer = int(np.argmin(ends[0].bending))
    theory = CANTILEVER**2 / (2.0 * np.pi) * np.sqrt(min(ends[0].bending) / (ends[0].mass * rod.length**4))
    direction = 1 - softer
    for j in range(model.njnt):
        name, dof = model.joint(j).name, model.jnt_dofadr[j]
        if options.variant == "chain" and name.startswith("rod/bend") and name.endswith("b") == bool(softer):
            data.qvel[dof] = 1e-3 * theory / options.segments
        elif options.variant == "flex" and name.startswith("rod/point") and name.endswith("xy"[direction]):
            z = model.body_pos[model.jnt_bodyid[j], 2] / rod.length
            data.qvel[dof] = 1e-3 * theory * rod.length * z**2
    mujoco.mj_kinematics(model, data)
    rest = data.xpos[body, direction]
    crossings: list[float] = []
    before = 0.0
    dt = model.opt.timestep
    while len(crossings) < 14 and data.time < 20.0 / theory:
        mujoco.mj_step(model, data)
        value = data.xpos[body, direction] - rest
        if before * value < 0.0:
            crossings.append(data.time - dt * value / (value - before))
        before = value
    if len(crossings) < 6:
        return float("nan"), float(theory)
    used = np.array(crossings[2:])
    period = 2.0 * np.polyfit(np.arange(len(used)), used, 1)[0]
    return float(1.0 / period), float(theory)


def check_parallel(
    robot: ContinuumParallelRobot | str,
    *,
    options: RodModel | None = None,
    start: Solution | None = None,
    move: float = 0.03,
    seed: int = 0,
) -> list[Finding]:
    """Compare a dynamic model with the statics and with theory.

    Measured: where the plate settles at the start, and after the joints moved at random, against the direct model; the
    displacement under a load along the softest direction; first bending frequency of a rod against Euler and Bernoulli;
    growth of energy after a push; speed.

    Args:
        move: largest move of the joints, as a fraction of the rod's length (of a radian for turning joints); halved
            where the statics have no stable equilibrium there, or less than half of the start's stiffness: on the
            edge of buckling the least error of a force becomes a large one of the pose.
        seed: of the move.

    Raises:
        PliantError: the model does not come to rest; or what `build_parallel` raises.
    """
    from pliant.rods import NoEquilibrium, load_robot

    if isinstance(robot, str):
        robot = load_robot(robot)
    model_of = build_parallel(robot, options=options, start=start)
    options, home = model_of.options, model_of.solution
    model = model_of.compile()
    data = mujoco.MjData(model)
    findings: list[Finding] = []

    def add(name: str, value: float, limit: float, unit: str, *, least: bool = False) -> None:
        passed = value >= limit if least else value <= limit
        findings.append(Finding(name=name, value=value, limit=limit, unit=unit, passed=bool(passed)))

    def error(solution: Solution) -> tuple[float, float]:
        X, Y = model_of.plate_pose(model, data), solution.plate_pose
        return 1e3 * float(np.linalg.norm(X[:3, 3] - Y[:3, 3])), float(np.linalg.norm(log_so3(X[:3, :3] @ Y[:3, :3].T)))

    model_of.start(model, data)
    settle(model_of, model, data)
    distance, angle = error(home)
    add("plate against direct model, at the start", distance, 1.0, "mm")
    add("plate's angle against direct model, at the start", angle, 0.01, "rad")
    load, goal = _load_case(robot, home)
    if goal is not None:
        model_of.set_wrench(model, data, load)
        settle(model_of, model, data)
        moved = np.linalg.norm(goal.plate_pose[:3, 3] - home.plate_pose[:3, 3])
        off = np.linalg.norm(model_of.plate_pose(model, data)[:3, 3] - goal.plate_pose[:3, 3])
        add("displacement under a load against direct model", 100.0 * float(off / moved), 5.0, "% of it")
        model_of.start(model, data)
    lengths = np.array(
        [
            1.0 if robot.description.limbs[i].joints[j].kind == "revolute" else robot.description.limbs[i].rod.length
            for i, j in robot.description.actuators
        ]
    )
    if len(lengths):
        step = move * lengths * np.random.default_rng(seed).uniform(-1.0, 1.0, len(lengths))
        for halving in range(6):
            try:
                goal = robot.solve_dgm(home.q + step, home.wrench, start=home, restarts=0)
                firm = goal.smallest_stiffness >= 0.5 * home.smallest_stiffness
                if (goal.morse_index <= home.morse_index and firm) or halving == 5:
                    break
            except NoEquilibrium:
                if halving == 5:
                    raise
            step = 0.5 * step
        ramp = max(1, round(1.0 / options.timestep))
        for k in range(ramp):
            model_of.set_joints(model, data, home.q + step * (k + 1) / ramp)
            model_of.update(model, data)
            mujoco.mj_step(model, data)
        settle(model_of, model, data)
        distance, angle = error(goal)
        add("plate against direct model, joints moved", distance, 1.0, "mm")
        add("plate's angle against direct model, joints moved", angle, 0.01, "rad")
    try:
        found, theory = first_frequency(robot.description.limbs[0].rod, options)
        add("first bending frequency against theory", 100.0 * abs(found / theory - 1.0), 0.5, "%")
    except ModelError:
        pass
    add("growth of energy after a push", *_energy_growth(model_of, model, data), "of the push")
    model_of.start(model, data)
    steps = 300
    began = time.perf_counter()
    for _ in range(steps):
        model_of.update(model, data)
        mujoco.mj_step(model, data)
    add("speed on one core", steps * options.timestep / (time.perf_counter() - began), 1.0, "x real time", least=True)
    return findings


def _load_case(robot: ContinuumParallelRobot, home: Solution) -> tuple[Array, Solution | None]:
    """Return a force that moves the plate by about 0.5 % of a rod's length, and the equilibrium under it."""
    from pliant.rods import NoEquilibrium

    length = float(np.mean([limb.rod.length for limb in robot.description.limbs]))
    pick = [0, 1] if robot.planar else [0, 1, 2]
    values, vectors = np.linalg.eigh(home.compliance()[np.ix_(pick, pick)])
    force = vectors[:, -1] * 0.005 * length / max(float(values[-1]), 1e-12)
    for _ in range(4):
        wrench = home.wrench.copy()
        wrench[pick] += force
        try:
            goal = robot.solve_dgm(home.q, wrench, start=home, restarts=0)
            if goal.morse_index <= home.morse_index:
                return wrench, goal
        except NoEquilibrium:
            pass
        force = 0.5 * force
    return home.wrench, None


def _energy_growth(robot: ParallelRobot, model: mujoco.MjModel, data: mujoco.MjData) -> tuple[float, float]:
    """Push the plate; return the largest later rise of the total energy as a fraction of the push, and its limit."""
    robot.start(model, data)
    flags = model.opt.enableflags
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    body = model.body(PLATE).id
    dofs = slice(int(model.body_dofadr[body]), int(model.body_dofadr[body]) + int(model.body_dofnum[body]))
    data.qvel[dofs][:2] = 0.05
    mujoco.mj_forward(model, data)
    push = float(data.energy[1])
    # The limbs take up the push within a few steps; the constraints lose a part of it.
    for _ in range(20):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    lowest = float(data.energy.sum()) + _missing_energy(model, data)
    rise = 0.0
    for _ in range(round(2.0 / model.opt.timestep)):
        mujoco.mj_step(model, data)
        # The energies belong to the state before the step; positions are newer: bring them together again.
        mujoco.mj_forward(model, data)
        total = float(data.energy.sum()) + _missing_energy(model, data)
        rise = max(rise, total - lowest)
        lowest = min(lowest, total)
    model.opt.enableflags = flags
    return rise / max(push, 1e-12), 0.02


def _missing_energy(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Return what MuJoCo's energy leaves out: the bending of flexes, less the height of bodies without weight [J]."""
    mass = model.body_mass * model.body_gravcomp
    out = float(mass @ (data.xipos @ model.opt.gravity))
    for f in range(model.nflex):
        first, count = model.flex_vertadr[f], model.flex_vertnum[f]
        tangent = np.diff(data.flexvert_xpos[first : first + count], axis=0)
        tangent /= np.linalg.norm(tangent, axis=1)[:, None]
        a, b = tangent[:-1], tangent[1:]
        curvature = 2.0 * np.cross(a, b) / (1.0 + np.sum(a * b, axis=1))[:, None]
        records = model.flex_bending[model.flex_bendingadr[f] + 1 :][: 10 * (count - 2)].reshape(-1, 10)
        out += float(records[:, 4] @ np.sum(curvature**2, axis=1))
    return out

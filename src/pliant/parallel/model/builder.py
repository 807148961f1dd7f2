"""Continuum parallel robots as dynamic models: a description and an equilibrium become a `Robot`.

Two variants:

* ``chain`` (the default): rigid links with two bending hinges and one twist hinge at each of n nodes, springs E I / h_k
  and G J / h_k. The hinges stand at the nodes of Gauss and Legendre's quadrature and h_k are its weights times the
  length: compliances are integrals along the rod, and the rule is exact for polynomials up to degree 2 n - 1. (Hinges
  at equal distances, which is the midpoint rule, make a 6PFR with six links per rod 35 % too stiff.) The links are the
  chords of the equilibrium that the model starts from, and the springs are at rest where its moments are, so the model
  starts exactly in it. Carries every rod that the statics knows: tapered, rectangular, precurved, extensible, planar.
* ``flex``: MuJoCo's one-dimensional flex (discrete elastic rods), whose inextensibility is a soft constraint. Uniform
  straight rods of fixed length on revolute plate joints about the rod's axis (a flex clamped to a free plate is
  unstable in MuJoCo 4.0). Points stand at s = (k - 1/2) L/n, so that both ends are clamped halfway between two of
  them: second order in 1/n, where a clamp at a point is of first order.

Both run under the integrator ``discrete`` with Newton's method, which takes stiff springs at any time step. It damps
them as a material whose damping is the time step, which the joints' damping leaves out (`install_damping`). Chains
stretch and shear where that matters (`pliant.rods.model.chain.strains`); where it is left out, the notes of the robot
say how large it is.

Bodies: ``plate``, ``<limb>/base``, ``<limb>/link<k>``. Actuators: a position servo for each actuated joint, in the
order of q, named ``<limb>/<kind>`` (``<kind>2`` for a second one), whose control is the joint value [m or rad].
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.base.options import parse
from pliant.base.spatial import exp_so3, quaternion_from_rotation
from pliant.model.inertia import set_inertia
from pliant.model.interface import Interface
from pliant.model.robot import Robot
from pliant.parallel.model.assembly import PLATE, Assembly, add_offset
from pliant.parallel.model.flex import add_flex
from pliant.parallel.model.limb_chain import add_chain
from pliant.parallel.model.mechanism import OWN_WRENCH, ParallelMechanism, Servo
from pliant.parallel.model.options import ParallelOptions
from pliant.parallel.model.rod_contact import add_rod_contact
from pliant.robots.parts import add_light
from pliant.rods.model.cost import count_freedoms, note_cost
from pliant.rods.model.shapes import add_inertia

if TYPE_CHECKING:
    from mujoco import MjsBody

    from pliant.rods.description import BaseJoint, Limb, RobotDescription
    from pliant.rods.robot import ContinuumParallelRobot
    from pliant.rods.solution import Solution

DEFAULT_TIMESTEP = 1e-3
"""Time step [s]."""


def build_parallel(
    robot: ContinuumParallelRobot | str,
    *,
    start: Solution | None = None,
    options: ParallelOptions | None = None,
    **changes: Any,
) -> Robot:
    """Build the dynamic model of a continuum parallel robot, at rest in one of its equilibria.

    Args:
        robot: from `pliant.rods.load_robot`, or a name or path for it.
        start: equilibrium to start from; None: the home pose.
        options: how the rods become a model, and how the robot is driven.
        changes: fields of `ParallelOptions` that differ from ``options``; text is converted.

    Returns:
        A robot with a `ParallelMechanism` among its devices (`find_mechanism`).

    Raises:
        ModelError: the variant cannot carry this robot, or a value is out of range.
        NoEquilibrium: no start is given and the home pose has none.

    Example:
        >>> robot = build_parallel("Stewart_Gough_6PFR", segments=10)
        >>> with Simulation(MujocoEngine(robot), make_devices(robot)) as simulation:
        ...     simulation.run(1.0)
    """
    from pliant.rods.loaders import load_robot

    if isinstance(robot, str):
        robot = load_robot(robot)
    parsed = parse(ParallelOptions, changes, where="parallel robot: ", error=ModelError)
    chosen = dataclasses.replace(options or parsed, **{name: getattr(parsed, name) for name in changes})
    solution = robot.home() if start is None else start
    if solution.robot.description is not robot.description:
        raise ModelError(f"start belongs to {solution.robot.name!r}, not to {robot.name!r}", field="start")
    d = robot.description
    spec = mujoco.MjSpec()
    spec.modelname = "".join(c if c.isalnum() or c in "-_" else "_" for c in d.name)
    spec.compiler.degree = False
    spec.nuserdata = OWN_WRENCH
    spec.option.timestep = DEFAULT_TIMESTEP
    spec.option.gravity = d.gravity
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    out = Assembly(spec=spec, solution=solution, options=chosen)
    if solution.follower and np.any(solution.wrench):
        out.notes.append("the start's wrench turns with the plate; the simulation applies it in world axes")
    add_scene(spec, d, solution)
    if any(np.any(limb.rod.distributed_force) or np.any(limb.rod.distributed_moment) for limb in d.limbs):
        out.notes.append("distributed loads beside self weight are left out of the dynamic model")
    add_rod = add_chain if chosen.variant == "chain" else add_flex
    roots = [_root(out, limb, i) for i, limb in enumerate(d.limbs)]
    fasten = [add_rod(out, limb, i, roots[i]) for i, limb in enumerate(d.limbs)]
    add_rod_contact(out)
    # The plate comes last, so that the limbs do not fill in each other's rows of the factor.
    _add_plate(out, d, solution)
    for limb, tip in zip(d.limbs, fasten):
        tip(limb)
    note_cost(
        out.notes, d.name, count_freedoms(spec), float(spec.option.timestep), "robot.segments", chosen.segments
    )  # fmt: skip
    servos = [_add_servo(out, out.actuators[a], d.limbs[i].joints[j]) for a, (i, j) in enumerate(d.actuators)]
    mechanism = ParallelMechanism(
        solution=solution, options=chosen, servos=tuple(servos), constraints=tuple(out.constraints),
        elastic=dict(out.elastic), extensions=tuple(out.extensions), bent=out.bent, edges=out.edges,
    )  # fmt: skip
    # A name space of its own for what the Gazebo simulator does not have; ROS 2 hides names that do not begin with a
    # letter.
    space = d.name if d.name[:1].isalpha() else f"cpr_{d.name}"
    result = Robot(
        spec, devices=[mechanism], interface=Interface(namespace=space), notes=out.notes, file=d.file,
        set_defaults=False,
    )  # fmt: skip
    result.chosen_options |= {"gravity", "integrator", "timestep", "solver"}
    return result


def add_scene(spec: mujoco.MjSpec, d: RobotDescription, solution: Solution) -> None:
    """Add a light and a camera "overview" that sees the robot."""
    points = np.array([np.asarray(limb.base)[:3, 3] for limb in d.limbs] + [solution.plate_pose[:3, 3]])
    middle = points.mean(axis=0)
    extent = max(0.2, float(np.linalg.norm(points - middle, axis=1).max()))
    spec.stat.center, spec.stat.extent = middle, extent
    world = spec.worldbody
    add_light(spec, extent=extent, center=middle)
    view = np.array([0.0, 0.0, 3.5 * extent]) if d.planar else np.array([2.2, -2.2, 1.0]) * extent
    z = view / np.linalg.norm(view)
    x = np.array([1.0, 0.0, 0.0]) if d.planar else np.cross([0.0, 0.0, 1.0], z)
    x = x / np.linalg.norm(x)
    world.add_camera(
        name="overview", pos=middle + view, quat=quaternion_from_rotation(np.column_stack([x, np.cross(z, x), z]))
    )


def _root(out: Assembly, limb: Limb, i: int) -> tuple[MjsBody, Array]:
    """Add the base joints of a limb; return the body that carries the rod, with the frame of the rod's base in it."""
    spec, options = out.spec, out.options
    name = out.limb_name(i)
    values = out.solution.base_joints[i]
    body, frame = spec.worldbody, np.asarray(limb.base, dtype=float)
    size = 0.02 * max(0.2, limb.rod.length)
    counts: dict[str, int] = {}
    for j, joint in enumerate(limb.joints):
        frame = frame @ np.asarray(joint.pose, dtype=float)
        axis = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
        counts[joint.kind] = counts.get(joint.kind, 0) + 1
        label = f"{name}/{joint.kind}" + (str(counts[joint.kind]) if counts[joint.kind] > 1 else "")
        if joint.actuated:
            out.actuators.append(label)
        limits = {} if joint.limits is None else {"range": joint.limits, "limited": 1}
        if joint.kind == "extension":  # its spool comes with the rod
            continue
        q = float(values[j])
        moved = np.eye(4)
        if joint.kind == "prismatic":
            moved[:3, 3] = q * axis
        else:
            moved[:3, :3] = exp_so3(q * axis)
        frame = frame @ moved
        body = body.add_body(name=f"{label}/carrier", pos=frame[:3, 3], quat=quaternion_from_rotation(frame[:3, :3]))
        add_inertia(body, options.servo_mass, size, gravcomp=1.0)
        kind = mujoco.mjtJoint.mjJNT_SLIDE if joint.kind == "prismatic" else mujoco.mjtJoint.mjJNT_HINGE
        body.add_joint(name=label, type=kind, axis=axis, ref=q, **limits)
        body.add_geom(
            name=f"{label}/carrier", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.6 * size] * 3, rgba=[0.35, 0.38, 0.42, 1],
            contype=0, conaffinity=0, group=1,
        )  # fmt: skip
        frame = np.eye(4)
    if body is spec.worldbody:
        body = body.add_body(name=f"{name}/base", pos=frame[:3, 3], quat=quaternion_from_rotation(frame[:3, :3]))
        frame = np.eye(4)
    frame = frame @ np.asarray(limb.attach, dtype=float)
    add_offset(body, np.zeros(3), frame[:3, 3], 0.2 * size)
    return body, frame


def _add_servo(out: Assembly, name: str, joint: BaseJoint) -> Servo:
    sliding = joint.kind != "revolute"
    kp = out.options.servo_stiffness[0 if sliding else 1]
    length = max(limb.rod.length for limb in out.description.limbs)
    inertia = out.options.servo_mass * (1.0 if sliding else 0.4 * (0.02 * max(0.2, length)) ** 2)
    actuator = out.spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
    driven = out.spec.joint(name)
    limits = (float(driven.range[0]), float(driven.range[1])) if driven.limited == 1 else None
    if limits is not None:
        actuator.ctrllimited, actuator.ctrlrange = 1, limits
    return Servo(name=name, stiffness=kp, inertia=inertia, limits=limits)


def _add_plate(out: Assembly, d: RobotDescription, solution: Solution) -> None:
    X = solution.plate_pose
    reach = solution.robot.characteristic_length()
    plate = out.spec.worldbody.add_body(name=PLATE, pos=X[:3, 3], quat=quaternion_from_rotation(X[:3, :3]))
    mass = d.plate.mass if d.plate.mass > 0.0 else out.options.plate_mass
    if d.plate.mass <= 0.0:
        plate.gravcomp = 1.0
        out.notes.append(f"the plate has no mass: {mass:g} kg without weight is assumed")
    disc = mass * reach**2 * np.array([0.25, 0.25, 0.5]) + mass * (0.01 * reach) ** 2
    set_inertia(plate, mass, out.options.plate_inertia or disc, d.plate.com)
    if out.options.plate_inertia is None:
        out.notes.append(f"the plate's inertia is that of a disc of radius {reach:.3g} m")
    if d.planar:
        for name, kind, axis in (("x", "SLIDE", (1, 0, 0)), ("y", "SLIDE", (0, 1, 0)), ("angle", "HINGE", (0, 0, 1))):
            # The plate's frame is turned, its joints are not.
            plate.add_joint(
                name=f"{PLATE}/{name}", type=getattr(mujoco.mjtJoint, f"mjJNT_{kind}"), axis=X[:3, :3].T @ axis
            )
    else:
        plate.add_freejoint(name=PLATE)
    corners = [np.asarray(limb.distal.pose)[:3, 3] for limb in d.limbs]
    thick, middle = 0.03 * reach, np.mean(corners, axis=0) * [0, 0, 1]
    for corner in corners:
        if np.linalg.norm(corner - middle) > 1.05 * reach:
            add_offset(plate, middle, corner, thick)
    plate.add_geom(
        name=PLATE, type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[reach, 0.5 * thick, 0], rgba=[0.20, 0.45, 0.70, 0.55],
        pos=middle, **out.contact_bits,
    )  # fmt: skip

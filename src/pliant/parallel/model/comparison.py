"""Dynamic models of parallel robots against their statics and against beam theory."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.errors import DivergedError, ModelError, PliantError
from pliant.base.numerics import Array
from pliant.base.spatial import log_so3, pose
from pliant.model.description import REST_KEY
from pliant.model.problem import Problem
from pliant.model.robot import Robot
from pliant.parallel.model.assembly import PLATE
from pliant.parallel.model.builder import build_parallel
from pliant.parallel.model.mechanism import MechanismState, find_mechanism, measured, mechanism_of
from pliant.parallel.model.options import ParallelOptions
from pliant.rods.model.damping import bending_frequency

if TYPE_CHECKING:
    from pliant.rods.description import Rod
    from pliant.rods.solution import Solution

MAX_HALVINGS = 5
"""How often a move is halved where the statics have no firm equilibrium."""


def settle(state: MechanismState, *, tolerance: float = 1e-11, limit: float = 30.0) -> float:
    """Run until everything rests, and return the simulated seconds it took.

    Kinetic damping: whenever the kinetic energy has passed a maximum, all velocities are set to zero. Where it comes to
    rest is an equilibrium of the model all the same.

    Args:
        state: the robot in a simulation.
        tolerance: kinetic energy at rest [J], for 50 steps.
        limit: longest simulated time [s].

    Raises:
        DivergedError: the state is no longer finite.
        PliantError: it does not come to rest in that time.
    """
    model, data, name = state.model, state.data, state.mechanism.description.name
    momentum = np.zeros(model.nv)
    before, quiet = 0.0, 0
    began = data.time
    while data.time - began < limit:
        state.step()
        mujoco.mj_mulM(model, data, momentum, data.qvel)
        energy = 0.5 * float(momentum @ data.qvel)
        if not np.isfinite(energy) or data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
            raise DivergedError(f"{name}: the dynamic model diverged while settling", time=data.time)
        quiet = quiet + 1 if energy < tolerance else 0
        if quiet >= 50:
            return data.time - began
        if energy < before:
            data.qvel[:] = 0.0
            energy = 0.0
        before = energy
    raise PliantError(f"{name}: the dynamic model is still moving after {limit:g} s ({before:.1e} J)")


def first_frequency(rod: Rod, options: ParallelOptions | None = None, *, timestep: float = 1e-3) -> tuple[float, float]:
    """Return the first bending frequency of a rod clamped at one end: as simulated, and of Euler and Bernoulli [Hz].

    The simulation is that of the robot's rods: same elements and constraints, without material damping. The
    theory is f = 1.8751^2 / (2 pi) sqrt(E I / (rho A L^4)) for a uniform rod.

    Raises:
        ModelError: the rod is not uniform, or has no mass.
    """
    from pliant.rods import ContinuumParallelRobot, DistalJoint, Limb, Plate, RobotDescription

    ends = [rod.values(s) for s in (0.0, 0.5, 1.0)]
    if not all(np.allclose(v.bending, ends[0].bending) and np.isclose(v.mass, ends[0].mass) for v in ends):
        raise ModelError("the theory's frequency is that of a uniform rod", field="rod")
    if ends[0].mass <= 0.0:
        raise ModelError("a rod without mass has no frequency", field="density")
    options = dataclasses.replace(options or ParallelOptions(), damping=0.0, contact=False)
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
    out = build_parallel(robot, start=solution, options=options, plate_mass=1e-3).set("option.timestep", timestep)
    for e in list(out.spec.equalities):
        if e.type == mujoco.mjtEq.mjEQ_CONNECT:
            out.spec.delete(e)
    model = out.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key(REST_KEY).id)
    last = f"rod/link{options.segments}" if options.variant == "chain" else f"rod/point{options.segments}"
    body = model.body(last).id
    # The stiffer plane where the two differ is not the first one.
    softer = int(np.argmin(ends[0].bending))
    theory = bending_frequency(straight)
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


def compare_parallel(robot: Robot) -> list[Problem] | None:
    """Compare a parallel robot with its statics; None for another robot."""
    return None if find_mechanism(robot) is None else compare_with_statics(robot)


def compare_with_statics(robot: Robot, *, move: float = 0.03, seed: int = 0) -> list[Problem]:
    """Compare a dynamic model with the statics and with theory.

    Measured: where the plate settles at the start, and after the joints moved at random, against the direct model; the
    displacement under a load along the softest direction; first bending frequency of a rod against Euler and Bernoulli;
    growth of energy after a push; speed.

    Args:
        robot: from `build_parallel`.
        move: largest move of the joints, as a fraction of the rod's length (of a radian for turning joints); halved
            where the statics have no stable equilibrium there, or less than half of the start's stiffness: on the
            edge of buckling the least error of a force becomes a large one of the pose.
        seed: of the move.

    Returns:
        One problem a measured value, with value, limit and unit: information where it is inside the limit.

    Raises:
        PliantError: the model does not come to rest.
    """
    mechanism = mechanism_of(robot)
    home = mechanism.solution
    model = robot.compile()
    state = mechanism.bind(model, mujoco.MjData(model))
    state.start()
    settle(state)
    distance, angle = _error(state, home)
    out = [
        measured("plate against direct model, at the start", distance, 1.0, "mm"),
        measured("plate's angle against direct model, at the start", angle, 0.01, "rad"),
    ]
    load, goal = _load_case(home)
    if goal is not None:
        state.set_wrench(load)
        settle(state)
        moved = np.linalg.norm(goal.plate_pose[:3, 3] - home.plate_pose[:3, 3])
        off = np.linalg.norm(state.plate_pose()[:3, 3] - goal.plate_pose[:3, 3])
        out.append(
            measured("displacement under a load against direct model", 100.0 * float(off / moved), 5.0, "% of it")
        )
        state.start()
    if mechanism.servos:
        goal = _moved(home, move, seed)
        ramp = max(1, round(1.0 / robot.timestep))
        for k in range(ramp):
            state.set_joints(home.q + (goal.q - home.q) * (k + 1) / ramp)
            state.step()
        settle(state)
        distance, angle = _error(state, goal)
        out.append(measured("plate against direct model, joints moved", distance, 1.0, "mm"))
        out.append(measured("plate's angle against direct model, joints moved", angle, 0.01, "rad"))
    try:
        found, theory = first_frequency(mechanism.description.limbs[0].rod, mechanism.options, timestep=robot.timestep)
        out.append(measured("first bending frequency against theory", 100.0 * abs(found / theory - 1.0), 0.5, "%"))
    except ModelError:  # the theory is that of a uniform rod with mass
        pass
    out.append(measured("growth of energy after a push", _energy_growth(state), 0.02, "of the push"))
    state.start()
    steps = 300
    began = time.perf_counter()
    for _ in range(steps):
        state.step()
    speed = steps * robot.timestep / (time.perf_counter() - began)
    return [*out, measured("speed on one core", speed, 1.0, "x real time", least=True)]


def _error(state: MechanismState, solution: Solution) -> tuple[float, float]:
    """Return the distance [mm] and the angle [rad] of the plate from an equilibrium."""
    X, Y = state.plate_pose(), solution.plate_pose
    return 1e3 * float(np.linalg.norm(X[:3, 3] - Y[:3, 3])), float(np.linalg.norm(log_so3(X[:3, :3] @ Y[:3, :3].T)))


def _moved(home: Solution, move: float, seed: int) -> Solution:
    """Return a firm equilibrium with the joints moved at random."""
    from pliant.rods import NoEquilibrium

    d = home.robot.description
    lengths = np.array(
        [1.0 if d.limbs[i].joints[j].kind == "revolute" else d.limbs[i].rod.length for i, j in d.actuators]
    )
    step = move * lengths * np.random.default_rng(seed).uniform(-1.0, 1.0, len(lengths))
    for _ in range(MAX_HALVINGS):
        try:
            goal = home.robot.solve_dgm(home.q + step, home.wrench, start=home, restarts=0)
            firm = goal.smallest_stiffness >= 0.5 * home.smallest_stiffness
            if goal.morse_index <= home.morse_index and firm:
                return goal
        except NoEquilibrium:
            pass
        step = 0.5 * step
    return home.robot.solve_dgm(home.q + step, home.wrench, start=home, restarts=0)


def _load_case(home: Solution) -> tuple[Array, Solution | None]:
    """Return a force that moves the plate by about 0.5 % of a rod's length, and the equilibrium under it."""
    from pliant.rods import NoEquilibrium

    robot = home.robot
    length = robot.description.mean_rod_length
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


def _energy_growth(state: MechanismState) -> float:
    """Push the plate; return the largest later rise of the total energy as a fraction of the push."""
    model, data = state.model, state.data
    state.start()
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
    return rise / max(push, 1e-12)


def _missing_energy(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Return what MuJoCo's energy leaves out [J].

    The bending of flexes and the deflection of the servos, less the height of bodies without weight.
    """
    mass = model.body_mass * model.body_gravcomp
    out = float(mass @ (data.xipos @ model.opt.gravity))
    out += 0.5 * float(model.actuator_gainprm[:, 0] @ (data.ctrl - data.actuator_length) ** 2)
    for f in range(model.nflex):
        first, count = model.flex_vertadr[f], model.flex_vertnum[f]
        tangent = np.diff(data.flexvert_xpos[first : first + count], axis=0)
        tangent /= np.linalg.norm(tangent, axis=1)[:, None]
        a, b = tangent[:-1], tangent[1:]
        curvature = 2.0 * np.cross(a, b) / (1.0 + np.sum(a * b, axis=1))[:, None]
        records = model.flex_bending[model.flex_bendingadr[f] + 1 :][: 10 * (count - 2)].reshape(-1, 10)
        out += float(records[:, 4] @ np.sum(curvature**2, axis=1))
    return out

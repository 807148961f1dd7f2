"""Natural oscillations of a dynamic model with rods: as its steps have them, and of the linearised statics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.numerics import Array
from pliant.base.spatial import log_so3
from pliant.model.problem import Problem
from pliant.model.robot import Robot
from pliant.parallel.model.assembly import PLATE
from pliant.parallel.model.mechanism import find_mechanism
from pliant.rods.geometry import simpson_weights

if TYPE_CHECKING:
    from pliant.rods.solution import Solution

MIN_FREQUENCY = 1e-2
"""Frequency below which a motion of the model counts as none: a free motion, or one that creeps [Hz]."""
MAX_RATIO = 0.99
"""Damping ratio beyond which a motion is no oscillation."""
MIN_STIFFNESS = 1e-9
"""Stiffness of a free direction of the plate, as a part of the largest."""
POINTS = 21
"""Points of a rod's centre line at which its inertia is taken, an odd number."""
MAX_FREEDOMS = 500
"""Most degrees of freedom of a model whose oscillations are found: one step for each number of its state, and the
eigenvalues of the map. 372 took 13 s of processor time, 732 took 55 s."""
DIFFERENCE = 1e-6
"""Step of the differences [m, rad and their rates]; the map of a step is smooth at rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """A natural oscillation about an equilibrium."""

    frequency: float
    """Undamped frequency [Hz]."""
    ratio: float
    """Damping ratio of the simulation, integrator included."""
    material: float
    """Damping ratio that the material alone gives this oscillation: damping / 2 times its power in the springs of the
    rods, over its angular frequency. Of a rod without load it is pi f damping; a load changes the frequency only."""


def simulated_modes(
    model: mujoco.MjModel, data: mujoco.MjData, elastic: Mapping[str, float], damping: float, count: int = 6
) -> list[Mode]:
    """Return the slowest oscillations of a model about the state it rests in, slowest first.

    They are those of the map from one step to the next (`mujoco.mjd_transitionFD`), with constraints, servos and the
    integrator: an eigenvalue z of it is exp(s timestep), with the frequency |s| / (2 pi) and the ratio -Re(s) / |s|.

    Args:
        model: the compiled model.
        data: its state, at rest; not changed.
        elastic: stiffness of the joints that are the elasticity of the rods, by name [N m/rad or N/m].
        damping: time constant of their material [s].
        count: the most that are returned.
    """
    here = mujoco.MjData(model)
    mujoco.mj_copyData(here, model, data)
    nv, size = model.nv, 2 * model.nv + model.na
    A = np.zeros((size, size))
    mujoco.mjd_transitionFD(model, here, DIFFERENCE, False, A, None, None, None)
    values, vectors = np.linalg.eig(A)
    with np.errstate(divide="ignore"):
        s = np.log(values.astype(complex)) / model.opt.timestep
    stiffness = np.zeros(nv)
    for name, value in elastic.items():
        stiffness[model.jnt_dofadr[model.joint(name).id]] = value
    mass = np.zeros((nv, nv))
    mujoco.mj_fullM(model, here, mass)
    out = []
    for k in np.argsort(np.abs(s)):
        omega = abs(s[k])
        swings = np.isfinite(omega) and s[k].imag > 0.0 and -s[k].real < MAX_RATIO * omega
        if not swings or omega < 2.0 * np.pi * MIN_FREQUENCY:
            continue
        shape = vectors[:nv, k]
        power = float((stiffness * np.abs(shape) ** 2).sum() / np.real(shape.conj() @ mass @ shape))
        out.append(
            Mode(
                frequency=float(omega / (2.0 * np.pi)), ratio=float(-s[k].real / omega),
                material=0.5 * damping * power / float(omega),
            )
        )  # fmt: skip
        if len(out) == count:
            break
    return out


def plate_frequencies(solution: Solution, mass: float, inertia: Array, com: Array) -> Array:
    """Return the frequencies of the plate on its rods by the linearised statics, lowest first [Hz].

    Rayleigh and Ritz: the stiffness of the plate with locked actuators, and the inertia of the plate and of the rods,
    which take the shape of the statics at each pose of it. So the lowest of them is above that of the robot, whose
    rods swing too. Directions without stiffness are left out.

    Args:
        solution: the equilibrium, of the statics.
        mass: of the plate [kg].
        inertia: of the plate about its centre of mass, world axes, shape (3, 3) [kg m^2].
        com: from the plate's origin to its centre of mass, world axes, shape (3,) [m].
    """
    robot, stiffness = solution.robot, solution.linearisation().stiffness
    values, vectors = np.linalg.eigh(0.5 * (stiffness + stiffness.T))
    directions = vectors[:, np.abs(values) > MIN_STIFFNESS * np.abs(values).max()]
    load = solution.wrench[[0, 1, 5]] if robot.planar else solution.wrench
    shapes, plate, step = [], [], 1e-5
    for direction in directions.T:
        wrench = stiffness @ direction * step
        ends = [robot.solve_dgm(solution.q, load + sign * wrench, start=solution, restarts=0) for sign in (1.0, -1.0)]
        A, B = (one.plate_pose for one in ends)
        lines = [np.array([line.position for line in one.centrelines(POINTS)]) for one in ends]
        turn = log_so3(A[:3, :3] @ B[:3, :3].T)
        shapes.append((lines[0] - lines[1]) / (2.0 * step))
        plate.append(np.append(A[:3, 3] - B[:3, 3] + np.cross(turn, com), turn) / (2.0 * step))
    moved, bent = np.array(plate), np.array(shapes)
    M = mass * moved[:, :3] @ moved[:, :3].T + moved[:, 3:] @ inertia @ moved[:, 3:].T
    weights = simpson_weights(POINTS)
    for i, (limb, line) in enumerate(zip(robot.description.limbs, solution.centrelines(POINTS))):
        share = weights * line.length * [limb.rod.values(float(s)).mass for s in line.s]
        M += np.einsum("aki,bki,k->ab", bent[:, i], bent[:, i], share)
    squares = np.linalg.eigvals(np.linalg.solve(M, directions.T @ stiffness @ directions)).real
    return np.sqrt(np.maximum(np.sort(squares), 0.0)) / (2.0 * np.pi)


def check_modes(robot: Robot) -> list[Problem] | None:
    """Return the first six oscillations of a parallel robot in its first equilibrium; None for another robot.

    The model of a flex has no list of its elastic joints, and none is returned for it.
    """
    mechanism = find_mechanism(robot)
    if mechanism is None or mechanism.options.variant == "flex":
        return None
    model = robot.compile()
    if model.nv > MAX_FREEDOMS:
        names = (model.body(int(body)).name.rpartition("/")[2] for body in model.dof_bodyid)
        rods = sum(name.startswith(("link", "node")) for name in names)
        most = mechanism.options.segments * (MAX_FREEDOMS - model.nv + rods) // rods
        text = f"not computed: the model has {model.nv} degrees of freedom, more than {MAX_FREEDOMS}"
        return [Problem("info", "oscillations", text, f"set robot.segments to at most {most}")]
    state = mechanism.bind(model, mujoco.MjData(model))
    state.start()
    out = [
        Problem(
            "info", f"oscillation {k + 1}",
            f"{mode.frequency:.4g} Hz, damping ratio {mode.ratio:.4f} (of the material {mode.material:.4f})",
            value=mode.frequency, unit="Hz",
        )
        for k, mode in enumerate(simulated_modes(model, state.data, mechanism.elastic, mechanism.options.damping))
    ]  # fmt: skip
    plate = model.body(PLATE).id
    R = state.data.ximat[plate].reshape(3, 3)
    arm = state.data.xipos[plate] - state.data.xpos[plate]
    inertia = R @ np.diag(model.body_inertia[plate]) @ R.T
    lowest = float(plate_frequencies(mechanism.solution, float(model.body_mass[plate]), inertia, arm)[0])
    text = f"{lowest:.4g} Hz by the linearised statics, an upper bound: the rods follow the plate as in an equilibrium"
    return [*out, Problem("info", "lowest oscillation", text, value=lowest, unit="Hz")]

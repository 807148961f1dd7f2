"""What a solve returns: joint values and plate pose, and on demand shapes, stability, stiffness, sensitivities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import ModelError
from pliant.base.spatial import exp_so3, log_so3, rotation_from_quaternion
from pliant.rods import _kernels as kernels
from pliant.rods._build import bending_unit, flatten, rod_table, unflatten
from pliant.rods.description import Limb, Rectangular, Round
from pliant.rods.parameters import offset_actuator, parameter_value, with_parameter
from pliant.rods.statics import State, Statics

__all__ = ["Centreline", "Linearisation", "Solution", "Stability"]

Array = NDArray[np.float64]
CUTS = 12  # of a rod for the stability index
NEUTRAL = 1e-7  # a curvature below it, in units of the bending of the softest rod, is none
# Parts of the state at a rod's tip, and of its sensitivities.
QUATERNION, MOMENT = slice(kernels.TIP_Q, kernels.TIP_M), slice(kernels.TIP_M, kernels.TIP_N)
FORCE = slice(kernels.TIP_N, kernels.TIP_LENGTH)
BY_ROTATION, BY_POSITION = slice(kernels.BY_PHI, kernels.BY_P), slice(kernels.BY_P, kernels.BY_M)


@dataclass(frozen=True, slots=True, kw_only=True)
class Centreline:
    """The shape and the loads of one rod."""

    s: Array
    """Abscissa, shape (points,), 0 at the base, 1 at the tip."""
    position: Array
    """World positions, shape (points, 3) [m]."""
    rotation: Array
    """Frames (d1, d2, d3), shape (points, 3, 3)."""
    force: Array
    """Internal force n, world axes, shape (points, 3) [N]."""
    moment: Array
    """Internal moment m, world axes, shape (points, 3) [N m]."""
    bending_strain: Array
    """Strain of bending at the surface, shape (points,); of a section without a size the curvature [1/m]."""
    length: float
    """Rest length [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Negative curvatures of the energy with locked actuators; the equilibrium is stable if there are none.

    By the additivity of inertia the index is the sum of three counts: inside the rods with both ends clamped,
    in the free directions of the joints with the plate clamped, and of the condensed plate. Curvatures are judged in
    units of the bending of the softest rod (E I / L per radian, E I / L^3 per metre), against the rounding error of
    each direction, so that neither the axial stiffness of the rods nor the choice of units matters.
    """

    index: int
    """Morse index: the sum."""
    rods: tuple[int, ...]
    """Inside each rod."""
    joints: tuple[int, ...]
    """In the joints of each limb."""
    plate: int
    """Of the plate on the condensed limbs."""
    free: tuple[str, ...] = ()
    """Motions that cost no energy, in words, such as "the plate turns freely about the point (0, 0.8)"."""

    @property
    def verdict(self) -> Literal["stable", "neutral", "unstable"]:
        """``unstable`` if the index is positive, else ``neutral`` if a motion is free, else ``stable``."""
        return "unstable" if self.index else "neutral" if self.free else "stable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Linearisation:
    """First-order model at a solution, world axes, plate origin; planar robots have (x, y, angle) rows."""

    stiffness: Array
    """Plate stiffness with locked actuators, shape (freedoms, freedoms) [N/m, N, N m/rad]: wrench = K dX."""
    influence: Array
    """Change of the wrench on the held plate by the joint values, shape (freedoms, actuators)."""
    limb_matrices: tuple[Array, ...]
    """Each limb's scaled joint residuals by its scaled base wrench (and passive joints)."""


class Solution:
    """An equilibrium of a robot. What is not asked for is not computed.

    Attributes:
        q: actuated joint values, shape (actuators,) [m or rad].
        plate_pose: shape (4, 4).
        residual: largest scaled residual (metres, radians; forces and moments by the robot's scales).
        iterations: Newton steps.
        base_wrenches: force and moment in each rod at its base, world axes, shape (limbs, 6) [N, N m].
        wrench: external wrench on the plate, shape (6,).
        steps: integration steps a rod.
        starts: the starts that were tried, the last one succeeded.
        branch: ``home`` if it is continued from the home equilibrium, ``neighbour`` if it is the stable equilibrium
            beside that one after a bifurcation, else ``other``.
        note: a sentence if the solve changed to another branch, or found no stable equilibrium; else empty.
    """

    def __init__(
        self, robot: Statics, state, *, wrench, follower: bool, steps: int, residual: float,
        iterations: int, inverse: bool, controlled, linearisation=None, starts: tuple[str, ...] = (),
        branch: str = "other",
    ) -> None:  # fmt: skip
        self._robot = robot
        self._state = state
        self.wrench: Array = wrench
        self.follower = follower
        self.steps = steps
        self.residual = residual
        self.iterations = iterations
        self.inverse = inverse
        self.controlled = controlled
        self.starts = starts
        self.branch = branch
        self.note = ""
        self._alone = False  # unstable, and no stable equilibrium was found beside it
        self._tips, self._cols = linearisation if linearisation is not None else (None, None)
        self._linear: Linearisation | None = None
        self._stability: Stability | None = None
        self._unstable: Array = np.zeros((robot._npl, 0))

    def __repr__(self) -> str:
        kind = "IGM" if self.inverse else "DGM"
        q = np.array2string(self.q, precision=6)
        return f"Solution({self._robot.name} {kind}, q={q}, residual={self.residual:.1e})"

    def _repr_html_(self) -> str:
        """Return the shape of the rods and a table of numbers, for notebooks."""
        from pliant.rods.notebook import solution_html

        def text(values: Array) -> str:
            return np.array2string(np.asarray(values), precision=5, suppress_small=True)

        rows = [
            ("actuated joints [m or rad]", text(self.q)),
            ("position of the plate [m]", text(self.plate_pose[:3, 3])),
            ("wrench on the plate [N, N m]", text(self.wrench)),
            ("potential energy [J]", self.energy()),
            ("branch", self.branch),
            ("residual", f"{self.residual:.1e}"),
            *([("note", self.note)] if self.note else []),
        ]
        title = f"{self._robot.name}, {'inverse' if self.inverse else 'direct'} problem"
        lines = [line.position for line in self.centrelines()]
        return solution_html(title, lines, self._robot.description.planar, rows)

    @property
    def robot(self) -> Statics:
        """The robot this solution belongs to."""
        return self._robot

    @property
    def q(self) -> Array:
        """Actuated joint values, shape (actuators,) [m or rad]."""
        return self._state[1][self._robot._actuators]

    @property
    def base_joints(self) -> Array:
        """Values of all base joints, shape (limbs, most joints of a limb) [m or rad]."""
        return self._state[1].copy()

    @property
    def passive_joints(self) -> Array:
        """Values of the passive base joints, limb by limb [m or rad]."""
        d = self._robot.description
        return np.array(
            [
                self._state[1][i, j]
                for i, limb in enumerate(d.limbs)
                for j, joint in enumerate(limb.joints)
                if not joint.actuated
            ]
        )

    @property
    def plate_pose(self) -> Array:
        """Pose of the plate in the world, shape (4, 4) [translation in m]."""
        return unflatten(self._state[2])

    @property
    def pose2d(self) -> Array:
        """(x, y, angle) of the plate [m, rad]."""
        x = self._state[2]
        return np.array([x[9], x[10], np.arctan2(x[3], x[0])])

    @property
    def base_wrenches(self) -> Array:
        """Internal force and moment of each rod at its base, world axes, shape (limbs, 6) [N, N m]."""
        return self._state[0].copy()

    def with_steps(self, steps: int) -> Solution:
        """Return the same state labelled for another number of integration steps, as a start for a finer solve."""
        return Solution(
            self._robot, self._state, wrench=self.wrench, follower=self.follower, steps=steps, residual=self.residual,
            iterations=self.iterations, inverse=self.inverse, controlled=self.controlled, starts=self.starts,
            branch=self.branch,
        )  # fmt: skip

    def belonging_to(self, robot: Statics) -> Solution:
        """Return the same equilibrium for a fork of its robot, in whose memory further questions are answered."""
        return Solution(
            robot, self._state, wrench=self.wrench, follower=self.follower, steps=self.steps, residual=self.residual,
            iterations=self.iterations, inverse=self.inverse, controlled=self.controlled, starts=self.starts,
            branch=self.branch,
        )  # fmt: skip

    def with_unknowns(self, base_wrenches: Array, q: Array, plate_pose: Array) -> Solution:
        """Return a start for a solve with other unknowns; passive joints stay.

        Args:
            base_wrenches: force and moment in each rod at its base, world axes, shape (limbs, 6) [N, N m].
            q: actuated joint values, shape (actuators,) [m or rad].
            plate_pose: shape (4, 4).
        """
        joints = self._state[1].copy()
        joints[self._robot._actuators] = q
        state = (np.array(base_wrenches, dtype=float), joints, flatten(np.asarray(plate_pose, dtype=float)))
        return Solution(
            self._robot, state, wrench=self.wrench, follower=self.follower, steps=self.steps, residual=np.inf,
            iterations=0, inverse=self.inverse, controlled=self.controlled,
        )  # fmt: skip

    def _moved_to(self, robot: Statics) -> Solution:
        """Return the same state as a start for a robot with other parameters."""
        return Solution(
            robot, self._state, wrench=self.wrench, follower=self.follower, steps=self.steps, residual=np.inf,
            iterations=0, inverse=self.inverse, controlled=self.controlled,
        )  # fmt: skip

    def sensitivity(self, parameter: str) -> Array:
        """Return the derivative of what was solved for by a parameter.

        Of an inverse solution dq/dp, shape (actuators,); of a direct one the plate's twist by p, world axes, shape
        (freedoms,). Implicit differentiation: one Newton step of the robots with p +- h, from this solution.
        """
        robot = self.robot
        a = offset_actuator(robot.description, parameter)
        if a is not None:
            return -np.eye(robot.actuator_count)[a] if self.inverse else self.jacobian()[:, a]
        value = parameter_value(robot.description, parameter)
        h = 1e-4 * (abs(value) if value != 0.0 else 1e-2)
        ends = [robot._with(with_parameter(robot.description, parameter, value + s * h))._nudge(self) for s in (1, -1)]
        if self.inverse:
            return (ends[0][0] - ends[1][0]) / (2.0 * h)
        twist = pose_error(ends[0][1], ends[1][1]) / (2.0 * h)
        return twist[[0, 1, 5]] if robot.planar else twist

    # --- shapes ----------------------------------------------------------------------------------------------

    def centreline(self, limb: int, points: int = 41) -> Centreline:
        """Return the shape and loads of one rod.

        Args:
            limb: index of the limb, from 0.
            points: number of points along the rod, >= 2.

        Raises:
            ModelError: the robot has no such limb, or there are fewer than two points.
        """
        d = self._robot.description
        if not 0 <= limb < len(d.limbs):
            raise ModelError(f"limb is {limb!r}; must be from 0 to {len(d.limbs) - 1}", field="limb")
        if points < 2:
            raise ModelError(f"points is {points!r}; must be a whole number >= 2", field="points")
        one = d.limbs[limb]
        X, L = root_pose(one, self._state[1][limb], one.rod.length)
        states = np.zeros((points, 14))
        kernels.survey(
            survey_tables(self._robot, points - 1)[limb], flatten(X), self._state[0][limb], L, 1.0, d.planar, False,
            states, self._robot._wk.w,
        )  # fmt: skip
        R = rotation_from_quaternion(states[:, QUATERNION])
        m = states[:, MOMENT]
        s = np.linspace(0.0, 1.0, points)
        table = survey_tables(self._robot, points - 1)[limb]
        at = np.minimum(np.arange(points) * kernels.STAGES, len(table) - 1)
        local = np.einsum("kji,kj->ki", R, m)[:, :2] * table[at, kernels.BEND_1 : kernels.TWIST]
        section = one.rod.section
        if isinstance(section, Round):
            tip = section.radius if section.tip_radius is None else section.tip_radius
            strain = np.hypot(local[:, 0], local[:, 1]) * (section.radius + s * (tip - section.radius))
        elif isinstance(section, Rectangular):
            strain = 0.5 * (np.abs(local[:, 0]) * section.height + np.abs(local[:, 1]) * section.width)
        else:
            strain = np.hypot(local[:, 0], local[:, 1])
        return Centreline(
            s=s, position=states[:, :3], rotation=R, force=states[:, FORCE], moment=m, bending_strain=strain, length=L
        )

    def centrelines(self, points: int = 41) -> list[Centreline]:
        """Return the shapes of all rods, as `centreline`."""
        return [self.centreline(i, points) for i in range(len(self._robot.description.limbs))]

    def energy(self, points: int = 61) -> float:
        """Return the potential energy [J]: of bending, twist, stretch and shear, of weight, and of the wrench.

        A force F has the potential -F p; a moment M about the plate's origin has none in space, and -M log(R) is taken,
        which is exact for turns about its axis. Distributed moments and loads that turn with the plate are left out.
        Simpson's rule over the rods.
        """
        d = self._robot.description
        X = self.plate_pose
        total = -d.plate.mass * float(np.dot(d.gravity, (X @ [*d.plate.com, 1.0])[:3]))
        if not self.follower:
            total -= float(self.wrench[:3] @ X[:3, 3] + self.wrench[3:] @ log_so3(X[:3, :3]))
        points += 1 - points % 2
        weights = np.ones(points)
        weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
        weights /= 3.0 * (points - 1)
        for line, limb in zip(self.centrelines(points), d.limbs):
            v = [limb.rod.values(s) for s in line.s]
            n = np.einsum("kji,kj->ki", line.rotation, line.force)
            m = np.einsum("kji,kj->ki", line.rotation, line.moment)
            density = 0.5 * (n**2 / np.array([[*one.shear, one.axial] for one in v])).sum(axis=1)
            density += 0.5 * (m**2 / np.array([[*one.bending, one.torsion] for one in v])).sum(axis=1)
            load = np.outer([one.mass for one in v], d.gravity) + np.asarray(limb.rod.distributed_force)
            total += line.length * float(weights @ (density - (line.position * load).sum(axis=1)))
        return total

    # --- first order -----------------------------------------------------------------------------------------

    def linearisation(self) -> Linearisation:
        """Return stiffness, influence of the joints and the limbs' own matrices at this solution."""
        if self._linear is None:
            r = self._robot
            md, wk = r._model(self.steps), r._wk
            state = State(*(a.copy() for a in self._state))
            r._call(
                state, self.steps, False, self.q[None], self._state[2][None], np.zeros(6, bool), self.wrench[None],
                self.follower, limit=0,
            )  # fmt: skip
            npl = r._npl
            unit = np.repeat(md.scale, 3)[md.plate_index[:npl]]
            K = -wk.stiffness[:npl, :npl] * unit[:, None]
            P = wk.influence[:npl, : r._na] * unit[:, None]
            matrices = []
            scale = np.repeat(md.scale, 3)
            for i in range(r._n):
                rows, cols = limb_rows(r, i)
                A = wk.d[i][np.ix_(rows, cols)].copy()
                for c, col in enumerate(cols):
                    if col < 6:
                        A[:, c] *= scale[col]
                matrices.append(A)
            self._linear = Linearisation(stiffness=K, influence=P, limb_matrices=tuple(matrices))
        return self._linear

    @property
    def plate_stiffness(self) -> Array:
        """Plate stiffness with locked actuators, symmetric at an equilibrium without follower loads."""
        return self.linearisation().stiffness

    def compliance(self) -> Array:
        """Return dX/d(wrench) with locked actuators, shape (freedoms, freedoms) [m/N, rad/N, ...]."""
        return np.linalg.pinv(self.linearisation().stiffness, rcond=1e-10)

    def jacobian(self) -> Array:
        """Return dX/dq at constant wrench, shape (freedoms, actuators): plate twist in world axes."""
        lin = self.linearisation()
        return np.linalg.pinv(lin.stiffness, rcond=1e-10) @ lin.influence

    def actuator_forces(self) -> Array:
        """Return the force or moment that each actuator must hold [N or N m].

        Of a prismatic or revolute joint the reaction to the rod's base wrench along the axis; of an extension
        the derivative of the elastic energy by the length fed in at the base, W - n.v - m.u (a uniform rod
        whose store lies at the height of its base).
        """
        d = self._robot.description
        out = np.zeros(self._robot._na)
        for a, (i, j) in enumerate(d.actuators):
            limb = d.limbs[i]
            w = self._state[0][i]
            X, _ = root_pose(limb, self._state[1][i], limb.rod.length)
            if limb.joints[j].kind == "extension":
                v = limb.rod.values(0.0)
                n, m = X[:3, :3].T @ w[:3], X[:3, :3].T @ w[3:]
                dv = n / np.array([*v.shear, v.axial])
                du = m / np.array([*v.bending, v.torsion])
                out[a] = (
                    0.5 * (n @ dv + m @ du) - n @ (dv + np.array([0.0, 0.0, 1.0])) - m @ (du + limb.rod.curvature(0.0))
                )
                continue
            origin, axis = joint_axis(limb, self._state[1][i], j)
            if limb.joints[j].kind == "prismatic":
                out[a] = -axis @ w[:3]
            else:
                out[a] = -axis @ (w[3:] + np.cross(X[:3, 3] - origin, w[:3]))
        return out

    # --- margins ---------------------------------------------------------------------------------------------

    def _unit(self) -> Array:
        """Diagonal that turns plate rotations into metres at the characteristic length."""
        c = self._robot.characteristic_length()
        return np.array([1.0, 1.0, 1.0 / c]) if self._robot.planar else np.array([1.0] * 3 + [1.0 / c] * 3)

    @property
    def smallest_stiffness(self) -> float:
        """Smallest eigenvalue of the plate stiffness, rotations scaled by the characteristic length [N/m]."""
        u = self._unit()
        K = self.linearisation().stiffness
        return float(np.linalg.eigvalsh(0.5 * (K + K.T) * np.outer(u, u))[0])

    def singular_values(self) -> dict[str, float]:
        """Return the smallest singular values: ``serial`` of P = dW/dq, ``parallel`` of J = dX/dq, ``limb``.

        Rotations are scaled by the characteristic length; the limb value is the smallest over the limbs of the
        scaled joint residuals by the scaled base wrench (zero at a rod's own limit point).
        """
        lin, u = self.linearisation(), self._unit()
        out = {}
        if lin.influence.shape[1]:
            out["serial"] = float(np.linalg.svd(u[:, None] * lin.influence, compute_uv=False)[-1])
            out["parallel"] = float(np.linalg.svd(self.jacobian() / u[:, None], compute_uv=False)[-1])
        out["limb"] = min(float(np.linalg.svd(A, compute_uv=False)[-1]) for A in lin.limb_matrices)
        return out

    def condition_numbers(self) -> dict[str, float]:
        """Return condition numbers, scaled as in :meth:`singular_values`: stiffness, serial, parallel."""
        lin, u = self.linearisation(), self._unit()
        out = {"stiffness": float(np.linalg.cond(lin.stiffness * np.outer(u, u)))}
        if lin.influence.shape[1]:
            out["serial"] = float(np.linalg.cond(u[:, None] * lin.influence))
            out["parallel"] = float(np.linalg.cond(self.jacobian() / u[:, None]))
        return out

    @property
    def morse_index(self) -> int:
        """Number of unstable directions with locked actuators; 0 for a stable equilibrium."""
        return self.stability().index

    @property
    def stable(self) -> bool:
        """True if every small motion with locked actuators costs energy; False also if a motion is free."""
        return self.stability().verdict == "stable"

    def stability(self) -> Stability:
        """Count the unstable directions (exact up to the cutting of each rod into twelve parts)."""
        if self._stability is None:
            r = self._robot
            d, md, wk = r.description, r._model(self.steps), r._wk
            self._linear = None  # the kernels' memory must hold this state
            lin = self.linearisation()
            length = r.characteristic_length()
            rods = []
            states = np.zeros((CUTS + 4, 14))
            for i in range(r._n):
                for cuts in (CUTS, CUTS + 1, CUTS + 3):  # -1: a cut lies on a singular point; cut elsewhere
                    count = kernels.survey(
                        survey_tables(r, cuts)[i], wk.roots[i], self._state[0][i], wk.tips[i, kernels.TIP_LENGTH],
                        length, d.planar, True, states, wk.w,
                    )  # fmt: skip
                    if count >= 0:
                        break
                rods.append(max(0, int(count)))
            joints = _joint_indices(r, self._state, md)
            values, directions, floor = self._plate_curvatures(lin)
            self._unstable = directions[:, values < -floor]
            free = directions[:, np.abs(values) <= floor]
            plate = self._unstable.shape[1]
            self._stability = Stability(
                index=sum(rods) + sum(joints) + plate, rods=tuple(rods), joints=tuple(joints), plate=plate,
                free=tuple(_free_motion(twist, self._state[2][9:], d.planar) for twist in free.T),
            )  # fmt: skip
        return self._stability

    def _plate_curvatures(self, lin: Linearisation) -> tuple[Array, Array, Array]:
        """Return the curvatures of the energy by the plate's motion, their directions and their rounding errors.

        Curvatures are in units of the bending of the softest rod, directions are columns of plate twists, world axes,
        which are lengths of the softest rod and radians long.
        """
        length, moment = softest_rod(self._robot)
        unit = np.array([length, length, 1.0] if self._robot.planar else [length] * 3 + [1.0] * 3)
        A = lin.stiffness * (np.outer(unit, unit) / moment)
        values, vectors = np.linalg.eigh(0.5 * (A + A.T))
        # Rounding of the entries, and what the asymmetry of K shows of its error. A part E_ij that couples two
        # directions changes their curvatures by E_ij^2 / |l_i - l_j|, so an error in a stiff direction does no harm.
        floor = np.full(len(values), NEUTRAL) + 16.0 * np.finfo(float).eps * np.abs(values).max()
        if not (self.follower and self.wrench.any()):  # such a wrench has no potential: K is not symmetric
            E = np.abs(vectors.T @ (0.5 * (A - A.T)) @ vectors)
            apart = np.abs(values[:, None] - values[None, :])
            floor += (E * np.minimum(1.0, E / np.maximum(apart, 1e-300))).sum(axis=1)
        return values, vectors * unit[:, None], floor


def _free_motion(twist: Array, origin: Array, planar: bool) -> str:
    """Say how the plate moves along a twist (world axes, at the origin of the plate)."""

    def point(p: Array) -> str:
        return "(" + ", ".join(f"{round(float(v), 6) + 0.0:g}" for v in (p[:2] if planar else p)) + ")"

    v = np.array([twist[0], twist[1], 0.0]) if planar else twist[:3]
    w = np.array([0.0, 0.0, twist[2]]) if planar else twist[3:]
    turn = float(np.linalg.norm(w))
    if turn < 1e-6 * float(np.linalg.norm(twist)):
        return f"the plate slides freely along {point(v / np.linalg.norm(v))}"
    centre = origin + np.cross(w, v) / turn**2
    if planar:
        return f"the plate turns freely about the point {point(centre)}"
    axis = w / turn * (-1.0 if w[np.argmax(np.abs(w))] < 0.0 else 1.0)
    pitch = float(v @ w) / turn**2
    also = "" if abs(pitch) < 1e-6 else f", moving {pitch:.3g} m along it per radian"
    return f"the plate turns freely about the axis {point(axis)} through {point(centre)}{also}"


def softest_rod(robot: Statics) -> tuple[float, float]:
    """Return length and E I / L of the softest rod, found once: see `bending_unit`."""
    known = robot.__dict__.get("_softest_rod")
    if known is None:
        known = robot.__dict__["_softest_rod"] = bending_unit(robot.description)
    return known


def survey_tables(robot: Statics, steps: int) -> list[Array]:
    """Return the rods' tables for a number of steps, made once."""
    tables = robot.__dict__.setdefault("_survey_tables", {})
    if steps not in tables:
        d = robot.description
        tables[steps] = [rod_table(limb.rod, d.gravity, steps) for limb in d.limbs]
    return tables[steps]


def joint_axis(limb: Limb, Q: Array, j: int) -> tuple[Array, Array]:
    """Return origin and axis of base joint j of a limb, in the world."""
    X = np.asarray(limb.base, dtype=float)
    for k, joint in enumerate(limb.joints):
        X = X @ joint.pose
        axis = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
        if k == j:
            return X[:3, 3], X[:3, :3] @ axis
        X = X @ _motion(joint.kind, axis, Q[k])
    raise IndexError(j)


def _motion(kind: str, axis: Array, q: float) -> Array:
    M = np.eye(4)
    if kind == "prismatic":
        M[:3, 3] = q * axis
    elif kind == "revolute":
        M[:3, :3] = exp_so3(q * axis)
    return M


def root_pose(limb: Limb, Q: Array, rest: float) -> tuple[Array, float]:
    """Return the pose of the rod's base and its rest length for base joint values Q."""
    X, L = np.asarray(limb.base, dtype=float), float(rest)
    for j, joint in enumerate(limb.joints):
        axis = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
        X = X @ joint.pose @ _motion(joint.kind, axis, Q[j])
        if joint.kind == "extension":
            L = float(Q[j])
    return X @ limb.attach, L


def tip_joint_frames(robot: Statics, X: Array) -> tuple[Array, Array, Array]:
    """Return the axes of every distal joint on the plate, as the rod's tip carries them, and the frames of the tips.

    The tips are those of the last integration in the robot's memory.

    Returns:
        Three arrays of shape (limbs, 3, 3).
    """
    md = robot._model(robot._steps(None, None))
    tips = rotation_from_quaternion(robot._wk.tips[:, QUATERNION])
    on_plate = np.reshape(X[:9], (3, 3)) @ md.plate_joint[:, :9].reshape(-1, 3, 3)
    return on_plate, tips @ md.tip[:, :9].reshape(-1, 3, 3), tips


def limb_rows(robot: Statics, i: int) -> tuple[list[int], list[int]]:
    """Return the residual rows and the unknown columns of limb i in the kernels' arrays."""
    cache = robot.__dict__.setdefault("_limb_rows", {})
    if i in cache:
        return cache[i]
    md = robot._model(robot._steps(None, None))
    nw = int(md.size[kernels.UNKNOWNS])
    rows = [int(v) for v in md.rows[i, :nw]]
    cols = [int(v) for v in md.wrench_index[:nw]]
    passive = [j for j in range(int(md.joint_count[i])) if md.actuator[i, j] < 0]
    cache[i] = rows + [6 + t for t in range(len(passive))], cols + [6 + j for j in passive]
    return cache[i]


FREE = {"fixed": (), "revolute": (5,), "universal": (4, 5), "spherical": (3, 4, 5), "prismatic": (2,)}


def _joint_indices(robot, state, md) -> list[int]:
    """Count the negative directions of each limb's free joint coordinates, plate and actuators locked.

    With M = (held rows; free coordinates) by the limb's unknowns, the unit motions are Z = M^-1 (0; 1) and the
    Hessian is minus the free rows (force of the rod along each freedom) times Z.
    """
    wk = robot._wk
    counts = [0] * robot._n
    groups: dict[tuple[int, int], list] = {}
    on_plate, on_tip, tips = tip_joint_frames(robot, state[2])
    for i, limb in enumerate(robot.description.limbs):
        rows, unknown = limb_rows(robot, i)
        kind = limb.distal.kind
        free = [row for row in FREE[kind] if row in rows]
        passive = [c for c in unknown if c >= 6]
        size = len(free) + len(passive)
        if size == 0:
            continue
        d, cols = wk.d[i][:, unknown], wk.cols[i][:, unknown]
        J, B = on_plate[i], on_tip[i]
        M, force = np.zeros((len(unknown), len(unknown))), np.zeros((size, len(unknown)))
        held = [row for row in rows if row < 6 and row not in free]
        M[: len(held)] = d[held]
        at = len(held)
        for t, row in enumerate(free):
            if kind == "prismatic":
                a = J[:, 2]
                rho = tips[i] @ md.tip[i, kernels.POS_X :]
                M[at + t] = a @ cols[BY_POSITION] + np.cross(rho, a) @ cols[BY_ROTATION]
            else:
                if kind == "revolute":
                    a = B[:, 2]
                elif kind == "universal":
                    a = J[:, 0] if t == 0 else B[:, 1]
                else:
                    a = np.eye(3)[t]
                M[at + t] = a @ cols[BY_ROTATION]
            force[t] = d[row] * md.scale[kernels.FORCE if kind == "prismatic" else kernels.MOMENT]
        passive_rows = [row for row in rows if row >= 6]
        for t, c in enumerate(passive):
            M[at + len(free) + t, unknown.index(c)] = 1.0
            slides = md.kind[i, c - 6] == kernels.PRISMATIC
            force[len(free) + t] = d[passive_rows[t]] * md.scale[kernels.FORCE if slides else kernels.MOMENT]
        groups.setdefault((len(unknown), size), []).append((i, M, force))
    for (_, size), members in groups.items():
        M = np.array([m for _, m, _ in members])
        rhs = np.zeros((M.shape[1], size))
        rhs[M.shape[1] - size :] = np.eye(size)
        try:
            Z = np.linalg.solve(M, np.broadcast_to(rhs, (len(M), *rhs.shape)))
        except np.linalg.LinAlgError:  # a limb at its own limit point
            Z = np.linalg.pinv(M) @ rhs
        H = -np.array([f for _, _, f in members]) @ Z
        negative = np.sum(
            np.linalg.eigvalsh(0.5 * (H + np.swapaxes(H, 1, 2))) < -NEUTRAL * softest_rod(robot)[1], axis=1
        )
        for (i, _, _), count in zip(members, negative):
            counts[i] = int(count)
    return counts


def dense_step(robot: Statics, state, problem):
    """Return residual, Jacobian and a function that applies a step, from the kernels' last linearisation."""
    md, wk = robot._model(robot._steps(None, None)), robot._wk
    n, npl, na = robot._n, robot._npl, robot._na
    layout = [limb_rows(robot, i) for i in range(n)]
    plate = [c for c in range(npl) if not (problem.inverse and problem.controlled[c])]
    axes = plate_axes(problem, npl)  # columns: the plate's freedoms as twists in world axes
    local = sum(len(cols) for _, cols in layout)
    width = local + len(plate) + (na if problem.inverse else 0)
    height = sum(len(rows) for rows, _ in layout) + npl
    r, J = np.zeros(height), np.zeros((height, width))
    pidx = [int(v) for v in md.plate_index[:npl]]
    free = axes[:, plate]
    at = ac = 0
    for i, (rows, cols) in enumerate(layout):
        m, k = len(rows), len(cols)
        r[at : at + m] = wk.r[i, rows]
        J[at : at + m, ac : ac + k] = wk.d[i][np.ix_(rows, cols)]
        J[height - npl :, ac : ac + k] = wk.pw[i][np.ix_(pidx, cols)]
        joint_rows = [t for t, row in enumerate(rows) if row < 6]
        for t in joint_rows:
            J[at + t, local : local + len(plate)] = wk.dx[i, rows[t], pidx] @ free
        if problem.inverse:
            for j in range(int(md.joint_count[i])):
                a = int(md.actuator[i, j])
                if a >= 0:
                    J[at : at + m, local + len(plate) + a] = wk.d[i, rows, 6 + j]
                    J[height - npl :, local + len(plate) + a] = wk.pw[i, pidx, 6 + j]
        at, ac = at + m, ac + k
    r[height - npl :] = wk.b[pidx]
    J[height - npl :, local : local + len(plate)] = wk.bx[np.ix_(pidx, pidx)] @ free

    def unpack(target, step) -> None:
        ac = 0
        for i, (_, cols) in enumerate(layout):
            for c in cols:
                if c < 6:
                    target.W[i, c] += step[ac]
                else:
                    target.Q[i, c - 6] += step[ac]
                ac += 1
        twist = np.zeros(6)
        twist[pidx] = free @ step[local : local + len(plate)]
        target.X[9:] += twist[:3]
        target.X[:9] = (exp_so3(twist[3:]) @ target.X[:9].reshape(3, 3)).ravel()
        if problem.inverse:
            target.Q[robot._actuators] += step[local + len(plate) :]

    return r, J, unpack


def plate_axes(problem, npl: int) -> Array:
    """Return the plate's freedoms as columns of twists in world axes.

    Where some but not all rotations are controlled, they are those about the axes of the target's plate.
    """
    axes = np.eye(npl)
    if problem.inverse and npl == 6 and len(set(problem.controlled[3:6].tolist())) > 1:
        axes[3:, 3:] = problem.x[:9].reshape(3, 3)
    return axes


def pose_error(X: Array, target: Array) -> Array:
    """Return position and rotation error of a pose against a target, world axes, shape (6,)."""
    return np.concatenate([X[:3, 3] - target[:3, 3], log_so3(X[:3, :3] @ target[:3, :3].T)])

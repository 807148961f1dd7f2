"""Result of a solve: joint values and plate pose, and on demand shapes, stability, stiffness, sensitivities."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.base.spatial import log_so3, rotation_from_quaternion
from pliant.rods import kernels
from pliant.rods._build import flatten, unflatten
from pliant.rods.description import Rectangular, Round, Section, tapered
from pliant.rods.geometry import FORCE, MOMENT, QUATERNION, rod_bases, simpson_weights
from pliant.rods.gradients import SOLVED, Gradients, actuator_forces_left, gradients
from pliant.rods.kernels import layout
from pliant.rods.linearisation import Linearisation, limb_matrices_left, linearisation_left
from pliant.rods.stability import Stability, plate_curvatures, stability_left, survey_tables
from pliant.rods.statics import State, Statics, Task, check_statics


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


def surface_strain(section: Section, s: Array, curvature: Array) -> Array:
    """Return the strain of bending at the surface for curvatures about both axes, shape (points, 2) [1/m]."""
    if isinstance(section, Round):
        return np.hypot(*curvature.T) * tapered(section.radius, section.tip_radius, s)
    if isinstance(section, Rectangular):
        height, width = tapered(section.height, section.tip_height, s), tapered(section.width, section.tip_width, s)
        return 0.5 * (np.abs(curvature[:, 0]) * height + np.abs(curvature[:, 1]) * width)
    return np.hypot(*curvature.T)


class Solution:
    """An equilibrium of a robot. What is not asked for is not computed.

    Attributes:
        q: actuated joint values, shape (actuators,) [m or rad].
        plate_pose: shape (4, 4).
        residual: largest scaled residual (metres, radians; forces and moments by the robot's scales).
        iterations: Newton steps.
        base_wrenches: force and moment in each rod at its base, world axes, shape (limbs, 6) [N, N m].
        wrench: external wrench on the plate, shape (6,).
        steps: integration steps per rod.
        starts: the starts that were tried, the last one succeeded.
        branch: ``home`` if it is continued from the home equilibrium, ``neighbour`` if it is the stable equilibrium
            beside that one after a bifurcation, else ``other``.
        note: a sentence if the solve changed to another branch, or found no stable equilibrium; else empty.
    """

    def __init__(
        self, robot: Statics, state: State, task: Task, *, steps: int, residual: float, iterations: int,
        linearisation: tuple[Array, Array] | None = None, starts: tuple[str, ...] = (), branch: str = "other",
    ) -> None:  # fmt: skip
        check_statics(robot, "Solution")
        self._robot = robot
        self._state = state
        self._task = task
        self.wrench: Array = task.wrench
        self.follower = task.follower
        self.inverse = task.inverse
        self.controlled = task.controlled
        self.steps = steps
        self.residual = residual
        self.iterations = iterations
        self.starts = starts
        self.branch = branch
        self.note = ""
        self._alone = False  # unstable, and no stable equilibrium was found beside it
        self._tips, self._cols = linearisation if linearisation is not None else (None, None)
        self._linear: Linearisation | None = None
        self._stability: Stability | None = None
        self._unstable: Array = np.zeros((robot._npl, 0))
        self._gradient_matrix: Array | None = None  # of `pliant.rods.gradients`

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
        return self._state.Q[self._robot._actuators]

    @property
    def base_joints(self) -> Array:
        """Values of all base joints, shape (limbs, most joints of a limb) [m or rad]."""
        return self._state.Q.copy()

    @property
    def plate_pose(self) -> Array:
        """Pose of the plate in the world, shape (4, 4) [translation in m]."""
        return unflatten(self._state.X)

    @property
    def pose2d(self) -> Array:
        """(x, y, angle) of the plate [m, rad]."""
        x = self._state.X
        return np.array([x[9], x[10], np.arctan2(x[3], x[0])])

    @property
    def base_wrenches(self) -> Array:
        """Internal force and moment of each rod at its base, world axes, shape (limbs, 6) [N, N m]."""
        return self._state.W.copy()

    def with_steps(self, steps: int) -> Solution:
        """Return the same state labelled for another number of integration steps, as a start for a finer solve."""
        return Solution(
            self._robot, self._state, self._task, steps=steps, residual=self.residual, iterations=self.iterations,
            starts=self.starts, branch=self.branch,
        )  # fmt: skip

    def belonging_to(self, robot: Statics) -> Solution:
        """Return the same equilibrium for a fork of its robot, in whose memory further questions are answered."""
        other = copy.copy(self)
        other._robot = robot
        return other

    def with_unknowns(self, base_wrenches: Array, q: Array, plate_pose: Array) -> Solution:
        """Return a start for a solve with other unknowns; passive joints stay.

        Args:
            base_wrenches: force and moment in each rod at its base, world axes, shape (limbs, 6) [N, N m].
            q: actuated joint values, shape (actuators,) [m or rad].
            plate_pose: shape (4, 4).
        """
        joints = self._state.Q.copy()
        joints[self._robot._actuators] = q
        state = State(np.array(base_wrenches, dtype=float), joints, flatten(np.asarray(plate_pose, dtype=float)))
        return Solution(self._robot, state, self._task, steps=self.steps, residual=np.inf, iterations=0)

    def _moved_to(self, robot: Statics) -> Solution:
        """Return the same state as a start for a robot with other parameters."""
        return Solution(robot, self._state, self._task, steps=self.steps, residual=np.inf, iterations=0)

    def sensitivity(self, parameter: str) -> Array:
        """Return the derivative of what was solved for by a parameter.

        Of an inverse solution dq/dp, shape (actuators,); of a direct one the plate's twist by p, world axes, shape
        (freedoms,). See `gradients` for more.
        """
        found = self.gradients([parameter])
        return found.joints[0] if self.inverse else found.pose[0]

    def gradients(self, parameters: Sequence[str], of: Sequence[str] = SOLVED) -> Gradients:
        """Return derivatives by numbers of the robot: see :func:`pliant.rods.gradients.gradients`."""
        return gradients(self, parameters, of)

    # --- shapes ----------------------------------------------------------------------------------------------

    def centreline(self, limb: int, points: int = 41) -> Centreline:
        """Return the shape and loads of one rod.

        Args:
            limb: index of the limb, from 0.
            points: number of points along the rod, >= 2.

        Raises:
            ModelError: the robot has no such limb, or there are fewer than two points.
        """
        count = len(self._robot.description.limbs)
        if not 0 <= limb < count:
            raise ModelError(f"limb is {limb!r}; must be from 0 to {count - 1}", field="limb")
        if points < 2:
            raise ModelError(f"points is {points!r}; must be a whole number >= 2", field="points")
        return self._lines([limb], points)[0]

    def centrelines(self, points: int = 41) -> list[Centreline]:
        """Return the shapes of all rods, as `centreline`."""
        return self._lines(range(len(self._robot.description.limbs)), points)

    def _lines(self, limbs: Sequence[int], points: int) -> list[Centreline]:
        robot, d = self._robot, self._robot.description
        bases, origins, lengths = (a[0] for a in rod_bases(robot._model(robot._steps(None, None)), self._state.Q[None]))
        tables, states = survey_tables(robot, points - 1), np.zeros((len(limbs), points, layout.TIP_SIZE))
        for out, i in zip(states, limbs):
            root = np.concatenate([bases[i].ravel(), origins[i]])
            kernels.survey(tables[i], root, self._state.W[i], lengths[i], 1.0, d.planar, False, out, robot._wk.w)
        R, m, s = rotation_from_quaternion(states[..., QUATERNION]), states[..., MOMENT], np.linspace(0.0, 1.0, points)
        at = np.minimum(np.arange(points) * layout.STAGES, len(tables[0]) - 1)
        yields = np.array([tables[i][at, layout.BEND_1 : layout.TWIST] for i in limbs])
        bent = (np.swapaxes(R, -1, -2) @ m[..., None])[..., :2, 0] * yields
        return [
            Centreline(
                s=s, position=states[k, :, :3], rotation=R[k], force=states[k, :, FORCE], moment=m[k],
                bending_strain=surface_strain(d.limbs[i].rod.section, s, bent[k]), length=float(lengths[i]),
            )
            for k, i in enumerate(limbs)
        ]  # fmt: skip

    def energy(self, lines: Sequence[Centreline] | None = None) -> float:
        """Return the potential energy [J]: of bending, twist, stretch and shear, of weight, and of the wrench.

        A force F has the potential -F p; a moment M about the plate's origin has none in space, and -M log(R) is taken,
        which is exact for turns about its axis. Distributed moments and loads that turn with the plate are left out.
        Simpson's rule over the rods, by their shapes at an odd number of points; None: at 61.
        """
        lines = self.centrelines(61) if lines is None else lines
        d = self._robot.description
        X = self.plate_pose
        total = -d.plate.mass * float(np.dot(d.gravity, (X @ [*d.plate.com, 1.0])[:3]))
        if not self.follower:
            total -= float(self.wrench[:3] @ X[:3, 3] + self.wrench[3:] @ log_so3(X[:3, :3]))
        points = len(lines[0].s)
        weights = simpson_weights(points)
        tables = np.array(survey_tables(self._robot, points - 1))
        row = tables[:, np.minimum(np.arange(points) * layout.STAGES, tables.shape[1] - 1)]
        rotation, force, moment, place = (
            np.array([getattr(line, key) for line in lines]) for key in ("rotation", "force", "moment", "position")
        )
        back, length = np.swapaxes(rotation, -1, -2), np.array([line.length for line in lines])
        n, m = (back @ force[..., None])[..., 0], (back @ moment[..., None])[..., 0]
        strain, load = n * row[..., layout.SHEAR_1 : layout.BEND_1], row[..., layout.LOAD_X : layout.COUPLE_X]
        density = 0.5 * (n * strain).sum(axis=-1)
        density += 0.5 * (m**2 * row[..., layout.BEND_1 : layout.CURVATURE_1]).sum(axis=-1)
        # the potential of the distributed force, integrated by parts: its integral F is in the table
        slope = rotation[..., 2] + (rotation @ strain[..., None])[..., 0]
        density += length[:, None] * (load * slope).sum(axis=-1)
        total += float(length @ (density @ weights - (place[:, -1] * load[:, -1]).sum(axis=-1)))
        return total

    # --- first order -----------------------------------------------------------------------------------------

    def linearisation(self) -> Linearisation:
        """Return stiffness, influence of the joints and the limbs' own matrices at this solution."""
        if self._linear is None:
            r, task = self._robot, dataclasses.replace(self._task, inverse=False, q=self.q, x=self._state.X)
            r._call(self._state.copy(), self.steps, task.rows(), limit=layout.LINEARISE_ONLY)
            self._linear = linearisation_left(r, self.steps)
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
        the derivative of the energy by the length, with the store at the height of the base. A taper or a
        precurvature that changes along the rod is stretched with it.
        """
        r, task = self._robot, dataclasses.replace(self._task, inverse=False, q=self.q, x=self._state.X)
        r._call(self._state.copy(), self.steps, task.rows(), limit=layout.RESIDUAL_ONLY)
        return actuator_forces_left(r, self._state, r._model(self.steps))

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

    @property
    def stability_margin(self) -> float:
        """Smallest curvature of the energy by a motion of the plate, in units of the softest rod.

        Positive where the plate is stable with locked actuators (E I / L per radian, E I / L^3 per metre).
        """
        return float(
            plate_curvatures(self._robot, self.linearisation(), not (self.follower and self.wrench.any()))[0][0]
        )

    def singular_values(self) -> dict[str, float]:
        """Return the smallest singular values: ``serial`` of P = dW/dq, ``parallel`` of J = dX/dq, ``limb``.

        Rotations are scaled by the characteristic length; the limb value is the smallest over the limbs of the
        scaled joint residuals by the scaled base wrench (zero at a rod's own limit point).
        """
        self._linear = None  # the kernels' memory must hold this state
        lin, u = self.linearisation(), self._unit()
        limb = min(float(np.linalg.svd(A, compute_uv=False)[-1]) for A in limb_matrices_left(self._robot))
        out = {}
        if lin.influence.shape[1]:
            out["serial"] = float(np.linalg.svd(u[:, None] * lin.influence, compute_uv=False)[-1])
            out["parallel"] = float(np.linalg.svd(self.jacobian() / u[:, None], compute_uv=False)[-1])
        return {**out, "limb": limb}

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
        """Count the unstable directions (exact: see `pliant.rods.stability.parts_of_rods`)."""
        if self._stability is None:
            self._linear = None  # the kernels' memory must hold this state
            lin, potential = self.linearisation(), not (self.follower and self.wrench.any())
            self._stability, self._unstable = stability_left(self._robot, self._state, self.steps, lin, potential)
        return self._stability

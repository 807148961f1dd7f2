"""Physical parameters of a tendon-driven robot from measured tips, with cross-validation over motions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.base.spatial import exp_so3
from pliant.rods.batch import share, told
from pliant.tendons.build import Resolution
from pliant.tendons.description import TendonRobotDescription
from pliant.tendons.measured import TipTable
from pliant.tendons.robot import TendonRobot

EFFECTS: dict[str, tuple[str, ...]] = {
    "marker": ("marker", "base", "yaw"),
    "delay": ("delay",),
    "stiffness": ("young",),
    "angles": ("angle",),
    "routing radius": ("radius",),
    "pretension and slack": ("short", "offset"),
    "stretch": ("compliance",),
    "friction": ("friction", "guide", "presliding"),
    "weight": ("mass", "tilt"),
    "bent backbone": ("curvature",),
}
"""Groups of parameters by the physical effect that they describe."""

SCALE = {
    "marker": 1e-3, "base": 1e-3, "yaw": 0.2, "delay": 0.2, "young": 0.2, "angle": 0.05, "radius": 2e-4, "short": 1e-3,
    "offset": 5e-4, "compliance": 0.3, "friction": 0.3, "guide": 0.5, "presliding": 0.5, "mass": 0.3, "tilt": 0.05,
    "curvature": 0.5,
}  # fmt: skip
"""Expected difference from the nominal value, which is also the width of the prior: m, relative logarithm, rad, s, 1/m.

What tendons have in common (the turn of the base, the pretension of a segment) has a wide prior, and the difference of
each from it a narrow one: what the fit did not see of a tendon is then told by its neighbours.
"""
COARSE = Resolution(elements=1, bending=1, torsion=0)
"""Resolution of the fits."""
PRIOR = 0.4
"""Weight of a prior of one SCALE against one row's error of 1 mm, times the square root of the rows.

The errors of the model, 3 mm in each direction, are alike in the rows of a motion, of which there are about seven for
each motion when every third row is seen: 3 mm times the square root of the rows over the motions, 8 mm.
"""


def nominal(description: TendonRobotDescription) -> dict[str, Array]:
    """Return parameters of zero: differences from the description (logarithms where a number must stay positive)."""
    N, S = len(description.tendons), len(description.segments)
    sizes = {
        "marker": 3, "base": 3, "yaw": 1, "delay": 1, "young": 1, "angle": N, "radius": S, "short": S, "offset": N,
        "compliance": S, "friction": S, "guide": 1, "presliding": 1, "mass": 1, "tilt": 2, "curvature": 2 * S,
    }  # fmt: skip
    return {name: np.zeros(size) for name, size in sizes.items()}


def apply(description: TendonRobotDescription, found: dict[str, Array]) -> TendonRobotDescription:
    """Return the description with parameters; see `nominal`. Those that are left out are zero.

    Pretension and slack of a tendon are one number, the length by which it is too short (+) or too long (-) at zero.
    The delay describes the table, not the robot.
    """
    found = {**nominal(description), **found}
    segments = []
    for s, segment in enumerate(description.segments):
        rod = segment.rod
        u1, u2 = found["curvature"][2 * s : 2 * s + 2]
        scale = float(np.exp(found["young"][0]))
        rows = rod.precurvature or ((0.0, 0.0, 0.0, 0.0),)
        rod = dataclasses.replace(
            rod, young_modulus=rod.young_modulus * scale, shear_modulus=rod.shear_modulus * scale,
            precurvature=tuple((at, a + float(u1), b + float(u2), c) for at, a, b, c in rows),
        )  # fmt: skip
        mass = segment.disk_mass * float(np.exp(found["mass"][0]))
        segments.append(dataclasses.replace(segment, rod=rod, disk_mass=mass))
    tendons = []
    for i, tendon in enumerate(description.tendons):
        k = float((tendon.drive_stiffness or 1e6) * np.exp(-found["compliance"][tendon.segment]))
        short = (tendon.pretension / (tendon.drive_stiffness or 1e6)) - tendon.slack
        short += float(found["short"][tendon.segment] + found["offset"][i])
        tendons.append(
            dataclasses.replace(
                tendon,
                radius=tendon.radius + float(found["radius"][tendon.segment]),
                angle=tendon.angle + float(found["angle"][i]),
                drive_stiffness=k,
                pretension=max(0.0, short) * k,
                slack=max(0.0, -short),
                friction=tendon.friction * float(np.exp(found["friction"][tendon.segment])),
                guide_angle=tendon.guide_angle * float(np.exp(found["guide"][0])),
                presliding=tendon.presliding * float(np.exp(found["presliding"][0])),
            )
        )
    base = np.array(description.base, dtype=float)
    base[:3, :3] = exp_so3([*found["tilt"], found["yaw"][0]]) @ base[:3, :3]
    base[:3, 3] += found["base"]
    offset = np.asarray(description.tip_offset) + found["marker"]
    return dataclasses.replace(
        description, segments=tuple(segments), tendons=tuple(tendons), base=base, tip_offset=tuple(map(float, offset))
    )


def residual(
    description: TendonRobotDescription, data: TipTable, found: dict[str, Array], resolution: Resolution
) -> Array:
    """Return modelled minus measured tips [m], shape (rows, 3); the whole sequence is replayed, as friction remembers.

    A row without an equilibrium counts as 50 mm in each direction.
    """
    return _replayed(description, data, found, resolution, None)[0]


def _replayed(
    description: TendonRobotDescription,
    data: TipTable,
    found: dict[str, Array],
    resolution: Resolution,
    near: Array | None,
) -> tuple[Array, Array]:
    robot = TendonRobot(apply(description, found), resolution=resolution)
    ahead = 0.0 if data.rate is None else float(found["delay"][0]) * data.rate
    tips, _, states = robot.replay(data.pull + ahead, near=near)
    return np.nan_to_num(tips - data.tip, nan=0.05), states


Miss = Callable[[Array, "Array | None"], tuple[Array, Array]]
"""From scaled parameters and near equilibria to errors [mm] and equilibria."""


def _difference(miss: Miss, z: Array, error: Array, states: Array) -> Array:
    """Return the derivative of ``miss`` at z by forward differences on all cores, shape (errors, parameters)."""

    J = np.empty((len(error), len(z)))
    tell = told(None, len(z))

    def columns(numbers: Iterable[int]) -> None:
        for c in numbers:
            J[:, c] = (miss(z + 0.02 * (np.arange(len(z)) == c), states)[0] - error) / 0.02
            tell(1)

    share(columns, len(z), None, in_turn=True)
    return J


@dataclass(frozen=True, slots=True, kw_only=True)
class TendonFit:
    """Parameters found, and how well they describe the rows they were found from."""

    parameters: dict[str, Array]
    """Differences from the nominal description; see `nominal`."""
    description: TendonRobotDescription
    """The description with them."""
    error: Array
    """Modelled minus measured tips of all rows [m], shape (rows, 3)."""
    used: NDArray[np.bool_]
    """Rows that they were found from."""

    def rmse(self, rows: NDArray[np.bool_] | None = None) -> float:
        """Return the root mean square distance of rows [m]; None: those used."""
        chosen = self.error[self.used if rows is None else rows]
        return float(np.sqrt((chosen**2).sum(axis=1).mean()))


def fit(
    description: TendonRobotDescription,
    data: TipTable,
    *,
    used: NDArray[np.bool_] | None = None,
    groups: tuple[str, ...] = tuple(EFFECTS),
    prior: float = PRIOR,
    resolution: Resolution | None = None,
    iterations: int = 40,
    jacobians: int = 2,
    slopes: Array | None = None,
    tell: Callable[[str], None] | None = None,
) -> TendonFit:
    """Find parameters by Levenberg's and Marquardt's method, a Gaussian prior of width `SCALE` on each.

    The Jacobian is found by differences at the start and where the method stalls; between, Broyden updates it.

    Args:
        description: nominal robot.
        data: measured tips in the order of their measurement. All commands are replayed.
        used: rows whose tips may be seen, shape (rows,); None: all.
        groups: effects of `EFFECTS` that are fitted; the others stay nominal.
        prior: weight of the priors: see `PRIOR`, which is for measured robots; less where the model has no errors.
        resolution: of the statics.
        iterations: most steps.
        jacobians: how often the Jacobian is found anew where the method stalls.
        slopes: Jacobian at the start, of `first_slopes`; None: it is found.
        tell: called with one line after each iteration.
    """
    resolution = resolution or COARSE
    used = np.ones(len(data.tip), bool) if used is None else used
    miss, unpack, z = _unknowns(description, data, groups, resolution)
    prior *= float(np.sqrt(used.sum()))
    rows = np.repeat(used, 3)

    def cost_of(z: Array, error: Array) -> float:
        return float((error[rows] ** 2).sum()) + prior**2 * float(z @ z)

    error, states = miss(z, None)
    cost, damping, fresh = cost_of(z, error), 1e-2, 0
    J = slopes if slopes is not None else _difference(miss, z, error, states)
    for iteration in range(iterations):
        A = J[rows]
        H = A.T @ A + prior**2 * np.eye(len(z))
        g = A.T @ error[rows] + prior**2 * z
        gain = 0.0
        for _ in range(5):
            step = -np.linalg.solve(H + damping * np.diag(np.diag(H)), g)
            try:
                trial_error, trial_states = miss(z + step, states)
            except ModelError:  # a routing that leaves its disks
                damping *= 10.0
                continue
            trial = cost_of(z + step, trial_error)
            # Broyden's update, also after a step that did not help.
            J = J + np.outer(trial_error - error - J @ step, step) / (step @ step)
            if trial < cost:
                gain = 1.0 - trial / cost
                z, error, states, cost = z + step, trial_error, trial_states, trial
                damping = max(1e-4, 0.2 * damping)
                break
            damping *= 5.0
        if tell:
            rms = np.sqrt((error.reshape(-1, 3)[used] ** 2).sum(axis=1).mean())
            tell(f"iteration {iteration + 1}: {rms:.3f} mm, damping {damping:.2g}")
        if gain < 0.01:
            if fresh >= jacobians:
                break
            J, fresh, damping = _difference(miss, z, error, states), fresh + 1, 1e-2
    parameters = unpack(z)
    # Replayed as anyone would who knows the parameters alone.
    error = residual(description, data, parameters, resolution)
    return TendonFit(parameters=parameters, description=apply(description, parameters), error=error, used=used)


def _unknowns(
    description: TendonRobotDescription,
    data: TipTable,
    groups: tuple[str, ...],
    resolution: Resolution,
) -> tuple[Miss, Callable[[Array], dict[str, Array]], Array]:
    """Return errors of scaled parameters, the parameters of scaled ones, and the scaled ones of the nominal robot."""
    now = nominal(description)
    index = [(name, i) for group in groups for name in EFFECTS[group] for i in range(len(now[name]))]

    def unpack(z: Array) -> dict[str, Array]:
        found = {name: value.copy() for name, value in now.items()}
        for (name, i), value in zip(index, z):
            found[name][i] = value * SCALE[name]
        return found

    def miss(z: Array, near: Array | None) -> tuple[Array, Array]:
        error, states = _replayed(description, data, unpack(z), resolution, near)
        return 1e3 * error.ravel(), states

    return miss, unpack, np.zeros(len(index))


def first_slopes(
    description: TendonRobotDescription,
    data: TipTable,
    *,
    groups: tuple[str, ...] = tuple(EFFECTS),
    resolution: Resolution | None = None,
) -> Array:
    """Return the Jacobian of the nominal robot for `fit`; it rests on the commands, and not on the measured tips."""
    miss, _, z = _unknowns(description, data, groups, resolution or COARSE)
    error, states = miss(z, None)
    return _difference(miss, z, error, states)


def cross_validate(
    description: TendonRobotDescription,
    data: TipTable,
    count: int = 5,
    *,
    used: NDArray[np.bool_] | None = None,
    done: Callable[[int], None] | None = None,
    **options: Any,
) -> tuple[float, list[TendonFit]]:
    """Return the root mean square distance of tips that their fit never saw [m], and the fits.

    Each fold leaves out every ``count``-th motion as a whole and starts from the nominal robot. Commands of left-out
    motions are replayed, because friction remembers them; their tips are not seen.

    Args:
        description: nominal robot.
        data: measured tips.
        count: folds.
        used: rows that any fit may see, shape (rows,); all rows are judged. None: all.
        done: called with the number of folds that are done.
        options: of `fit`.
    """
    every = np.ones(len(data.tip), bool) if used is None else used
    left_out, fits = np.zeros(len(data.tip)), []
    if options.get("slopes") is None:
        chosen = {name: value for name, value in options.items() if name in ("groups", "resolution")}
        options["slopes"] = first_slopes(description, data, **chosen)
    for mask in data.folds(count):
        found = fit(description, data, used=every & ~mask, **options)
        fits.append(found)
        left_out[mask] = (found.error[mask] ** 2).sum(axis=1)
        if done:
            done(len(fits))
    return float(np.sqrt(left_out.mean())), fits

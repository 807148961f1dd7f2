"""Accuracy of the rods' solver: against another integrator, against fine steps, and what the printed equation costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.experiments.base import Context, Figure, Result, Table, Target, experiment
from pliant.experiments.cpr_planar import PAPER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pliant.rods import ContinuumParallelRobot, Rod

__all__ = ["cpr_accuracy", "shoot", "symmetric_home"]

LIMITS = {"fast": 1e-5, "accurate": 1e-6}
"""Largest error of a joint value against 400 steps [m], as documented."""
REFERENCE = {"corrected": 1.1298292, "printed": 1.1313654}
"""Home length of the 6EFR [m] by the published C++ solver, built with the moment equation corrected and as printed."""


def shoot(rod: Rod, length: float, wrench: NDArray, base: NDArray, gravity: NDArray, *, printed: bool) -> NDArray:
    """Integrate one round straight rod with scipy's DOP853, without any code of the solver.

    Args:
        rod: `pliant.rods.Rod`.
        length: rest length [m].
        wrench: force and moment at the base, world axes, shape (6,).
        base: frame of the base, shape (4, 4).
        gravity: [m/s^2], shape (3,).
        printed: take the moment equation as the paper prints it, with a second factor L.

    Returns:
        position (3), rotation (9, row by row), force (3), moment (3) at the tip.
    """
    from scipy.integrate import solve_ivp

    v = rod.values(0.5)
    shear = np.array([*v.shear, v.axial])
    bend = np.array([*v.bending, v.torsion])
    weight = v.mass * np.asarray(gravity)

    def slope(_: float, y: NDArray) -> NDArray:
        R, n, m = y[3:12].reshape(3, 3), y[12:15], y[15:]
        strain, u = np.array([0.0, 0.0, 1.0]) + R.T @ n / shear, R.T @ m / bend
        hat = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
        p = length * R @ strain
        dm = -np.cross(p, n) * (length if printed else 1.0)
        return np.concatenate([p, length * (R @ hat).ravel(), -length * weight, dm])

    start = np.concatenate([base[:3, 3], base[:3, :3].ravel(), wrench])
    return solve_ivp(slope, (0.0, 1.0), start, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]


def symmetric_home(robot: ContinuumParallelRobot, plate_gravity: float, *, printed: bool) -> float:
    """Return the length of the limbs of a symmetric extensible hexapod at home, by scipy alone [m].

    At home all limbs are mirror images, so one limb suffices: its joint sits on the plate, its tip's axis is the
    joint's, the joint carries no moment about it, and the limb carries its share of the plate's weight.
    """
    from scipy.optimize import least_squares

    d = robot.description
    limb = d.limbs[0]
    base = np.asarray(limb.base) @ np.asarray(limb.attach)
    J = np.asarray(d.home) @ np.asarray(limb.distal.pose)
    attach = np.asarray(limb.distal.attach)
    share = d.plate.mass * plate_gravity / len(d.limbs)

    def misfit(x: NDArray) -> NDArray:
        y = shoot(limb.rod, x[6], x[:6], base, np.asarray(d.gravity), printed=printed)
        R, n, m = y[3:12].reshape(3, 3), y[12:15], y[15:]
        joint = y[:3] - R @ attach[:3, :3].T @ attach[:3, 3]
        axis = R @ attach[:3, :3].T @ [0.0, 0.0, 1.0]
        moment = m + np.cross(y[:3] - joint, n)
        # The plate turns neither up nor down: the limb pushes with its share of the weight.
        return np.array([*(joint - J[:3, 3]), axis[0], axis[1], moment @ J[:3, 2], n[2] + share])

    home = robot.home()
    guess = np.concatenate([home.base_wrenches[0], [home.q[0]]])
    return float(least_squares(misfit, guess, xtol=1e-14, ftol=1e-14, gtol=1e-14).x[6])


@experiment("cpr-accuracy", title="Accuracy of the rods' solver", paper=PAPER, section="2 and 5")
def cpr_accuracy(context: Context) -> Result:
    """Compare the rods' solver with another integrator and with fine steps; size the error of the printed equation."""
    from pliant.figures import CYCLE, label, legend, new_figure
    from pliant.rods import load_robot
    from pliant.spatial import exp_so3, pose

    result = Result(
        summary="Solutions at both accuracy settings are compared with 400 steps a rod; the rods with scipy's DOP853, "
        "which shares no code; and the moment equation with the form that the paper prints, m' = -L (p' x n), where p' "
        "already carries the length.",
    )
    rng = context.rng
    robot = load_robot("Stewart_Gough_6PFR")
    count = 5 if context.quick else 25
    errors: dict[str, list[float]] = {name: [] for name in LIMITS}
    tips = []
    for k in context.track(range(count), "random poses", low=0.05, high=0.5):
        move = rng.uniform(-1.0, 1.0, 6) * [0.08, 0.08, 0.08, 0.2, 0.2, 0.2]
        home = robot.description.home
        X = pose(home[:3, 3] + move[:3], exp_so3(move[3:]) @ home[:3, :3])
        accurate = robot.solve_igm(X)
        exact = robot.solve_igm(X, start=accurate.with_steps(400))
        for name in LIMITS:
            found = load_robot("Stewart_Gough_6PFR", accuracy=name).solve_igm(X)
            errors[name].append(float(np.abs(found.q - exact.q).max()))
        if k < 3:
            d = robot.description
            for i, limb in enumerate(d.limbs):
                line = exact.centreline(i, 401)
                base = pose(line.position[0], line.rotation[0])
                y = shoot(limb.rod, line.length, exact.base_wrenches[i], base, np.asarray(d.gravity), printed=False)
                tips.append(float(np.abs(y[:3] - line.position[-1]).max()))
    for name, limit in LIMITS.items():
        result.targets.append(
            Target(
                f"6PFR, {name}: joint values against 400 steps", max(errors[name]), high=limit, unit="m",
                source="documented setting",
            )
        )  # fmt: skip
    result.targets.append(
        Target("rods against DOP853: tip position", max(tips), high=1e-8, unit="m", source="another integrator")
    )
    context.progress(0.55, "order of convergence")
    steps = np.array([2, 3, 4, 6, 8])
    line = exact.centreline(0, 401)
    converged = np.array([np.abs(exact.centreline(0, n + 1).position[-1] - line.position[-1]).max() for n in steps])
    used = converged > 1e-13
    order = -float(np.polyfit(np.log(steps[used]), np.log(converged[used]), 1)[0])
    result.targets.append(Target("order of convergence", order, low=6.5, source="eighth-order formula"))
    context.progress(0.6, "printed equation")
    hexapod = load_robot("Stewart_Gough_6EFR")
    ours = float(hexapod.home().q.mean())
    lengths = {key: symmetric_home(hexapod, 9.81, printed=key == "printed") for key in ("corrected", "printed")}
    published = {key: symmetric_home(hexapod, 9.8, printed=key == "printed") for key in ("corrected", "printed")}
    result.targets += [
        Target(
            "6EFR: home length against scipy", ours, equals=lengths["corrected"], tolerance=1e-6, unit="m",
            source="another integrator and root finder",
        ),
        *(
            Target(
                f"6EFR: home length, equation {key}, plate at 9.8 m/s^2", published[key], equals=REFERENCE[key],
                tolerance=2e-6, unit="m", source=f"published solver, {key}",
            )
            for key in REFERENCE
        ),
    ]  # fmt: skip
    gap = lengths["printed"] - lengths["corrected"]
    result.tables += [
        Table(
            title="6EFR, limb length at home [m]",
            columns=["moment equation", "plate at 9.81 m/s^2", "plate at 9.8 m/s^2", "published C++ solver"],
            rows=[
                ["corrected", round(lengths["corrected"], 7), round(published["corrected"], 7), REFERENCE["corrected"]],
                ["as printed", round(lengths["printed"], 7), round(published["printed"], 7), REFERENCE["printed"]],
            ],
            note=f"The second factor L costs {1e3 * gap:.2f} mm at home. pliant, corrected: {ours:.7f} m.",
        ),
        Table(
            title="Error of a joint value against 400 steps [m]",
            columns=["setting", "median", "largest", "documented"],
            rows=[
                [name, f"{np.median(errors[name]):.1e}", f"{max(errors[name]):.1e}", f"{LIMITS[name]:.0e}"]
                for name in LIMITS
            ],
        ),
    ]
    figure, (left, right) = new_figure(1, 2, height=2.7)
    left.loglog(steps, np.maximum(converged, 1e-16), "o-", color=CYCLE[0], label="tip of rod 1")
    left.loglog(steps, converged[1] * (steps / steps[1]) ** -8.0, color=CYCLE[1], linewidth=1.0, label="slope -8")
    left.set_xticks(steps, [str(n) for n in steps])
    left.minorticks_off()
    label(left, "steps a rod", "error of the tip [m]", "Order of convergence")
    legend(left)
    for k, name in enumerate(LIMITS):
        right.semilogy(np.sort(errors[name]), "o", color=CYCLE[k], markersize=3.5, label=name)
        right.axhline(LIMITS[name], color=CYCLE[k], linewidth=1.0, linestyle=(0, (4, 3)))
    label(right, "pose, sorted", "error of a joint value [m]", "Settings (limits dashed)")
    legend(right)
    result.figures.append(
        Figure(
            name="accuracy",
            caption="Accuracy. Left, the error of a rod's tip falls with the eighth power of the number of steps until "
            "it meets rounding. Right, the largest error of a joint value at random poses, at both settings.",
            figure=figure,
        )
    )
    return result

"""Drawings of parallel robots: rods coloured by bending strain, plate, bases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import PliantError
from pliant.base.figures import CYCLE, INK, MUTED, WIDTH, figure_legend, label, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pliant.rods import ContinuumParallelRobot, Solution, Workspace
    from pliant.rods.design import Attempt

COLOR_MAP = "plasma"
"""From little to much bending strain; dark to bright, readable without colour."""


def strain_scale(solutions: Sequence[Solution]) -> float:
    """Return the largest bending strain at the surface of any rod, in parts per thousand."""
    worst = max(float(line.bending_strain.max()) for s in solutions for line in s.centrelines(41))
    return 1e3 * max(worst, 1e-9)


def draw_robot(
    axis: Axes, solution: Solution, *, scale: float | None = None, faint: bool = False, points: int = 61
) -> Figure:
    """Draw one configuration into an axis (3-D for a spatial robot).

    Args:
        axis: where to draw.
        solution: the configuration.
        scale: strain at the end of the colour map [1/1000]; None: the largest one here.
        faint: draw it as a configuration in between.
        points: points per rod.

    Returns:
        The collection of the last rod, for a colour bar.
    """
    import matplotlib
    from matplotlib.collections import LineCollection
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    robot = solution.robot
    d, flat = robot.description, robot.planar
    scale = strain_scale([solution]) if scale is None else scale
    norm, colors = matplotlib.colors.Normalize(0.0, scale), matplotlib.colormaps[COLOR_MAP]
    X = solution.plate_pose
    rods = None
    alpha = 0.35 if faint else 1.0
    joints = np.array([(X @ np.asarray(limb.distal.pose))[:3, 3] for limb in d.limbs])
    corners = _around(np.vstack([joints, X[None, :3, 3]]) if len(joints) < 3 else joints, X)
    if flat:
        axis.fill(*corners[:, :2].T, facecolor="#0072b2", edgecolor="#0072b2", alpha=0.25 * alpha, linewidth=1.2)
        axis.plot(*np.vstack([corners, corners[:1]])[:, :2].T, color="#0072b2", linewidth=1.4, alpha=alpha)
    else:
        axis.add_collection3d(
            Poly3DCollection([corners], facecolor="#0072b2", edgecolor="#0072b2", alpha=0.22 * alpha, linewidth=1.2)
        )
        axis.plot(*np.vstack([corners, corners[:1]]).T, color="#0072b2", linewidth=1.3, alpha=alpha)
    for i, limb in enumerate(d.limbs):
        line = solution.centreline(i, points)
        p = line.position
        strain = 1e3 * line.bending_strain
        middle = 0.5 * (strain[1:] + strain[:-1])
        origin = np.asarray(limb.base)[:3, 3]
        away = np.vstack([origin, p[0]])
        tip = np.vstack([p[-1], joints[i]])
        if flat:
            segments = np.stack([p[:-1, :2], p[1:, :2]], axis=1)
            rods = LineCollection(segments, array=middle, cmap=colors, norm=norm, linewidths=2.2, alpha=alpha)
            axis.add_collection(rods)
            axis.plot(*away[:, :2].T, color=MUTED, linewidth=3.0, alpha=alpha, solid_capstyle="butt")
            axis.plot(*tip[:, :2].T, color=INK, linewidth=1.6, alpha=alpha)
            axis.plot(*origin[:2], marker="s", color=INK, markersize=4.5)
            axis.plot(*joints[i, :2], marker="o", color=INK, markersize=3.5, alpha=alpha)
        else:
            segments = np.stack([p[:-1], p[1:]], axis=1)
            rods = Line3DCollection(segments, array=middle, cmap=colors, norm=norm, linewidths=1.9, alpha=alpha)
            axis.add_collection3d(rods)
            axis.plot(*away.T, color=MUTED, linewidth=3.0, alpha=alpha)
            axis.plot(*tip.T, color=INK, linewidth=1.5, alpha=alpha)
            axis.plot(*origin[:, None], marker="s", color=INK, markersize=3.5)
            axis.plot(*joints[i][:, None], marker="o", color=INK, markersize=3.0, alpha=alpha)
    return rods


def _around(points: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return points in the order of their angle about the plate's normal."""
    local = (points - points.mean(axis=0)) @ X[:3, :3]
    return points[np.argsort(np.arctan2(local[:, 1], local[:, 0]))]


def extent(solutions: Sequence[Solution]) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest coordinates of everything drawn."""
    points = []
    for s in solutions:
        points += [line.position for line in s.centrelines(21)]
        points += [np.asarray(limb.base)[None, :3, 3] for limb in s.robot.description.limbs]
        points.append(s.plate_pose[None, :3, 3])
    every = np.vstack(points)
    return every.min(axis=0), every.max(axis=0)


def figure_of_robots(
    groups: Sequence[Sequence[Solution]], titles: Sequence[str], *, columns: int = 3, height: float = 2.6
) -> Figure:
    """Return a figure with one panel a group of configurations; the last of a group is drawn in full.

    Args:
        groups: configurations, of one robot per group.
        titles: one per group.
        columns: panels beside each other.
        height: height of a row [inch].
    """
    from matplotlib.ticker import MaxNLocator

    flat = groups[0][0].robot.planar
    columns = min(columns, len(groups))
    rows = -(-len(groups) // columns)
    options: dict[str, Any] = {} if flat else {"subplot_kw": {"projection": "3d"}}
    width = {1: 5.2, 2: 7.0}.get(columns, WIDTH)
    figure, axes = new_figure(rows, columns, width=width, height=height, **options)
    scale = strain_scale([s for group in groups for s in group])
    rods = None
    panels = np.ravel(axes)
    for panel, group, title in zip(panels, groups, titles):
        for k, solution in enumerate(group):
            rods = draw_robot(panel, solution, scale=scale, faint=k < len(group) - 1)
        low, high = extent(group)
        pad = 0.06 * float((high - low).max())
        if flat:
            panel.set_xlim(low[0] - pad, high[0] + pad)
            panel.set_ylim(low[1] - pad, high[1] + pad)
            panel.set_aspect("equal", adjustable="box")
            panel.set_xlabel("x [m]")
            panel.set_ylabel("y [m]")
        else:
            middle, half = 0.5 * (low + high), 0.5 * float((high - low).max()) + pad
            for name, m in zip("xyz", middle):
                getattr(panel, f"set_{name}lim")(m - half, m + half)
                getattr(panel, f"set_{name}label")(f"{name} [m]", fontsize=7, labelpad=-7)
            panel.set_box_aspect((1, 1, 1), zoom=1.05)
            panel.tick_params(labelsize=6, pad=-3)
            for ruler in (panel.xaxis, panel.yaxis, panel.zaxis):
                ruler.set_major_locator(MaxNLocator(4))
            panel.view_init(elev=16, azim=-58)
            for pane in (panel.xaxis, panel.yaxis, panel.zaxis):
                pane.set_pane_color((0.5, 0.5, 0.5, 0.04))
        panel.set_title(title, loc="left", fontsize=9, fontweight="bold", color=INK)
    for panel in panels[len(groups) :]:
        panel.set_visible(False)
    bar = figure.colorbar(rods, ax=list(panels[: len(groups)]), shrink=0.75, aspect=28, pad=0.02)
    bar.set_label("bending strain at the surface [1/1000]", color=INK)
    bar.outline.set_visible(False)
    return figure


def figure_of_workspace(name: str, found: Workspace) -> Figure:
    """Return a figure of a workspace map with one or two axes longer than one value.

    With two, cells with a stable equilibrium have the colour of the plate's smallest stiffness, the others that of
    their state. With one, stiffness and joint values are drawn over it.

    Raises:
        PliantError: no axis, or more than two, have several values.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    from pliant.rods.analysis import STABLE, STATES

    names = [n for n, v in found.axes.items() if len(v) > 1]
    if not 1 <= len(names) <= 2:
        raise PliantError(
            f"a figure of a workspace needs one or two axes with several values, found {len(names)}", field="figure"
        )
    shape = tuple(len(found.axes[n]) for n in names)
    units = {n: f"{n} [{'m' if n in 'xyz' else 'rad'}]" for n in names}
    state, stiffness = found.state.reshape(shape), found.stiffness.reshape(shape)
    colors = {1: "#e69f00", 2: "#cc79a7", 3: "#8c959f", 4: "#d8dee4", 5: "#56b4e9"}
    if len(names) == 1:
        figure, (left, right) = new_figure(1, 2, height=2.8)
        x, q = found.axes[names[0]], found.q.reshape(*shape, -1)
        left.plot(x, np.where(state == STABLE, stiffness, np.nan), color=CYCLE[0], marker=".", label=STATES[STABLE])
        for k, color in colors.items():
            if np.any(state == k):
                y = np.where(np.isfinite(stiffness), stiffness, 0.0)
                left.plot(x[state == k], y[state == k], ".", color=color, label=STATES[k])
        label(left, units[names[0]], "smallest stiffness [N/m]", name)
        for a in range(q.shape[1]):
            right.plot(x, q[:, a], color=CYCLE[a % len(CYCLE)], label=f"q{a + 1}")
        label(right, units[names[0]], "joint value [m or rad]")
        figure_legend(figure, left, loc="outside upper right")
        right.legend(fontsize=8.0, frameon=False)
        return figure
    figure, axis = new_figure(1, 1, width=6.4, height=4.4)
    x, y = (found.axes[n] for n in names)
    present = [k for k in colors if np.any(state == k)]
    if present:
        layer = np.full(shape, np.nan)
        for place, k in enumerate(present):
            layer[state == k] = place
        axis.pcolormesh(
            x, y, layer.T, cmap=ListedColormap([colors[k] for k in present]), shading="nearest",
            vmin=-0.5, vmax=len(present) - 0.5,
        )  # fmt: skip
    shown = np.where(state == STABLE, stiffness, np.nan)
    if np.isfinite(shown).any():
        mesh = axis.pcolormesh(x, y, shown.T, cmap="viridis", shading="nearest", vmin=0.0)
        bar = figure.colorbar(mesh, ax=axis, pad=0.02)
        bar.set_label("stable: smallest stiffness [N/m]", color=INK)
        bar.outline.set_visible(False)
    axis.grid(False)
    if all(n in "xyz" for n in names):
        axis.set_aspect("equal", adjustable="box")
    label(axis, units[names[0]], units[names[1]], name)
    if present:
        figure.legend(
            handles=[Patch(color=colors[k], label=STATES[k]) for k in present], loc="outside lower center",
            ncols=len(present), frameon=False, fontsize=8.0, labelcolor=INK,
        )  # fmt: skip
    return figure


def figure_of_design(robot: ContinuumParallelRobot, found: Sequence[Attempt], quantity: str) -> Figure:
    """Return a figure of searches: the objective by evaluation, the robot at home, and the best result at home.

    Args:
        robot: before the search.
        found: attempts, the best first.
        quantity: the objective with its unit.
    """
    from pliant.rods.variation import with_parameters

    home = robot.home()
    flat, best = home.robot.planar, with_parameters(home, found[0].values)
    figure = new_figure(1, 1, width=WIDTH, height=3.4)[0]
    figure.clear()
    left = figure.add_subplot(1, 3, 1)
    for k, one in enumerate(found):
        if one.history:
            left.plot(range(1, len(one.history) + 1), one.history, color=CYCLE[k % len(CYCLE)], marker=".")
    label(left, "evaluation", quantity, robot.name)
    scale = strain_scale([home, best])
    low, high = extent([home, best])
    middle, half = 0.5 * (low + high), 0.53 * float((high - low).max())
    for k, (solution, title) in enumerate(((home, "before"), (best, "best"))):
        panel = figure.add_subplot(1, 3, 2 + k, **({} if flat else {"projection": "3d"}))
        draw_robot(panel, solution, scale=scale)
        for name, m in zip("xy" if flat else "xyz", middle):
            getattr(panel, f"set_{name}lim")(m - half, m + half)
        if flat:
            panel.set_aspect("equal", adjustable="box")
        else:
            panel.set_box_aspect((1, 1, 1))
            panel.view_init(elev=16, azim=-58)
            panel.tick_params(labelsize=5, pad=-3)
        panel.set_title(title, loc="left", fontsize=9, fontweight="bold", color=INK)
    return figure

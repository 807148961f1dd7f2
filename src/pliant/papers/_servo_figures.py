"""Figures of visual servoing: corners in the image, paths of the camera, velocities, convergence, all side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from pliant.base.figures import MUTED
from pliant.base.numerics import Array
from pliant.base.spatial import inverse, pose
from pliant.experiments.base import Figure
from pliant.experiments.films import Film, Shot, joint_poses
from pliant.experiments.panels import Level, Line, Panel, color_of, draw, lines
from pliant.experiments.pictures import draw_path, even_light, rest_picture
from pliant.robots.parts import look_at

if TYPE_CHECKING:
    from mujoco import MjModel

    from pliant.experiments.panels import Item
    from pliant.papers.arms.tag_servo import Run, Setup, Start

LAWS = ("PBVS", "IBVS")
CORNER = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Colours of the tag's corners."""
DOTS = 90
"""Balls that draw a path in the scene."""


def figures(poses: Sequence[Start], runs: Sequence[Run], setup: Setup, *, pictures: bool, quick: bool) -> list[Figure]:
    """Return the figures of the experiment.

    Args:
        poses: the starts.
        runs: of all laws and features.
        setup: tag and goal.
        pictures: whether images can be rendered.
        quick: whether to leave out the scene.
    """
    pairs = _pairs(poses, runs)
    if not pairs:
        return []
    pair = max(pairs, key=lambda both: both[1].path_deviation)
    found = [_corners(pair), _paths(runs, setup), _velocities(pair), _convergence(runs)]
    if pictures and not quick:
        found.append(_side_by_side(poses, pair, setup))
    return found


def _pairs(poses: Sequence[Start], runs: Sequence[Run]) -> list[tuple[Run, Run]]:
    """Return the PBVS and the IBVS run of each start, with rendered images where both are there."""
    for rendered in (True, False):
        both = [[r for r in runs if r.law == law and r.rendered == rendered and len(r.time) > 1] for law in LAWS]
        if both[0] and len(both[0]) == len(both[1]):
            return list(zip(*both, strict=True))
    return []


def _corner_lines(run: Run, *, straight: bool = True, width: float = 1.4) -> list[Line]:
    """Return the paths of the tag's corners in the image, their starts and their goals."""
    found = [Line(*np.vstack([run.true_goal, run.true_goal[:1]]).T, color="muted", lw=1.0, ls="--", zorder=1)]
    for i, color in enumerate(CORNER):
        if straight:
            way = np.array([run.true_pixels[0, i], run.true_goal[i]]).T
            found.append(Line(*way, color=color, lw=0.8, ls=":", zorder=2))
        found.append(Line(*run.pixels[:, i].T, color=color, lw=width, zorder=3, points=0))
        for place, marker in ((run.pixels[0, i], "o"), (run.true_goal[i], "s")):
            found.append(Line(*place[:, None], marker=marker, ms=3.5, color=color, zorder=4))
    return found


FRAME = {"xlim": (-0.5, 639.5), "ylim": (479.5, -0.5), "aspect": "equal"}
"""Limits of a panel that shows an image."""


def _corners(pair: tuple[Run, Run]) -> Figure:
    panels = [
        Panel([_corner_lines(run)], "column [px]", "row [px]", f"{run.law}, {run.features}", **FRAME) for run in pair
    ]
    caption = (
        "Paths of the tag's corners in the image. Under IBVS they are nearly straight; under PBVS they are what the "
        "straight path of the camera makes of them. Circles: start; squares: goal; dotted: straight lines. The start "
        "is the one at which the camera's paths differ most."
    )
    return draw("corners", caption, panels, height=3.5, sharey=True)


def _paths(runs: Sequence[Run], setup: Setup) -> Figure:
    rendered = any(run.rendered for run in runs if run.law == "IBVS")
    h = 0.5 * setup.size
    square = np.array([[-h, -h, 0], [h, -h, 0], [h, h, 0], [-h, h, 0], [-h, -h, 0]])

    def paths(axis: Any, law: str) -> None:
        from matplotlib.ticker import MultipleLocator

        chosen = [r for r in runs if r.law == law and r.rendered == rendered and len(r.time) > 1]
        for i, run in enumerate(chosen):
            place, end = run.place, np.linalg.inv(run.goal)[:3, 3]
            color = color_of(i)
            axis.plot(*np.array([place[0], end]).T, color=MUTED, lw=0.6, ls=":")
            axis.plot(*place.T, color=color, lw=1.2)
            axis.plot(*place[:1].T, marker="o", ms=3, color=color, ls="")
        axis.plot(*square.T, color="black", lw=1.2)
        axis.view_init(elev=18, azim=-60)
        axis.tick_params(labelsize=7, pad=-1)
        for side in (axis.xaxis, axis.yaxis, axis.zaxis):
            side.set_major_locator(MultipleLocator(0.2))
            side.labelpad = -2

    limits = {"box_aspect": (1, 1, 1), "xlim": (-0.3, 0.3), "ylim": (-0.3, 0.3), "zlim": (0.0, 0.6), "zlabel": "z [m]"}
    panels = [Panel([partial(paths, law=law)], "x [m]", "y [m]", f"{law}: the camera", **limits) for law in LAWS]
    caption = (
        "Paths of the camera in the axes of the tag, all starts. PBVS goes straight, IBVS does not; dotted, the "
        "straight lines. The square is the tag."
    )
    return draw("paths", caption, panels, height=3.6, subplot_kw={"projection": "3d"})


def _velocities(pair: tuple[Run, Run]) -> Figure:
    panels = []
    for first, factor, text in ((0, 1.0, "translation [m/s]"), (3, 180.0 / math.pi, "rotation [deg/s]")):
        for run in pair:
            steps = lines(
                run.time, factor * run.velocity[:, first : first + 3], "xyz", kind="step", where="post", lw=1.2
            )
            panels.append(Panel(steps, "time [s]", text, "" if first else run.law))
    caption = (
        "Commanded velocities of the camera in its own axes (x to the right, y down, z forward). They start from zero "
        "by the smooth start, and last 20 ms each."
    )
    shared = {"sharex": True, "sharey": "row"}
    return draw("velocities", caption, panels, rows=2, legend=0, height=1.8, **shared)


def error_lines(runs: Sequence[Run], row: int, factor: float, least: float, **style: object) -> list[Line]:
    """Return lines of the camera's error, of place (row 0) or orientation (1), in the colours of exact and rendered."""
    found = []
    for rendered, color, text in ((False, "stiff", "exact features"), (True, "soft", "rendered")):
        for i, run in enumerate(run for run in runs if run.rendered == rendered):
            values = np.maximum(factor * run.errors[:, row], least)
            found.append(Line(run.time, values, color=color, label=None if i else text, points=0, **style))
    return found


def _convergence(runs: Sequence[Run]) -> Figure:
    panels = []
    for row, (factor, what) in enumerate(((1e3, "distance [mm]"), (180.0 / math.pi, "angle [deg]"))):
        for law in LAWS:
            chosen = [run for run in runs if run.law == law and len(run.time) > 1]
            items = [*error_lines(chosen, row, factor, 1e-4, lw=0.8, alpha=0.7), Level(0.5, ls=":", lw=1.0)]
            panels.append(Panel(items, "time [s]", what, "" if row else law, log="y"))
    caption = (
        "Errors of the camera's true pose, all starts. Dotted: 0.5 mm and 0.5 deg. With rendered images they end at "
        "the error of the detector."
    )
    shared = {"sharex": True, "sharey": "row"}
    return draw("convergence", caption, panels, rows=2, legend=0, height=1.9, **shared)


def _azimuth(run: Run) -> float:
    """Return the direction from which the bend of a camera's path is best seen, in front of the arm [rad]."""
    place, end = run.place, np.linalg.inv(run.goal)[:3, 3]
    along = (end - place[0]) / np.linalg.norm(end - place[0])
    offset = place - place[0]
    aside = offset - np.outer(offset @ along, along)
    normal = np.cross(along, aside[np.argmax(np.linalg.norm(aside, axis=1))])
    if normal[0] < 0.0:
        normal = -normal  # the arm stands on the other side
    return float(np.clip(math.atan2(normal[1], normal[0]), -1.2, 1.2))


def scene_model(run: Run, setup: Setup, q_at: Array, *, azimuth: float, size: int) -> MjModel:
    """Return the arm before the tag with the camera's path and a camera "view".

    Args:
        run: whose path is drawn.
        setup: the tag.
        q_at: joint positions of the picture, shape (7,) [rad].
        azimuth: direction of the observer about the tag, from the x axis of the base [rad].
        size: width and height of pictures [pixels].
    """

    from pliant.franka.robots.build import ArmMount, Surroundings, TagPlace, build_arms
    from pliant.papers.arms.tag_servo import HEIGHT, TAG

    tag = np.array(TAG) + np.array([0.0, 0.0, HEIGHT])
    robot = build_arms(
        [ArmMount(q=tuple(q_at.tolist()), position=(0.0, 0.0, HEIGHT))],
        around=Surroundings(tags=(TagPlace(size=setup.size, position=tuple(tag.tolist())),)),
    )
    spec = robot.spec.copy()
    even_light(spec, width=size, height=size)
    for body in spec.bodies:
        if body.name.startswith(("franka_hand", "franka_finger", "franka_link7")):
            for geom in body.geoms:
                geom.rgba[3] = 0.3  # the path runs beside the hand
    place = run.place + tag
    chosen = np.linspace(0.0, _length(place)[-1], DOTS)
    line = np.array([np.interp(chosen, _length(place), place[:, k]) for k in range(3)]).T
    color = [0.0, 0.45, 0.7, 1.0] if run.law == "PBVS" else [0.84, 0.37, 0.0, 1.0]
    draw_path(spec, line, color)

    def bar(first: Array, last: Array, radius: float, rgba: list[float]) -> None:
        kind, nothing = mujoco.mjtGeom.mjGEOM_CAPSULE, {"contype": 0, "conaffinity": 0}
        spec.worldbody.add_geom(type=kind, fromto=[*first, *last], size=[radius, 0, 0], rgba=rgba, **nothing)

    bar(place[0], inverse(run.goal)[:3, 3] + tag, 0.0015, [0.3, 0.3, 0.3, 1.0])
    for at, shade in ((inverse(run.X_CO[0]), 0.45), (inverse(run.goal), 1.0)):
        X_WC = pose(tag) @ at
        for k in range(3):
            rgba = [0.15, 0.15, 0.15, shade]
            rgba[k] = 0.9
            bar(X_WC[:3, 3], X_WC[:3, 3] + 0.06 * X_WC[:3, k], 0.0025, rgba)
    top = float(run.place[:, 2].max()) + 0.06  # between the tag and here is what must be seen
    target = tag + np.array([-0.03, 0.0, 0.48 * top])
    eye = tag + np.array([1.1 * math.cos(azimuth), 1.1 * math.sin(azimuth), 0.48 * top + 0.25])
    fovy = math.degrees(2.0 * math.atan(0.5 * top))
    look_at(spec.worldbody.add_camera(name="view", pos=eye, fovy=fovy), eye, target)
    return spec.compile()


def film_of(
    pair: Sequence[Run],
    setup: Setup,
    *,
    titles: Sequence[str] = (),
    caption: str = "Both laws from one start: by position (PBVS) and by image (IBVS).",
) -> Film:
    """Return a film of two runs from one start, side by side.

    Args:
        pair: the runs.
        setup: their tag.
        titles: of the runs; empty for the names of their laws.
        caption: of the film, beside what the lines are.
    """
    end = max(float(run.time[-1]) for run in pair)
    time = np.arange(0.0, end + 0.5, 0.02)
    azimuth = _azimuth(pair[-1])
    shots = []
    for title, run in zip(titles or [str(run.law) for run in pair], pair, strict=True):
        model = scene_model(run, setup, run.q[0], azimuth=azimuth, size=640)
        q = np.array([np.interp(time, run.time, column) for column in run.q.T]).T
        poses = joint_poses(model, [f"franka_joint{k}" for k in range(1, 8)], q)
        shots.append(Shot(title=title, model=model, poses=poses))
    return Film(
        name="servo",
        caption=f"{caption} The dots are the path of the camera, the thin line is the straight one.",
        time=time,
        shots=shots,
        camera="view",
    )


def _length(place: Array) -> Array:
    step = np.linalg.norm(np.diff(place, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(np.maximum(step, 1e-9))])


def _side_by_side(poses: Sequence[Start], pair: tuple[Run, Run], setup: Setup) -> Figure:
    azimuth = _azimuth(pair[1])
    panels = []
    for first, run in ((True, pair[0]), (False, pair[1])):
        row, x = run.image_row, "" if first else "time [s]"
        seen: list[Item] = []
        if run.image is not None:
            corners = np.vstack([run.pixels[row], run.pixels[row, :1]])
            seen = [
                lambda axis, image=run.image: axis.imshow(image),
                Line(*corners.T, color="#e69f00", lw=1.6, zorder=5),
            ]
        title = f"camera at {run.time[row]:.2f} s" if first else f"at {run.time[row]:.2f} s"
        view = [*seen, _corner_lines(run, straight=False, width=1.1), lambda axis: axis.grid(False)]
        panels.append(Panel(view, "", str(run.law), title, xticks=[], yticks=[], **FRAME))
        space = rest_picture(scene_model(run, setup, run.q[row], azimuth=azimuth, size=560), width=560, height=560)
        panels.append(Panel([space], title="path of the camera" if first else ""))
        offset = (run.pixels - run.true_goal).reshape(len(run.time), -1)
        errors = [
            Line(run.time, offset[:, 2 * i + part], color=color, lw=1.1, ls=style, points=0)
            for i, color in enumerate(CORNER)
            for part, style in enumerate(("-", "--"))
        ]
        panels.append(Panel([errors, Level(0.0, lw=0.6)], x, title="corners' errors [px]" if first else ""))
        speeds = [
            Line(run.time, run.velocity[:, 3 * part + i], color=i, lw=1.2, ls=style, label=label, points=0)
            for i, axis in enumerate("xyz")
            for part, (style, label) in enumerate((("-", f"v{axis} [m/s]"), ("--", f"w{axis} [rad/s]")))
        ]
        legend = None if first else {"ncol": 2, "fontsize": 6.5, "loc": "best"}
        panels.append(Panel(speeds, x, title="velocity of the camera" if first else "", legend=legend))
    caption = (
        "Both laws from one start, as the paper's figure 6 shows its experiment: the image of the wrist camera on the "
        "way with the corners' paths and their goal (squares), the scene with the camera's path beside the straight "
        "line, the curves. Solid: columns and translations; dashed: rows and rotations."
    )
    widths = {"width_ratios": [1.35, 1.1, 1.0, 1.0]}
    return draw("side-by-side", caption, panels, rows=2, height=2.35, width=11.0, gridspec_kw=widths)

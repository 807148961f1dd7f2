"""Figures of the dual-arm experiment: camera view, scene with both paths, curves; the circle against the D."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.numerics import Array
from pliant.experiments.base import Figure
from pliant.experiments.films import Film, Shot, joint_poses
from pliant.experiments.panels import Band, Level, Line, Panel, draw
from pliant.experiments.pictures import draw_path, even_light, rest_picture
from pliant.franka.robots.torso import POST_FACE, torso
from pliant.papers.arms.follow_tag import CENTER, camera_model
from pliant.papers.arms.tag_servo import missing_for_pictures
from pliant.robots.parts import look_at
from pliant.vision.detector import tag_corners
from pliant.vision.points import project_points
from pliant.vision.poses import facing_pose

if TYPE_CHECKING:
    from mujoco import MjModel

    from pliant.experiments.panels import Item
    from pliant.papers.arms.follow_tag import Run

DOTS = 90
"""Balls that draw a path."""


def figures(contact: Run, free: Run, published: Run, reference: tuple[Array, Array]) -> list[Figure]:
    """Return the figures of the experiment.

    Args:
        contact: the run with the post.
        free: the run without it; the same one in the quick version.
        published: the run of the published law.
        reference: times [s] and errors [m] of that law alone.
    """
    if len(contact.time) < 2 or math.isnan(contact.circle_at):
        return []
    return [_overview(contact), _paths(contact, free), _following(free, published, reference)]


def _overview(run: Run) -> Figure:
    model = camera_model()
    corners = tag_corners(0.08)
    row = run.picture_row or int(np.argmax(np.linalg.norm(run.force, axis=1)))
    true = model.pixels(project_points(corners, run.X_CO[row])[0])
    goal = model.pixels(project_points(corners, facing_pose(run.plan.distance))[0])
    found = run.picture_corners if run.picture_corners is not None else true
    view: list[Item] = [
        lambda axis: axis.set_facecolor("0.95") if run.picture is None else axis.imshow(run.picture),
        Line(*np.vstack([found, found[:1]]).T, color="#e69f00", lw=1.8, label="found"),
        Line(*np.vstack([goal, goal[:1]]).T, color="#009e73", lw=1.2, ls="--", label="desired"),
        lambda axis: axis.grid(False),
    ]
    frame = {"xlim": (-0.5, model.width - 0.5), "ylim": (model.height - 0.5, -0.5), "aspect": "equal"}
    boxed = {"fontsize": 7, "loc": "lower right", "frameon": True, "facecolor": "white", "framealpha": 0.9}
    space = rest_picture(scene_model(run, row, tag=run.rendered, width=640, height=520), width=640, height=520)
    begins = Level(run.circle_at, vertical=True, lw=0.8, ls=":")
    forces = [
        Line(run.time, run.force[:, i], color=i, lw=1.2, label=f"force {name} [N]", points=0)
        for i, name in enumerate("xyz")
    ]
    shift = {"color": "black", "ls": "--", "lw": 1.2, "label": "shift of the camera, x [mm]", "points": 0}
    sizes = 1e3 * np.linalg.norm(run.errors[:, :3], axis=1), np.degrees(np.linalg.norm(run.errors[:, 3:], axis=1))
    errors = [
        Line(run.time, size, color=i, lw=1.2, label=text, points=0)
        for i, (size, text) in enumerate(zip(sizes, ("place [mm]", "orientation [deg]"), strict=True))
    ]
    small, top = {"fontsize": 6.5, "loc": "best"}, 1.2 * float(sizes[0][run.lap(0.0, math.inf)].max())
    moved = Line(run.time, 1e3 * run.shift[:, 0], **shift)
    panels = [
        Panel(view, title=f"right camera at {run.time[row]:.2f} s", legend=boxed, xticks=[], yticks=[], **frame),
        Panel([space], title="paths of tag (blue) and hand (orange)"),
        Panel([forces, moved, begins], "time [s]", title="contact force and admittance", legend=small),
        Panel([errors, begins], "time [s]", title="error against the unshifted pose", legend=small, ylim=(0.0, top)),
    ]
    caption = (
        "The experiment as the paper's figure 6 shows it: the view of the right camera with the tag as found and as "
        "desired, the scene with both paths, the contact force with the shift that the admittance makes of it, and the "
        "error of the camera's pose. Dotted: the circle begins."
    )
    return draw("overview", caption, panels, rows=2, height=2.9, width=7.6)


def _paths(contact: Run, free: Run) -> Figure:
    rows = contact.lap(0.0, math.inf)
    at = int(np.searchsorted(contact.time, contact.circle_at))
    beside = contact.hand[at] - contact.tag[at]
    limits = {"aspect": "equal", "xlim": (-70, 70), "ylim": (-70, 70)}

    def path(places: Array, **style: object) -> Line:
        return Line(*(1e3 * (places - CENTER))[:, [0, 2]].T, points=0, **style)

    hand: list[Item] = [path(contact.tag[rows], color="muted", lw=1.0, ls=":", label="circle of the tag")]
    if free is not contact:
        without = free.hand[free.lap(0.0, math.inf)] - beside
        hand.append(path(without, color="stiff", lw=1.1, label="without the post"))
    hand.append(path(contact.hand[rows] - beside, color="soft", lw=1.6, label="with the post"))
    edge = 1e3 * (POST_FACE + 0.01 - beside[0] - CENTER[0])
    hand.append(Band(-70.0, edge, color="0.85", alpha=1.0, zorder=0))
    legend = {"fontsize": 6.5, "loc": "center", "bbox_to_anchor": (0.56, 0.5)}
    tag = path(contact.tag[rows], color="stiff", lw=1.6)
    panels = [
        Panel([tag], "x [mm]", "z [mm]", "left arm: the tag", **limits),
        Panel(hand, "x [mm]", "", "right arm: the hand", legend=legend, **limits),
    ]
    caption = (
        "The circle and the D: paths of the tag and of the right hand in their plane, seen from the right arm. The "
        "hand's path is moved beside the tag's. Grey: where a finger touches the post."
    )
    return draw("circle-and-d", caption, panels, height=3.2)


def _following(free: Run, published: Run, reference: tuple[Array, Array]) -> Figure:
    items: list[Item] = []
    for run, color, text in ((published, "soft", "published law"), (free, "stiff", "with feed-forward")):
        rows = run.lap(0.0, math.inf)
        if run is free and float(np.linalg.norm(run.force[rows], axis=1).max(initial=0.0)) > 1.0:
            rows = run.lap(0.0, 0.35)
        sizes = 1e3 * np.linalg.norm(run.errors[rows][:, :3], axis=1)
        items.append(Line(run.time[rows] - run.circle_at, sizes, color=color, lw=1.4, label=text, points=0))
    if not math.isnan(published.circle_at):
        style = {"color": "black", "lw": 0.9, "ls": "--", "label": "published law, reference"}
        items.append(Line(reference[0], 1e3 * reference[1], points=0, **style))
    items.append(Level(10.0, lw=0.8, ls=":"))
    legend = {"fontsize": 7, "loc": "best"}
    panel = Panel(items, "time on the circle [s]", "error of place [mm]", "free motion", legend=legend)
    caption = (
        "How well the camera follows in free motion. The published law lags by the tag's velocity over the gain; its "
        "reference is the law alone. Dotted: 10 mm."
    )
    return draw("following", caption, [panel], height=2.4)


def scene_model(run: Run, row: int, *, tag: bool, width: int = 640, height: int = 520) -> MjModel:
    """Return both arms with their paths and a camera "view", the left one with its tag or not."""
    robot = torso(tag=tag, q_left=run.q_left[row].tolist(), q_right=run.q_right[row].tolist())
    spec = robot.spec.copy()
    even_light(spec, width=width, height=height)
    spec.visual.headlight.ambient = [0.45, 0.45, 0.45]
    spec.visual.headlight.diffuse = [0.5, 0.5, 0.5]
    rows = run.lap(0.0, math.inf)
    for path, color in ((run.tag[rows], [0.0, 0.35, 0.8, 1.0]), (run.hand[rows], [0.85, 0.4, 0.0, 1.0])):
        if len(path):
            draw_path(spec, path[np.linspace(0, len(path) - 1, DOTS).astype(int)], color)
    eye, target = np.array([1.75, -1.15, 1.55]), np.array([0.2, 0.02, 1.0])
    look_at(spec.worldbody.add_camera(name="view", pos=eye, fovy=32.0), eye, target)
    return spec.compile()


def film_of(run: Run) -> Film:
    """Return a film of both arms."""
    model = scene_model(run, 0, tag=not missing_for_pictures())
    joints = [f"{side}_joint{k}" for side in ("left", "right") for k in range(1, 8)]
    rows = np.searchsorted(run.time, np.arange(0.0, run.time[-1], 0.04))
    q = np.concatenate([run.q_left, run.q_right], axis=1)[rows]
    return Film(
        name="following",
        caption="The left arm moves the tag, the right one follows it with its camera and pushes against the post. "
        "Blue: path of the tag; orange: path of the hand.",
        time=run.time[rows],
        shots=[Shot(title="", model=model, poses=joint_poses(model, joints, q))],
        camera="view",
        size="640x520",
        speed=1.5,
    )

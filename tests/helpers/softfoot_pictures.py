"""The pictures of the page docs/feet/softfoot.md; run this file to draw them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from pliant.base.figures import CYCLE, INK, label, legend, new_figure, saving
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model.snapshots import snapshots
from pliant.robots import find_robot

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
WIDTH, HEIGHT = 1400, 620
DISTANCE = 2.0
"""Distance of the cameras [m]; far, so that the picture is nearly a parallel projection."""
LUMPED = {"n_chains": 1, "lump": True, "coupling": "midpoint", "tendon": "fixed"}


def built(**options: Any) -> Any:
    """Return the foot on its rig."""
    listed = find_robot("softfoot")
    return listed.function(listed.options_class(**options))


def with_camera(robot: Any, eye: tuple[float, float, float], fovy: float) -> tuple[Any, np.ndarray]:
    """Add a camera that looks at the middle of the foot; return the model and the axes of the camera."""
    middle = np.array([0.042, 0.0, 0.062])
    back = np.array(eye) / np.linalg.norm(eye)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(back, right), back], axis=1)
    quat = np.empty(4)
    mujoco.mju_mat2Quat(quat, axes.ravel())
    place = middle + DISTANCE * back
    robot.spec.worldbody.add_camera(name="picture", pos=place.tolist(), quat=quat.tolist(), fovy=fovy)
    robot.spec.visual.global_.offwidth, robot.spec.visual.global_.offheight = WIDTH, HEIGHT
    # Without the carriage of the rig the picture shows the foot alone.
    for geom in robot.spec.body("carriage").geoms:
        geom.rgba[3] = 0.0
        geom.material = ""
    model = robot.compile()
    return model, place


def pressed(robot: Any, seconds: float = 2.0) -> tuple[Any, dict[str, Any]]:
    """Return the state of a pressed foot, and the last samples of its devices."""
    engine = MujocoEngine(robot, check=False)
    devices = make_devices(robot)
    for k, device in enumerate(devices):
        device.attach(engine)
        device.reset(np.random.default_rng(k))
    samples: dict[str, Any] = {}
    for _ in range(round(seconds / 0.01)):
        engine.step(5)
        samples = {device.name: device.read(engine.time_ns).values for device in devices}
    return engine.data.qpos.copy(), samples


def picture(model: Any, qpos: Any, width: int = WIDTH, height: int = HEIGHT) -> np.ndarray:
    """Return one rendered picture."""
    frames, reason = snapshots(model, [qpos], camera="picture", width=width, height=height)
    if not frames:
        raise SystemExit(f"no pictures: {reason}")
    return frames[0]


def shown(axis: Any, image: np.ndarray) -> None:
    axis.imshow(image)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.grid(False)
    for side in axis.spines.values():
        side.set_visible(False)


FOVY = 5.8
NAMES = {
    "ankle\n(attachment_cube)": ((0.0, 0.0, 0.0), (0.15, 0.10), "attachment_cube"),
    "posterior arch": ((-0.03, 0.042, 0.0), (0.10, 0.34), "attachment_cube"),
    "heel": ((0.012, 0.018, 0.0), (0.05, 0.80), "heel"),
    "frontal arch": ((0.075, 0.0, 0.0), (0.66, 0.16), "frontal_arch"),
    "closure at the\nmetatarsal joint": ((0.129632, 0.0, 0.0), (0.82, 0.34), "frontal_arch"),
    "plantar fascia: phalanx_1 to 5": ((0.005, 0.008, 0.0), (0.30, 0.93), "phalanx_3_1"),
    "reverse_phalanx": ((0.004, 0.008, 0.0), (0.54, 0.93), "reverse_phalanx_1"),
    "metatarsus\n(rollover_phalanx)": ((0.010, 0.006, 0.0), (0.70, 0.93), "rollover_phalanx_1"),
    "toe: phalanx_6,\ndistal_phalanx": ((0.008, 0.0, 0.0), (0.93, 0.80), "distal_phalanx_1"),
}
"""Label -> point in a body [m], place of the text in the picture, body."""


def draw_parts() -> Any:
    """Draw the foot from its side with the names of its parts."""
    robot = built(load=0.0)
    model, place = with_camera(robot, (0.0, -1.0, 0.0), FOVY)
    data = mujoco.MjData(model)
    data.qpos[model.joint("slide").qposadr[0]] = -0.005
    mujoco.mj_forward(model, data)
    figure, axis = new_figure(1, 1, height=3.4)
    shown(axis, picture(model, data.qpos))
    scale = 0.5 * HEIGHT / math.tan(math.radians(0.5 * FOVY))
    for text, (point, where, body) in NAMES.items():
        b = model.body(body).id
        world = data.xpos[b] + data.xmat[b].reshape(3, 3) @ point
        depth = world[1] - place[1]
        at = (0.5 * WIDTH + scale * (world[0] - place[0]) / depth, 0.5 * HEIGHT - scale * (world[2] - place[2]) / depth)
        axis.annotate(
            text, at, (where[0] * WIDTH, where[1] * HEIGHT), ha="center", va="center", color=INK, fontsize=8.5,
            bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
            arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.7},
        )  # fmt: skip
    return figure


def draw_detail() -> Any:
    """Draw the levels of detail from below."""
    kinds = {
        "exact, 5 chains": {},
        "midpoint, 3 lumped chains": {**LUMPED, "n_chains": 3},
        "midpoint, 1 lumped chain": LUMPED,
    }
    figure, axes = new_figure(1, 3, height=1.9)
    for axis, (name, options) in zip(axes, kinds.items(), strict=True):
        robot = built(load=0.0, **options)
        robot.spec.geom("floor").rgba[3] = 0.0
        robot.spec.geom("floor").material = ""
        model, _ = with_camera(robot, (0.35, -0.8, -0.75), 7.4)
        data = mujoco.MjData(model)
        shown(axis, picture(model, data.qpos, 800, 600))
        label(axis, "", "", name)
    return figure


def draw_sole() -> Any:
    """Draw estimated and true contact forces and angles of a foot on a bar."""
    figure, (left, right) = new_figure(1, 2, height=2.7)
    robot = built(load=300.0, bar=0.02)
    robot.set("sole.enabled", True)
    _, samples = pressed(robot)
    values = samples["sole"]
    places = ["heel", *(f"p{i}" for i in range(1, 6)), "rev", "met", "p6", "dist"]
    for k, (name, field) in enumerate((("estimate", "contact_force"), ("simulation", "true_contact_force"))):
        found = values[field]
        sums = [found[0], *found[1:].reshape(-1, 9).sum(axis=0)]
        left.bar(np.arange(10) + 0.4 * k - 0.2, sums, 0.4, color=CYCLE[1 - k], label=name)
    left.set_xticks(range(10), places)
    label(left, "body of the sole", "force upwards, all chains [N]")
    legend(left)
    for k, (name, field) in enumerate((("from the units", "position"), ("simulation", "true_position"))):
        angles = np.degrees(values[field][1 : 1 + 9])
        right.plot(range(1, 10), angles, "o" if k == 0 else "-", color=CYCLE[1 - k], markersize=5, label=name)
    right.set_xticks(range(1, 10), places[1:])
    label(right, "coupling before the module, chain 1", "angle [deg]")
    legend(right)
    return figure


DRAWN = {"parts": draw_parts, "detail": draw_detail, "sole": draw_sole}

if __name__ == "__main__":
    with saving():
        for part, draw in DRAWN.items():
            draw().savefig(FOLDER / f"softfoot-{part}.png", dpi=130, bbox_inches="tight")

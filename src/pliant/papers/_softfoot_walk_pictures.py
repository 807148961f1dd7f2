"""A walking robot on a bar: poses, cameras and pictures of the experiment ``softfoot-walk``."""

from __future__ import annotations

import math

from pliant.experiments.base import Figure
from pliant.experiments.pictures import frames
from pliant.robots import build_robot
from pliant.walking.trials import COURSES
from pliant.walking.walk import WalkRow, run_walk

FEET = ("rigid", "soft")
"""The feet that are compared."""
UNDER = (-0.02, 0.09)
"""Where a bar lies under the middle of a foot, from the ankle [m]."""


def crossing(feet: str, height: float, robot: str, seed: int) -> tuple[object, list[object], int]:
    """Walk over one bar; return the scene with its cameras, qpos every 20 ms, and the row at which a foot is on it."""
    course = COURSES[robot]
    bar, goal, duration = 0.64 * course.length, 1.1 * course.length, 10.0 * math.sqrt(course.length)
    trace: list[WalkRow] = []
    walked = run_walk(
        robot=robot, feet=feet, bar_height=height, bars=(bar,), seed=seed, duration=duration, goal=goal,
        push=4.0 * course.impulse, trace=trace,
    )  # fmt: skip
    (x,) = walked.bars
    # From the moment at which a foot carries the robot on the bar.
    standing = (i for reach in (UNDER, course.sole) for i, row in enumerate(trace) if _on_bar(row, x, reach))
    first = next(standing, len(trace) // 2)
    built = build_robot(robot, {"feet": feet, "bar_height": height, "bar_positions": (bar,)})
    for name, place, fovy in (
        ("close", [x, -1.2 * course.length, 0.07 * course.length], 13.0),
        ("whole", [x + 0.05, -2.6 * course.length, 0.55 * course.length], 30.0),
    ):
        camera = built.spec.worldbody.add_camera(name=name, pos=place, fovy=fovy)
        camera.quat = [math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0]
    model = built.compile()
    model.vis.global_.offwidth, model.vis.global_.offheight = 1280, 960
    return model, [row.qpos for row in trace], first


def pictures(height: float, robot: str = "biped") -> Figure | str:
    """Draw the robot on a bar with both feet, as figures 9 and 10 of the paper; return why not where it cannot."""
    scenes = []
    columns = [""]
    for feet in FEET:
        model, poses, first = crossing(feet, height, robot, 0)
        times = [min(len(poses) - 1, first + k) for k in (8, 30, 55)]
        chosen = [poses[t] for t in times]
        scenes.append((model, chosen[:1], {"camera": "close", "width": 400, "height": 360}))
        scenes.append((model, chosen, {"camera": "whole", "width": 360, "height": 360}))
        columns = ["foot on the bar", *(f"{0.02 * (t - times[0]):.1f} s" for t in times)]
    caption = (
        f"{robot} on a bar of {1e3 * height:g} mm, rigid feet above, soft feet below. The rigid foot stands on two "
        "edges; the soft one bends around the bar and keeps its heel and its toes on the ground."
    )
    return frames("bar", caption, scenes, [f"{feet} feet" for feet in FEET], columns)


def _on_bar(row: WalkRow, bar: float, reach: tuple[float, float]) -> bool:
    load = sum(row.load)
    return any(
        share > 0.6 * load > 0.0 and reach[0] < bar - float(foot[0]) < reach[1]
        for foot, share in zip(row.feet, row.load, strict=True)
    )

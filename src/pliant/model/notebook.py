"""How a robot shows itself in a notebook: a picture and a table of its joints."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

import mujoco

from pliant.base.figures import html_picture, html_table

if TYPE_CHECKING:
    import numpy as np

    from pliant.model.description import Description

PICTURE_TIMEOUT = 30.0
"""Longest wait for the picture with one graphics library [s]."""
TYPES = {0: "free", 1: "ball", 2: "slide", 3: "hinge"}


def robot_html(robot: Description) -> str:
    """Return a robot as HTML; without a renderer, or if it cannot be compiled, the table alone.

    Args:
        robot: any robot.
    """
    rows = []
    for joint in robot.spec.joints:
        actuator = robot.actuators.get(joint.name)
        kind = TYPES.get(int(joint.type), "")
        low, high = (float(v) for v in joint.range[:2])
        limited = high > low
        law = "" if actuator is None else actuator.law.label
        mode = "" if actuator is None else f"{actuator.mode.value} {actuator.mode.name.lower()}"
        rows.append([joint.name, kind, law, mode, f"{_limit(low)} to {_limit(high)}" if limited else ""])
    title = f"<p><b>{html.escape(robot.name or 'robot')}</b>: {len(rows)} joints, {len(robot.actuators)} compliant</p>"
    table = html_table(["joint", "type", "law", "mode", "range"], rows)
    return f"{title}{_picture(robot)}{table}"


def _limit(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else str(value)


def _picture(robot: Description) -> str:
    from pliant.model.snapshots import snapshots

    try:
        model = robot.compile()
        data = mujoco.MjData(model)
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, data, 0)
        model.vis.global_.offwidth, model.vis.global_.offheight = 480, 360
        pictures, _ = snapshots(model, [data.qpos], timeout=PICTURE_TIMEOUT)
    except Exception:  # whoever looks at a robot that is not finished wants its table, not a traceback
        return ""
    return html_picture(_png(pictures[0]), robot.name or "robot", width=480) if pictures else ""


def _png(pixels: np.ndarray) -> bytes:
    """Return the PNG file of a picture, shape (height, width, 3), uint8."""
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return file.getvalue()

"""Motions as playable 3D scenes: a page that holds everything, or a small file for viser's own static client.

The client is that of the viser that is installed; nothing else is needed to open the page, and nothing from a network.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.errors import PliantError
from pliant.base.replacing import replacing
from pliant.model.scene import place_bodies
from pliant.page.curve_drawing import CurveDrawing, curve_thickness
from pliant.page.document import player
from pliant.page.payload import PayloadBalls
from pliant.page.scene import Scene
from pliant.page.server import PageServer
from pliant.recording.drawing import curves_of
from pliant.recording.motion import Motion, rows_at

if TYPE_CHECKING:
    from viser.infra import StateSerializer

FPS = 25.0
"""Pictures a second."""
MAX_FRAMES = 1500
"""Most pictures; a longer motion has fewer a second."""
CURVE_POINTS = 17
"""Points of a curve, such as the centre line of a rod."""
GRAIN = 2.0**-15
"""Positions [m] and quaternions are rounded to multiples of this, which halves the size of the file."""


def playable_scene(motion: Motion, *, title: str = "pliant") -> bytes:
    """Return a motion as viser's recorded scene, the content of a file ``.viser``.

    Args:
        motion: what is played; it repeats.
        title: in the tab of a page.
    """
    with PageServer(title=title) as server:
        recorded = _record(motion, server)
        return recorded.serialize()


def playable_page(motion: Motion, *, title: str = "pliant") -> str:
    """Return a page in one piece, without a server or a network behind it, that plays a motion.

    Args:
        motion: what is played; it repeats.
        title: in the tab of the page.
    """
    scene = base64.b64encode(playable_scene(motion, title=title)).decode("ascii")
    script = f'<script>window.__VISER_EMBED_DATA__="{scene}";window.__VISER_EMBED_CONFIG__={{darkMode:false}};</script>'
    head, end, rest = player(title).partition("</head>")
    return head + script + end + rest


def picture_period(length: float) -> float:
    """Return the time between two pictures of a motion of a length [s]."""
    return max(1.0 / FPS, length / MAX_FRAMES)


def write_page(path: str | Path, motion: Motion, title: str = "pliant") -> int:
    """Write `playable_page` to a file; return its size [bytes].

    Raises:
        PliantError: the file cannot be written.
    """
    target = Path(path)
    content = playable_page(motion, title=title).encode()
    try:
        with replacing(target) as part:
            part.write_bytes(content)
    except OSError as error:
        raise PliantError(f"the page cannot be written: {error.strerror or error}", file=target, field="html") from None
    return len(content)


def write_client(folder: str | Path) -> Path:
    """Write viser's client into a folder as ``player.html``; ``player.html?playbackPath=FILE`` plays a file."""
    target = Path(folder) / "player.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(player("pliant"), encoding="utf-8")
    return target


def _record(motion: Motion, server: PageServer) -> StateSerializer:
    """Draw a motion on a page that nobody opens, and return what was drawn."""
    model, data = motion.model, mujoco.MjData(motion.model)
    period = picture_period(motion.duration)
    rows = rows_at(motion.time, period, motion.duration)
    scene = Scene(server, model, plain_floor=True, pose=motion.poses[rows[0]])
    scene.layers.contacts = True  # those that were recorded
    _place(model, data, motion.poses[rows[0]])
    curves, drawing = curves_of(model, data, CURVE_POINTS), None
    balls = PayloadBalls(server, model, scene.size)
    if curves is not None:
        for body in curves.bodies:
            scene.bodies.pop(body).remove()
        drawing = CurveDrawing(server, curve_thickness(curves.radius, scene.size))
    server.look(*scene.camera(), max(0.005 * scene.size, 1e-4))
    recorded: StateSerializer | None = None
    for row in rows:
        _place(model, data, motion.poses[row])
        if motion.acting is None:
            scene.update(data, None)
        else:
            loads, wrenches, contacts = motion.acting(float(motion.time[row]))
            scene.update(data, contacts)
            balls.draw(loads)
            scene.draw_forces(wrenches, data)
        if curves is not None and drawing is not None:
            points = curves()
            drawing.draw(np.round(points / (4.0 * GRAIN)) * 4.0 * GRAIN, curves.values(points))
        if recorded is None:
            recorded = server.viser.get_scene_serializer()
        recorded.insert_sleep(period)
    assert recorded is not None
    return recorded


def _place(model: mujoco.MjModel, data: mujoco.MjData, pose: np.ndarray) -> None:
    """Compute the places of all bodies, rounded."""
    data.qpos[:] = pose
    place_bodies(model, data)
    for places in (data.xpos, data.xquat):
        places[:] = np.round(places / GRAIN) * GRAIN

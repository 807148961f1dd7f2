"""The first minute: pull an arm, change the stiffness of its joints, pull again, and compare."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.errors import PliantError
from pliant.base.numerics import Array
from pliant.devices.base import Device
from pliant.engine.base import MujocoState
from pliant.page.choice import RobotChoice
from pliant.page.controls import Say, guarded
from pliant.page.pull import Pull
from pliant.page.server import icon

if TYPE_CHECKING:
    import viser

PRESET = "stiffness_preset"
SOFT, STIFF = 0.1, 0.8
"""Ends of the slider: presets of the joints [rad]."""
PART_OF_WEIGHT = 0.3
"""Force of the button's pull, as a part of the weight of what moves."""
PULL_TIME = 2.0
"""Length of the button's pull [s]."""
LEAST_FORCE = 0.3
"""Part of the button's force below which a pull of the pointer does not count."""
HINT_COLOUR = (0, 121, 140)
DOORS = {"A Franka arm": "fr3", "A soft foot": "softfoot", "A hexapod of rods": "Stewart_Gough_6PFR"}
"""Label of a button -> robot of the catalogue; robots that are not installed have no button."""
COLOURS = ("#00788c", "#5e81ac", "#a3be8c", "#d08770")
"""Colours of pulls, from soft to stiff."""
HAND = 0.02
"""Distance of the comparison of forces [m]."""
STEPS = (
    "<b>Pull the arm.</b> Drag its end, or press the button.",
    "<b>Move the stiffness.</b> Two motors in each joint tension its springs against each other.",
    "<b>Pull again.</b> The arm gives way less: compare the lines below it.",
)
OWN = (
    "<p>Your own robot: drop its URDF, MJCF, SDF or YAML file, or the folder with its meshes, on this page. "
    "<code>pliant new robot finger</code> writes one to start from.</p>"
)


def check_tour(devices: Mapping[str, Device]) -> None:
    """Refuse a tour of a robot whose stiffness nobody can set.

    Raises:
        PliantError: no device takes a stiffness preset.
    """
    if not _variable(devices):
        raise PliantError("--tour needs joints with a stiffness preset; use it with qbmove-5dof", field="tour")


def _variable(devices: Mapping[str, Device]) -> list[Device]:
    return [d for d in devices.values() if any(PRESET in fields for fields in d.commands.values())]


@dataclass(slots=True)
class _Pulled:
    """Effect of one pull."""

    preset: float
    """Preset of the joints [rad]."""
    force: float = 0.0
    """Largest force [N]."""
    way: float = 0.0
    """Largest distance of the pulled point from where it was [m]."""
    start: Array = field(default_factory=lambda: np.zeros(3))
    """Where the pulled point was, shape (3,) [m]."""
    end: Array = field(default_factory=lambda: np.zeros(3))
    """Where it was at the largest distance, shape (3,) [m]."""

    @property
    def compliance(self) -> float:
        """Distance per force [mm/N]."""
        return 1e3 * self.way / self.force


class TourPanel:
    """Texts, controls and the drawing of the comparison, in a GUI container.

    Args:
        gui: viser's GUI.
        scene: viser's scene.
        engine: the physics.
        devices: name -> device; some take a stiffness preset (`check_tour`).
        pull: the pointer's force.
        size: size of the robot as it is drawn [m].
        say: tells what was refused.
        choice: shows another robot; None: no other one can be shown.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        scene: viser.SceneApi,
        engine: MujocoState,
        devices: Mapping[str, Device],
        pull: Pull,
        size: float,
        say: Say,
        choice: RobotChoice | None,
    ) -> None:
        self._scene, self._pull, self._size = scene, pull, size
        self._joints = _variable(devices)
        self.tip = _tip(engine.model, self._joints[-1].name)
        """The body that the button pulls."""
        self.way = _easiest_way(engine.model, engine.data, self.tip)
        """The horizontal direction in which it pulls, shape (3,)."""
        moving = float(engine.model.body_subtreemass[engine.model.body_rootid[self.tip]])
        self.force = max(
            round(PART_OF_WEIGHT * moving * float(np.linalg.norm(engine.model.opt.gravity) or 9.81), 1), 0.1
        )
        """Force of the button [N]."""
        self.pulls: list[_Pulled] = []
        """The last pull at each preset."""
        self._now: _Pulled | None = None
        self._marks: list[viser.LineSegmentsHandle | viser.LabelHandle] = []
        self._shown = ("", "")
        self._hint: viser.ArrowsHandle | None = None
        self._label: viser.LabelHandle | None = None
        self._hinted = True
        self._text = gui.add_html("")
        self._button = gui.add_button(
            f"Pull with {self.force:g} N", icon=icon("hand-finger"), hint="Pulls the end of the arm aside"
        )
        self._button.on_click(guarded(say, self._pressed))
        self._slider = gui.add_slider(
            "soft to stiff", SOFT, STIFF, 0.05, SOFT, hint="Stiffness preset of all joints [rad]"
        )
        self._slider.on_update(guarded(say, self._moved))
        self._bars = gui.add_html("")
        self._offer(gui, say, choice)
        self._set(SOFT)

    def _offer(self, gui: viser.GuiApi, say: Say, choice: RobotChoice | None) -> None:
        if choice is not None:
            gui.add_html(_block("<b>Then look at another robot.</b>"))
            for label, robot in DOORS.items():
                if robot in choice.names:
                    button = gui.add_button(label, color="gray")
                    button.on_click(guarded(say, lambda _, robot=robot: choice.change_to(robot)))
        gui.add_html(_block(OWN))

    @property
    def preset(self) -> float:
        """The preset that the slider shows [rad]."""
        return float(self._slider.value)

    def pull(self) -> None:
        """Pull the end of the arm aside for a moment."""
        self._pull.push(self.tip, self.force * self.way, PULL_TIME)

    def set_preset(self, preset: float) -> None:
        """Move the slider [rad]."""
        self._slider.value = preset
        self._set(preset)

    def _pressed(self, _: object) -> None:
        self.pull()

    def _moved(self, _: object) -> None:
        self._set(self.preset)

    def _set(self, preset: float) -> None:
        if not SOFT <= preset <= STIFF:
            raise PliantError(f"the stiffness preset is {preset:g}; must be {SOFT:g} to {STIFF:g} rad", field=PRESET)
        for joint in self._joints:
            joint.inbox.put({PRESET: preset})

    def draw(self, data: mujoco.MjData) -> None:
        """Follow pulls, and draw what they did so far; called some ten times a second.

        Args:
            data: positions of the bodies that are drawn.
        """
        self._follow(data)
        self._draw_hint(data)
        drawn = _steps(self._step()), _bars(self.pulls)
        if drawn != self._shown:
            self._shown = drawn
            self._draw_marks()
            self._text.content, self._bars.content = drawn

    def _follow(self, data: mujoco.MjData) -> None:
        reach = self._pull.reach
        if self._pull.point(data) is None or reach is None:
            self._now = None
            return
        if self._now is None:
            self._now = _Pulled(self.preset)
            self._hinted = False
        now = self._now
        now.force = max(now.force, float(np.linalg.norm(self._pull.force)))
        now.start, now.end = reach
        now.way = float(np.linalg.norm(now.end - now.start))
        if now.force >= LEAST_FORCE * self.force and now not in self.pulls:
            self.pulls = [*[p for p in self.pulls if abs(p.preset - now.preset) > 1e-6][-3:], now]

    def _draw_marks(self) -> None:
        """Draw how far each pull moved the point: a line below the one before, with its length."""
        for mark in self._marks:
            mark.remove()
        self._marks = []
        for k, pull in enumerate(sorted(self.pulls, key=lambda p: p.preset)):
            down = np.array([0.0, 0.0, -(0.04 + 0.15 * k) * self._size])
            level = np.array([*pull.end[:2], pull.start[2]])
            line = np.array([[pull.start + down, level + down]], dtype=np.float32)

            self._marks += [
                self._scene.add_line_segments(
                    f"/tour/way{k}", line, _rgb(_colour(pull.preset)), thickness=5.0, thickness_units="screen"
                ),
                self._scene.add_label(
                    f"/tour/length{k}", f"{_word(pull.preset)} {1e3 * pull.way:.0f} mm", position=tuple(line[0, 1])
                ),
            ]  # fmt: skip

    def _draw_hint(self, data: mujoco.MjData) -> None:
        if not self._hinted:
            if self._hint is not None and self._label is not None:
                self._hint.visible = self._label.visible = False
            return
        start = data.xipos[self.tip]
        way = 0.16 * self._size * self.way
        points = np.array([[start + 0.2 * way, start + way]], dtype=np.float32)
        if self._hint is None or self._label is None:
            self._hint = self._scene.add_arrows(
                "/tour/arrow", points, HINT_COLOUR, shaft_radius=0.006 * self._size, head_radius=0.016 * self._size,
                head_length=0.04 * self._size,
            )  # fmt: skip
            self._label = self._scene.add_label("/tour/label", "pull", position=tuple(start + 1.15 * way))
        else:
            self._hint.points = points
            self._label.position = tuple(start + 1.15 * way)

    def _step(self) -> int:
        if not self.pulls:
            return 0
        if all(abs(p.preset - self.preset) < 1e-6 for p in self.pulls):
            return 1
        return 2 if len(self.pulls) < 2 else 3


def _tip(model: mujoco.MjModel, joint: str) -> int:
    """Return the last body of the chain behind a joint."""
    body = int(model.jnt_bodyid[model.joint(joint).id])
    while len(children := np.flatnonzero(model.body_parentid == body)):
        body = int(children[-1])
    return body


def _easiest_way(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> Array:
    """Return the horizontal direction in which a body moves most easily, away from what lies loose, shape (3,)."""
    turned = np.zeros((3, model.nv))
    mujoco.mj_jac(model, data, turned, None, data.xipos[body], body)
    ways = turned[:2] @ turned[:2].T
    found = np.array([*np.linalg.eigh(ways)[1][:, -1], 0.0])
    root = int(model.body_rootid[body])
    loose = [b for b in range(1, model.nbody) if int(model.body_rootid[b]) != root]
    away = data.xipos[body] - data.xipos[loose].mean(axis=0) if loose else np.array([1.0, 0.0, 0.0])
    return found if found @ away >= 0.0 else -found


def _colour(preset: float) -> str:
    k = round(len(COLOURS) * (preset - SOFT) / (STIFF - SOFT))
    return COLOURS[min(k, len(COLOURS) - 1)]


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _word(preset: float) -> str:
    """Return what a preset is called in the scene."""
    if preset <= SOFT + 0.05:
        return "soft"
    return "stiff" if preset >= STIFF - 0.05 else f"preset {preset:.2f} rad"


def _block(text: str) -> str:
    return f'<div style="padding:0.3em 1em;font-size:0.9em">{text}</div>'


def _steps(step: int) -> str:
    lines = []
    for k, text in enumerate(STEPS):
        mark = "&#10003;" if k < step else f"{k + 1}."
        faint = "" if k == step else "opacity:0.55;"
        lines.append(f'<div style="{faint}display:flex;gap:0.5em"><span>{mark}</span><span>{text}</span></div>')
    return _block("".join(lines))


def _bars(pulls: Sequence[_Pulled]) -> str:
    """Return the distances per force as bars, with a sentence where they can be compared."""
    if not pulls:
        return ""
    most = max(p.compliance for p in pulls)
    rows = []
    for p in sorted(pulls, key=lambda p: p.preset):
        width = max(2.0, 100.0 * p.compliance / most) if most > 0.0 else 2.0
        words = f"{_word(p.preset)}: {1e3 * p.way:.0f} mm under {p.force:.1f} N"
        rows.append(
            f'<div style="margin-top:0.4em">{html.escape(words)}<div style="height:0.8em;border-radius:0.2em;'
            f'width:{width:.0f}%;background:{_colour(p.preset)}"></div></div>'
        )
    soft, stiff = (f(pulls, key=lambda p: p.compliance) for f in (max, min))
    sentence = ""
    if len(pulls) > 1 and stiff.compliance > 0.0:
        sentence = (
            f"<p>Per newton the soft arm gives way <b>{soft.compliance / stiff.compliance:.1f} times</b> as far. "
            f"A person who is hit and moves its end {1e3 * HAND:.0f} mm aside feels "
            f"<b>{1e3 * HAND / soft.compliance:.1f} N</b> from the soft arm and "
            f"<b>{1e3 * HAND / stiff.compliance:.1f} N</b> from the stiff one.</p>"
        )
    return _block("".join(rows) + sentence)

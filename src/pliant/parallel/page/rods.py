"""Parallel robots on the page: both models of the statics, stability, saved poses, a path, files, the plate's handle.

What a person asks is solved at once in a thread of its own, of several targets only the newest; what is found is shown
and, beside a simulation, goes to the simulated robot as joint values.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import PliantError
from pliant.base.numerics import Array
from pliant.page.controls import Say, guarded
from pliant.page.curve_drawing import CurveDrawing, scale_bar
from pliant.page.handle import PlateHandle, WrenchArrow
from pliant.page.ranges import step_of
from pliant.page.server import PageServer
from pliant.parallel.device.parallel import ParallelRobotDevice
from pliant.parallel.page.pose_path import PosePath
from pliant.parallel.page.rod_facts import facts, no_equilibrium, small
from pliant.parallel.page.rod_files import RodFiles
from pliant.parallel.page.saved_poses import SavedPoses
from pliant.parallel.page.statics import (
    Found,
    PlainEquilibrium,
    Range,
    StaticsSolver,
    Target,
    joint_ranges,
    pose_ranges,
    wrench_ranges,
)
from pliant.rods import ContinuumParallelRobot

if TYPE_CHECKING:
    from pathlib import Path

    import viser

JOINTS, POSE = "joint values", "plate pose"
"""Given quantity: joint values for the direct model, the plate pose for the inverse model."""
NOTHING = "(choose)"
NOTE_TIME = 6.0
"""How long a change of branch is told [s]."""
MAX_VALUE = 1e6
"""Largest number of a target."""


class RodPanel:
    """Controls and facts of a parallel robot, in the container of the GUI that is open.

    Args:
        server: the page's server.
        robot: the robot.
        say: tells what was refused.
        size: size of the robot as it is drawn [m].
        device: the robot's device in a simulation; it gets the joint values that were found. None: no simulation.
        store: file of the saved poses; None takes the user's.
    """

    def __init__(
        self,
        server: PageServer,
        robot: ContinuumParallelRobot,
        say: Say,
        *,
        size: float,
        device: ParallelRobotDevice | None = None,
        store: Path | None = None,
    ) -> None:
        self._server, self._gui, self._say, self._device = server, server.gui, say, device
        self._solver = StaticsSolver(robot, self._answered)
        self._robot = self._solver.robot
        self._saved = SavedPoses(robot, store)
        self.path = PosePath(robot)
        """The path."""
        self._lock = threading.Lock()
        self._fresh: Found | None = None
        self._touched: object = None
        self._note, self._note_at = "", 0.0
        self._at = time.monotonic()
        self._scale = 0.0
        self.faint = False
        """Whether the newest target has no equilibrium, so that what is shown is an earlier one."""
        self.shown: PlainEquilibrium = self._solver.home
        """The newest equilibrium."""
        self._spent: float | None = None
        self._build(robot)
        wrenches = wrench_ranges(robot)
        self._arrow = WrenchArrow(server, size=size, largest=wrenches[0].high)
        self._handle = PlateHandle(server, planar=robot.planar, size=size, moved=self.move_plate)
        self._show()

    # -- what is made -------------------------------------------------------------------------------------------

    def _build(self, robot: ContinuumParallelRobot) -> None:
        gui, home, say = self._gui, self._solver.home, self._say
        self._facts = gui.add_html("")
        self._bar = gui.add_html("")
        self._mode = gui.add_dropdown(
            "solve from", (JOINTS, POSE), initial_value=JOINTS, hint="Which model is solved; moving a slider chooses it"
        )
        self._joints = self._sliders("joints", joint_ranges(robot, home), home.q, JOINTS)
        self._poses = self._sliders("plate pose", pose_ranges(robot, home), home.pose, POSE)
        self._free: dict[str, viser.GuiCheckboxHandle] = {}
        d = robot.description
        if robot.actuator_count < len(d.freedoms):
            with gui.add_folder("controlled degrees of freedom"):
                for name in d.freedoms:
                    box = gui.add_checkbox(name, initial_value=name in (d.controlled or d.freedoms))
                    box.on_update(self._by_hand(lambda: self._given(POSE)))
                    self._free[name] = box
        self._wrench = self._sliders("wrench on the plate", wrench_ranges(robot), home.wrench, None)
        self._mode.on_update(self._by_hand(self.solve))
        buttons = gui.add_button_group(
            "set", ("Home", "No load", "Search again"),
            hint="Home: back to the home pose. Search again: forget the present shape and search again",
        )  # fmt: skip
        buttons.on_click(guarded(say, lambda _: self._pressed(str(buttons.value))))
        box = gui.add_checkbox("handle on the plate", initial_value=True, hint="Arrows and arcs that move its target")
        box.on_update(guarded(say, lambda _: setattr(self._handle, "visible", bool(box.value))))
        self._add_saved()
        self._add_path()
        self.files = RodFiles(
            self._server, self._solver, self._saved, self.path, say,
            given=lambda: self._target(str(self._mode.value)), changed=self._path_changed,
        )  # fmt: skip

    def _sliders(
        self, title: str, rows: Sequence[Range], values: Sequence[float], given: str | None
    ) -> list[viser.GuiSliderHandle[float]]:
        made = []
        with self._gui.add_folder(title):
            for row, value in zip(rows, values):
                low, high = (float(f"{end:.3g}") for end in (row.low, row.high))  # labels have little room
                low, high = min(low, value), max(high, value)
                slider = self._gui.add_slider(
                    f"{row.name} [{row.unit}]", min=low, max=high, step=step_of(low, high) / 5.0, initial_value=value
                )
                slider.on_update(self._by_hand(lambda s=slider: self._given(given, s)))
                made.append(slider)
        return made

    def _by_hand(self, work: Callable[[], None]) -> Callable[..., None]:
        """Return a callback for what a person changed; what the page itself writes into a control is no command."""

        def call(event: object = None) -> None:
            if event is not None and event.client is None:
                return
            self.path.playing = False
            work()

        return guarded(self._say, call)

    def _add_saved(self) -> None:
        gui = self._gui
        with gui.add_folder("saved poses", expand_by_default=False):
            try:
                names = list(self._saved.all())
            except PliantError as error:  # a broken file; the rest of the page goes on
                names = []
                gui.add_html(small(str(error)))
            self._choice = gui.add_dropdown("go to", [NOTHING, *names], initial_value=NOTHING)
            self._name = gui.add_text("name", initial_value="")
            buttons = gui.add_button_group("pose", ("Save", "Delete"))
        self._choice.on_update(self._by_hand(self._go))
        buttons.on_click(guarded(self._say, lambda _: self._keep(str(buttons.value) == "Delete")))

    def _add_path(self) -> None:
        gui = self._gui
        with gui.add_folder("path", expand_by_default=False):
            self._count = gui.add_html(small("no rows"))
            buttons = gui.add_button_group("rows", ("Add", "Play", "Stop", "Clear"))
            self._place = gui.add_slider("place", min=0.0, max=1.0, step=0.001, initial_value=0.0, disabled=True)
        buttons.on_click(guarded(self._say, lambda _: self._on_path(str(buttons.value))))
        self._place.on_update(self._by_hand(self._moved_on_path))

    # -- what a person does -------------------------------------------------------------------------------------

    def solve(self, *, cold: bool = False) -> None:
        """Ask for what the controls say."""
        self._solver.ask(self._target(str(self._mode.value), cold=cold))

    def home(self) -> None:
        """Ask for the home pose without a load."""
        self._pressed("Home")

    def move_plate(self, plate: Array) -> None:
        """Ask for a plate pose that somebody drags.

        Args:
            plate: shape (4, 4); ignored where it is not finite.
        """
        if not np.isfinite(plate).all() or np.abs(plate[:3, 3]).max() > MAX_VALUE:
            return
        self.path.playing = False
        self._touched = None
        self._choose(POSE)
        self._solver.ask(self._target(POSE, tuple(self._robot.pose_numbers(plate))))

    def _given(self, given: str | None, touched: object = None) -> None:
        self._touched = touched
        if given is not None:
            self._choose(given)
        self.solve()

    def _choose(self, given: str) -> None:
        if self._mode.value != given:
            self._mode.value = given

    def _target(self, given: str, values: Sequence[float] | None = None, *, cold: bool = False) -> Target:
        if values is None:
            values = [float(s.value) for s in (self._joints if given == JOINTS else self._poses)]
        controlled = None
        if given == POSE and self._free:
            controlled = tuple(name for name, box in self._free.items() if box.value)
        return Target(
            model="direct" if given == JOINTS else "inverse", values=tuple(values),
            wrench=tuple(float(s.value) for s in self._wrench), controlled=controlled, cold=cold,
        )  # fmt: skip

    def _pressed(self, what: str) -> None:
        self.path.playing = False
        self._touched = None
        if what == "Search again":
            self.solve(cold=True)
            return
        self._put(self._wrench, [0.0] * len(self._wrench))
        if what == "Home":
            self._choose(JOINTS)
            self._solver.ask(self._target(JOINTS, self._solver.home.q, cold=True))
        else:
            self.solve()

    def _go(self) -> None:
        one = self._saved.all().get(str(self._choice.value))
        if one is None:
            return
        self._touched = None
        if one.wrench is not None:
            self._put(self._wrench, one.wrench)
        given = JOINTS if one.direct else POSE
        self._choose(given)
        self._solver.ask(self._target(given, one.values, cold=True))

    def _keep(self, delete: bool) -> None:
        name, now = str(self._name.value), self.shown
        if delete:
            self._saved.delete(name)
        else:
            self._saved.save(name, direct=self._mode.value == JOINTS, q=now.q, pose=now.pose, wrench=now.wrench)
        self._choice.options = [NOTHING, *self._saved.all()]

    def _on_path(self, what: str) -> None:
        if what == "Add":
            direct = self._mode.value == JOINTS
            self.path.add(self.shown.q if direct else self.shown.pose, direct=direct)
        elif what == "Play":
            self.path.play()
        elif what == "Stop":
            self.path.playing = False
        else:
            self.path.clear()
        self._path_changed()

    def _path_changed(self) -> None:
        rows = len(self.path.rows)
        self._count.content = small(f"{rows} rows of {self.path.kind}" if rows else "no rows")
        self._place.disabled = rows < 2
        self._put([self._place], [self.path.place])

    def _moved_on_path(self) -> None:
        if len(self.path.rows) > 1:
            self.path.place = float(self._place.value)
            self._along()

    def _along(self) -> None:
        given = JOINTS if self.path.direct else POSE
        self._touched = None
        self._choose(given)
        self._solver.ask(self._target(given, self.path.values()))

    # -- what is found ------------------------------------------------------------------------------------------

    def _answered(self, found: Found) -> None:
        """Keep an answer for `draw` and send it to the simulated robot; the solver's thread calls this."""
        with self._lock:
            self._fresh = found
        if self._device is None or found.equilibrium is None or found.equilibrium.beyond:
            return
        values = {"joints_values": found.equilibrium.q, "wrench": found.equilibrium.wrench}
        try:
            self._device.inbox.put(values, mode="dgm_parameters")
        except PliantError as error:
            self._say(str(error))

    @property
    def busy(self) -> bool:
        """Whether something that was asked is not yet solved or shown."""
        return self._solver.busy or self._fresh is not None

    def draw(self, drawing: CurveDrawing | None = None, origin: Array | None = None) -> None:
        """Show what was found, and go on along the path; the page's thread calls this some ten times a second.

        Args:
            drawing: gives the scale of the colours.
            origin: where the plate's origin is drawn, shape (3,) [m]; None: where the statics say.
        """
        now = time.monotonic()
        elapsed, self._at = now - self._at, now
        with self._lock:
            found, self._fresh = self._fresh, None
        if found is not None:
            self._take(found, now)
        elif self._note and now - self._note_at > NOTE_TIME:
            self._note = ""
            self._tell()
        if self.path.playing and not self._solver.busy:
            self.path.advance(elapsed)
            self._along()
            self._put([self._place], [self.path.place])
        self._handle.follow(self.shown.plate)
        self._arrow.draw(self.shown.plate[:3, 3] if origin is None else origin, np.array(self.shown.wrench))
        if drawing is not None and drawing.scale != self._scale:
            self._scale = drawing.scale
            self._bar.content = scale_bar(drawing.scale, "bending strain at the surface")

    def _take(self, found: Found, now: float) -> None:
        self.faint = found.equilibrium is None
        if found.equilibrium is None:
            self._facts.content = no_equilibrium(found)
            self.path.playing = False
            return
        self.shown, self._spent = found.equilibrium, found.seconds
        if found.equilibrium.note:
            self._note, self._note_at = found.equilibrium.note, now
        self._tell()
        if found.number == self._solver.asked:
            self._show()

    def _show(self) -> None:
        """Bring the sliders to what was found."""
        self._tell()
        self._put(self._joints, self.shown.q)
        self._put(self._poses, self.shown.pose)

    def _tell(self) -> None:
        self._facts.content = facts(self.shown, self._spent, self._note, self._device is None)

    def _put(self, handles: Sequence[viser.GuiSliderHandle[float]], values: Sequence[float]) -> None:
        for handle, value in zip(handles, values):
            # What a person holds is not moved under the pointer.
            if handle is self._touched or abs(handle.value - value) < 1e-9:
                continue
            if value < handle.min:
                handle.min = float(value)
            elif value > handle.max:
                handle.max = float(value)
            handle.value = float(value)

    def close(self) -> None:
        """End the thread that solves; may be called twice."""
        self._solver.close()

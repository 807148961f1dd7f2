"""The page: a robot in the browser, moved by hand while it is simulated.

The loop copies the state some thirty times a second, which takes microseconds, and leaves each sample's reference; a
thread of the page's own draws the newest copy and sends it. So the page never stands between a sample and its answer,
however slow a browser is.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import mujoco
import numpy as np

from pliant.base.errors import BridgeError, PliantError
from pliant.base.numerics import Array
from pliant.devices.base import Device, Sample, SampleSource
from pliant.engine.base import MujocoState, check_engine, mujoco_state
from pliant.events.scenario import Scenario, ScenarioRun
from pliant.events.shipped import shipped_scenarios
from pliant.model.contacts import contact_forces
from pliant.model.scene import place_bodies
from pliant.page.cameras import Cameras
from pliant.page.choice import RobotChoice
from pliant.page.controls import DeviceControls, Panel, plain_name, plain_text
from pliant.page.curve_drawing import POINTS, CurveDrawing, curve_thickness
from pliant.page.document import READY
from pliant.page.look import LookPanel
from pliant.page.messages import Messages
from pliant.page.opening import dance
from pliant.page.opening import opening as opening_of
from pliant.page.panel import RunPanel
from pliant.page.panels import RobotSection, Surroundings, device_panel, robot_panels
from pliant.page.payload import PayloadPanel
from pliant.page.plots import Plots
from pliant.page.pull import Pull
from pliant.page.scenarios import ScenarioPanel
from pliant.page.scene import Scene
from pliant.page.server import PageServer, icon
from pliant.page.tour import TourPanel
from pliant.recording.drawing import Curves, curves_of
from pliant.simulation.bridge import BridgeBase, SimulationControl

if TYPE_CHECKING:
    import viser
    from numpy.typing import ArrayLike

    from pliant.engine.base import Engine

_STATES = mujoco.mjtState
COPIED = int(
    _STATES.mjSTATE_FULLPHYSICS | _STATES.mjSTATE_MOCAP_POS | _STATES.mjSTATE_MOCAP_QUAT | _STATES.mjSTATE_EQ_ACTIVE
)
PANEL_PERIOD = 0.1
"""How often curves and numbers are sent [s of wall time]."""
REFRESH_PERIOD = 0.5
"""How often shapes are looked at for a change [s of wall time]."""
HINT = (
    '<div style="padding:0 1em 0.4em;font-size:0.85em;opacity:0.75">'
    "Drag a part of the robot to pull it; drag beside it to turn the view.</div>"
)
PERIOD_NS = round(1e9 / 30)
"""Time between two pictures of the page [ns of wall time]."""
_log = logging.getLogger("pliant.view")


class PageView(BridgeBase):
    """A page of a `MujocoEngine`; give it to `Simulation` as a bridge.

    The page has no password and no encryption, so it is served to this machine only; from another one use
    ``ssh -L 8080:localhost:8080``. Requests of other sites are refused (`pliant.base.origin`).

    A part of the page that cannot be drawn is told once, in the log and on the page, and the rest goes on. If the page
    itself ends, that is told and the simulation goes on without it, unless the page is what the run is for.

    Args:
        engine: the engine that is shown.
        port: port of the page; 0 takes the first free one from 8080 on.
        host: address that the page is served on.
        title: name of the robot.
        report: folder of a report that the page links to.
        server: a server that goes on when this view ends, such as that of a program that shows one robot after another.
        choice: what else can be shown; then the run stops, and its `wanted` names it.
        needed: the run is for the page only, so it ends with it.
        begin: "opening": with a scenario of pliant that fits the robot, which ends when somebody moves a slider;
            "tour": with a tour of the first minute (`pliant.page.tour`); "rest": with neither.
        metadata: texts that go into the recordings that are made on the page; ``command_line``, such as
            ``"pliant run arm.urdf"``, names the robot for `pliant replay`.
    """

    name = "view"

    def __init__(
        self,
        engine: MujocoState,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        title: str = "pliant",
        report: Path | None = None,
        server: PageServer | None = None,
        choice: RobotChoice | None = None,
        needed: bool = False,
        begin: Literal["rest", "opening", "tour"] = "rest",
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        check_engine(engine, "PageView")
        engine = mujoco_state(engine, "the page")
        self._metadata = dict(metadata or {})
        self._engine, self._needed = engine, needed
        self._given = server
        self.choice = choice
        """What else can be shown, and what somebody chose of it; None where the page shows one robot only."""
        self._port, self._host, self._title = port, host, plain_name(title)
        self._report = report
        self._next = 0
        self._fresh = threading.Event()
        self._lock = threading.Lock()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._server: PageServer | None = None
        self._latest: dict[str, Sample] = {}
        self._devices: dict[str, Device] = {}
        self._plots: Plots | None = None
        self._controls: DeviceControls | None = None
        self._run: RunPanel | None = None
        self._cameras: Cameras | None = None
        self._section: RobotSection | None = None
        self._curves: Curves | None = None
        self._drawing: CurveDrawing | None = None
        self._look: LookPanel | None = None
        self._messages = Messages()
        self._sketch: viser.GuiHtmlHandle | None = None
        self._sketched = 0
        self._given_scenarios: dict[str, Scenario] = {}
        self._given_run: ScenarioRun | None = None
        self._scenarios: ScenarioPanel | None = None
        self._payload: PayloadPanel | None = None
        self._with_tour, self._opening = begin == "tour", begin == "opening"
        self._entered = 0  # numbers that browsers had entered when the opening began
        self._tour: TourPanel | None = None
        self._filled = False
        self._rewound, self._stamp_ns = False, 0
        self._found: Array | None = None
        self._forces = np.zeros((engine.model.nbody, 6))
        self._shown = 0
        self._fault = ""
        self._broken: set[str] = set()
        self._over = False
        self._pull = Pull(engine)
        self._rope: viser.LineSegmentsHandle | None = None
        self.url = ""
        """Address of the page, once started."""

    @property
    def addresses(self) -> Mapping[str, str]:
        """The page."""
        return {"page": self.url}

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Serve the page.

        Raises:
            MissingDependency: viser is not installed.
            BridgeError: the port is in use, or the host is every interface.
        """
        server = self._given
        if server is None:
            folders = {} if self._report is None else {"report": self._report}
            server = PageServer(host=self._host, port=self._port, title=self._title, folders=folders)
        server.rename(self._title)
        self._server, self.url = server, server.url
        model = self._engine.model
        self._state = np.zeros(mujoco.mj_stateSize(model, COPIED))
        self._data = mujoco.MjData(model)
        self._copy()
        self._scene = Scene(server, model, self._pulled)
        server.look(*self._scene.camera(), max(0.005 * self._scene.size, 1e-4))
        if any("contact_forces" in device.signatures for device in devices.values()):
            self._scene.show("contacts", True)
        try:
            with server.viser.atomic():
                self._build(server, devices)
        except Exception as error:  # as of a frame: a page that is not needed ends alone
            if self._needed or isinstance(error, PliantError):
                raise
            self._over = True
            self._end(error)
            return
        self._thread = self.threads.start("pliant-view", self._show)

    def publish(self, sample: Sample) -> None:
        """Keep the sample for the page."""
        self._latest[sample.device] = sample
        if self._plots is not None:
            try:
                self._plots.take(sample)
            except Exception as error:  # a fault of a panel is told on the page
                self._report_broken("the points of the curves", error)

    def tick(self, stamp_ns: int) -> None:
        """Pull what is held, and copy the state when a picture is due."""
        if stamp_ns < self._stamp_ns:
            self._rewound = True
        self._stamp_ns = stamp_ns
        if self._pull.active:
            self._pull.apply(stamp_ns * 1e-9)
        now = time.monotonic_ns()
        if now >= self._next and not self._over:
            self._next = now + PERIOD_NS
            self._copy()

    def stop(self) -> None:
        """Close the page; may be called twice."""
        self.threads.close()
        self._stopping = True
        self._messages.close()
        self._fresh.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
            self._thread = None
        if self._section is not None:
            self._section.close()
        server, self._server = self._server, None
        if server is None:
            return
        if server is self._given:
            server.clear()
        else:
            server.stop()

    def health(self) -> Mapping[str, object]:
        """Return the address, the number of pictures, whether the controls are up to date, and the last fault."""
        return {"url": self.url, "pictures": self._shown, "filled": self._filled, "last_error": self._fault}

    def offer(self, name: str, scenario: Scenario, run: ScenarioRun | None = None) -> None:
        """Offer a scenario beside those of pliant that fit the robot; to be called before the page starts.

        Args:
            name: what it is called on the page.
            scenario: what happens.
            run: its run, where it plays from the start on.
        """
        self._given_scenarios[name] = scenario
        self._given_run = run

    def mark(self, camera: str, pixels: ArrayLike) -> None:
        """Mark points in a camera's picture on the page, such as the features that a controller uses.

        Args:
            camera: name of the camera's device.
            pixels: (column, row) of each point, shape (n, 2); empty: none.
        """
        if self._cameras is not None:
            self._cameras.mark(camera, pixels)

    # -- the panel ----------------------------------------------------------------------------------------------

    def _build(self, server: PageServer, devices: Mapping[str, SampleSource]) -> None:
        gui = server.gui
        gui.main_panel.dock_right()
        gui.main_panel.set_width(320)
        gui.add_html(READY)
        self._sketch = gui.add_html("")
        pictures: viser.PanelHandle | None = None
        if self._report is not None:
            gui.add_html(
                f'<div style="padding:0.6em 1em"><a href="{self.url}report/" target="_blank" rel="noopener">'
                "Report of the published results</a></div>"
            )
        if self._simulation is not None:
            self._devices = {name: device for name, device in devices.items() if isinstance(device, Device)}
            commanded = self._devices
            tabs = gui.add_tab_group() if self._with_tour else None  # first of all, also on the screen of a phone
            if self.choice is not None:
                self.choice.build(server, self._title, self._say, self._leave, self._take_file)
            self._run = RunPanel(
                gui,
                self._simulation,
                self._say,
                self._was_reset,
                self._title,
                self._tell,
                self._metadata,
                lambda: self._scene.layers.contacts,
            )
            gui.add_html(HINT)
            self._messages.open(gui)
            if tabs is None:
                tabs = gui.add_tab_group()
            else:
                with tabs.add_tab("First minute", icon=icon("hand-finger")):
                    self._tour = TourPanel(
                        gui, server.scene, self._engine, commanded, self._pull, self._scene.size, self._say,
                        self.choice,
                    )  # fmt: skip
            with tabs.add_tab("Move", icon=icon("adjustments-horizontal")):
                taken = self._add_section(server, commanded)
                others = {name: device for name, device in commanded.items() if device is not taken}
                if others or taken is None:
                    self._controls = DeviceControls(
                        gui, others, self._simulation, self._say, self._latest, self._own_panel
                    )
            self._add_play_and_load(server, gui, tabs, self._simulation, commanded)
        else:
            tabs = gui.add_tab_group()
        if Cameras.wanted(devices):
            pictures = gui.add_panel()
            with pictures.add_tab("Cameras", icon=icon("camera")):
                self._cameras = Cameras(gui, devices, self._say)
        with tabs.add_tab("Look", icon=icon("eye")):
            self._look = LookPanel(gui, server, self._scene, self._engine.model, self._simulation, self._say)
        curves = gui.add_panel()
        with curves.add_tab("Curves", icon=icon("chart-line")):
            self._plots = Plots(gui, devices, self._say)
        curves.dock_left()
        curves.set_width(320)
        if pictures is not None:
            pictures.dock_above(curves)
            pictures.set_height(330)

    def _own_panel(self, device: Device) -> Panel | None:
        panel = device_panel(device)
        if panel is None or self._simulation is None or self._server is None:
            return None
        return panel.make(self._server.gui, device, self._simulation, self._say, self._latest)

    def _add_play_and_load(
        self,
        server: PageServer,
        gui: viser.GuiApi,
        tabs: viser.GuiTabGroupHandle,
        simulation: SimulationControl,
        devices: Mapping[str, Device],
    ) -> None:
        """Add the tabs of scenarios and payloads, where the robot has any."""
        scenarios = {**self._given_scenarios, **shipped_scenarios(devices, cast("Engine", self._engine))}
        if scenarios:
            with tabs.add_tab("Play", icon=icon("player-play")):
                self._scenarios = ScenarioPanel(
                    gui, simulation, scenarios, self._say, self._was_reset, run=self._given_run
                )
        if self._engine.payloads.bodies():
            with tabs.add_tab("Load", icon=icon("weight")):
                self._payload = PayloadPanel(gui, server, self._engine, simulation, self._say, self._scene.size)

    def _add_section(self, server: PageServer, devices: Mapping[str, Device]) -> Device | None:
        """Add the section of the robot that a wing declares, and its curves; return the device that it takes over."""
        around = Surroundings(server=server, say=self._say, size=self._scene.size)
        for panel in robot_panels():
            self._section = panel.make(around, devices)
            if self._section is None:
                continue
            with contextlib.suppress(IndexError, ValueError):  # a model without rods that bend
                self._curves = curves_of(self._engine.model, self._data, POINTS)
                if self._curves is not None:
                    self._drawing = CurveDrawing(server, curve_thickness(self._curves.radius, self._scene.size))
            return self._section.device
        return None

    def _take_file(self, name: str, data: bytes) -> bool:
        return self._section is not None and self._section.open(name, data)

    def _leave(self, name: str) -> None:
        """End the run for what was chosen."""
        if self._server is not None:
            self._server.rename(plain_name(name))
        if self._simulation is not None:
            self._simulation.stop()

    def _draw_section(self) -> None:
        if self._section is not None:
            self._section.show(self._drawing, self._data)

    def _say(self, text: str) -> None:
        """Show a message on every page."""
        self._fault = text
        self._messages.add("fault", text)
        if self._server is not None:
            self._server.notify("Not done", plain_text(text))

    def _tell(self, text: str) -> None:
        """Show what was done on every page."""
        self._messages.add("done", text)
        if self._server is not None:
            self._server.notify("Done", plain_text(text), colour="teal")

    def _was_reset(self) -> None:
        """End what was started on the page; what all resets have in common is done when the time goes back."""
        if self._scenarios is not None:
            self._scenarios.restart()
        if self._section is not None:
            self._section.home()
        if self._plots is not None:
            self._plots.restart()

    async def _pulled(self, phase: str, body: int, point: np.ndarray, target: np.ndarray) -> None:
        if phase == "end":
            self._pull.release()
            return
        if self._server is not None:
            self._server.pulls += 1
        rotation = self._data.xmat[body].reshape(3, 3).copy()
        self._pull.hold(body, point, target, position=self._data.xpos[body].copy(), rotation=rotation)

    # -- pictures -----------------------------------------------------------------------------------------------

    def _copy(self) -> None:
        engine = self._engine
        with self._lock:
            mujoco.mj_getState(engine.model, engine.data, self._state, COPIED)
            if self._server is not None and self._plots is not None and self._scene.layers.contacts:
                self._found = contact_forces(engine.model, engine.data)
            self._forces = engine.data.xfrc_applied.copy()
        self._fresh.set()

    def _show(self) -> None:
        """Draw until the page is closed; what goes wrong here does not end a run that is not for the page."""
        try:
            self._draw_all()
        except Exception as error:  # a fault of the page ends the page, not the run
            if self._needed:
                raise
            self._over = True
            self._pull.release()
            self._end(error)
            while not self._stopping:
                self._fresh.wait(1.0)
                self._fresh.clear()

    def _end(self, error: Exception) -> None:
        """Tell why the page has ended, and close its server."""
        self._fault = f"the page has ended ({type(error).__name__}: {error}); the simulation goes on without it"
        _log.error("%s", self._fault)
        _log.debug("the page", exc_info=error)
        server = self._server
        if server is not None and server is not self._given:
            server.stop()

    def _draw_all(self) -> None:
        panel_at = refresh_at = 0.0
        while True:
            self._fresh.wait(0.1)
            self._fresh.clear()
            if self._stopping:
                return
            server = self._server
            if server is not None and not server.alive:
                raise BridgeError("the server of the page ended", field="view")
            self._attempt("the robot", self._draw)
            now = time.monotonic()
            if now >= panel_at:
                panel_at = now + PANEL_PERIOD
                self._draw_panel()
            if now >= refresh_at:
                refresh_at = now + REFRESH_PERIOD
                self._attempt("changed shapes", self._scene.refresh)

    def _attempt(self, part: str, work: Callable[[], None]) -> None:
        """Draw a part of the page; it is tried again each time, and its first failure is told."""
        try:
            work()
        except Exception as error:  # a fault of a panel is told on the page
            self._report_broken(part, error)

    def _report_broken(self, part: str, error: Exception) -> None:
        if part in self._broken or self._stopping:
            return
        self._broken.add(part)
        text = f"{part} cannot be drawn ({type(error).__name__}: {error}); the rest of the page goes on"
        _log.error("the page: %s", text)
        _log.debug("%s", part, exc_info=error)
        with contextlib.suppress(Exception):  # the page may be what is broken
            self._say(text)

    def _draw(self) -> None:
        model, data = self._engine.model, self._data
        with self._lock:
            mujoco.mj_setState(model, data, self._state, COPIED)
            found = self._found
        place_bodies(model, data)
        server = self._server
        # Bodies, tendons and rods are sent together: none is a picture ahead of the others.
        with contextlib.nullcontext() if server is None else server.viser.atomic():
            self._scene.update(data, found)
            self._scene.draw_forces(self._forces, data)
            if self._look is not None:
                self._look.follow(data)
            if self._drawing is not None and self._curves is not None:
                self._drawing.draw_curves(self._curves)
            self._draw_rope()
        self._shown += 1

    def _spare(self) -> None:
        if self._scene.spare() and self._look is not None:
            self._look.boxes["shadows"].value = False

    def _draw_sketch(self) -> None:
        if self._sketch is not None and self._plots is not None:
            self._sketch.content = self._plots.sketch()

    def _draw_messages(self) -> None:
        for kind, text in self._messages.draw():
            if self._server is not None:
                colour = "red" if kind == "fault" else "yellow"
                self._server.notify(kind.capitalize(), plain_text(text), colour=colour)

    def _draw_panel(self) -> None:
        self._attempt("the shadows", self._spare)
        if self._run is not None:
            self._attempt("the status", self._run.draw)
            self._attempt("the messages", self._draw_messages)
        if self._controls is not None:
            self._attempt("the controls", self._draw_controls)
        self._attempt("the opening", self._draw_opening)
        for part, panel in (("the scenario", self._scenarios), ("the payload", self._payload)):
            if panel is not None:
                self._attempt(part, panel.draw)
        if self._section is not None:
            self._attempt("the section of the robot", self._draw_section)
        tour = self._tour
        if tour is not None:
            self._attempt("the tour", lambda: tour.draw(self._data))
        cameras = self._cameras
        if cameras is not None:
            self._attempt("the cameras", lambda: cameras.draw(self._latest))
        if self._plots is not None:
            self._attempt("the curves", self._plots.draw)
            if self._sketched != (second := int(2.0 * time.monotonic())):
                self._sketched = second
                self._attempt("the small curves", self._draw_sketch)

    def _draw_controls(self) -> None:
        controls = self._controls
        if controls is None:
            return
        if not self._filled and self._latest:  # now it is known what each device holds
            controls.restart()
            self._filled = True
        if self._rewound:  # whoever has reset the simulation
            self._rewound = False
            self._pull.release()
            controls.restart()
        controls.follow()

    def _draw_opening(self) -> None:
        """Begin the scenario that a robot begins with, and end it when somebody moves a slider."""
        scenarios, server = self._scenarios, self._server
        if not self._opening or scenarios is None or server is None or not self._latest:
            return
        if scenarios.used:
            self._opening = False
        elif scenarios.run is None and not self._given_scenarios:
            round_dance = dance(self._devices, self._latest)
            if round_dance is not None:
                scenarios.add("dance", round_dance)
            name = opening_of(scenarios.scenarios)
            self._opening = name is not None
            if name is not None:
                self._entered = server.numbers
                scenarios.begin(name)
                self._messages.add("done", f"the scenario {name!r} plays; Stop on the tab Play ends it, or any slider")
        elif server.numbers != self._entered:
            self._opening = False
            scenarios.stop()

    def _draw_rope(self) -> None:
        held = self._pull.held
        if held is None:
            if self._rope is not None:
                self._rope.visible = False
            return
        body, local, target = held
        start = self._data.xpos[body] + self._data.xmat[body].reshape(3, 3) @ local
        points = np.array([[start, target]], dtype=np.float32)
        if self._rope is None and self._server is not None:
            self._rope = self._server.scene.add_line_segments(
                "/rope", points, (220, 60, 50), thickness=3.0, thickness_units="screen"
            )
        elif self._rope is not None:
            self._rope.points = points
            self._rope.visible = True

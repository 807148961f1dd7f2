"""Controls of a page: sliders, lists and buttons made from the field tables of the devices."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pliant.base.errors import PliantError
from pliant.devices.base import Device, FieldInfo, Sample
from pliant.devices.signatures import BOARD, JOINT, JointDevice
from pliant.page.gains import gain_range
from pliant.page.ranges import MAX_SLIDERS, slider_range, step_of
from pliant.simulation.answers import answered
from pliant.simulation.bridge import SimulationControl

if TYPE_CHECKING:
    import viser

Say = Callable[[str], None]
"""Tells the person before the page something."""
OPEN_FOLDERS = 6
"""Robots with more devices than this begin with closed folders, but for the first."""
GAINS = ("kp", "ki", "kd")
UNSEEN_FIELDS = ("finished",)
UNSEEN_REQUESTS = ("disconnect", "set_mode", "set_gains")
"""Requests of bridges, and those that have controls of their own."""
PRESSED = ("tare",)
"""Requests that have a button although they return something."""
REQUEST_TIMEOUT = 2.0
"""How long the page waits for the answer of a request [s]; a paused run answers as well."""


def plain_name(text: str) -> str:
    """Return a name of a robot as a label: printable, and not longer than 60 characters."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def plain_text(text: str) -> str:
    """Return a message without characters that a page would take for formatting."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)[:600]


def guarded(say: Say, work: Callable[..., None]) -> Callable[..., None]:
    """Return a callback that says what was wrong instead of raising: the simulation goes on.

    A control that was used just before the page changed to another robot does nothing.
    """

    def call(event: object = None) -> None:
        try:
            work(event)
        except PliantError as error:
            say(str(error))
        except (TypeError, ValueError, ArithmeticError, TimeoutError) as error:
            say(f"that value cannot be used: {error}")
        except (RuntimeError, KeyError):
            if not _removed(event):
                raise

    return call


def by_hand(say: Say, work: Callable[[Any], None]) -> Callable[..., None]:
    """Return a guarded callback of what a person changed; what the page itself writes into a control is no command."""
    return guarded(say, lambda event: work(event) if event is None or event.client_id is not None else None)


def _removed(event: object) -> bool:
    """Whether the control of an event has been taken away since."""
    target = getattr(event, "target", None)
    return target is not None and bool(target._impl.removed)


class Panel(Protocol):
    """Controls of one device."""

    def draw(self) -> None:
        """Follow what others do; called some ten times a second."""

    def restart(self) -> None:
        """Begin anew after a reset."""


class DeviceControls:
    """The controls of all devices that take commands or requests.

    Args:
        gui: viser's GUI.
        devices: name -> device.
        simulation: gets the requests.
        say: tells what was refused.
        latest: device -> its newest sample.
        own_panel: makes, in the folder of a device, the panel that takes the place of its sliders; None for no such.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        devices: Mapping[str, Device],
        simulation: SimulationControl,
        say: Say,
        latest: Mapping[str, Sample],
        own_panel: Callable[[Device], Panel | None] = lambda _: None,
    ) -> None:
        self._gui, self._simulation, self._say, self._latest = gui, simulation, say, latest
        self._modes: dict[str, Callable[[], None]] = {}
        self._follow: list[Callable[[], None]] = []
        self._restarts: list[Callable[[], None]] = []
        self._own_panel, self._lock = own_panel, threading.Lock()
        self.panels: list[Panel] = []
        """Panels of devices with more than their field table says."""
        joints = any(JOINT.live(device) for device in devices.values())
        shown = [
            device
            for device in devices.values()
            # The board carries the same references as the joints.
            if _offers(device) and not (joints and BOARD.of(device))
        ]
        # What moves many joints comes before single joints, and those before what only answers.
        shown.sort(key=lambda device: (not device.commands, JOINT.live(device)))
        for device in shown:
            opened = device is shown[0] or len(shown) <= OPEN_FOLDERS
            with gui.add_folder(plain_name(device.name), expand_by_default=opened):
                self._add(device)
        if not shown:
            gui.add_markdown("This robot takes no commands. Drag a body to pull it.")
        self.count = len(shown)
        """Devices that have controls."""

    def follow(self) -> None:
        """Show modes that were changed by others."""
        for look in self._follow:
            look()
        for panel in self.panels:
            panel.draw()

    def restart(self) -> None:
        """Set the sliders back to what the devices do after a reset."""
        self.follow()
        for make in (*self._modes.values(), *self._restarts):
            make()
        for panel in self.panels:
            panel.restart()

    def _request(self, device: Device, name: str, **args: object) -> object:
        return answered(self._simulation.request(device.name, name, **args), REQUEST_TIMEOUT)

    def _add(self, device: Device) -> None:
        modes = [mode for mode, fields in device.commands.items() if any(_sliders(info) for info in fields.values())]
        if JOINT.live(device):
            now = {mode.name.lower() for mode in device.mode.switchable}
            modes = [mode for mode in modes if mode in now]
        panel = self._own_panel(device)
        if panel is not None:
            self.panels.append(panel)
        elif modes and not device.inbox.accepted:
            self._gui.add_markdown("It takes commands from its client only. Pull it with the pointer.")
        elif modes:
            self._add_modes(device, modes)
        if "set_gains" in device.requests and JOINT.live(device) and device.mode.has_motors:
            self._add_gains(device)
        self._add_requests(device)

    def _add_modes(self, device: Device, modes: list[str]) -> None:
        gui = self._gui
        switched = "set_mode" in device.requests
        chosen = next((mode for mode in modes if mode in device.inbox.accepted), modes[0])
        choice = None
        if len(modes) > 1:
            choice = gui.add_dropdown("mode", modes, initial_value=chosen, hint="Command mode of the device")
        holder = gui.add_folder(None)
        made: list[viser.GuiInputHandle[float]] = []

        def build() -> None:
            with self._lock:
                for handle in made:
                    if not handle._impl.removed:  # with all others, when the page changes to another robot
                        handle.remove()
                made.clear()
                mode = modes[0] if choice is None else str(choice.value)
                with holder:
                    made.extend(self._add_fields(device, mode))

        def changed(_: object) -> None:
            mode = str(choice.value) if choice is not None else modes[0]
            if switched and mode not in device.inbox.accepted:
                try:
                    self._request(device, "set_mode", mode=mode)
                except PliantError:
                    seen.clear()
                    look()
                    raise
                seen.clear()
                seen.add(mode)
            build()

        seen: set[str] = {*device.inbox.accepted}

        def look() -> None:
            """Follow a mode that another client, or a reset, has set; one that somebody chooses is not set yet."""
            accepted = {*device.inbox.accepted}
            if choice is None or not switched or accepted == seen or len(accepted) != 1:
                return
            seen.clear()
            seen.update(accepted)
            now = next(iter(accepted))
            if now != choice.value and now in modes:
                choice.value = now
                build()

        build()
        if choice is not None:
            choice.on_update(guarded(self._say, changed))
            self._follow.append(look)
        self._modes[device.name] = build

    def _add_fields(self, device: Device, mode: str) -> list[viser.GuiInputHandle[float]]:
        made: list[viser.GuiInputHandle[float]] = []
        for name, info in device.commands[mode].items():
            if name in UNSEEN_FIELDS or not _sliders(info):
                continue
            low, high = slider_range(device, mode, name, info, self._simulation.engine)
            values = self._present(device, mode, name, info)
            handles: list[viser.GuiInputHandle[float]] = []
            for k in range(info.size):
                # What is measured is not shown to the last digit, and a joint may have been pulled out of the range.
                values[k] = min(max(float(f"{values[k]:.3g}"), low), high)
                label = name.replace("_", " ") + (f" {k + 1}" if info.shape else "")
                unit = f" [{info.unit}]" if info.unit else ""
                handles.append(
                    self._gui.add_slider(
                        label + unit, min=low, max=high, step=step_of(low, high), initial_value=values[k],
                        hint=info.description or None,
                    )
                )  # fmt: skip

            def put(
                _: object,
                name: str = name,
                info: FieldInfo = info,
                handles: list[viser.GuiInputHandle[float]] = handles,
            ) -> None:
                numbers = [float(handle.value) for handle in handles]
                device.inbox.put({name: numbers if info.shape else numbers[0]}, mode=mode)

            for handle in handles:
                handle.on_update(guarded(self._say, put))
            made += handles
        return made

    def _present(self, device: Device, mode: str, name: str, info: FieldInfo) -> list[float]:
        """Return what a command has now: what was put, or what the robot holds."""
        command = device.inbox.peek()
        value = None if command is None or command.mode != mode else command.values.get(name)
        if value is None:
            value = self._held(device, name)
        if value is None or np.size(value) != info.size:
            middle = 0.0 if info.low <= 0.0 <= info.high else info.low
            return [middle] * info.size
        return [float(v) for v in np.ravel(value)]

    def _held(self, device: Device, name: str) -> float | np.ndarray | None:
        """Return the value that a device holds without a command; None where it is not known."""
        engine = self._simulation.engine
        ports = engine.ports()
        if JOINT.live(device):
            names = {"equilibrium_position": "equilibrium", "stiffness_preset": "preset", "link_command": "position"}
            port = f"{device.joint}/{names.get(name, name)}"
            value = float(engine.port(port)[0]) if port in ports else 0.0
            return value if math.isfinite(value) else 0.0
        sample = self._latest.get(device.name)
        return None if sample is None else sample.values.get(name)

    def _add_gains(self, device: JointDevice) -> None:
        motors = [number for number in (1, 2) if f"kp_{number}" in device.gains]
        if not motors:
            return
        with self._gui.add_folder("gains", expand_by_default=False):
            for number in motors:
                self._add_gains_of_motor(device, number, f" of motor {number}" if len(motors) > 1 else "")

    def _add_gains_of_motor(self, device: JointDevice, number: int, suffix: str) -> None:
        """Add a box for each gain of a motor, as wide as the loop is stable with the other two gains."""
        handles: dict[str, viser.GuiNumberHandle] = {}
        dt = self._simulation.engine.dt

        def follow() -> None:
            """Show the gains in force, which another client or a reset may have set."""
            now = {gain: device.gains[f"{gain}_{number}"] for gain in GAINS}
            for gain, handle in handles.items():
                low, high = gain_range(device.actuator, number, gain, now, dt)
                handle.min = min(float(f"{low:.3g}"), now[gain])
                handle.max = max(float(f"{high:.3g}"), now[gain]) if high < math.inf else None
                if handle.value != now[gain]:
                    handle.value = now[gain]

        for gain in GAINS:
            value = float(device.gains[f"{gain}_{number}"])
            handles[gain] = self._gui.add_number(gain + suffix, value, min=0.0, step=step_of(0.0, value or 1.0))

            def put(_: object, gain: str = gain) -> None:
                self._request(device, "set_gains", motor=number, **{gain: float(handles[gain].value)})
                follow()

            handles[gain].on_update(by_hand(self._say, put))
        follow()
        self._restarts.append(follow)

    def _add_requests(self, device: Device) -> None:
        buttons = device.buttons
        for name in _shown_requests(device):
            label = name.replace("_", " ")
            switch = buttons.get(name)
            if switch:
                box = self._gui.add_checkbox(label, initial_value=False)

                def switch_it(
                    _: object, name: str = name, switch: str = switch, box: viser.GuiCheckboxHandle = box
                ) -> None:
                    self._request(device, name, **{switch: bool(box.value)})

                box.on_update(by_hand(self._say, switch_it))
                self._restarts.append(lambda box=box: setattr(box, "value", False))
            else:
                button = self._gui.add_button(label, hint=_summary(device, name))

                def press(_: object, name: str = name) -> None:
                    self._request(device, name)

                button.on_click(guarded(self._say, press))


def _offers(device: Device) -> bool:
    """Return whether there is anything to show of a device."""
    fields = [info for mode in device.commands.values() for info in mode.values()]
    return any(map(_sliders, fields)) or any(True for _ in _shown_requests(device))


def _shown_requests(device: Device) -> Iterator[str]:
    """Yield the requests of a device that a person can give with a button or a switch."""
    buttons = device.buttons
    for name in device.requests:
        if name not in UNSEEN_REQUESTS and (name in buttons or name in PRESSED or _pressed_alone(device, name)):
            yield name


def _sliders(info: FieldInfo) -> bool:
    return len(info.shape) <= 1 and info.size <= MAX_SLIDERS and info.dtype == "float64"


def _pressed_alone(device: Device, name: str) -> bool:
    """Return whether a request takes no arguments and gives nothing back, so that a button can ask for it."""
    import inspect

    method = getattr(device, name, None)
    if method is None:
        return False
    signature = inspect.signature(method)
    needed = [p for p in signature.parameters.values() if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    return not needed and signature.return_annotation in ("None", None)


def _summary(device: Device, name: str) -> str | None:
    text = (getattr(device, name, None).__doc__ or "").strip().splitlines()
    return text[0] if text else None

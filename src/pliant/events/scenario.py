"""Scenarios: events at given times of a run.

From a file:

    events:
      - {event: set, at: 0.0, device: elbow, values: {equilibrium_position: 0.8}}
      - {event: external_torque, at: 1.0, device: elbow, torque: 0.3, duration: 0.2}
      - {event: external_force, at: 1.4, body: hand, force: [0.0, 5.0, 0.0], duration: 0.2}
      - {event: payload, at: 1.6, body: hand, mass: 0.5}
      - {event: mode, at: 2.0, device: elbow, mode: PIDEqPres}
      - {event: gains, at: 2.5, device: elbow, gains: {kp: 100.0}}
      - {event: reset, at: 3.0}

or from code: ``Scenario(events=[Set(at=0.0, device="elbow", values={"equilibrium_position": 0.8})])``.
Times are seconds of run time: simulation time that a ``reset`` inside the scenario does not set back.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pliant.base.documents.yaml_tree import Document, read_yaml
from pliant.base.errors import DeviceError, PliantError, nearest
from pliant.devices.base import Device
from pliant.engine.base import Engine
from pliant.events.body_events import ExternalForce, SetPayload
from pliant.events.event import Ending, EventBase, duration_problem, end_later

if TYPE_CHECKING:
    from pliant.simulation.loop import Simulation

__all__ = [
    "Event",
    "ExternalForce",
    "ExternalTorque",
    "Pause",
    "Request",
    "Reset",
    "Scenario",
    "ScenarioRun",
    "Set",
    "SetGains",
    "SetMode",
    "SetPayload",
    "Stop",
    "read_scenario",
]

Number = float | list[float]


class Set(EventBase, frozen=True, kw_only=True, tag="set"):
    """Put a command into a device's mailbox."""

    device: str
    """Name of the device."""
    values: dict[str, Number]
    """Field -> number or list of numbers, in the unit of the field."""
    mode: str | None = None
    """Command mode; None for the one that the device accepts at that time."""

    def problem(self, devices: Mapping[str, Device], engine: Engine) -> str:
        """Return the error of the event for these devices; "" if there is none."""
        return super().problem(devices, engine) or _field_problem(devices[self.device], self.values, self.mode)

    def apply(self, simulation: Simulation) -> None:
        """Put the command."""
        simulation.devices[self.device].inbox.put(self.values, mode=self.mode)


class ExternalTorque(EventBase, frozen=True, kw_only=True, tag="external_torque"):
    """Apply an external torque to the joints of a device, for a limited time or until it is changed."""

    device: str
    """Name of the device, whose commands must have the field ``external_torque``."""
    torque: Number
    """Torque about the joint axis [N m]; a list for a device with several joints."""
    duration: float | None = None
    """Duration [s], > 0; None until another value is set."""

    def problem(self, devices: Mapping[str, Device], engine: Engine) -> str:
        """Return the error of the event for these devices; "" if there is none."""
        return (
            duration_problem(self.duration)
            or super().problem(devices, engine)
            or _field_problem(devices[self.device], {"external_torque": self.torque}, None)
        )

    def apply(self, simulation: Simulation) -> Ending | None:
        """Apply the torque."""
        device = simulation.devices[self.device]
        device.inbox.put({"external_torque": self.torque})
        # Not before the device has latched the torque: it acts for one period at least.
        return end_later(self, self.duration, simulation, device.period_ns * 1e-9, lambda: self._release(device))

    def _release(self, device: Device) -> None:
        zero: Number = [0.0] * len(self.torque) if isinstance(self.torque, list) else 0.0
        device.inbox.put({"external_torque": zero})


class SetMode(EventBase, frozen=True, kw_only=True, tag="mode"):
    """Switch the command mode of a device with its request ``set_mode``."""

    device: str
    """Name of the device."""
    mode: str | int
    """Name or number of the mode, as defined by the device."""

    def problem(self, devices: Mapping[str, Device], engine: Engine) -> str:
        """Return the error of the event for these devices; "" if there is none."""
        return super().problem(devices, engine) or _request_problem(devices[self.device], "set_mode")

    def apply(self, simulation: Simulation) -> Future[object]:
        """Request the switch, which takes effect in the same step."""
        return simulation.request(self.device, "set_mode", mode=self.mode)


class SetGains(EventBase, frozen=True, kw_only=True, tag="gains"):
    """Change gains of a device with its request ``set_gains``."""

    device: str
    """Name of the device."""
    gains: dict[str, object]
    """Arguments of the request."""

    def problem(self, devices: Mapping[str, Device], engine: Engine) -> str:
        """Return the error of the event for these devices; "" if there is none."""
        return super().problem(devices, engine) or _request_problem(devices[self.device], "set_gains")

    def apply(self, simulation: Simulation) -> Future[object]:
        """Request the gains, which take effect in the same step."""
        return simulation.request(self.device, "set_gains", **self.gains)


class Request(EventBase, frozen=True, kw_only=True, tag="request"):
    """Send any request to a device."""

    device: str
    """Name of the device."""
    request: str
    """Name of the request."""
    args: dict[str, object] = msgspec.field(default_factory=dict)
    """Its arguments."""

    def problem(self, devices: Mapping[str, Device], engine: Engine) -> str:
        """Return the error of the event for these devices; "" if there is none."""
        return super().problem(devices, engine) or _request_problem(devices[self.device], self.request)

    def apply(self, simulation: Simulation) -> Future[object]:
        """Send the request, which runs in the same step."""
        return simulation.request(self.device, self.request, **self.args)


class Reset(EventBase, frozen=True, kw_only=True, tag="reset"):
    """Reset engine and devices to time 0; later events of the scenario still happen."""

    seed: int | None = None
    """New seed, >= 0; None repeats the same random numbers."""

    def apply(self, simulation: Simulation) -> None:
        """Reset."""
        simulation.reset(self.seed, rewind=False)


class Pause(EventBase, frozen=True, kw_only=True, tag="pause"):
    """Pause the run until it is resumed."""

    def apply(self, simulation: Simulation) -> None:
        """Pause."""
        simulation.pause()


class Stop(EventBase, frozen=True, kw_only=True, tag="stop"):
    """End the run."""

    def apply(self, simulation: Simulation) -> None:
        """Stop."""
        simulation.stop()


Event = Set | ExternalTorque | ExternalForce | SetPayload | SetMode | SetGains | Request | Reset | Pause | Stop
TAGS: dict[str, type[EventBase]] = {
    kind.__struct_config__.tag: kind  # type: ignore[misc]
    for kind in (Set, ExternalTorque, ExternalForce, SetPayload, SetMode, SetGains, Request, Reset, Pause, Stop)
}


class Scenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A list of events."""

    events: list[Event]
    """Events in any order; events with equal times happen in the order of the list."""
    description: str = ""
    """Description of the scenario, one sentence."""
    opening: int = 0
    """Rank among the scenarios that `pliant view` begins with: of those that fit the robot, the largest; 0: never."""

    def problems(self, devices: Mapping[str, Device], engine: Engine) -> list[str]:
        """Return all errors of the events for these devices and this engine; empty if there are none."""
        found = []
        for number, event in enumerate(self.events):
            text = ""
            if not (math.isfinite(event.at) and event.at >= 0.0):
                text = f"at is {event.at!r}; must be a finite number of seconds >= 0"
            text = text or event.problem(devices, engine)
            if text:
                found.append(f"events[{number}] ({event.__struct_config__.tag}): {text}")
        return found

    def check(self, devices: Mapping[str, Device], engine: Engine) -> None:
        """Check that all events can be applied to these devices and this engine.

        Raises:
            DeviceError: an event cannot be applied; the message lists the errors of all events.
        """
        problems = self.problems(devices, engine)
        if problems:
            raise DeviceError("the scenario does not fit the robot: " + "; ".join(problems), field="events")

    def install(self, simulation: Simulation) -> ScenarioRun:
        """Schedule all events in a simulation; their times count from its current run time.

        Returns:
            The run of the scenario, which can be stopped.

        Raises:
            DeviceError: an event cannot be applied; the message lists the errors of all events.
        """
        return ScenarioRun(self, simulation)


def _check_simulation(given: object) -> None:
    if isinstance(given, type) or not all(hasattr(given, name) for name in ("devices", "engine", "elapsed", "at")):
        raise DeviceError(
            f"ScenarioRun got {given!r:.100}; must be the Simulation that the scenario runs in: "
            "scenario.install(simulation)",
            field="simulation",
        )


class ScenarioRun:
    """A scenario that starts at the current time of a run and can be stopped.

    With ``tell`` the run continues in every case: the event ``stop`` ends the scenario but not the run, and an event
    that fails is reported and ends the scenario. Without ``tell``, an event that fails ends the run with its error.
    Only the loop thread may call the methods; other threads use ``simulation.submit``.

    Args:
        scenario: the scenario; its times count from the current run time.
        simulation: simulation in which it runs.
        tell: called with a message when an event fails; None raises the error.

    Raises:
        DeviceError: an event cannot be applied to the devices; the message lists the errors of all events.
    """

    def __init__(self, scenario: Scenario, simulation: Simulation, tell: Callable[[str], None] | None = None) -> None:
        _check_simulation(simulation)
        scenario.check(simulation.devices, simulation.engine)
        self._simulation, self._tell = simulation, tell
        self.begin = simulation.elapsed
        """Run time at which it began [s]."""
        self.duration = max((_end(event) for event in scenario.events), default=0.0)
        """Time until its last event, or until the last event with a duration ends [s]."""
        self._numbers: list[int] = []
        self._endings: list[Ending] = []
        self._stopped = False
        for event in scenario.events:
            moved = msgspec.structs.replace(event, at=self.begin + event.at)
            self._numbers.append(simulation.at(moved.at, functools.partial(self._happen, moved)))

    @property
    def time(self) -> float:
        """Run time since the start of the scenario [s]."""
        return self._simulation.elapsed - self.begin

    @property
    def over(self) -> bool:
        """Whether all events have happened, or the scenario was stopped."""
        return self._stopped or self.time > self.duration

    def stop(self) -> None:
        """End the scenario: cancel the remaining events and end those whose duration has not passed."""
        simulation = self._simulation
        simulation.forget(self._numbers)
        self._numbers.clear()
        for ending in self._endings:
            if ending.at > simulation.elapsed:
                ending.end()
        self._endings.clear()
        self._stopped = True

    def _happen(self, event: Event, simulation: Simulation) -> object:
        tell = self._tell
        if tell is None:
            result = event.apply(simulation)
        elif isinstance(event, Stop):
            self.stop()
            return None
        else:
            try:
                result = event.apply(simulation)
            except PliantError as error:
                self._refused(event, error, tell)
                return None
            if isinstance(result, Future):
                result.add_done_callback(functools.partial(self._answered, event, tell))
                return None
        if isinstance(result, Ending):
            self._numbers.append(result.number)
            self._endings.append(result)
        return result

    def _answered(self, event: Event, tell: Callable[[str], None], answer: Future[object]) -> None:
        if not answer.cancelled() and (error := answer.exception()) is not None:
            self._refused(event, error, tell)

    def _refused(self, event: Event, error: BaseException, tell: Callable[[str], None]) -> None:
        self.stop()
        tell(f"the scenario ends at {event.at - self.begin:g} s ({event.__struct_config__.tag}): {error}")


def read_scenario(path: str | Path) -> Scenario:
    """Read a scenario from a YAML or JSON file.

    Raises:
        DeviceError: the file does not exist or has a syntax error, an unknown event or field, or a value of the wrong
            type. The message names file and line.
    """
    document = read_yaml(path, DeviceError)
    _check_names(document)
    try:
        return msgspec.convert(document.value, Scenario, strict=False)
    except msgspec.ValidationError as error:
        text, _, where = str(error).partition(" - at `")
        where = where.rstrip("`") or "$"
        keys = [int(number) if number else name for name, number in re.findall(r"\.(\w+)|\[(\d+)\]", where)]
        message = f"{where.removeprefix('$.')}: {text[0].lower()}{text[1:]}"
        raise document.fault(DeviceError, message, *keys) from None


def _check_names(document: Document) -> None:
    """Name unknown events and fields with the nearest valid ones, which msgspec does not."""
    data = document.value
    if not isinstance(data, dict) or not isinstance(data.get("events"), list):
        raise document.fault(DeviceError, "a scenario is a mapping with a list named 'events'", "events")
    for key in data:
        if key not in Scenario.__struct_fields__:
            unknown = f"unknown entry {key!r}; {nearest(str(key), Scenario.__struct_fields__)}"
            raise document.fault(DeviceError, unknown, str(key))
    for number, event in enumerate(data["events"]):
        place = ("events", number)
        if not isinstance(event, dict) or "event" not in event:
            missing = f"events[{number}] has no entry 'event' that says what happens; {nearest('', TAGS)}"
            raise document.fault(DeviceError, missing, *place, "event")
        kind = TAGS.get(event["event"]) if isinstance(event["event"], str) else None
        if kind is None:
            unknown = f"events[{number}]: unknown event {event['event']!r}; {nearest(str(event['event']), TAGS)}"
            raise document.fault(DeviceError, unknown, *place, "event")
        for key in event:
            if key != "event" and key not in kind.__struct_fields__:
                fields = nearest(str(key), kind.__struct_fields__)
                unknown = f"events[{number}] ({event['event']}): unknown entry {key!r}; {fields}"
                raise document.fault(DeviceError, unknown, *place, str(key))


def _field_problem(device: Device, values: Mapping[str, Number], mode: str | None) -> str:
    modes: Sequence[str] = list(device.commands) if mode is None else [mode]
    if mode is not None and mode not in device.commands:
        return f"device {device.name!r} has no command mode {mode!r}; {nearest(mode, device.commands)}"
    known = {name: info for each in modes for name, info in device.commands[each].items()}
    for name, value in values.items():
        if name not in known:
            return f"device {device.name!r} has no command field {name!r}; {nearest(name, known)}"
        numbers = value if isinstance(value, list) else [value]
        if not all(math.isfinite(number) for number in numbers):
            return f"{name} is {value!r}; must be finite numbers"
        shape = (len(value),) if isinstance(value, list) else ()
        if shape != known[name].shape:
            wanted = f"a list of {known[name].size} numbers" if known[name].shape else "one number"
            return f"{name} is {value!r}; must be {wanted}"
    return ""


def _request_problem(device: Device, name: str) -> str:
    if name not in device.requests:
        return f"device {device.name!r} has no request {name!r}; {nearest(name, device.requests)}"
    return ""


def _end(event: Event) -> float:
    """Return when an event has had its effect [s]."""
    return event.at + (getattr(event, "duration", None) or 0.0)

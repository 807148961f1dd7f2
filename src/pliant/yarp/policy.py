"""Run a policy as the controller of a real or simulated robot over YARP: joints, other devices, control boards."""

from __future__ import annotations

import contextlib
import math
import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import BridgeError, WireError, nearest
from pliant.base.numerics import DEGREES
from pliant.laws import COMMAND_NAMES
from pliant.learn.policy import Policy, PolicyError
from pliant.learn.running import TIMEOUT_S, PolicyDriver, PolicyRun, Safety, Started, WallClock, run_policy
from pliant.yarp.bridge.messages import Answer, Arrival
from pliant.yarp.bridge.port import Port
from pliant.yarp.client.network import YarpNetwork, find_server
from pliant.yarp.wire import Bottle, Dialect, Vocab, format_bottle
from pliant.yarp.wire.binary import MAX_BYTES
from pliant.yarp.wire.board_calls import CALL_PORTS, encode_request
from pliant.yarp.wire.joints import COMMANDS, CONTROL_MODES, JointState, StreamCommand
from pliant.yarp.wire.objects import properties
from pliant.yarp.wire.values import OK, plain_value

FIRST_MESSAGE_S = 10.0
"""Longest wait for the first message of each device [s]."""
MODES = ("position", "position_direct", "velocity", "velocity_direct", "torque", "current", "pwm")
"""Commands of a control board, each in the control mode of its name."""
STREAMS = {"position": "position_move"}
"""Command of a control board -> quantity of the stream, where the names differ."""
STATE = {"position": "joint_position", "velocity": "joint_velocity", "torque": "torque"}
"""Quantity of a board's axes -> field of the state on the wire."""
REFERENCES = {name: k for names in COMMAND_NAMES.values() for k, name in enumerate(names, start=1)}
"""Command of a joint -> number of its reference."""
_ELEMENT = re.compile(r"(.+)/(\w+?)(?:\[(\d{1,4})\])?", re.ASCII)


class _Device:
    """The ports of one device, and which observations and commands of the policy are its."""

    def __init__(self, name: str, prefix: str) -> None:
        self.name, self.prefix = name, prefix
        self.seen: list[tuple[int, str, int | None]] = []
        """Number of the observation, quantity, element."""
        self.told: list[tuple[int, str, int | None]] = []
        """Number of the command, field, element."""
        self.values: Mapping[str, Any] = {}
        self.time = math.nan
        self.count = 0
        self.output: Port | None = None
        self.dialect: Dialect | None = None
        """Dialect of its commands; None for that of its port, which is asked."""

    @property
    def state(self) -> str:
        """Return the port of the state."""
        return f"{self.prefix}/state:o"

    def read(self, message: Bottle) -> Mapping[str, object]:
        """Return the values of a message by quantity.

        Raises:
            WireError: the message is no property list.
        """
        return {key: plain_value(value) for key, value in properties(message).items()}

    def messages(self, commands: NDArray[np.float64]) -> list[Bottle]:
        """Return the messages of a command."""
        fields: dict[str, dict[int, float] | float] = {}
        for k, field, index in self.told:
            if index is None:
                fields[field] = float(commands[k])
            else:
                fields.setdefault(field, {})[index] = float(commands[k])  # type: ignore[index]
        rows = []
        for field, value in fields.items():
            if isinstance(value, dict):
                self._check_all("elements", field, sorted(value))
                rows.append(Bottle((field, Bottle(tuple(value[i] for i in range(len(value)))))))
            else:
                rows.append(Bottle((field, value)))
        return [Bottle(tuple(rows))]

    def _check_all(self, what: str, field: str, numbers: list[int]) -> None:
        """Refuse commands to some elements or axes of a field that the wire has as a whole only."""
        if numbers != list(range(len(numbers))):
            raise PolicyError(
                f"the policy commands the {what} {numbers} of {self.name}/{field}; must be all, from 0",
                field="commands",
            )

    def prepare(self, network: YarpNetwork) -> None:
        """Do nothing: a device with fields is in SI, and takes commands at any time."""


class _Part(_Device):
    """The ports of a control board."""

    slides: frozenset[int] = frozenset()
    """Axes that are prismatic, with metres on the wire and not degrees."""

    def _unit(self, quantity: str, axis: int) -> float:
        """Return what one rad, m, rad/s, m/s, or unit of another quantity is on the wire."""
        return DEGREES if quantity.startswith(("position", "velocity")) and axis not in self.slides else 1.0

    @property
    def state(self) -> str:
        """Return the port of the state."""
        return f"{self.prefix}/stateExt:o"

    def read(self, message: Bottle) -> Mapping[str, object]:
        """Return positions [rad or m], velocities [rad/s or m/s] and torques of the axes.

        Raises:
            WireError: the message is no state of a board.
        """
        state = JointState.decode(message)
        found = {}
        for quantity, field in STATE.items():
            values = getattr(state, field)
            if values is not None:
                found[quantity] = np.array([value / self._unit(quantity, axis) for axis, value in enumerate(values)])
        return found

    def messages(self, commands: NDArray[np.float64]) -> list[Bottle]:
        """Return the messages for each field, to the axes of the policy alone where the wire has such a command.

        Raises:
            PolicyError: the wire commands all axes together, and the policy does not.
        """
        found = []
        for field in dict.fromkeys(field for _, field, _ in self.told):
            members = sorted((index or 0, k) for k, other, index in self.told if other == field)
            axes = [axis for axis, _ in members]
            quantity = STREAMS.get(field, field)
            _, _, (one, _, group) = COMMANDS[quantity]
            if not (one or group):
                self._check_all("axes", field, axes)
            for part in [members] if group or not one else [[member] for member in members]:
                command = StreamCommand(
                    quantity=quantity,
                    values=tuple(float(commands[k]) * self._unit(field, axis) for axis, k in part),
                    joints=tuple(axis for axis, _ in part) if one or group else None,
                    group=bool(group),
                )
                found.append(command.encode(self.dialect or 3))
        return found

    def prepare(self, network: YarpNetwork) -> None:
        """Ask which axes are prismatic, and switch the axes to the control mode of their command.

        A board without a port for calls, such as a recorded one, is read as one of revolute axes.

        Raises:
            BridgeError: the board has no port for calls, or refuses.
            PolicyError: the board has no such command.
        """
        for _, field, _ in self.told:
            if field not in MODES:
                raise PolicyError(
                    f"a control board has no command {self.name}/{field}; {nearest(field, MODES)}", field="commands"
                )
        ports: dict[Dialect, str] = {dialect: f"{self.prefix}/{ending}" for ending, dialect, _ in CALL_PORTS}
        answering = [dialect for dialect, port in ports.items() if network.exists(port)]
        if not answering and not self.told:
            return
        dialect = self.dialect = self._choose(answering, network.receivers.dialect, ports)
        axes = sorted({index or 0 for _, _, index in (*self.seen, *self.told)})
        with network.open_rpc(ports[dialect]) as connection:
            types = [connection.call(encode_request(dialect, "get", "joint_type", "one", axis)) for axis in axes]
            self.slides = frozenset([axis for axis, reply in zip(axes, types) if _is_prismatic(reply)])
            for _, field, index in self.told:
                request = encode_request(dialect, "set", "control_mode", "one", index or 0, CONTROL_MODES[field])
                reply = connection.call(request)
                if not reply.items or reply.items[0] != OK:
                    said = format_bottle(reply)[:200] or "nothing"
                    raise BridgeError(f"{ports[dialect]} answers {said} to the control mode of axis {index or 0}")

    def _choose(self, answering: Sequence[Dialect], preferred: Dialect, ports: Mapping[Dialect, str]) -> Dialect:
        """Return the dialect of a port for calls that answers; of two, the preferred one if it has all commands."""
        if not answering:
            raise BridgeError(
                f"the control board {self.prefix} answers neither at {ports[3]} (YARP 3) nor at {ports[4]} (YARP 4); "
                "start the robot",
                field="rpc",
            )
        late = [field for _, field, _ in self.told if COMMANDS[STREAMS.get(field, field)][0] == ("?",)]
        if late and 4 not in answering:
            raise PolicyError(
                f"{self.name}/{late[0]} is a command of YARP 4, and {self.prefix} is a control board of YARP 3",
                field="commands",
            )
        return 4 if late else preferred if preferred in answering else answering[0]


def _is_prismatic(reply: Bottle) -> bool:
    """Return whether the reply to the question for the type of an axis names a prismatic one; it may be refused."""
    codes = [item for item in reply.items if isinstance(item, int)]
    return codes[:1] == [Vocab.of("atpr").code]


class YarpDevices(Started):
    """YARP interface to the devices of a policy.

    A device with fields, such as a compliant joint, is read at ``/<name>/<device>/state:o`` and commanded at
    ``command:i``; a control board at ``stateExt:o`` and ``command:i``, after its axes were switched to the control mode
    of the command by a call to ``rpc:i`` (YARP 3) or ``nws/rpc:i`` (YARP 4), whichever answers.

    Args:
        policy: policy that names the devices.
        server: address of the name server; "" for the configured one.
        name: first part of the ports' names; "" for the namespace of the policy.
        host: address that the policy's own ports listen on.
        dialect: 3 or 4: the YARP of a robot that serves both, or does not say which one it belongs to.
    """

    def __init__(
        self, policy: Policy, *, server: str = "", name: str = "", host: str = "127.0.0.1", dialect: Dialect = 3
    ) -> None:
        self.clock = WallClock()
        """Clock that measures the period."""
        self.arrived = threading.Condition()
        """Notified with each message."""
        self._server, self._host, self._dialect = server, host, dialect
        self._name = (name or policy.namespace or policy.robot).strip("/")
        self._network: YarpNetwork | None = None
        self._policy = policy
        self.devices: dict[str, _Device] = {}
        """The devices by name, while the ports are open."""

    def start(self) -> None:
        """Open the ports and connect them with those of the robot.

        Raises:
            BridgeError: no name server answers, or a port of the robot does not exist.
        """
        network = self._network = YarpNetwork(self._server, host=self._host, dialect=self._dialect)
        names = [*self._policy.measured, *self._policy.commands]
        for k, name in enumerate(names):
            match = _ELEMENT.fullmatch(name)
            if match is None:
                raise PolicyError(f"{name!r} is no field of a device", field="observations")
            device, field, index = match[1], match[2], None if match[3] is None else int(match[3])
            found = self.devices.get(device)
            if found is None:
                prefix = f"/{self._name}/{device}".replace(" ", "_")
                part = network.names.query(f"{prefix}/stateExt:o") is not None
                found = self.devices[device] = (_Part if part else _Device)(device, prefix)
            seen = len(self._policy.measured)
            (found.seen if k < seen else found.told).append((k if k < seen else k - seen, field, index))
        for device in self.devices.values():
            device.prepare(network)
            if device.seen:
                port = network.network.open("...", on_data=self._taker(device), output=False, limit=MAX_BYTES)
                network.connect(device.state, port.contact.name)
            if device.told:
                device.output = network.open_output("...", dialect=device.dialect)
                network.connect(device.output.name, f"{device.prefix}/command:i")

    def _taker(self, device: _Device) -> object:
        def take(arrival: Arrival) -> Answer:
            with contextlib.suppress(WireError), self.arrived:
                values = device.read(arrival.bottle())
                if not values:  # a board's state before its first step has no list
                    return None
                device.values = values
                device.time = time.monotonic()
                device.count += 1
                self.arrived.notify_all()
            return None

        return take

    def stop(self) -> None:
        """Close the ports; the robot keeps the last command."""
        if self._network is not None:
            self._network.close()

    def lost(self) -> str:
        """Return why the name server cannot be reached, "" while it can."""
        return "" if self._network is None or self._network._network is None else self._network.network.lost

    def wait(self, timeout: float = FIRST_MESSAGE_S, *, silence: float = TIMEOUT_S) -> None:
        """Wait for the first message of each device.

        Raises:
            BridgeError: a device sends none, or has not a quantity that the policy observes.
        """
        end = time.monotonic() + timeout
        silent = [device for device in self.devices.values() if device.seen]
        with self.arrived:
            while silent and time.monotonic() < end:
                self.arrived.wait(0.05)
                silent = [device for device in silent if not device.count]
        if silent:
            raise BridgeError(f"nobody sends on {silent[0].state} within {timeout:g} s; start the robot", field="state")
        self.observe()

    def observe(self) -> tuple[NDArray[np.float64], float]:
        """Return the measured observations in the policy's order, and the age of the oldest message [s].

        Raises:
            BridgeError: a message has not the quantity, or fewer numbers.
        """
        found = np.zeros(len(self._policy.measured))
        with self.arrived:
            for device in self.devices.values():
                for k, quantity, index in device.seen:
                    values = device.values.get(quantity)
                    try:
                        found[k] = values if index is None else values[index]  # type: ignore[index]
                    except (TypeError, IndexError, ValueError):
                        element = "" if index is None else f"[{index}]"
                        raise BridgeError(
                            f"{device.state} does not have {quantity}{element}; {nearest(quantity, [*device.values])}",
                            field="observations",
                        ) from None
            times = [device.time for device in self.devices.values() if device.seen]
        return found, time.monotonic() - min(times) if times else 0.0

    def send(self, commands: NDArray[np.float64]) -> None:
        """Send the commands in their units, shape (commands,)."""
        for device in self.devices.values():
            if device.output is not None:
                for message in device.messages(commands):
                    device.output.write_bottle(message)

    def present(self) -> NDArray[np.float64]:
        """Return the references in effect of compliant joints, and positions of axes; NaN for other commands."""
        found = np.full(len(self._policy.commands), np.nan)
        with self.arrived:
            for device in self.devices.values():
                for k, field, index in device.told:
                    if field in REFERENCES and f"reference_{REFERENCES[field]}" in device.values:
                        found[k] = device.values[f"reference_{REFERENCES[field]}"]
                    elif isinstance(device, _Part) and field.startswith("position") and "position" in device.values:
                        found[k] = device.values["position"][index or 0]
        return found


def _run(
    policy: Policy, inputs: Mapping[str, float], options: Mapping[str, Any], duration: float, safety: Safety
) -> tuple[dict[str, int], str]:
    find_server(options["server"])
    devices = YarpDevices(policy, server=options["server"], name=options["namespace"])
    task = PolicyRun(policy, devices, inputs, safety)
    with devices, contextlib.suppress(KeyboardInterrupt):
        run_policy(task, duration=duration)
    text = f"{task.steps} commands, {task.late} of them late; the robot keeps the last references"
    return {"commands": task.steps, "late": task.late}, text


YARP = PolicyDriver(options=("namespace", "server"), run=_run)
"""Policies over the ports of YARP."""

"""One robot with all its devices, to which actions are given: the body of `RobotEnv`, and of each world of a batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import ModelError, PliantError, PortError, nearest
from pliant.devices import make_devices
from pliant.engine import MujocoEngine, callbacks
from pliant.engine.ports import port_places
from pliant.learn.envs.commander import Commander, commander_of
from pliant.learn.envs.delays import check_delays
from pliant.simulation import Simulation
from pliant.simulation.channels import Channel

if TYPE_CHECKING:
    from pliant.learn.envs.task import Task
    from pliant.model import Robot

DELAYS = ("latency", "command_latency")
"""Paths of ``Task.randomize`` that are no parameters of the robot, but delays of the environment [s]."""
PAYLOAD = ".payload"
"""End of the paths of payloads, point masses at the centre of mass of a body [kg]."""


class Plant:
    """A simulation of a robot and its devices, and what holds the commands of the actions.

    Args:
        robot: the robot.
        task: the task, whose actions are given.
        dump_folder: folder for the last states of a robot that diverges; None for the default.
        delays: ``latency`` of the samples of all devices, and ``command_latency`` from an action to what holds its
            commands, to devices and ports alike [s]; rounded to whole steps, or cycles of a device that is driven.
        parameters: path of a parameter, as in ``Task.randomize`` -> value.

    Raises:
        PliantError: a command of an action does not exist, or the robot check finds errors.
    """

    def __init__(
        self,
        robot: Robot,
        task: Task,
        *,
        dump_folder: str | None = None,
        delays: Mapping[str, float] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        if parameters:
            robot, self._payloads, own = changed_robot(robot, parameters)
        else:
            self._payloads, own = {}, {}
        self.engine = MujocoEngine(robot, dump_folder=dump_folder)
        given = {"latency": 0.0, "command_latency": 0.0, **(delays or {}), **own}
        latency, command_latency = (round(given[name] / self.engine.dt) * self.engine.dt for name in DELAYS)
        self._command_latency_ns = round(1e9 * command_latency)
        made = make_devices(robot, joint_sample_period=self.engine.dt, latency=latency)
        devices = task.kept_devices(made)
        self.channels: list[Channel] = task.channels(self.engine.ports(), devices)
        """What each action commands."""
        self.simulation = Simulation(self.engine, devices, pacer="free")
        """The simulation."""
        groups: dict[str, list[int]] = {}
        for k, channel in enumerate(self.channels):
            groups.setdefault(channel.device, []).append(k)
        self._ports = [(self.channels[k].port, k) for k in groups.pop("", [])]
        self._line: deque[tuple[int, NDArray[np.float64]]] = deque()
        self._commanders: list[tuple[Commander, NDArray[np.int64]]] = []
        try:
            for body, mass in self._payloads.items():
                self.engine.payloads.check(body, mass)
            for name, numbers in groups.items():
                device = next(device for device in devices if device.name == name)
                commander = commander_of(self.simulation, device, [self.channels[k] for k in numbers])
                self._commanders.append((commander, np.array(numbers)))
            driving = [commander for commander, _ in self._commanders if commander.drives]
            if len(driving) > 1:
                raise PortError("the actions command several arms; must be one arm", field="actions")
        except BaseException:
            self.simulation.close()
            raise
        self._driver = driving[0] if driving else None
        self.cycle = 1 if self._driver is None else self._driver.cycle
        """Steps of the engine that can only be advanced together."""
        self.samples = {
            f"{name}/{quantity}": (name, quantity, info)
            for name, device in self.simulation.devices.items()
            for quantity, info in device.samples.items()
        }
        """``<device>/<quantity>`` -> device, quantity and description of the quantity."""
        self._latency_ns = {device.name: device.latency_ns for device in devices}
        self._began_ns = 0
        self._held: dict[str, NDArray[np.float64]] = {}

    def reset(self, seed: int, start: Mapping[str, float]) -> None:
        """Start again in a pose: joint name -> position [rad or m]; other joints start where the robot does."""
        self.simulation.reset(seed=seed)
        for body, mass in self._payloads.items():
            self.engine.set_payload(body, mass)
        if start or self._payloads:
            self.engine.set_pose(start)
        self._line.clear()
        for commander, _ in self._commanders:
            commander.start()
        self._began_ns = self.engine.time_ns
        self._held.clear()

    def give(self, values: NDArray[np.float64]) -> None:
        """Send the values of the actions to what holds the commands of the devices, and to ports without a device."""
        self._line.append((self.engine.time_ns + self._command_latency_ns, values.copy()))

    def advance(self, steps: int) -> None:
        """Advance by steps; values on their way are given before the first step, or cycle, at which they are due.

        Raises:
            DivergedError: the state holds NaN or infinity, or ran away.
            DeviceError: a device has ended the motion.
        """
        line, cycle_ns = self._line, round(1e9 * self.engine.dt) * self.cycle
        advance = self.simulation.step if self._driver is None else self._driver.advance
        while steps:
            now = self.engine.time_ns
            while line and line[0][0] <= now:
                values = line.popleft()[1]
                for commander, numbers in self._commanders:
                    commander.hold(values[numbers])
                for port, k in self._ports:
                    self.engine.port(port)[:] = values[k]
            n = min(steps, -((now - line[0][0]) // cycle_ns) * self.cycle) if line else steps
            advance(n)
            steps -= n

    def sample(self, name: str) -> NDArray[np.float64] | None:
        """Return the newest value of ``<device>/<quantity>``, shape (n,); None before the first measurement."""
        device, quantity, _ = self.samples[name]
        try:
            value = self.simulation.sample(device).values[quantity]
        except PliantError:
            return None
        return np.atleast_1d(np.asarray(value, dtype=float))

    def measured(self, name: str) -> NDArray[np.float64]:
        """Return what a device measures, or what a port holds if none measures it, shape (n,).

        Until the latency of the device has passed since the reset, it is what it was at the first call after the reset.

        Raises:
            PortError: neither a port nor a field of a device has this name.
        """
        if name not in self.samples:
            if name not in self.engine.ports():
                known = nearest(name, [*self.engine.ports(), *self.samples])
                raise PortError(f"no port and no field of a device {name!r}; {known}", field=name)
            return self.engine.port(name)
        latency_ns = self._latency_ns[self.samples[name][0]]
        if not latency_ns or self.engine.time_ns - self._began_ns > latency_ns:
            found = self.sample(name)
            return self._present(name) if found is None else found
        if name not in self._held:
            self._held[name] = np.array(self._present(name))
        return self._held[name]

    def _present(self, name: str) -> NDArray[np.float64]:
        """Return what a port holds, else what a device has measured last; zeros before the first measurement."""
        if name in self.engine.ports():
            return self.engine.port(name)
        device, quantity, info = self.samples[name]
        newest = self.simulation.devices[device].newest
        if newest is None:
            found = self.sample(name)
            return np.zeros(info.shape or (1,)) if found is None else found
        return np.atleast_1d(np.asarray(newest[quantity], dtype=float))

    def close(self) -> None:
        """Close the devices. May be called twice."""
        self.simulation.close()


def commanded_channels(robot: Robot, task: Task) -> list[Channel]:
    """Return what each action of a task commands on a robot.

    Raises:
        PortError: a command does not exist, or cannot be given.
    """
    devices = task.kept_devices(make_devices(robot))
    for device in devices:
        device.close()
    model = robot.compile()
    places = port_places(model, mujoco.MjData(model), callbacks.addresses(model))
    return task.channels({name: place.info for name, place in places.items()}, devices)


def measured_names(robot: Robot, task: Task) -> frozenset[str]:
    """Return the names of what the devices of a robot measure, ``<device>/<quantity>``."""
    devices = task.kept_devices(make_devices(robot))
    for device in devices:
        device.close()
    return frozenset(f"{device.name}/{quantity}" for device in devices for quantity in device.samples)


def changed_robot(robot: Robot, parameters: Mapping[str, float]) -> tuple[Robot, dict[str, float], dict[str, float]]:
    """Return a copy of a robot with other parameters, its payloads [kg] by body, and the delays [s] by name.

    Raises:
        ModelError: a name is unknown, or a value is out of range.
    """
    delays = check_delays({path: value for path, value in parameters.items() if path in DELAYS})
    payloads = {path[: -len(PAYLOAD)]: value for path, value in parameters.items() if path.endswith(PAYLOAD)}
    made = robot.copy()
    made.update({p: v for p, v in parameters.items() if p not in DELAYS and not p.endswith(PAYLOAD)})
    return made, payloads, delays


def key_positions(model: mujoco.MjModel, key: str | None) -> dict[str, float]:
    """Return the positions of the hinge joints [rad] and slide joints [m] in a key frame, by joint name; none for None.

    Raises:
        ModelError: the key frame does not exist.
    """
    if key is None:
        return {}
    names = [model.key(k).name for k in range(model.nkey)]
    if key not in names:
        raise ModelError(f"no key frame {key!r}; {nearest(key, names)}", field="key")
    return joint_positions(model, model.key_qpos[names.index(key)])


def joint_positions(model: mujoco.MjModel, qpos: NDArray[np.float64]) -> dict[str, float]:
    """Return the positions of the hinge joints [rad] and slide joints [m] with a name in a state."""
    return {
        model.joint(j).name: float(qpos[model.jnt_qposadr[j]])
        for j in range(model.njnt)
        if int(model.jnt_type[j]) >= 2 and model.joint(j).name
    }

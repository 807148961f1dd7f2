"""Robot-wide board: accepts arrays of references and returns arrays of states, as the toolbox's plugin manager."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Unpack

import numpy as np

from pliant.base.errors import DeviceError
from pliant.devices.base import Command, DeviceBase, DeviceOptions, FieldInfo, Sample
from pliant.devices.command_range import CommandRange
from pliant.engine.base import Engine
from pliant.laws import COMMAND_NAMES, JOINT_FIELDS, CompliantActuator, Mode

BOARD_STATES: dict[str, tuple[str, str, str]] = {
    "robot_state": ("position", "velocity", "effort"),
    "motor_1_state": ("motor_1_position", "motor_1_velocity", "motor_1_effort"),
    "motor_2_state": ("motor_2_position", "motor_2_velocity", "motor_2_effort"),
}
"""Aggregated state of the toolbox's manager -> fields of a sample: position, velocity, effort."""

_SOURCE = {"effort": "torque"}
"""The board's own name of a joint's field, which is that of the toolbox's message."""


class Board(DeviceBase):
    """Device for all compliant joints of a robot.

    Commands (mode ``references``): the arrays ``reference_1`` and ``reference_2``, shape (joints,), each element in
    the unit given by the mode of its joint. An element of ``reference_2`` is ignored if the joint has no second
    reference. As in the original, an element has no effect if its route is not a command of the joint's mode. Before
    the first command every joint holds its pose (the original sends zeros from the start).

    Samples: ``position``, ``velocity`` and ``effort`` of the links (the manager's robot_state), the same fields with
    the prefixes ``motor_1_`` and ``motor_2_`` (NaN if there is no such motor), and ``stiffness``, ``equilibrium`` and
    ``preset``, which the original collects but does not publish. Each field has shape (joints,).

    Args:
        actuators: joint -> actuator, in the order of the arrays.
        routes: joint -> commands to which its elements of the two arrays are routed, as in the manager's lists
            ref1_topic_name and ref2_topic_name; None for the commands of the joint's present mode.
        name: name of the device.
        slides: the joints that slide: their positions are in metres, and their torques are forces.
        options: options of `DeviceBase`: period, sample_period, latency, command_latency, watchdog, noise, stamp.
    """

    signatures = ("board", "joint_states")

    def __init__(
        self,
        actuators: Mapping[str, CompliantActuator],
        *,
        name: str = "board",
        routes: Mapping[str, tuple[str, str]] | None = None,
        slides: Collection[str] = (),
        **options: Unpack[DeviceOptions],
    ) -> None:
        if not actuators:
            raise DeviceError(f"{name}: the robot has no compliant joint", field="joints")
        joints = tuple(actuators)
        self._actuators = dict(actuators)
        self._routes = None if routes is None else [routes[joint] for joint in joints]
        n = len(joints)
        about = f"joints {', '.join(joints)}"

        def unit(field: str) -> str:
            declared, joined = JOINT_FIELDS[field], actuators.items()
            return " or ".join(sorted({declared.unit_of(a.law.second_input, slides=j in slides) for j, a in joined}))

        samples = {
            field: FieldInfo((n,), unit(_SOURCE.get(field, field)), f"{state}, {about}")
            for state, fields in BOARD_STATES.items()
            for field in fields
        }
        for field in ("stiffness", "equilibrium", "preset"):
            samples[field] = FieldInfo((n,), unit(field), JOINT_FIELDS[field].description)
        commands = {
            "references": {
                "reference_1": FieldInfo((n,), "", "first reference of each joint, unit by its mode"),
                "reference_2": FieldInfo((n,), "", "second reference of each joint, unit by its mode"),
            }
        }
        super().__init__(name, samples=samples, commands=commands, **options)
        self.joints = joints
        self._places = {field: i for i, field in enumerate(samples)}
        self._ranges = [CommandRange(name, joint, actuator) for joint, actuator in actuators.items()]

    def _restart(self, rng: np.random.Generator) -> None:
        for limits in self._ranges:
            limits.restart()

    def _connect(self, engine: Engine) -> None:
        for limits in self._ranges:
            limits.attach(engine)
        ports = engine.ports()
        self._ref_1 = [engine.port(f"{joint}/reference_1") for joint in self.joints]
        self._ref_2 = [
            (i, engine.port(f"{joint}/reference_2"))
            for i, joint in enumerate(self.joints)
            if f"{joint}/reference_2" in ports
        ]
        self._levers = [
            (i, float(getattr(a.law, "L", np.inf)))
            for i, a in enumerate(self._actuators.values())
            if a.law.second_input == "lever"
        ]
        names = {field: _SOURCE.get(field, field) for field in self.samples}
        self._gather = _Gather(
            [[engine.port(f"{joint}/{source}") for joint in self.joints] for source in names.values()]
        )

    def _latch(self, command: Command) -> None:
        values = command.values
        mode = self._engine.mode
        modes = [mode(joint) for joint in self.joints]
        second = values.get("reference_2")
        if isinstance(second, np.ndarray):
            for i, length in self._levers:
                if self._meant(i, 1, modes[i]) and not 0.0 <= second[i] < length:
                    self._counters.last_error = (
                        f"reference_2[{i}] of {self.joints[i]!r} is {second[i]:g} m; must be at least 0 and below "
                        f"{length:g} m. The command was dropped"
                    )
                    return
            for i, port in self._ref_2:
                if self._meant(i, 1, modes[i]):
                    value = port[0] = second[i]
                    limits = self._ranges[i]
                    limits.select(modes[i])
                    if not limits.low[1] <= value <= limits.high[1]:
                        limits.warn(1, float(value))
        first = values.get("reference_1")
        if isinstance(first, np.ndarray):
            for i, (port, value) in enumerate(zip(self._ref_1, first, strict=True)):
                if self._meant(i, 0, modes[i]):
                    port[0] = value
                    limits = self._ranges[i]
                    limits.select(modes[i])
                    if not limits.low[0] <= value <= limits.high[0]:
                        limits.warn(0, float(value))
                    if isinstance(second, np.ndarray) and abs(value - second[i]) >= limits.max_spread:
                        limits.warn_spread(float(value), float(second[i]))

    def _meant(self, i: int, which: int, mode: Mode) -> bool:
        """Return whether element i of an array, the first or the second, is a command that joint i takes in a mode."""
        return self._routes is None or COMMAND_NAMES[mode][which] == self._routes[i][which]

    def _measure(self) -> dict[str, float | np.ndarray]:
        return dict(zip(self.samples, self._gather(), strict=True))

    def read(self, stamp_ns: int) -> Sample:
        """Return the sample; without noise and latency its fields are rows that are made when they are asked for."""
        if self._perturbations or self.latency_ns:
            return super().read(stamp_ns)
        return self._arriving(stamp_ns, TableValues(self._places, self._gather()))

    def _trip(self) -> None:
        for joint in self.joints:
            self._engine.set_mode(joint, self._engine.mode(joint))


class TableValues(Mapping[str, np.ndarray]):
    """The values of a sample: rows of a read-only table, made as they are asked for.

    Args:
        places: field -> row.
        table: shape (fields, joints).
    """

    __slots__ = ("_places", "_table")

    def __init__(self, places: Mapping[str, int], table: np.ndarray) -> None:
        self._places, self._table = places, table

    def __getitem__(self, name: str) -> np.ndarray:
        return self._table[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class _Gather:
    """Collect the same quantities of all joints into one read-only table, one row per quantity.

    Ports that lie in one buffer at equal distances, as an engine's observations do, are taken with one indexing
    operation; the others one by one.
    """

    def __init__(self, ports: Sequence[Sequence[np.ndarray]]) -> None:
        count = len(ports[0])
        addresses = np.array([[p.__array_interface__["data"][0] for p in row] for row in ports])
        steps = np.diff(addresses, axis=1)
        regular = (steps == steps[:, :1]).all(axis=1) if count > 1 else np.ones(len(ports), dtype=bool)
        stride = 0
        if count > 1:
            forward = steps[regular & (steps[:, 0] > 0), 0]  # joints named against the model's order lie backward
            stride = int(np.bincount(forward).argmax()) if forward.size else 0
            regular &= steps[:, 0] == stride
        self._shape = (len(ports), count)
        self._views: list[tuple[int, np.ndarray]] = []
        self._single: list[tuple[int, int, np.ndarray]] = []
        self._rows = np.zeros(0, dtype=int)
        if stride > 0 and regular.sum() > 1:
            first = addresses[regular, 0].min()
            offsets = (addresses[:, 0] - first) // 8
            regular &= (offsets >= 0) & (8 * offsets < stride)
            self._rows = np.flatnonzero(regular)
            at = int(self._rows[np.argmin(offsets[self._rows])])
            self._places = offsets[self._rows, None] + stride // 8 * np.arange(count)
            # Every element between the first and the last port belongs to the buffer that the ports are views of.
            self._block = np.lib.stride_tricks.as_strided(
                ports[at][0], shape=(int(self._places.max()) + 1,), strides=(8,), writeable=False
            )
        rows = self._rows
        # Rows that follow each other are written through a slice, which is faster than an index array.
        together = rows.size > 0 and rows.size == rows[-1] - rows[0] + 1
        self._where: slice | np.ndarray = slice(int(rows[0]), int(rows[-1]) + 1) if together else rows
        for i in sorted(set(range(len(ports))) - set(rows.tolist())):
            own = set(steps[i].tolist()) if count > 1 else set()
            if len(own) == 1 and (distance := own.pop()) > 0:
                view = np.lib.stride_tricks.as_strided(ports[i][0], (count,), (distance,), writeable=False)
                self._views.append((i, view))
            else:
                self._single += [(i, k, p) for k, p in enumerate(ports[i])]

    def __call__(self) -> np.ndarray:
        out = np.empty(self._shape)
        if self._rows.size:
            out[self._where] = self._block.take(self._places)
        for i, view in self._views:
            out[i] = view
        for i, k, port in self._single:
            out[i, k] = port.item()
        out.flags.writeable = False
        return out

"""Interface of a device to the loop, the bridges and the recorder: `SampleSource`, `Device`, `Sample`, `Mount`."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import msgspec
import numpy as np

from pliant.devices.fields import FieldInfo, Values
from pliant.devices.mailbox import Mailbox
from pliant.engine.base import Engine
from pliant.model.noise import Noise


class Sample(msgspec.Struct, frozen=True, eq=False):
    """One immutable set of measured values, shared by reference with every bridge and the recorder."""

    device: str
    """Name of the device that took the sample."""
    seq: int
    """Sequence number since the last reset, from 0."""
    stamp_ns: int
    """Simulation time [ns] of arrival, or of measurement if the device has ``stamp="measurement"``."""
    values: Values
    """Field -> float, or read-only array with the shape and type given in ``Device.samples``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """Pose of the frame of a device on a body of the robot."""

    body: str
    """Name of the body."""
    position: tuple[float, float, float]
    """Origin of the device frame, expressed in the body frame, (x, y, z) [m]."""
    orientation: tuple[float, float, float, float]
    """Orientation of the device frame in the body frame, unit quaternion (w, x, y, z)."""


@runtime_checkable
class SampleSource(Protocol):
    """Source of samples that bridges publish: a device of a simulation or of a recording."""

    name: str
    """Name, unique in a simulation."""
    period_ns: int
    """Period of the firmware [ns], a whole multiple of the time step of the engine. Set by ``attach``."""
    sample_period_ns: int
    """Time between two samples [ns], a whole multiple of ``period_ns``. Set by ``attach``."""
    inbox: Mailbox
    """Mailbox that receives commands."""
    commands: Mapping[str, Mapping[str, FieldInfo]]
    """Command mode -> field -> description of the field; empty for a sensor."""
    samples: Mapping[str, FieldInfo]
    """Field -> description of the field; every sample has exactly these fields, in this order."""
    joints: tuple[str, ...]
    """Names of the joints that the elements of array fields belong to; () if they do not belong to joints."""
    frame: str
    """Frame in which samples are expressed, the ``frame_id`` of messages; by default the name of the device."""
    topic: str
    """Topic of its messages, absolute if it begins with "/"; "" for a topic named after the device."""
    noise: Mapping[str, Noise]
    """Field -> noise, from which covariances in messages are computed; fields without noise are absent."""
    mount: Mount | None
    """Pose of ``frame`` on the robot; None where the description names the frame, or it moves on its body."""
    metadata: Mapping[str, str]
    """Constant properties that recordings store with the samples, as text."""

    @property
    def signatures(self) -> tuple[str, ...]:
        """Signatures of the device for bridges and panels (`pliant.devices.signatures`), the most specific first.

        () for a device that is served by its field table only.
        """
        ...


@runtime_checkable
class Device(SampleSource, Protocol):
    """Interface of a device, as used by the loop, the bridges and the recorder."""

    written_ports: tuple[str, ...]
    """Engine ports that the firmware writes in every period, with or without a command: what others write there is
    lost. Known before ``attach``. A port that only a command writes, such as the reference of a joint, is not one."""

    @property
    def requests(self) -> Mapping[str, str]:
        """Name of each request -> its call signature."""
        ...

    @property
    def buttons(self) -> Mapping[str, str]:
        """Name of each button or switch -> the name of its bool argument; "" for a button."""
        ...

    def attach(self, engine: Engine) -> None:
        """Resolve all ports and the period; called once, before the first reset."""
        ...

    def reset(self, rng: np.random.Generator) -> None:
        """Return everything to what the run began with, after the engine was reset; called at the start too.

        That is every setting, load, threshold, gain and mode that commands and requests have changed, and every part
        of the model that the device has changed: the run after a reset is that of a new simulation. Nothing survives
        a reset that would not survive switching the real device off and on. ``rng`` is the device's random generator.
        """
        ...

    def serve(self) -> None:
        """Run the queued requests; called by the loop thread at the start of every step."""
        ...

    def write(self) -> None:
        """Latch the mailbox and run the firmware; called by the loop thread once per firmware period."""
        ...

    def read(self, stamp_ns: int) -> Sample:
        """Return the sample at this simulation time [ns]; called by the loop thread once per sample period."""
        ...

    def request(self, name: str, /, **args: object) -> Future[object]:
        """Queue a request from any thread; the future receives the result or the error."""
        ...

    def health(self) -> Mapping[str, object]:
        """Return counters and the last fault, as plain numbers and text."""
        ...

    def stopped(self) -> str:
        """Return why the device carries out no commands any more, in words; "" while it does."""
        ...

    def keep_pace(self) -> None:
        """Move work that takes longer than a step to another thread; called before a run that keeps a pace."""
        ...

    def close(self) -> None:
        """Release threads and libraries; called when the simulation is closed. May be called twice."""
        ...

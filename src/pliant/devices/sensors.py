"""Base of the devices of described sensors: rates in whole steps, samples without commands, the devices by kind."""

from __future__ import annotations

import math
from typing import Unpack

import numpy as np

from pliant.base.errors import DeviceError, PortError
from pliant.base.names import free_name
from pliant.devices.base import DeviceBase, DeviceOptions, FieldInfo, Mount
from pliant.engine.base import Engine, MujocoState
from pliant.model.noise import Noise
from pliant.model.sensors import SensorDescription


def sample_period(rate: float, dt: float) -> float:
    """Return the time between two samples that is a whole number of steps and nearest to 1 / rate [s].

    Args:
        rate: samples a second [Hz]; 0 for every step.
        dt: the step [s].
    """
    return dt * max(1, round(1.0 / (rate * dt))) if rate > 0.0 else dt


class SensorDevice(DeviceBase):
    """A device that only measures, made from a description.

    Args:
        description: what the robot says of it.
        samples: field -> what a sample carries there.
        noises: field -> its noise.
        dt: step of the engine [s].
        options: of `DeviceBase`, which win over the description's.
    """

    def __init__(
        self,
        description: SensorDescription,
        samples: dict[str, FieldInfo],
        noises: dict[str, Noise],
        *,
        dt: float,
        **options: Unpack[DeviceOptions],
    ) -> None:
        if not (math.isfinite(dt) and dt > 0.0):
            raise DeviceError(f"{description.name}: the step is {dt!r} s; must be more than 0", field="dt")
        given: DeviceOptions = {
            "period": dt,
            "sample_period": sample_period(description.rate, dt),
            "latency": description.latency,
            "stamp": "measurement",
            "noise": {field: value for field, value in noises.items() if not value.silent},
        }
        given.update(options)
        super().__init__(description.name, samples=samples, **given)
        self.description = description
        self.frame = description.frame_id
        self.topic = description.topic
        # Messages say what noise there is, silent or not.
        self.noise = dict(noises)

    def _port(self, engine: Engine, sensor: str) -> np.ndarray:
        try:
            return engine.port(f"sensor/{sensor}")
        except PortError as error:
            raise DeviceError(
                f"{self.name}: the model has no sensor {sensor!r}; was the robot compiled after the device was "
                "described and enabled?",
                field=self.name,
            ) from error

    def _find_mount(self, engine: Engine, site: str) -> None:
        """Read from the model where the frame of a site is fixed, for those who publish frames."""
        if not isinstance(engine, MujocoState) or self.description.frame:
            return
        place = engine.model.site(site)
        body = engine.model.body(int(place.bodyid[0])).name
        if self.frame != self.description.body:
            bodies = {engine.model.body(b).name for b in range(engine.model.nbody)}
            self.frame = free_name(self.frame, bodies, "_frame")
        self.mount = Mount(body=body, position=tuple(place.pos.tolist()), orientation=tuple(place.quat.tolist()))

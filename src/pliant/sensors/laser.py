"""A planar laser scanner: MuJoCo's rays from the origin of its frame."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from pliant.devices.base import DeviceOptions, FieldInfo
from pliant.devices.kinds import device_for
from pliant.devices.sensors import SensorDevice
from pliant.engine.base import Engine, mujoco_state
from pliant.model.robot import Robot
from pliant.model.sensors import Laser


@device_for(Laser)
class LaserDevice(SensorDevice):
    """Distances along rays, at the poses at the start of the step that has just ended, as MuJoCo's sensors have them.

    A distance below the nearest one is minus infinity, above the farthest one, or without anything, infinity (REP 117
    of ROS). Noise is added to finite distances.

    Args:
        description: the scanner.
        robot: the robot that it is described on.
        options: of `DeviceBase`.
    """

    signatures = ("laser",)

    def __init__(self, description: Laser, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        fields = {
            "ranges": FieldInfo(
                (description.rays,), "m", "distances, first ray first; inf: nothing there, -inf: too near"
            )
        }
        super().__init__(description, fields, {}, dt=float(robot.spec.option.timestep), **options)
        self.description: Laser = description
        self.noise = {"ranges": description.noise}
        angles = description.angles
        self._own = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(angles.size)])
        self.metadata = {
            "min_angle": repr(description.min_angle),
            "max_angle": repr(description.max_angle),
            "min_range": repr(description.min_range),
            "max_range": repr(description.max_range),
        }

    def _connect(self, engine: Engine) -> None:
        import mujoco

        state = mujoco_state(engine, f"laser {self.name!r}")
        self._model, self._data = state.model, state.data
        site = self._model.site(self.description.frame_site())
        # A scanner that stands on the world sees the shapes of the world: -1 excludes nothing.
        self._body = int(site.bodyid[0]) or -1
        self._origin = self._data.site_xpos[site.id]
        self._axes = self._data.site_xmat[site.id].reshape(3, 3)
        self._cast = mujoco.mj_multiRay
        self._hit = np.zeros(self.description.rays, dtype=np.int32)
        self._distance = np.zeros(self.description.rays)
        self._find_mount(engine, self.description.frame_site())

    def _restart(self, rng: np.random.Generator) -> None:
        self._offset = self.description.noise.offset(rng, ())

    def _measure(self) -> dict[str, float | np.ndarray]:
        described = self.description
        rays = (self._own @ self._axes.T).ravel()
        self._cast(
            self._model, self._data, self._origin, rays, None, True, self._body, self._hit, self._distance, None,
            described.rays, described.max_range,
        )  # fmt: skip
        ranges = self._distance.copy()
        found = ranges >= 0.0
        if not described.noise.silent:
            ranges = described.noise.disturb(ranges, self._offset, self._rng)
        ranges[ranges < described.min_range] = -np.inf
        ranges[~found | (ranges > described.max_range)] = np.inf
        return {"ranges": ranges}

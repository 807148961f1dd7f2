"""A force/torque sensor as a device: the wrench through the cut between a body and its parent."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from pliant.devices.base import DeviceOptions, FieldInfo, request
from pliant.devices.kinds import device_for
from pliant.devices.sensors import SensorDevice
from pliant.engine.base import Engine, MujocoState
from pliant.model.robot import Robot
from pliant.model.sensors import ForceTorque

_NOTHING = np.zeros((2, 3))


@device_for(ForceTorque)
class ForceTorqueDevice(SensorDevice):
    """Device of a force/torque sensor, with a zero that can be set as on the real ones.

    The wrench is that of the step that has just ended. It holds everything that goes through the cut: weight and
    inertia of what is carried, contacts, external wrenches, and the actuator's torque where the cut is a joint. What
    floats (``gravcomp``, SDF's ``<gravity>false``) does not hang on the sensor; MuJoCo's own sensors leave that out.

    Args:
        description: the sensor.
        robot: the robot that it is described on.
        options: of `DeviceBase`.
    """

    signatures = ("wrench",)
    description: ForceTorque

    def __init__(self, description: ForceTorque, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        to_parent = description.measure_direction == "child_to_parent"
        who = "child on its parent" if to_parent else "parent on its child"
        axes = f"{description.measure_frame}'s axes"
        fields = {
            "force": FieldInfo((3,), "N", f"force of the {who}, in the {axes}"),
            "torque": FieldInfo((3,), "N m", f"moment of the {who} about the sensor's origin, in the {axes}"),
        }
        noise = {"force": description.force_noise, "torque": description.torque_noise}
        super().__init__(description, fields, noise, dt=float(robot.spec.option.timestep), **options)
        if description.measure_frame == "parent" and not description.frame:
            body = description._child(robot.spec)
            self.frame = body.parent.name
        elif description.measure_frame == "child" and not description.frame and not any(description.pos):
            self.frame = description.body  # else its own, with the axes of the body
        self._names = description.sensors(robot.spec)
        # MuJoCo gives what the parent does to its child.
        self._sign = -1.0 if to_parent else 1.0
        self._zero: np.ndarray | None = None

    def _connect(self, engine: Engine) -> None:
        self._force = self._port(engine, self._names["force"])
        self._torque = self._port(engine, self._names["torque"])
        self._turn = self._port(engine, self._names["orientation"]) if "orientation" in self._names else None
        site = self.description.site or f"{self.name}/frame"
        if self.description.measure_frame != "parent":
            self._find_mount(engine, site)
        self._lift = _Lift(engine, site) if isinstance(engine, MujocoState) and engine.model.ngravcomp else None

    def _restart(self, rng: np.random.Generator) -> None:
        self._zero = None

    def _wrench(self) -> np.ndarray:
        wrench = np.empty((2, 3))
        wrench[0], wrench[1] = self._force, self._torque
        if self._lift is not None:
            wrench -= self._lift.wrench()
        wrench *= self._sign
        if self._turn is not None:
            w, v = self._turn[0], self._turn[1:]
            t = 2.0 * np.cross(v, wrench)
            wrench = wrench + w * t + np.cross(v, t)
        return wrench

    def _measure(self) -> dict[str, float | np.ndarray]:
        wrench = self._wrench()
        if self._zero is not None:
            wrench -= self._zero
        wrench.flags.writeable = False
        return {"force": wrench[0], "torque": wrench[1]}

    @request
    def tare(self) -> list[float]:
        """Take the present wrench as zero, until the next reset; return it: force [N], moment [N m]."""
        self._zero = self._wrench()
        return self._zero.ravel().tolist()


class _Lift:
    """Support of the bodies behind a sensor against gravity, as a force from outside (``gravcomp`` of MJCF).

    Bodies that a joint with ``actuatorgravcomp`` carries are not among them: their motors hold them, through the cut.

    Args:
        engine: the engine with the model.
        site: the sensor's.
    """

    def __init__(self, engine: MujocoState, site: str) -> None:
        import mujoco

        self._model, self._data = model, data = engine.model, engine.data
        self._weightless = int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        at = model.site(site).id
        self._place, self._axes = data.site_xpos[at], data.site_xmat[at].reshape(3, 3)
        first = int(model.site_bodyid[at])
        carried, motors = np.zeros(model.nbody, dtype=bool), np.zeros(model.nbody, dtype=bool)
        motors[model.jnt_bodyid[model.jnt_actgravcomp != 0]] = True
        for body in range(1, model.nbody):  # parents come before their children
            above = model.body_parentid[body]
            carried[body] = body == first or carried[above]
            motors[body] |= motors[above]
        self._bodies = np.flatnonzero(carried & ~motors)

    def wrench(self) -> np.ndarray:
        """Return force and moment about the site, in its axes, shape (2, 3) [N, N m]."""
        share = self._model.body_gravcomp[self._bodies]
        if not share.any() or self._model.opt.disableflags & self._weightless:
            return _NOTHING
        forces = np.outer(-share * self._model.body_mass[self._bodies], self._model.opt.gravity)
        arms = self._data.xipos[self._bodies] - self._place
        return np.stack([forces.sum(axis=0), np.cross(arms, forces).sum(axis=0)]) @ self._axes

"""An engine without MuJoCo: masses on springs in numpy, and a device for them.

Each of ``n`` unit-length joints obeys ``m q'' = k (reference - q) - d q' + external_torque``, advanced by the
semi-implicit Euler scheme, so that MuJoCo's absence changes nothing about the loop around it.
"""

from __future__ import annotations

import numpy as np

from pliant.base.errors import DivergedError, PortError, nearest
from pliant.devices.base import DeviceBase, FieldInfo, request
from pliant.engine.base import PortInfo

PORTS = {
    "position": ("rad", False),
    "velocity": ("rad/s", False),
    "reference": ("rad", True),
    "external_torque": ("N m", True),
}


class SpringMassEngine:
    """``n`` independent masses on springs."""

    model_hash = ""

    def __init__(self, n=1, *, dt=0.001, mass=0.5, k=200.0, damping=0.0, start=0.0):
        self.n, self.dt, self.mass, self.k, self.damping, self.start = n, dt, mass, k, damping, start
        self._dt_ns = round(dt * 1e9)
        self._values = {name: np.zeros(n) for name in PORTS}
        self.steps = 0
        self.time_ns = 0
        self.reset()

    def reset(self, seed=None):
        for values in self._values.values():
            values[:] = 0.0
        self._values["position"][:] = self.start
        self.steps = 0
        self.time_ns = 0

    def step(self, n=1):
        q, v, reference, torque = self._values.values()
        for _ in range(n):
            with np.errstate(invalid="ignore", over="ignore"):
                v += self.dt / self.mass * (self.k * (reference - q) - self.damping * v + torque)
            q += self.dt * v
            self.steps += 1
            self.time_ns = self.steps * self._dt_ns
            if not np.isfinite(q).all():
                wrong = int(np.flatnonzero(~np.isfinite(q))[0])
                raise DivergedError(
                    f"joint_{wrong} is {q[wrong]} at {self.time_ns * 1e-9:g} s",
                    joint=f"joint_{wrong}",
                    time=self.time_ns * 1e-9,
                )

    def port(self, name):
        if name not in self.ports():
            raise PortError(f"there is no port {name!r}; {nearest(name, self.ports())}", field=name)
        joint, quantity = name.split("/")
        index = int(joint.removeprefix("joint_"))
        return self._values[quantity][index : index + 1]

    def ports(self):
        return {
            f"joint_{i}/{name}": PortInfo((1,), unit, writable, f"{name} of joint {i}")
            for i in range(self.n)
            for name, (unit, writable) in PORTS.items()
        }

    def mode(self, joint):
        raise PortError(f"no compliant actuator {joint!r}", field=joint)

    def set_mode(self, joint, mode):
        self.mode(joint)

    def set_gains(self, joint, motor=1, **gains):
        self.mode(joint)

    def save(self):
        return np.concatenate([[float(self.steps)], *self._values.values()])

    def load(self, state):
        self.steps = int(state[0])
        self.time_ns = self.steps * self._dt_ns
        for values, saved in zip(self._values.values(), np.split(np.asarray(state[1:]), len(PORTS)), strict=True):
            values[:] = saved


class SpringJoint(DeviceBase):
    """One joint of the spring-mass engine: position and torque commands, with an external torque in both."""

    def __init__(self, index=0, name=None, **options):
        self.joint = f"joint_{index}"
        external = FieldInfo((), "N m", "added to the joint")
        super().__init__(
            name or self.joint,
            samples={
                "position": FieldInfo((), "rad", "joint position"),
                "velocity": FieldInfo((), "rad/s", "joint velocity"),
                "reference": FieldInfo((), "rad", "rest position of the spring"),
                "torque": FieldInfo((), "N m", "torque of the spring on the joint"),
            },
            commands={
                "position": {"reference": FieldInfo((), "rad", low=-10.0, high=10.0), "external_torque": external},
                "torque": {"torque": FieldInfo((), "N m"), "external_torque": external},
            },
            **options,
        )
        self.inbox.accept(["position"])
        self.trips = 0

    def _connect(self, engine):
        self.k = engine.k
        self._position, self._velocity, self._reference, self._external = (
            engine.port(f"{self.joint}/{name}") for name in PORTS
        )

    def _restart(self, rng):
        self.inbox.accept(["position"])
        self._target = self._position.item()

    def _latch(self, command):
        self._target = command.values.get("reference", self._target)
        self._external[0] = command.values.get("external_torque", 0.0) + command.values.get("torque", 0.0)

    def _firmware(self):
        self._reference[0] = self._target

    def _trip(self):
        self.trips += 1
        self._target = 0.0

    def _measure(self):
        position, reference = self._position.item(), self._reference.item()
        return {
            "position": position,
            "velocity": self._velocity.item(),
            "reference": reference,
            "torque": self.k * (reference - position),
        }

    @request
    def set_mode(self, mode: str):
        self.inbox.accept([mode])
        return mode

    @request
    def set_gains(self, k: float):
        if not k > 0:
            raise ValueError(f"k is {k!r}; must be a number above 0")
        self.k = k


class Board(DeviceBase):
    """All joints of the spring-mass engine at once, as arrays."""

    def __init__(self, n, name="board", **options):
        self.n = n
        array = FieldInfo((n,), "rad", "one element per joint")
        super().__init__(
            name,
            samples={"position": array, "velocity": FieldInfo((n,), "rad/s"), "effort": FieldInfo((n,), "N m")},
            commands={"position": {"references": array}},
            **options,
        )
        self.joints = tuple(f"joint_{i}" for i in range(n))

    def _connect(self, engine):
        self._values = engine._values
        self.k = engine.k

    def _latch(self, command):
        self._values["reference"][:] = command.values["references"]

    def _measure(self):
        values = self._values
        return {
            "position": values["position"],
            "velocity": values["velocity"],
            "effort": self.k * (values["reference"] - values["position"]),
        }

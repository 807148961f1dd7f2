"""Which joints of a robot servos can move: found in the field tables of its devices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.devices.base import FieldInfo, Sample, SampleSource
from pliant.dynamixel.motor import Actuation, Motion
from pliant.engine.base import Engine, MujocoState

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True, slots=True)
class Drive:
    """How devices declare a command of a joint: the field of the command, and the measured fields that belong to it."""

    command: str
    """Field of a command. Its unit says whether it is a position, a velocity or a torque."""
    position: str
    """Field with the position of what is commanded."""
    velocity: str = ""
    """Field with its velocity; "": the rate of the position."""
    torque: str = ""
    """Field with the torque on the joint; "" where it is not measured."""
    slack: str = ""
    """Field with the reference at which there is no torque; "": the position."""


DRIVES = (
    Drive("control", "length", "velocity", "force"),
    Drive("equilibrium_position", "equilibrium", "", "elastic_torque", "position"),
    Drive("link_command", "position", "velocity", "torque"),
    Drive("reference_1", "motor_1_position", "motor_1_velocity", "load_1", "position"),
    Drive("reference_2", "motor_2_position", "motor_2_velocity", "load_2", "position"),
    Drive("torque_command", "position", "velocity", "torque"),
    Drive("torque_m1_command", "motor_1_position", "motor_1_velocity", "motor_1_effort"),
    Drive("torque_m2_command", "motor_2_position", "motor_2_velocity", "motor_2_effort"),
    Drive("position_direct", "position", "velocity", "torque"),
    Drive("joints_values", "joint_values", "joint_velocities"),
)
"""Commands of joints; a command that is not named here is one if a measured field has its name."""
UNITS = {
    "rad": Actuation.POSITION,
    "m": Actuation.POSITION,
    "m or rad": Actuation.POSITION,
    "rad/s": Actuation.VELOCITY,
    "m/s": Actuation.VELOCITY,
    "N m": Actuation.TORQUE,
    "N": Actuation.TORQUE,
}
"""What a command is, by its unit."""
PORTS = {"velocity": "length_rate"}
"""Field of an actuator of MuJoCo -> its engine port, where the names differ."""
SPOOL = 0.01
"""Travel of a sliding joint per radian of its servo, where nothing is said [m/rad]. # assumed"""


@dataclass(slots=True)
class Joint:
    """One joint that a servo can move."""

    name: str
    """Name of the joint, or of the actuator without joint; with a number where it has two motors."""
    device: SampleSource
    """Device that takes its command."""
    mode: str
    """Command mode."""
    drive: Drive
    """Fields."""
    actuation: Actuation
    """What it takes."""
    index: int
    """Element of array fields; -1 for a number."""
    slides: bool
    """Whether it is prismatic."""
    limit: float = math.inf
    """Largest force of its actuator in the model [N m or N]; infinite where it has none."""
    inertia: float = math.inf
    """Inertia at the start [kg m^2 or kg]; infinite where it is not known."""
    stiffness: float = 0.0
    """Stiffness of an actuator of the model that takes positions [N m/rad or N/m]; 0 for another one."""
    scale: float = 1.0
    """Travel per radian of the servo [rad/rad or m/rad]."""
    _read: tuple[Callable[[], float], ...] = ()
    _last: tuple[int, float, float] | None = None
    """Time [ns], position and velocity of the last reading."""

    def attach(self, engine: Engine, latest: Mapping[str, Sample]) -> None:
        """Find what it measures: ports of the engine where there are some, else samples."""
        drive = self.drive
        fields = (drive.position, drive.velocity, drive.torque, drive.slack or drive.position, "stiffness")
        self._read = tuple(self._reader(field, engine, latest) for field in fields)

    def _reader(self, field: str, engine: Engine, latest: Mapping[str, Sample]) -> Callable[[], float]:
        device, index = self.device.name, self.index
        if not field or field not in self.device.samples:
            return lambda: math.nan
        if index < 0:
            owners = (self.name, *self.device.joints, device, getattr(self.device, "actuator", ""))
            names = [
                f"{owner}/{f}" for f in (PORTS.get(field, field), field) for owner in owners if isinstance(owner, str)
            ]
            known = engine.ports()
            found = next((name for name in names if name in known), None)
            if found is not None:
                return engine.port(found).item

        def sampled() -> float:
            sample = latest.get(device)
            if sample is None:
                return math.nan
            value: Any = sample.values[field]
            return float(value if index < 0 else value[index])

        return sampled

    def motion(self, time_ns: int) -> Motion | None:
        """Return the state of the servo's output; None before the first sample.

        Args:
            time_ns: simulation time [ns].
        """
        position, velocity, torque, slack, stiffness = (read() for read in self._read)
        if math.isnan(position):
            return None
        if math.isnan(velocity):
            velocity = 0.0
            if self._last is not None:
                before, where, velocity = self._last
                if time_ns > before:
                    velocity = (position - where) / (time_ns - before) * 1e9
        self._last = time_ns, position, velocity
        scale = self.scale
        return Motion(
            position / scale,
            velocity / scale,
            0.0 if math.isnan(torque) else torque * scale,
            (position if math.isnan(slack) else slack) / scale,
            (self.stiffness if math.isnan(stiffness) else stiffness) * scale * scale,
        )

    def restart(self) -> None:
        """Forget the last reading, after a reset."""
        self._last = None

    def command(self, value: float) -> float:
        """Return the command of the joint for that of the servo [rad, rad/s or N m]."""
        return value / self.scale if self.actuation is Actuation.TORQUE else value * self.scale


def find_joints(devices: Mapping[str, SampleSource], engine: Engine) -> list[Joint]:
    """Return the joints that can be commanded, in the order of the devices.

    Args:
        devices: the devices by name, attached and reset.
        engine: the engine.
    """
    found: list[Joint] = []
    taken: set[str] = set()
    for device in devices.values():
        for joint in _of_device(device, engine):
            if joint.name not in taken:
                taken.add(joint.name)
                found.append(joint)
    return found


def _of_device(device: SampleSource, engine: Engine) -> Iterator[Joint]:
    for mode, fields in device.commands.items():
        if mode not in device.inbox.accepted:
            continue
        drives = [drive for drive in _drives(device, fields) if drive.position in device.samples]
        if not drives:
            continue
        for number, drive in enumerate(drives, 1):
            info = fields[drive.command]
            for index in range(info.size) if info.shape else (-1,):
                yield _joint(device, mode, drive, info, index, f"/{number}" if len(drives) > 1 else "", engine)
        return


def _drives(device: SampleSource, fields: Mapping[str, FieldInfo]) -> Iterator[Drive]:
    shapes = ((), (len(device.joints),))
    known = [drive for drive in DRIVES if drive.command in fields]
    # Any other command of a position that is measured under the same name, such as that of a tendon.
    known += [Drive(name, name) for name in fields if name in device.samples and name not in {d.command for d in known}]
    for drive in known:
        info = fields[drive.command]
        if info.unit in UNITS and info.shape in shapes and device.samples.get(drive.position) is not None:
            if drive.command == drive.position and UNITS[info.unit] is not Actuation.POSITION:
                continue
            yield drive


def _joint(
    device: SampleSource, mode: str, drive: Drive, info: FieldInfo, index: int, suffix: str, engine: Engine
) -> Joint:
    name = device.joints[max(index, 0)] if device.joints else device.name
    slides, limit, inertia, stiffness = info.unit in ("m", "m/s", "N"), math.inf, math.inf, 0.0
    if isinstance(engine, MujocoState):
        place = _in_model(engine.model, name, getattr(device, "actuator", None))
        if place is not None:
            name, slide, limit, inertia, stiffness = place
            slides = slides or (slide and info.unit == "m or rad")
    return Joint(
        name + suffix, device, mode, drive, UNITS[info.unit], index, slides, limit, inertia, stiffness,
        SPOOL if slides else 1.0,
    )  # fmt: skip


def _in_model(model: mujoco.MjModel, name: str, actuator: object) -> tuple[str, bool, float, float, float] | None:
    """Return name, kind, largest force, inertia and stiffness of a joint, found by its name or by its actuator."""
    import mujoco

    j = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
    moving = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    if j < 0 and isinstance(actuator, str):
        i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, actuator)
        if i >= 0 and int(model.actuator_trntype[i]) in moving:
            j = int(model.actuator_trnid[i, 0])
    if j < 0:
        return None
    stiffness = 0.0
    limits = [float(np.abs(model.jnt_actfrcrange[j]).max())] if model.jnt_actfrclimited[j] else []
    for i in range(model.nactuator):
        if int(model.actuator_trntype[i]) not in moving or int(model.actuator_trnid[i, 0]) != j:
            continue
        if int(model.actuator_biastype[i]) == int(mujoco.mjtBias.mjBIAS_AFFINE):
            stiffness = max(stiffness, float(-model.actuator_biasprm[i, 1] * model.actuator_gear[i, 0] ** 2))
        if model.actuator_forcelimited[i]:
            limits.append(float(np.abs(model.actuator_forcerange[i]).max() * abs(model.actuator_gear[i, 0])))
    limit = min((value for value in limits if value > 0.0), default=math.inf)
    slides = int(model.jnt_type[j]) == int(mujoco.mjtJoint.mjJNT_SLIDE)
    return model.joint(j).name or name, slides, limit, float(model.dof_M0[model.jnt_dofadr[j]]), stiffness

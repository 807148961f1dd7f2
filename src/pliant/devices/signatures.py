"""Signatures: what a device is to those who do not know its class, such as an IMU, a wrench, a laser, a joint.

A device names its signatures beside its field table, the most specific one first. A bridge, a panel or a recording
looks them up by name; nobody needs the class of the device:

    class Gyroscope(SensorDevice):
        signatures = ("imu",)

A signature that is registered promises fields, which the base class checks. A name that is not registered promises
nothing; a wing may use one for devices of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeGuard, TypeVar

from pliant.base.errors import DeviceError
from pliant.base.options import place_of
from pliant.devices.contract import Device, SampleSource
from pliant.devices.fields import FieldInfo
from pliant.laws import CompliantActuator, Mode

if TYPE_CHECKING:
    from pliant.base.camera import CameraParameters

T = TypeVar("T", bound=Device)
ANY = -1
"""Stands for any length, above 0, in the shape of a promised field."""


@dataclass(frozen=True, slots=True)
class Signature(Generic[T]):
    """The fields and properties that all devices of one kind have.

    Example:
        >>> from pliant.devices import FieldInfo
        >>> WRENCH.missing({"force": FieldInfo((3,))})
        'torque'
    """

    name: str
    """Name that a device gives in ``signatures``."""
    fields: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Field of a sample -> its shape, `ANY` for any length; ``"effort|torque"`` is one of the two."""
    metadata: tuple[str, ...] = ()
    """Keys that ``metadata`` of a device must have."""

    def of(self, device: SampleSource) -> bool:
        """Return whether a device, live or recorded, has this signature."""
        return self.name in device.signatures

    def live(self, device: SampleSource) -> TypeGuard[T]:
        """Return whether a device has this signature and is not one of a recording."""
        return self.name in device.signatures and isinstance(device, Device)

    def missing(self, samples: Mapping[str, FieldInfo]) -> str:
        """Return the first promised field that a field table does not have; "" if it has all."""
        for names, shape in self.fields.items():
            if not any(name in samples and _same(samples[name].shape, shape) for name in names.split("|")):
                return names
        return ""


def _same(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return len(shape) == len(wanted) and all(b in (a, ANY) for a, b in zip(shape, wanted, strict=True))


class JointDevice(Device, Protocol):
    """A compliant joint: a live device with the signature "joint"."""

    joint: str
    """Name of the joint."""
    mode: Mode
    """Mode in force; the request ``set_mode`` changes it."""
    actuator: CompliantActuator
    """Actuator of the joint."""

    @property
    def gains(self) -> Mapping[str, float]:
        """Gains in force, ``kp_1``, ``ki_1``, ``kd_1`` and those of motor 2; the request ``set_gains`` changes them."""
        ...

    def limits(self, mode: str, field: str) -> tuple[float, float]:
        """Return the limits of a command field in a mode."""
        ...


class ModedBoard(Device, Protocol):
    """A board whose axes have control modes: a live device with the signature "control_board"."""

    def modes_now(self) -> tuple[str, ...]:
        """Return the control mode of each axis, as the request ``set_control_mode`` calls it; any thread may ask."""
        ...


class CameraSource(SampleSource, Protocol):
    """A source of images: a device with the signature "camera"."""

    camera: CameraParameters | None
    """How points in its optical frame become pixels; None until it is attached."""
    topics: Mapping[str, str]
    """Published quantity, such as ``image`` or ``depth_info`` -> topic, below ``topic`` where it is not absolute."""


_SIGNATURES: dict[str, Signature] = {}


def register_signature(signature: Signature[T]) -> Signature[T]:
    """Register a signature, whose promise is then checked for every device that names it.

    Raises:
        DeviceError: the name is taken.
    """
    if _SIGNATURES.setdefault(signature.name, signature) != signature:
        raise DeviceError(
            f"the signature {signature.name!r} is registered twice, with the fields "
            f"{dict(_SIGNATURES[signature.name].fields)} and {dict(signature.fields)}",
            field=signature.name,
        )
    return signature


JOINT: Signature[JointDevice] = register_signature(Signature("joint", {"reported_stiffness": ()}))
"""One compliant joint with its motors."""
BOARD: Signature[Device] = register_signature(Signature("board", {"motor_1_position": (ANY,), "stiffness": (ANY,)}))
"""A board over several compliant joints."""
IMU: Signature[Device] = register_signature(Signature("imu", {"angular_velocity": (3,), "linear_acceleration": (3,)}))
"""An inertial unit, in its own axes; it may have an ``orientation``."""
WRENCH: Signature[Device] = register_signature(Signature("wrench", {"force": (3,), "torque": (3,)}))
"""A force/torque sensor."""
LASER: Signature[Device] = register_signature(
    Signature("laser", {"ranges": (ANY,)}, ("min_angle", "max_angle", "min_range", "max_range"))
)
"""A laser scanner; its metadata are angles [rad] and limits [m] as text."""
CAMERA: Signature[Device] = register_signature(Signature("camera"))
"""A camera with one or more of the fields ``image``, ``depth``, ``segmentation``; see `CameraSource`."""
JOINT_STATES: Signature[Device] = register_signature(
    Signature("joint_states", {"position": (ANY,), "velocity": (ANY,), "effort|torque": (ANY,)})
)
"""Positions, velocities and efforts of the joints that ``joints`` names."""

CONTROL_BOARD: Signature[ModedBoard] = register_signature(Signature("control_board", {"control_mode": (ANY,)}))
"""A board that switches each of its axes between modes for positions, velocities, torques."""


def registered_signatures() -> dict[str, Signature]:
    """Return the registered signatures by name."""
    return dict(_SIGNATURES)


def check_signatures(device: SampleSource, name: str, samples: Mapping[str, FieldInfo]) -> None:
    """Refuse a device that lacks a field which one of its signatures promises.

    Args:
        device: the device.
        name: its name, for messages.
        samples: its field table.

    Raises:
        DeviceError: the field is missing or has another shape.
    """
    for signature in device.signatures:
        known = _SIGNATURES.get(signature)
        missing = "" if known is None else known.missing(samples)
        if known is not None and missing:
            shape = known.fields[missing]
            wanted = "one number" if not shape else " x ".join("n" if n == ANY else str(n) for n in shape)
            raise DeviceError(
                f"{place_of(type(device))}: {name}: the signature {signature!r} needs the field "
                f"{missing.replace('|', ' or ')!r} ({wanted}); found {', '.join(samples) or 'no field'}",
                field="signatures",
            )

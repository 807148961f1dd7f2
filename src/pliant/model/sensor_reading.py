"""Sensors read: from the sensors of a MuJoCo model, from a mapping of a robot file, from ``--set``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import mujoco

from pliant.base.errors import ModelError, nearest
from pliant.base.names import numbered_name
from pliant.base.wing import offers
from pliant.model.noise import Noise
from pliant.model.parameters import changed_fields
from pliant.model.sensors import MAX_IMAGE_SIDE, SENSOR_KINDS, Camera, ForceTorque, Imu, SensorDescription, reference_of

_GYRO = mujoco.mjtSensor.mjSENS_GYRO
_ACCELEROMETER = mujoco.mjtSensor.mjSENS_ACCELEROMETER
_FRAMEQUAT = mujoco.mjtSensor.mjSENS_FRAMEQUAT
_FORCE = mujoco.mjtSensor.mjSENS_FORCE
_TORQUE = mujoco.mjtSensor.mjSENS_TORQUE


def described_sensors(spec: mujoco.MjSpec, taken: Iterable[str] = ()) -> list[SensorDescription]:
    """Return the sensors that a model has: what `load` does for MJCF.

    A gyro and an accelerometer on one site are an inertial unit, with a framequat of the site for its orientation; a
    force and a torque on one site are a force/torque sensor, of MuJoCo's direction. The device has the site's name,
    the sensors' ``noise`` is its standard deviation. Every camera is described and not enabled, for it costs.

    Args:
        spec: the model; its sensors without a name get one.
        taken: names that other devices have.

    Returns:
        The descriptions, in the order of the sites, then of the cameras.
    """
    used = {"board", *taken}
    on_site: dict[str, dict[mujoco.mjtSensor, mujoco.MjsSensor]] = {}
    for sensor in spec.sensors:
        if sensor.objtype == mujoco.mjtObj.mjOBJ_SITE and not reference_of(sensor) and sensor.objname:
            on_site.setdefault(sensor.objname, {}).setdefault(sensor.type, sensor)
    found: list[SensorDescription] = []
    for site, sensors in on_site.items():
        inertial = _GYRO in sensors and _ACCELEROMETER in sensors
        wrench = _FORCE in sensors and _TORQUE in sensors
        if inertial:
            name = _free(site if not wrench else f"{site}_imu", used)
            _name(name, sensors, {_GYRO: "angular_velocity", _ACCELEROMETER: "linear_acceleration"}, _FRAMEQUAT)
            found.append(
                Imu(
                    name=name,
                    site=site,
                    orientation=_FRAMEQUAT in sensors,
                    angular_velocity_noise=Noise(std=float(sensors[_GYRO].noise)),
                    linear_acceleration_noise=Noise(std=float(sensors[_ACCELEROMETER].noise)),
                    orientation_noise=Noise(std=float(sensors[_FRAMEQUAT].noise if _FRAMEQUAT in sensors else 0.0)),
                )
            )
        if wrench:
            name = _free(site if not inertial else f"{site}_ft", used)
            _name(name, sensors, {_FORCE: "force", _TORQUE: "torque"}, None)
            found.append(
                ForceTorque(
                    name=name,
                    site=site,
                    measure_direction="parent_to_child",
                    force_noise=Noise(std=float(sensors[_FORCE].noise)),
                    torque_noise=Noise(std=float(sensors[_TORQUE].noise)),
                )
            )
    for camera in spec.cameras:
        if camera.name:
            width, height = (int(n) for n in camera.resolution)
            described = Camera(name=_free(camera.name, used), camera=camera.name, enabled=False)
            if min(width, height) > 1 and max(width, height) <= MAX_IMAGE_SIDE:
                described = replace(described, width=width, height=height)
            if max(width, height) <= MAX_IMAGE_SIDE:
                found.append(described)
    return found


def _free(name: str, used: set[str]) -> str:
    used.add(name := numbered_name(name, used))
    return name


def _name(
    device: str,
    sensors: Mapping[mujoco.mjtSensor, mujoco.MjsSensor],
    quantities: Mapping[mujoco.mjtSensor, str],
    orientation: mujoco.mjtSensor | None,
) -> None:
    if orientation is not None and orientation in sensors:
        quantities = {**quantities, orientation: "orientation"}
    for kind, quantity in quantities.items():
        if not sensors[kind].name:
            sensors[kind].name = f"{device}/{quantity}"


def change_sensor(described: SensorDescription, tree: Mapping[str, object], where: str) -> SensorDescription:
    """Return a description with changed fields.

    Args:
        described: the description to start from.
        tree: changes by name, text or values; a noise is a mapping: ``{"force_noise": {"std": 0.1}}``.
        where: path in front of the names, for messages.

    Raises:
        ModelError: an unknown name, with the nearest valid one; a value that does not convert or is out of range.
    """
    changes = changed_fields(type(described), tree, where, described)
    same: Any = described
    try:
        return dataclasses.replace(same, **changes)
    except ModelError as error:
        raise ModelError(f"{where}: {error.message}", field=f"{where}.{error.field or ''}") from error


def sensor_from_mapping(name: str, tree: Mapping[str, object], where: str) -> SensorDescription:
    """Return a described sensor from a mapping, as pliant's own YAML has it.

    Args:
        name: name of the device.
        tree: ``kind`` (imu, force_torque, camera, or one that a module registered) and the fields of that kind.
        where: path in front of the names, for messages.

    Raises:
        ModelError: an unknown kind or field, a value that does not convert or is out of range.
    """
    kind = tree.get("kind")
    if isinstance(kind, str) and kind not in SENSOR_KINDS:
        for offer in offers("devices"):
            offer.load()
    if not isinstance(kind, str) or kind not in SENSOR_KINDS:
        found = "is missing" if kind is None else f"is {kind!r}"
        raise ModelError(f"{where}.kind {found}; {nearest(str(kind or ''), SENSOR_KINDS)}", field=f"{where}.kind")
    changes = changed_fields(SENSOR_KINDS[kind], {k: v for k, v in tree.items() if k != "kind"}, where)
    make: Any = SENSOR_KINDS[kind]
    try:
        return make(name=name, **changes)
    except ModelError as error:
        raise ModelError(f"{where}: {error.message}", field=f"{where}.{error.field or ''}") from error

"""Sensors on ROS: Imu, LaserScan, WrenchStamped, their frames, and the joint states of other devices."""

from __future__ import annotations

import numpy as np

from pliant.devices.base import SampleSource
from pliant.devices.fields import Values
from pliant.model.noise import Noise
from pliant.ros.bridge.joint_state import joint_state
from pliant.ros.bridge.publication import Publication, picked
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message

_LASER_LIMITS = ("min_angle", "max_angle", "min_range", "max_range")


def covariance(noise: Noise | None) -> list[float]:
    """Return the 3 x 3 covariance of independent axes, row by row, as messages carry it.

    Args:
        noise: of the three axes; None for none.
    """
    variances = noise.variances(3) if noise is not None else [0.0] * 3
    return [variances[i // 3] if i % 4 == 0 else 0.0 for i in range(9)]


def serve_imu(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve ``<namespace>/<name>`` as sensor_msgs/Imu; the covariances are those of the device's noise."""
    values: Message = {"header": {"frame_id": topics.frame(device)}}
    for part, noise in device.noise.items():
        values[f"{part}_covariance"] = covariance(noise)
    parts = [("angular_velocity", "xyz"), ("linear_acceleration", "xyz")]
    if "orientation" in device.samples:
        parts.insert(0, ("orientation", "xyzw"))
    else:  # by the message's own rule: no estimate
        values["orientation_covariance"] = [-1.0] + [0.0] * 8

    def numbers(v: Values) -> list[float]:
        found: list[float] = []
        for part, axes in parts:
            array = np.asarray(v[part]).tolist()
            # A quaternion is w, x, y, z inside, x, y, z, w in ROS.
            found += array if len(axes) == 3 else [*array[1:], array[0]]
        return found

    Publication(
        topic=topics.of(device, name),
        type="sensor_msgs/Imu",
        paths=[f"{part}.{axis}" for part, axes in parts for axis in axes],
        numbers=numbers,
        values=values,
    ).serve(topics, name)


def serve_wrench(topics: RosTopics, name: str, device: SampleSource, topic: str = "") -> None:
    """Serve ``<namespace>/<name>``, or another topic, as geometry_msgs/WrenchStamped."""
    Publication(
        topic=topic or topics.of(device, name),
        type="geometry_msgs/WrenchStamped",
        paths=[f"wrench.{part}.{axis}" for part in ("force", "torque") for axis in "xyz"],
        numbers=lambda v: [*np.asarray(v["force"]).tolist(), *np.asarray(v["torque"]).tolist()],
        values={"header": {"frame_id": topics.frame(device)}},
    ).serve(topics, name)


def serve_laser(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve ``<namespace>/<name>`` as sensor_msgs/LaserScan: all rays of a scan are of one time."""
    first, last, near, far = (float(device.metadata[key]) for key in _LASER_LIMITS)
    rays = device.samples["ranges"].size
    values = {
        "header": {"frame_id": topics.frame(device)},
        "angle_min": first,
        "angle_max": last,
        "angle_increment": (last - first) / max(1, rays - 1),
        "scan_time": device.sample_period_ns * 1e-9,
        "range_min": near,
        "range_max": far,
        "ranges": [0.0] * rays,
    }
    Publication(
        topic=topics.of(device, name),
        type="sensor_msgs/LaserScan",
        paths=["ranges"],
        numbers=picked("ranges"),
        values=values,
    ).serve(topics, name)


def serve_joint_states(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve ``<namespace>/<name>/joint_states``."""
    n = device.samples["position"].size
    names = list(device.joints) or [f"{name}_joint{i + 1}" for i in range(n)]
    fields = ("position", "velocity", "effort" if "effort" in device.samples else "torque")
    joint_state(topics.name(name, "joint_states"), names, fields, size=n).serve(topics, name)


def serve_sole(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve ``<namespace>/<name>/joint_states`` and ``<namespace>/<name>/wrench``."""
    serve_joint_states(topics, name, device)
    serve_wrench(topics, name, device, topics.name(name, "wrench"))

"""Sensors on ROS: Imu, LaserScan, WrenchStamped, their frames, and the joint states of other devices."""

from __future__ import annotations

from typing import Any

from pliant.devices.base import Sample, SampleSource
from pliant.devices.imu import covariance
from pliant.ros.bridge.joint_state import joint_state_writer
from pliant.ros.bridge.names import topic_name
from pliant.ros.bridge.topics import RosTopics

__all__ = [
    "has_joint_states",
    "is_imu",
    "is_laser",
    "is_sole",
    "is_wrench",
    "serve_imu",
    "serve_joint_states",
    "serve_laser",
    "serve_sensor_frames",
    "serve_sole",
    "serve_wrench",
]

_LASER_LIMITS = ("min_angle", "max_angle", "min_range", "max_range")


def _shape(device: SampleSource, field: str) -> tuple[int, ...] | None:
    info = device.samples.get(field)
    return None if info is None else info.shape


def _topic(topics: RosTopics, name: str, device: SampleSource) -> str:
    """Return the topic of a sensor: what its description says, absolute or in the name space, else its name."""
    topic = device.topic or name
    return topic_name(topic) if topic.startswith("/") else topics.name(topic)


def is_imu(device: SampleSource) -> bool:
    """Return whether a device samples angular velocity and linear acceleration."""
    return _shape(device, "angular_velocity") == (3,) and _shape(device, "linear_acceleration") == (3,)


def serve_imu(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve ``<namespace>/<name>`` as sensor_msgs/Imu; the covariances are those of the device's noise."""
    handle = topics.advertise(_topic(topics, name, device), "sensor_msgs/Imu")
    values: dict[str, Any] = {"header": {"frame_id": device.frame}}
    for part, noise in device.noise.items():
        values[f"{part}_covariance"] = covariance(noise)
    has_orientation = _shape(device, "orientation") == (4,)
    if not has_orientation:  # by the message's own rule: no estimate
        values["orientation_covariance"] = [-1.0] + [0.0] * 8
    parts = [("orientation", "xyzw")] if has_orientation else []
    parts += [("angular_velocity", "xyz"), ("linear_acceleration", "xyz")]
    fill = topics.stamped("sensor_msgs/Imu", values, [f"{part}.{axis}" for part, axes in parts for axis in axes])

    def write(sample: Sample) -> None:
        if handle.active:
            v = sample.values
            numbers: list[float] = []
            for part, axes in parts:
                array = v[part].tolist()
                # A quaternion is w, x, y, z inside, x, y, z, w in ROS.
                numbers += array if len(axes) == 3 else [*array[1:], array[0]]
            handle.send(fill(sample.stamp_ns, *numbers))

    topics.writers[name].append(write)


def is_wrench(device: SampleSource) -> bool:
    """Return whether a device samples a force and a torque."""
    return _shape(device, "force") == (3,) and _shape(device, "torque") == (3,)


def serve_wrench(topics: RosTopics, name: str, device: SampleSource, topic: str = "") -> None:
    """Serve ``<namespace>/<name>``, or another topic, as geometry_msgs/WrenchStamped."""
    handle = topics.advertise(topic or _topic(topics, name, device), "geometry_msgs/WrenchStamped")
    header = {"header": {"frame_id": device.frame}}
    paths = [f"wrench.{part}.{axis}" for part in ("force", "torque") for axis in "xyz"]
    fill = topics.stamped("geometry_msgs/WrenchStamped", header, paths)

    def write(sample: Sample) -> None:
        if handle.active:
            v = sample.values
            handle.send(fill(sample.stamp_ns, *v["force"].tolist(), *v["torque"].tolist()))

    topics.writers[name].append(write)


def is_laser(device: SampleSource) -> bool:
    """Return whether a device samples the distances of a laser scanner, and says between which angles and limits."""
    return len(_shape(device, "ranges") or ()) == 1 and all(key in device.metadata for key in _LASER_LIMITS)


def serve_laser(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve ``<namespace>/<name>`` as sensor_msgs/LaserScan: all rays of a scan are of one time."""
    handle = topics.advertise(_topic(topics, name, device), "sensor_msgs/LaserScan")
    first, last, near, far = (float(device.metadata[key]) for key in _LASER_LIMITS)
    rays = device.samples["ranges"].shape[0]
    values = {
        "header": {"frame_id": device.frame},
        "angle_min": first,
        "angle_max": last,
        "angle_increment": (last - first) / max(1, rays - 1),
        "scan_time": device.sample_period_ns * 1e-9,
        "range_min": near,
        "range_max": far,
        "ranges": [0.0] * rays,
    }
    fill = topics.stamped("sensor_msgs/LaserScan", values, ["ranges"])

    def write(sample: Sample) -> None:
        if handle.active:
            handle.send(fill(sample.stamp_ns, sample.values["ranges"]))

    topics.writers[name].append(write)


def serve_sensor_frames(topics: RosTopics) -> None:
    """Send ``/tf_static``, once and latched: the frames of sensors that are fixed to a body and not the body's own."""
    mounts = {device.frame: device.mount for device in topics.devices.values() if device.mount is not None}
    if not mounts:
        return
    transforms = [
        {
            "header": {"frame_id": mount.body},
            "child_frame_id": frame,
            "transform": {
                "translation": dict(zip("xyz", mount.position, strict=True)),
                "rotation": dict(zip("wxyz", mount.orientation, strict=True)),
            },
        }
        for frame, mount in mounts.items()
    ]
    handle = topics.advertise("/tf_static", "tf2_msgs/TFMessage", latch=True)
    handle.send(topics.node.codec.encode("tf2_msgs/TFMessage", {"transforms": transforms}))


def _effort(device: SampleSource) -> str:
    return "effort" if "effort" in device.samples else "torque"


def has_joint_states(device: SampleSource) -> bool:
    """Return whether a device samples positions, velocities and efforts of as many joints."""
    shape = _shape(device, "position")
    return bool(shape) and _shape(device, "velocity") == shape == _shape(device, _effort(device))


def serve_joint_states(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve ``<namespace>/<name>/joint_states``."""
    n = device.samples["position"].shape[0]
    names = list(device.joints) or [f"{name}_joint{i + 1}" for i in range(n)]
    fields = ("position", "velocity", _effort(device))
    topics.writers[name].append(joint_state_writer(topics, topics.name(name, "joint_states"), names, fields, size=n))


def is_sole(device: SampleSource) -> bool:
    """Return whether a device samples joints and a wrench at once, as the sensing of a sole does."""
    return is_wrench(device) and has_joint_states(device)


def serve_sole(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve ``<namespace>/<name>/joint_states`` and ``<namespace>/<name>/wrench``."""
    serve_joint_states(topics, name, device)
    serve_wrench(topics, name, device, topics.name(name, "wrench"))

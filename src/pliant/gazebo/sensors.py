"""Gazebo's `<sensor>` tags in URDF and SDF, and the tags of the ROS plugins inside them, as described sensors.

Read are the types imu, force_torque, camera, depth (depth_camera), rgbd (rgbd_camera) and ray (lidar); of the plugins
those of gazebo_ros_pkgs, for ROS 1 and ROS 2, with the topics that they would publish. Values have to be right: a
number that is none is refused with its line. What a tag asks for and pliant does not do stands in the notes.
"""

from __future__ import annotations

import copy
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.base.errors import DeviceError, ModelError, nearest
from pliant.base.names import numbered_name
from pliant.base.numerics import Array
from pliant.base.spatial import quaternion_from_rpy, quaternion_product, rotate
from pliant.formats.source import TagReader
from pliant.formats.tags import Sink, Tags, library_of, link_of
from pliant.model.noise import Noise
from pliant.model.sensors import (
    MEASURE_DIRECTIONS,
    MEASURE_FRAMES,
    Camera,
    ForceTorque,
    Imu,
    Laser,
    Quaternion,
    SensorDescription,
)

Pose = tuple[Array, Array]
"""Position [m] and quaternion."""
TYPES = {
    "imu": "imu",
    "force_torque": "force_torque",
    "camera": "camera",
    "depth": "depth",
    "depth_camera": "depth",
    "rgbd": "rgbd",
    "rgbd_camera": "rgbd",
    "ray": "laser",
    "gpu_ray": "laser",
    "lidar": "laser",
    "gpu_lidar": "laser",
}
"""Type of a sensor tag -> kind that is simulated."""
OPTICAL: Quaternion = (0.5, -0.5, 0.5, -0.5)
"""From Gazebo's frame of a camera (x forward, z up) to the optical one (z forward, y down)."""
DEFAULT_CAMERA_RATE = 30.0
"""Rate of a camera that names none [Hz]; assumed, as Gazebo would render as often as it can."""
COLOR_SCALE = 255.0
"""Gazebo's noise of colours is on a scale of 0 to 1."""

_PLUGIN = re.compile(
    r"(?:lib)?(?:gazebo_ros_"
    r"(?P<kind>imu|imu_sensor|ft_sensor|camera|depth_camera|openni_kinect|laser|gpu_laser|ray_sensor)"
    r"|(?:gz-sim|ignition-gazebo)\d?-(?:imu|forcetorque|sensors)-system)(?:\.so|\.dylib|\.dll)?"
)
_MODEL_PLUGINS = ("imu", "imu_sensor", "ft_sensor")
"""Plugins that also stand outside a sensor, where they make one."""
_QUIET = {
    "always_on", "visualize", "update_rate", "pose", "topic", "plugin", "imu", "force_torque", "camera", "depth_camera",
    "ray", "lidar",
    "enable_metrics", "gz_frame_id", "ignition_frame_id", "frame_id",
}  # fmt: skip
_IMU_TAGS = {"angular_velocity", "linear_acceleration", "noise", "enable_orientation"}
_FT_TAGS = {"frame", "measure_direction", "force", "torque"}
_CAMERA_TAGS = {
    "horizontal_fov", "image", "clip", "noise", "pose", "optical_frame_id", "camera_info_topic", "depth_camera", "save",
    "distortion", "lens",
}  # fmt: skip


def is_sensor_plugin(filename: str) -> bool:
    """Return whether a plugin is one of those that are read here."""
    return _PLUGIN.fullmatch(library_of(filename)) is not None


def _plugin_kind(element: ET.Element) -> str:
    match = _PLUGIN.fullmatch(library_of(element.get("filename", "")))
    return (match["kind"] or "") if match else ""


def read_sensor_tags(
    root: ET.Element, taken: Iterable[str], file: str | Path | None, notes: list[str]
) -> list[SensorDescription]:
    """Return the sensors of a description, in the order of the file.

    Args:
        root: the ``<robot>`` of a URDF, or the ``<model>`` or ``<world>`` of an SDF.
        taken: names that other devices have.
        file: name of the file, for messages.
        notes: list to which omissions and assumptions are added.

    Raises:
        ModelError: a sensor or a plugin of a sensor has a value that is not valid, or names nothing of the robot. The
            message has file, line and tag.
    """
    reader = _Reader(root, taken, file, notes)
    if root.tag == "robot":
        for element in root.findall("gazebo"):
            reader.place(element, element.get("reference", ""))
    else:
        for element in (e for tag in ("link", "joint") for e in root.iter(tag)):
            reader.place(element, element.get("name", ""))
        for element in root.iter("model"):
            reader.place(element, "")
    return reader.found


def _within(outer: Pose, inner: Pose) -> Pose:
    """Return a pose that is given in the frame of another one."""
    return outer[0] + rotate(outer[1], inner[0]), quaternion_product(outer[1], inner[1])


def _place(pose: Pose) -> dict[str, object]:
    """Return the fields "pos" and "quat" of a described sensor."""
    return {"pos": tuple(map(float, pose[0])), "quat": tuple(map(float, pose[1]))}


class _Reader(Sink):
    """Collect the sensors of a description."""

    def __init__(self, root: ET.Element, taken: Iterable[str], file: str | Path | None, notes: list[str]) -> None:
        super().__init__(file, notes)
        self.found: list[SensorDescription] = []
        self.links = {link.get("name", "") for link in root.iter("link")}
        self.children = _children(root)
        self.taken = {"board", *taken}

    def place(self, element: ET.Element, reference: str) -> None:
        """Read the sensors of a link, of a joint or (no reference) of the robot."""
        for sensor in element.findall("sensor"):
            self.sensor(sensor, reference)
        for plugin in element.findall("plugin"):
            if _plugin_kind(plugin) in _MODEL_PLUGINS:
                self.model_plugin(plugin, reference)

    # -- one sensor -------------------------------------------------------------------------------------

    def sensor(self, element: ET.Element, reference: str) -> None:
        name, kind = element.get("name", "").strip(), element.get("type", "").strip()
        tags = Tags(element, f"sensor {name!r}", self.file)
        if not name:
            raise tags.fault("a sensor has no name", "name", element)
        if not kind:
            raise tags.fault(f"the type is missing; must be one of {', '.join(TYPES)}", "type", element)
        if kind == "multicamera":
            self.several_cameras(element, name, reference)
            return
        if kind not in TYPES:
            self.note(element, f"sensor {name!r} of type {kind!r} is not simulated and left out")
            return
        if not reference:
            raise tags.fault("it stands on no link; must be inside <gazebo reference='a link or joint'>", "reference")
        plugin = self.plugin(element)
        makers: dict[str, Callable[..., SensorDescription]] = {"imu": self.imu, "force_torque": self.force_torque}
        makers["laser"] = self.laser
        make = makers.get(TYPES[kind], self.camera)
        for child in element:
            if isinstance(child.tag, str) and child.tag not in _QUIET:
                self.note(child, f"<{child.tag}> of sensor {name!r} has no effect")
        self.add(make(tags, plugin, name, reference, TYPES[kind]))

    def several_cameras(self, element: ET.Element, name: str, reference: str) -> None:
        """Read a sensor of several cameras as as many cameras, named by the sensor and the camera."""
        cameras = element.findall("camera")
        if not cameras:
            raise Tags(element, f"sensor {name!r}", self.file).fault("a multicamera needs <camera>", "camera", element)
        for number, camera in enumerate(cameras, 1):
            one = copy.copy(element)
            one.attrib = {**element.attrib, "type": "camera", "name": f"{name}_{camera.get('name') or number}"}
            for other in cameras:
                if other is not camera:
                    one.remove(other)
            self.sensor(one, reference)

    def add(self, described: SensorDescription) -> None:
        self.taken.add(described.name)
        self.found.append(described)

    def free(self, name: str, element: ET.Element) -> str:
        free = numbered_name(name, self.taken)
        if free != name:
            self.note(element, f"the sensor {name!r} is called {free!r}, as the name is taken")
        return free

    def plugin(self, sensor: ET.Element) -> Tags | None:
        known = [p for p in sensor.findall("plugin") if _plugin_kind(p)]
        if len(known) > 1:
            self.note(known[1], f"sensor {sensor.get('name')!r} has several ROS plugins; the first is taken")
        if not known:
            return None
        return Tags(known[0], f"plugin {known[0].get('name', '')!r} of sensor {sensor.get('name')!r}", self.file)

    def link(self, tags: Tags, reference: str, tag: str = "sensor") -> str:
        if reference in self.links:
            return reference
        if reference in self.children:
            return self.children[reference]
        valid = nearest(reference, [*self.links, *self.children])
        raise tags.fault(f"it is on {reference!r}, which the robot does not have; {valid}", tag)

    def build(self, tags: Tags, element: ET.Element, kind: type[SensorDescription], **values: Any) -> Any:
        try:
            return kind(**values)
        except (ModelError, DeviceError) as error:
            message = error.message.partition(": ")[2] if isinstance(error, ModelError) else error.message
            raise tags.fault(message, error.field or "sensor", element) from error

    def rate(self, tags: Tags, plugin: Tags | None, names: tuple[str, ...] = ("updateRate",)) -> float:
        """Return the lower of the sensor's and the plugin's rates [Hz]; 0 for none."""
        rates = [tags.number("update_rate", 0.0, least=0.0)] if tags.element.tag == "sensor" else []
        if plugin is not None:
            rates += [plugin.number(name, 0.0, least=0.0) for name in names]
        return min((rate for rate in rates if rate > 0.0), default=0.0)

    def topic(self, tags: Tags, plugin: Tags | None) -> str:
        """Return the topic that the plugin or Gazebo would use; "" where they name none."""
        if plugin is not None:
            space = plugin.text("robotNamespace") or plugin.text("ros/namespace")
            named = plugin.text("topicName")
            if named:
                return _under(space, named)
            remapped = _remappings(plugin.element).get("~/out")
            if remapped:
                return _under(space, remapped)
        named = tags.text("topic") if tags.element.tag == "sensor" else ""
        return f"/{named.strip('/')}" if named and named != "__default_topic__" else ""

    def frame(self, tags: Tags, plugin: Tags | None) -> str:
        names = [plugin.text(tag) for tag in ("frameName", "frame_name")] if plugin is not None else []
        own = ("gz_frame_id", "ignition_frame_id", "frame_id") if tags.element.tag == "sensor" else ()
        names += [tags.text(tag) for tag in own]
        return next((name.strip("/") for name in names if name.strip("/")), "")

    # -- noise ------------------------------------------------------------------------------------------

    def noise(self, node: ET.Element | None, tags: Tags, *, scale: float = 1.0) -> tuple[float, float, float, float]:
        """Return (std, bias, resolution, mean) of a ``<noise>`` element; bias is the deviation of a drawn offset."""
        if node is None:
            return (0.0, 0.0, 0.0, 0.0)
        own = tags.inner(node)
        kind = node.get("type") or own.text("type") or "none"
        if kind not in ("none", "gaussian", "gaussian_quantized"):
            valid = nearest(kind, ("none", "gaussian", "gaussian_quantized"))
            raise own.fault(f"the noise is of type {kind!r}; {valid}", "type")
        if kind == "none":
            return (0.0, 0.0, 0.0, 0.0)
        for tag in ("dynamic_bias_stddev", "dynamic_bias_correlation_time"):
            if own.number(tag, 0.0, least=0.0):
                self.note(node, f"<{tag}> of {tags.who} has no effect: a bias stays for the run")
        return (
            scale * own.number("stddev", 0.0, least=0.0),
            scale * own.number("bias_stddev", 0.0, least=0.0),
            scale * own.number("precision", 0.0, least=0.0) if kind == "gaussian_quantized" else 0.0,
            scale * (own.number("mean", 0.0) + own.number("bias_mean", 0.0)),
        )

    def axes(self, tags: Tags, path: str, extra: float = 0.0) -> Noise:
        """Return the noise of three axes, ``<path><x><noise>``, with a further standard deviation."""
        rows = [self.noise(tags.element.find(f"{path}/{axis}/noise"), tags) for axis in "xyz"]
        return _noise(rows, extra)

    # -- the kinds --------------------------------------------------------------------------------------

    def imu(self, tags: Tags, plugin: Tags | None, name: str, reference: str, _kind: str) -> SensorDescription:
        element = tags.element
        named = plugin.text("bodyName") if plugin is not None else ""
        link = self.link(plugin, named, "bodyName") if plugin is not None and named else self.link(tags, reference)
        pose = tags.pose()
        extra = 0.0
        if plugin is not None:
            xyz, rpy = plugin.vector("xyzOffset", 3), plugin.vector("rpyOffset", 3)
            pose = _within(pose, (np.array(xyz or [0.0] * 3), quaternion_from_rpy(rpy or [0.0] * 3)))
            extra = plugin.number("gaussianNoise", 0.0, least=0.0)
        old = element.find("imu/noise")
        if old is not None:
            shared = tags.inner(old)
            turning, pushing = self.shared_noise(shared, "rate"), self.shared_noise(shared, "accel")
            noises = _noise([turning] * 3, extra), _noise([pushing] * 3, extra)
        else:
            noises = self.axes(tags, "imu/angular_velocity", extra), self.axes(tags, "imu/linear_acceleration", extra)
        self.note_unknown(element.find("imu"), _IMU_TAGS, tags)
        return self.build(
            tags,
            element,
            Imu,
            name=self.free(name, element),
            body=link,
            **_place(pose),
            rate=self.rate(tags, plugin, ("updateRate", "updateRateHZ")),
            frame=self.frame(tags, plugin),
            topic=self.topic(tags, plugin),
            orientation=tags.flag("imu/enable_orientation", True),
            angular_velocity_noise=noises[0],
            linear_acceleration_noise=noises[1],
            orientation_noise=Noise(std=extra),
        )

    def shared_noise(self, tags: Tags, part: str) -> tuple[float, float, float, float]:
        """Return the noise of the form before SDF 1.5: one type, then mean and stddev of a rate and an acceleration."""
        node, kind = tags.element.find(part), tags.element.find("type")
        if node is None or kind is None:
            return (0.0, 0.0, 0.0, 0.0)
        whole = ET.Element("noise")
        whole.extend([kind, *node])
        return self.noise(whole, tags)

    def force_torque(self, tags: Tags, plugin: Tags | None, name: str, reference: str, _: str) -> SensorDescription:
        element = tags.element
        if reference not in self.children:
            joints = nearest(reference, self.children)
            raise tags.fault(f"a force/torque sensor stands on a joint, and {reference!r} is none; {joints}", "sensor")
        axes = tags.text("force_torque/frame", "child")
        direction = tags.text("force_torque/measure_direction", "child_to_parent")
        for path, value, valid in (
            ("force_torque/frame", axes, MEASURE_FRAMES),
            ("force_torque/measure_direction", direction, MEASURE_DIRECTIONS),
        ):
            if value not in valid:
                raise tags.fault(f"<{path.partition('/')[2]}> is {value!r}; {nearest(value, valid)}", path)
        extra = plugin.number("gaussianNoise", 0.0, least=0.0) if plugin is not None else 0.0
        self.note_unknown(element.find("force_torque"), _FT_TAGS, tags)
        return self.build(
            tags,
            element,
            ForceTorque,
            name=self.free(name, element),
            body=self.children[reference],
            **_place(tags.pose()),
            measure_frame=axes,
            measure_direction=direction,
            rate=self.rate(tags, plugin),
            frame=self.frame(tags, plugin),
            topic=self.topic(tags, plugin),
            force_noise=self.axes(tags, "force_torque/force", extra),
            torque_noise=self.axes(tags, "force_torque/torque", extra),
        )

    def laser(self, tags: Tags, plugin: Tags | None, name: str, reference: str, _: str) -> SensorDescription:
        element = tags.element
        beam = next((node for node in (element.find("ray"), element.find("lidar")) if node is not None), None)
        if beam is None:
            raise tags.fault("a laser needs <ray> or <lidar>", "ray", element)
        own = tags.inner(beam)
        if own.number("scan/vertical/samples", 1, least=1, whole=True) > 1:
            self.note(element, f"the laser {name!r} scans one plane; <vertical> has no effect")
        rays = int(own.number("scan/horizontal/samples", 640, least=1, whole=True))
        rays = max(1, round(rays * own.number("scan/horizontal/resolution", 1.0, least=1e-6)))
        first, last = (own.number(f"scan/horizontal/{end}_angle", 0.0) for end in ("min", "max"))
        if rays == 1:
            first = last = 0.5 * (first + last)  # as Gazebo: ahead, not at the edge of the field
        noise = self.noise(beam.find("noise"), tags)
        extra = plugin.number("gaussianNoise", 0.0, least=0.0) if plugin is not None else 0.0
        grid = own.number("range/resolution", 0.0, least=0.0)
        self.note_unknown(beam, {"scan", "range", "noise"}, tags)
        output = plugin.text("output_type") if plugin is not None else ""
        if output and not output.endswith("LaserScan"):
            self.note(element, f"the laser {name!r} sends sensor_msgs/LaserScan; <output_type> {output} has no effect")
        return self.build(
            tags,
            element,
            Laser,
            name=self.free(name, element),
            body=self.link(tags, reference),
            **_place(tags.pose()),
            rays=rays,
            min_angle=first,
            max_angle=last,
            min_range=own.number("range/min", 0.0, least=0.0),
            max_range=own.number("range/max", 30.0, least=0.0),
            noise=_noise([(noise[0], noise[1], max(noise[2], grid), noise[3])], extra),
            rate=self.rate(tags, plugin),
            frame=self.frame(tags, plugin),
            topic=self.topic(tags, plugin),
        )

    def camera(self, tags: Tags, plugin: Tags | None, name: str, reference: str, kind: str) -> SensorDescription:
        element = tags.element
        link = self.link(tags, reference)
        lens = element.find("camera")
        if lens is None:
            lens = element.find("depth_camera")
        own = tags.inner(lens if lens is not None else ET.Element("camera"))
        width = int(own.number("image/width", 320, least=1, whole=True))
        height = int(own.number("image/height", 240, least=1, whole=True))
        horizontal = own.number("horizontal_fov", 1.047, least=1e-3, most=3.1)
        fovy = math.degrees(2.0 * math.atan(math.tan(0.5 * horizontal) * height / width))
        place = _within(_within(tags.pose(), own.pose()), (np.zeros(3), np.array(OPTICAL)))
        plugin_kind = _plugin_kind(plugin.element) if plugin is not None else ""
        both = kind == "rgbd" or plugin_kind in ("openni_kinect", "depth_camera") or (
            kind == "depth" and plugin_kind == "camera"
        )  # fmt: skip
        color, depth = kind != "depth" or both, kind != "camera" or both
        scale = 1.0 if kind == "depth" and not both else COLOR_SCALE
        noise = _noise([self.noise(lens.find("noise") if lens is not None else None, tags, scale=scale)], 0.0)
        rate = self.rate(tags, plugin)
        if not rate:
            rate = DEFAULT_CAMERA_RATE
            self.note(element, f"sensor {name!r} names no update rate; it takes {rate:g} Hz")
        enabled = tags.flag("always_on", False) or plugin is not None
        free = self.free(name, element)
        if not enabled:
            self.note(
                element,
                f"the camera {free!r} renders when asked to, as <always_on> is not true: --set {free}.enabled=true",
            )
        if lens is not None:
            self.note_unknown(lens, _CAMERA_TAGS, tags)
        return self.build(
            tags,
            lens if lens is not None else element,
            Camera,
            name=free,
            body=link,
            **_place(place),
            width=width,
            height=height,
            fovy=fovy,
            **self.lens(own),
            near=own.number("clip/near", 0.1, least=1e-6),
            far=own.number("clip/far", 100.0, least=1e-6),
            rate=rate,
            color=color,
            depth=depth,
            noise=noise if scale != 1.0 else Noise(),
            depth_noise=noise if scale == 1.0 else Noise(),
            frame=self.frame(tags, plugin) or own.text("optical_frame_id"),
            enabled=enabled,
            **self.camera_topics(tags, plugin, own, free, kind),
        )

    def lens(self, own: Tags) -> dict[str, tuple[float, ...]]:
        """Return `Camera`'s fields about the lens; SDF counts pixels from the corner of the first one."""
        found: dict[str, tuple[float, ...]] = {}
        distortion = tuple(own.number(f"distortion/{key}", 0.0) for key in ("k1", "k2", "p1", "p2", "k3"))
        if any(distortion):
            found["distortion"] = distortion
        for name, keys, shift in (("focal", ("fx", "fy"), 0.0), ("principal", ("cx", "cy"), 0.5)):
            paths = [f"lens/intrinsics/{key}" for key in keys]
            given = [path for path in paths if own.child(path) is not None]
            if len(given) == 2:
                found[name] = tuple(own.number(path, 1.0) - shift for path in paths)
            elif given:
                self.note(own.element, f"<{given[0]}> has no effect without <{(set(paths) - set(given)).pop()}>")
        self.note_unknown(own.element.find("lens"), {"intrinsics"}, own)
        self.note_unknown(own.element.find("lens/intrinsics"), {"fx", "fy", "cx", "cy", "s"}, own)
        self.note_unknown(own.element.find("distortion"), {"k1", "k2", "k3", "p1", "p2", "center"}, own)
        for path, neutral in (("lens/intrinsics/s", [0.0]), ("distortion/center", [0.5, 0.5])):
            if own.vector(path, len(neutral)) not in (None, neutral):
                self.note(own.element, f"<{path}> is {own.text(path)}; in pliant it is {' '.join(map(str, neutral))}")
        return found

    def camera_topics(self, tags: Tags, plugin: Tags | None, own: Tags, name: str, kind: str) -> dict[str, str]:
        """Return `Camera`'s fields about topics."""
        if plugin is not None:
            space = plugin.text("robotNamespace") or plugin.text("ros/namespace")
            camera = plugin.text("cameraName") or plugin.text("camera_name") or own.element.get("name", "") or name
            values = {"topic": camera if camera.startswith("/") else _under(space, camera)}
            remapped = _remappings(plugin.element)
            for key, tag, default in (
                ("image_topic", "imageTopicName", "image_raw"),
                ("info_topic", "cameraInfoTopicName", "camera_info"),
                ("depth_topic", "depthImageTopicName", "depth/image_raw"),
                ("depth_info_topic", "depthImageCameraInfoTopicName", "depth/camera_info"),
            ):
                given = plugin.text(tag)
                if given:
                    values[key] = given
                    continue
                again = remapped.get(f"~/{default}") or remapped.get(f"{camera}/{default}") or remapped.get(default)
                if again:
                    values[key] = _under(space, again)
            for tag in ("pointCloudTopicName", "pointCloudCutoff", "pointCloudCutoffMax"):
                if plugin.element.find(tag) is not None:
                    self.note(plugin.element, f"<{tag}> has no effect: pliant sends no point clouds")
            return values
        topic = self.topic(tags, None)
        if not topic:
            return {}
        if kind == "rgbd":
            return {
                "topic": topic,
                "image_topic": "image",
                "info_topic": "camera_info",
                "depth_topic": "depth_image",
                "depth_info_topic": "depth/camera_info",
            }
        info = own.text("camera_info_topic") or topic.rpartition("/")[0] + "/camera_info"
        info = f"/{info.strip('/')}"
        if kind == "depth":
            return {"topic": topic, "depth_topic": topic, "depth_info_topic": info}
        return {"topic": topic, "image_topic": topic, "info_topic": info}

    # -- plugins that make a sensor ---------------------------------------------------------------------

    def model_plugin(self, element: ET.Element, reference: str) -> None:
        kind = _plugin_kind(element)
        plugin = Tags(element, f"plugin {element.get('name', '')!r}", self.file)
        if kind == "ft_sensor":
            joint = plugin.text("jointName") or plugin.text("joint_name") or reference
            if joint not in self.children:
                found = f"<jointName> is {joint!r}" if joint else "<jointName> is missing"
                raise plugin.fault(f"{found}; {nearest(joint, self.children)}", "jointName")
            name = element.get("name", "").strip() or f"{joint}_ft"
            described = self.force_torque(plugin, plugin, name, joint, "force_torque")
        else:
            body = plugin.text("bodyName") or reference
            if not body:
                raise plugin.fault(f"<bodyName> is missing; {nearest('', self.links)}", "bodyName")
            described = self.imu(plugin, plugin, element.get("name", "").strip() or f"{body}_imu", body, "imu")
        self.add(described)

    def note_unknown(self, element: ET.Element | None, known: set[str], tags: Tags) -> None:
        for child in element if element is not None else ():
            if isinstance(child.tag, str) and child.tag not in known:
                self.note(child, f"<{child.tag}> of {tags.who} has no effect")


def _children(root: ET.Element) -> dict[str, str]:
    """Return the child link of each joint of a URDF or of an SDF model."""
    joints = (joint for joint in root.iter("joint") if joint.get("name") and joint.find("child") is not None)
    return {joint.get("name", ""): link_of(joint, "child") for joint in joints}


def _noise(rows: list[tuple[float, float, float, float]], extra: float) -> Noise:
    """Return the noise of axes given as (std, bias, resolution, mean), with a further standard deviation."""
    values = {}
    for index, key in enumerate(("std", "bias", "resolution", "mean")):
        numbers = [math.hypot(row[0], extra) if key == "std" else row[index] for row in rows]
        values[key] = numbers[0] if len(set(numbers)) == 1 else tuple(numbers)
    return Noise(**values)


def _remappings(plugin: ET.Element) -> dict[str, str]:
    """Return old name -> new name of the ``<ros>`` element of a ROS 2 plugin."""
    found = {}
    for tag in ("remapping", "argument"):
        for node in plugin.findall(f"ros/{tag}"):
            old, sign, new = (node.text or "").strip().partition(":=")
            if sign and old and new:
                found[old.strip()] = new.strip()
    return found


def _under(space: str, name: str) -> str:
    """Return an absolute name: the name itself where it is absolute, else below a name space."""
    parts = [name] if name.startswith("/") else [space, name]
    return "/" + "/".join(part.strip("/") for part in parts if part.strip("/"))


READER = TagReader(name="sensors", title="Gazebo", owns=is_sensor_plugin, sensors=read_sensor_tags)
"""Gazebo's sensor tags, and the plugins of ROS inside and beside them."""

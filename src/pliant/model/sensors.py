"""Sensors described: inertial units, force/torque sensors and cameras, where they sit and how well they measure.

A description is data. What MuJoCo needs for it (a site, sensors, a camera) is added to the model when the robot is
compiled, by `Robot.assemble`; the device itself is made by `pliant.devices.make_devices`.

Frames. A quaternion is (w, x, y, z). The frame of an inertial unit and of a force/torque sensor is that of its site.
The frame of a camera is the optical one of ROS (REP 103): z forward, x to the right of the image, y down; a camera of
MuJoCo looks along its -z axis with y up, which is half a turn about x.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import mujoco
import numpy as np

from pliant.base.errors import DeviceError, ModelError, nearest
from pliant.base.options import Registry, check_values, option, place_of
from pliant.base.spatial import quaternion_product
from pliant.model.noise import Noise

Element = TypeVar("Element", mujoco.MjsSite, mujoco.MjsBody, mujoco.MjsCamera)
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)
HALF_TURN: Quaternion = (0.0, 1.0, 0.0, 0.0)
"""From the optical frame to MuJoCo's frame of the same camera, and back."""
MAX_IMAGE_SIDE = 4096
"""Most pixels along a side; assumed, four times what the default buffers of drivers hold."""
MAX_RAYS = 100_000
"""Most rays of a laser; assumed."""
LENS = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3")
"""Fields of `pliant.base.camera.CameraParameters` in the order of `Camera.focal`, `principal`, `distortion`."""
MAX_BLUR = 50.0
"""Largest standard deviation of a blur [pixels]; assumed, more is no picture of anything."""
MAX_DELAYED_BYTES = 2**30
"""Most bytes of images that wait for their latency to pass; assumed."""
MEASURE_FRAMES = ("sensor", "child", "parent")
MEASURE_DIRECTIONS = ("child_to_parent", "parent_to_child")


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorDescription:
    """Common fields of all described sensors: a name, a place, a rate, a delay, names for ROS."""

    name: str
    """Name of the device, unique on its robot."""
    site: str = ""
    """Site of the model that it sits on; "" for a place on a body."""
    body: str = ""
    """Body that it sits on, at `pos` and `quat`; "world" for the world, "" for a site."""
    pos: Vector = (0.0, 0.0, 0.0)
    """Origin of its frame in the body's [m]; with a site it is not used."""
    quat: Quaternion = IDENTITY
    """Orientation of its frame in the body's, (w, x, y, z); with a site it is not used."""
    rate: float = option(0.0, unit="Hz", low=0.0)
    """Samples a second of simulation time, the nearest that has a whole number of steps between two; 0 for every
    step."""
    latency: float = option(0.0, unit="s", low=0.0)
    """Age of a sample on arrival."""
    frame: str = ""
    """frame_id of its messages; "" takes the body's name where its frame is the body's, else its own."""
    topic: str = ""
    """Topic of its messages, for cameras the name space of their topics; absolute where it begins with "/", else
    below the robot's name space; "" takes the device's name."""
    enabled: bool = True
    """Whether the sensor is simulated."""

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise self.fault(f"the name is {self.name!r}; must be a text that is not empty", "name")
        self._check_place()
        for key, count in (("pos", 3), ("quat", 4)):
            given = getattr(self, key)
            try:
                vector = tuple(float(v) for v in given)
            except (TypeError, ValueError):
                vector = ()
            if len(vector) != count or not all(map(math.isfinite, vector)):
                raise self.fault(f"{key} is {given!r}; must be {count} finite numbers", key)
            if key == "quat":
                size = math.hypot(*vector)
                if not size > 0.0:
                    raise self.fault(f"quat is {given!r}; must be a quaternion (w, x, y, z) that is not 0", key)
                vector = tuple(v / size for v in vector)
            object.__setattr__(self, key, vector)
        self._refuse_unused()
        check_values(self, lambda message, field: self.fault(message, field), names=str)

    def _check_place(self) -> None:
        if bool(self.site) == bool(self.body):
            found = f"site {self.site!r} and body {self.body!r}" if self.site else "neither site nor body"
            raise self.fault(f"it has {found}; must be one of them", "site")

    def _refuse_unused(self) -> None:
        """Refuse what the model's site or camera says in place of the description."""
        camera = getattr(self, "camera", "")
        model_says = () if self.body else ("pos", "quat", "fovy") if camera else ("pos", "quat")
        for item in dataclasses.fields(self):
            if item.name in model_says and getattr(self, item.name) != item.default:
                raise self.fault(
                    f"{item.name} is {getattr(self, item.name)}, which has no effect: the model's "
                    f"{'camera' if camera else 'site'} {camera or self.site!r} has its own; change the model, or name "
                    "a body in place of it",
                    item.name,
                )

    def _check_noise(self, key: str, count: int) -> None:
        noise = getattr(self, key)
        if not isinstance(noise, Noise):
            raise self.fault(f"{key} is {noise!r}; must be a Noise", key)
        try:
            noise.check_size(count, key)
        except DeviceError as error:
            raise self.fault(error.message, key) from error

    def fault(self, message: str, key: str) -> ModelError:
        """Return an error about this sensor."""
        return ModelError(f"{type(self).__name__} {self.name!r}: {message}", field=key)

    def prefixed(self, prefix: str) -> typing.Self:
        """Return the description with the device's and the model's names prefixed; topics and frames that were given
        stay."""
        changes = {
            f.name: prefix + getattr(self, f.name)
            for f in dataclasses.fields(self)
            if f.name in ("name", "site", "body", "camera")
            and getattr(self, f.name)
            and not (f.name == "body" and self.body == "world")
        }
        return dataclasses.replace(self, **changes)

    @property
    def frame_id(self) -> str:
        """The frame_id of its messages."""
        if self.frame:
            return self.frame
        same = self.body and not any(self.pos) and abs(abs(self.quat[0]) - 1.0) < 1e-12
        return self.body if same else self.name

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Add to a model what the sensor needs; here MuJoCo's sensors, those that it lacks.

        Args:
            spec: the model; a copy of the robot's, to which others may have added already.
            original: the robot's own, whose sensors it uses where they measure what it needs.

        Raises:
            ModelError: the place that it names does not exist.
        """
        self.sensors(original, add=spec)

    def sensors(self, original: mujoco.MjSpec, *, add: mujoco.MjSpec | None = None) -> dict[str, str]:
        """Return quantity -> name of MuJoCo's sensor; what the original lacks is added to ``add``, if it is given."""
        raise NotImplementedError(f"{type(self).__name__} must define install or sensors")

    # -- for the kinds ----------------------------------------------------------------------------------

    def _find(self, every: Sequence[Element], kind: str, name: str) -> Element:
        """Return the element of a name."""
        for element in every:
            if element.name == name:
                return element
        raise self.fault(f"{kind} is {name!r}; {nearest(name, (e.name for e in every if e.name))}", kind)

    def _site(self, spec: mujoco.MjSpec, *, quat: Quaternion | None = None) -> str:
        """Return the name of the site that it sits on; one is added where a body is named."""
        if self.site:
            self._find(spec.sites, "site", self.site)
            return self.site
        body = self._find(spec.bodies, "body", self.body)
        name = f"{self.name}/frame"
        if not any(site.name == name for site in spec.sites):
            body.add_site(name=name, pos=self.pos, quat=self.quat if quat is None else quat, group=5, size=[1e-3] * 3)
        return name

    def _sensor(
        self,
        original: mujoco.MjSpec,
        quantity: str,
        site: str,
        kind: mujoco.mjtSensor,
        *,
        parent: str = "",
        add: mujoco.MjSpec | None = None,
    ) -> str:
        """Return the name of MuJoCo's sensor of a quantity; where the site has none, one is added to `add`."""
        for sensor in original.sensors:
            if (
                sensor.type == kind
                and sensor.objtype == mujoco.mjtObj.mjOBJ_SITE
                and sensor.objname == site
                and sensor.name
                and reference_of(sensor) == parent
            ):
                return sensor.name
        name = f"{self.name}/{quantity}"
        if add is not None:
            reference = {"reftype": mujoco.mjtObj.mjOBJ_XBODY, "refname": parent} if parent else {}
            add.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=site, **reference)
        return name


_GYRO = mujoco.mjtSensor.mjSENS_GYRO
_ACCELEROMETER = mujoco.mjtSensor.mjSENS_ACCELEROMETER
_FRAMEQUAT = mujoco.mjtSensor.mjSENS_FRAMEQUAT
_FORCE = mujoco.mjtSensor.mjSENS_FORCE
_TORQUE = mujoco.mjtSensor.mjSENS_TORQUE


SENSOR_KINDS: Registry[type[SensorDescription]] = Registry("sensor kind", ModelError)
"""Kind of a sensor, as YAML has it -> its description."""
K = TypeVar("K", bound=type[SensorDescription])


def sensor_kind(name: str) -> Callable[[K], K]:
    """Register a kind of sensor under a name, for YAML, `Robot.set` and the command line (class decorator).

    Its device is registered with `pliant.devices.device_for`. A bridge that has no special message for the kind serves
    every field of the device's samples by its name.

    Args:
        name: name of the kind; a Python identifier.

    Raises:
        ModelError: the name is taken, the class is no frozen dataclass of `SensorDescription`, or a field has a type
            that no text can give; the message has the place.
    """

    def register(cls: K) -> K:
        where = place_of(cls)
        if not name.isidentifier():
            raise ModelError(f"{where}: the sensor kind is {name!r}; must be a Python identifier", field="kind")
        own = vars(cls).get("__dataclass_params__")
        if not issubclass(cls, SensorDescription) or own is None or not own.frozen:
            raise ModelError(
                f"{where}: {cls.__name__} must be a frozen dataclass of SensorDescription: write "
                "@dataclass(frozen=True, slots=True, kw_only=True) below @sensor_kind",
                field=name,
            )
        hints = typing.get_type_hints(cls)
        for item in dataclasses.fields(cls):
            hint = hints[item.name]
            if hint not in (bool, int, float, str, Noise) and typing.get_origin(hint) is not tuple:
                raise ModelError(
                    f"{where}: the field {item.name!r} of {cls.__name__} has the type {hint!r}; must be bool, int, "
                    "float, str, Noise or a tuple of numbers",
                    field=item.name,
                )
        return SENSOR_KINDS.add(name, cls)

    return register


@sensor_kind("imu")
@dataclass(frozen=True, slots=True, kw_only=True)
class Imu(SensorDescription):
    """An inertial unit: angular velocity, proper acceleration, and the orientation that its filter would give.

    At rest it measures g upwards, in free fall nothing. The orientation is that of its frame in the world.

    Example:
        >>> robot.devices.append(Imu(name="imu", body="hand", rate=200, angular_velocity_noise=Noise(std=1e-3)))
    """

    orientation: bool = True
    """Whether it has an orientation."""
    angular_velocity_noise: Noise = field(default_factory=Noise)
    """Of the three axes [rad/s]."""
    linear_acceleration_noise: Noise = field(default_factory=Noise)
    """Of the three axes [m/s^2]."""
    orientation_noise: Noise = field(default_factory=Noise)
    """Rotation about the three axes of its frame [rad]; small angles."""

    def __post_init__(self) -> None:
        super(Imu, self).__post_init__()
        for key in ("angular_velocity_noise", "linear_acceleration_noise", "orientation_noise"):
            self._check_noise(key, 3)
        if np.any(np.asarray(self.orientation_noise.resolution)):
            raise self.fault(
                f"orientation_noise.resolution is {self.orientation_noise.resolution}, which has no effect on a "
                "rotation; must be 0",
                "orientation_noise",
            )

    def sensors(self, original: mujoco.MjSpec, *, add: mujoco.MjSpec | None = None) -> dict[str, str]:
        """Return field of a sample -> name of MuJoCo's sensor."""
        site = self._site(add or original) if add is not None or self.site else f"{self.name}/frame"
        kinds = {"angular_velocity": _GYRO, "linear_acceleration": _ACCELEROMETER}
        if self.orientation:
            kinds["orientation"] = _FRAMEQUAT
        return {quantity: self._sensor(original, quantity, site, kind, add=add) for quantity, kind in kinds.items()}


@sensor_kind("force_torque")
@dataclass(frozen=True, slots=True, kw_only=True)
class ForceTorque(SensorDescription):
    """A force/torque sensor between a body and its parent: what goes through the cut, about the sensor's origin.

    With ``child_to_parent``, as Gazebo and gazebo_ros_ft_sensor have it, a weight that hangs on the sensor pulls its
    parent down: the force is m g downwards. ``parent_to_child`` is MuJoCo's own: what holds the weight, m g upwards.

    Example:
        >>> robot.devices.append(ForceTorque(name="wrist", body="tool"))
    """

    measure_direction: str = "child_to_parent"
    """"child_to_parent" for the wrench of the child on its parent, "parent_to_child" for the opposite."""
    measure_frame: str = "sensor"
    """Axes: of the "sensor", of the "child" body, of the "parent" body; the moment is about the sensor's origin."""
    force_noise: Noise = field(default_factory=Noise)
    """Of the three axes [N]."""
    torque_noise: Noise = field(default_factory=Noise)
    """Of the three axes [N m]."""

    def __post_init__(self) -> None:
        super(ForceTorque, self).__post_init__()
        for key, valid in (("measure_direction", MEASURE_DIRECTIONS), ("measure_frame", MEASURE_FRAMES)):
            if getattr(self, key) not in valid:
                value = getattr(self, key)
                raise self.fault(f"{key} is {value!r}; {nearest(str(value), valid)}", key)
        if self.site and self.measure_frame != "sensor":
            raise self.fault(
                f"measure_frame is {self.measure_frame!r}; valid with a site: 'sensor'. Name the body instead",
                "measure_frame",
            )
        for key in ("force_noise", "torque_noise"):
            self._check_noise(key, 3)

    def sensors(self, original: mujoco.MjSpec, *, add: mujoco.MjSpec | None = None) -> dict[str, str]:
        """Return quantity -> name of MuJoCo's sensor; "orientation" in the parent where the axes are the parent's."""
        own = self.quat if self.measure_frame == "sensor" else IDENTITY
        body = self._child(original)
        site = self._site(add or original, quat=own) if add is not None or self.site else f"{self.name}/frame"
        found = {
            "force": self._sensor(original, "force", site, _FORCE, add=add),
            "torque": self._sensor(original, "torque", site, _TORQUE, add=add),
        }
        if self.measure_frame == "parent" and not body.parent.name:
            raise self.fault(
                f"measure_frame is 'parent', and the parent of body {self.body!r} has no name; must be a body with a "
                "name, or another measure_frame",
                "measure_frame",
            )
        if self.measure_frame == "parent" and body.parent.name != "world":
            found["orientation"] = self._sensor(
                original, "orientation", site, _FRAMEQUAT, parent=body.parent.name, add=add
            )
        elif self.measure_frame == "parent":
            found["orientation"] = self._sensor(original, "orientation", site, _FRAMEQUAT, add=add)
        return found

    def _child(self, spec: mujoco.MjSpec) -> mujoco.MjsBody:
        on_site = self._find(spec.sites, "site", self.site) if self.site else None
        body = on_site.parent if on_site is not None else self._find(spec.bodies, "body", self.body)
        if body.name == "world" or body.parent is None:
            raise self.fault(
                "it sits on the world, which has no parent; must be a body that something carries",
                "site" if self.site else "body",
            )
        return body


@sensor_kind("laser")
@dataclass(frozen=True, slots=True, kw_only=True)
class Laser(SensorDescription):
    """A planar laser scanner: distances along rays in the plane z = 0 of its frame, x forward.

    Rays hit what is drawn, on every body but its own; a scanner on the world sees the shapes of the world.

    Example:
        >>> robot.devices.append(Laser(name="laser", body="base", rays=181, min_angle=-1.57, max_angle=1.57))
    """

    rate: float = option(10.0, unit="Hz", low=0.0)
    """Scans a second of simulation time."""
    rays: int = option(360, low=1, high=MAX_RAYS)
    """Rays of a scan, the first at `min_angle`, the last at `max_angle`."""
    min_angle: float = option(-math.pi, unit="rad", low=-2.0 * math.pi, high=2.0 * math.pi)
    """Angle of the first ray from x towards y."""
    max_angle: float = option(math.pi, unit="rad", low=-2.0 * math.pi, high=2.0 * math.pi)
    """Angle of the last ray."""
    min_range: float = option(0.05, unit="m", low=0.0)
    """Nearest distance; what is nearer is measured as minus infinity (REP 117 of ROS)."""
    max_range: float = option(30.0, unit="m", low=0.0, above=True)
    """Farthest distance; where nothing is up to there, the measurement is infinite."""
    noise: Noise = field(default_factory=Noise)
    """Of each finite distance [m]."""

    def __post_init__(self) -> None:
        super(Laser, self).__post_init__()
        if self.max_angle < self.min_angle:
            raise self.fault(
                f"max_angle is {self.max_angle:g} rad; must be at least min_angle, {self.min_angle:g} rad", "max_angle"
            )
        if self.max_range <= self.min_range:
            raise self.fault(
                f"max_range is {self.max_range:g} m; must be above min_range, {self.min_range:g} m", "max_range"
            )
        self._check_noise("noise", 1)

    @property
    def angles(self) -> np.ndarray:
        """Angles of the rays [rad]."""
        return np.linspace(self.min_angle, self.max_angle, self.rays)

    def frame_site(self) -> str:
        """Return the name of the site of its frame."""
        return self.site or f"{self.name}/frame"

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Add a site to a model.

        Raises:
            ModelError: the site or body that it names does not exist.
        """
        self._site(spec)


@sensor_kind("camera")
@dataclass(frozen=True, slots=True, kw_only=True)
class Camera(SensorDescription):
    """A camera for colour, depth or both. It costs: see the page on sensors before raising rate or size.

    Example:
        >>> robot.devices.append(Camera(name="wrist", camera="wrist_camera", rate=30, depth=True))
        >>> robot.devices.append(Camera(name="front", body="world", pos=(2, 0, 1), quat=(0.5, -0.5, -0.5, 0.5)))
    """

    camera: str = ""
    """Camera of the model whose place, field of view and size it takes; "" for a place of its own."""
    rate: float = option(30.0, unit="Hz", low=0.0, above=True)
    """Images a second of simulation time [Hz], the nearest that has a whole number of steps between two."""
    width: int = option(640, low=1, high=MAX_IMAGE_SIDE)
    """Columns of the image."""
    height: int = option(480, low=1, high=MAX_IMAGE_SIDE)
    """Rows of the image."""
    fovy: float = option(45.0, low=0.0, above=True, high=179.0)
    """Vertical field of view [deg]; with `camera`, the model's own is taken."""
    focal: tuple[float, ...] = ()
    """Focal lengths fx and fy along a row and a column [pixel]; empty for those of the field of view."""
    principal: tuple[float, ...] = ()
    """Principal point cx, cy (column, row) with pixel centres at whole numbers [pixel]; empty for the middle."""
    distortion: tuple[float, ...] = ()
    """Plumb-bob distortion as in OpenCV and ROS's CameraInfo: k1, k2, p1, p2, k3; those left out are 0."""
    color: bool = True
    """Whether it gives colours, 8 bit RGB."""
    depth: bool = False
    """Whether it gives the distance along the optical axis [m]; infinite where nothing is in reach."""
    segmentation: bool = False
    """Whether it says what each pixel shows: number and type (`mujoco.mjtObj`) of an object, -1 where nothing is."""
    near: float = option(0.01, unit="m", low=0.0, above=True)
    """Near clipping distance."""
    far: float = option(100.0, unit="m", low=0.0, above=True)
    """Far clipping distance."""
    exposure: float = option(1.0, low=0.0, above=True, high=1000.0)
    """Factor on the colours, which end at 255: 2 is one stop more, 0.5 one stop less."""
    exposure_time: float = option(0.0, unit="s", low=0.0, high=1.0)
    """Time over which the colours are averaged, up to the stamp: motion blur. 0 for none."""
    exposure_samples: int = option(8, low=2, high=64)
    """Pictures that are averaged for `exposure_time`; each costs as much as one picture."""
    blur: float = option(0.0, unit="pixel", low=0.0, high=MAX_BLUR)
    """Standard deviation of the blur of a lens out of focus, in the colours."""
    noise: Noise = field(default_factory=Noise)
    """Of the colours, on a scale of 0 to 255; `bias` is drawn once a run for the whole image."""
    depth_noise: Noise = field(default_factory=Noise)
    """Of the depth [m]."""
    image_topic: str = "image_raw"
    """Topic of its colours, below `topic`; absolute where it begins with "/"."""
    info_topic: str = "camera_info"
    """Topic of the camera matrix of the colour image."""
    depth_topic: str = "depth/image_raw"
    """Topic of the depth image."""
    depth_info_topic: str = "depth/camera_info"
    """Topic of the camera matrix of the depth image."""
    segmentation_topic: str = "segmentation/image_raw"
    """Topic of the segmentation."""
    segmentation_info_topic: str = "segmentation/camera_info"
    """Topic of the camera matrix of the segmentation."""
    shadows: bool = False
    """Whether lights cast shadows; rendering then takes several times as long."""
    samples: int = option(0, low=0, high=16)
    """Samples per pixel for antialiasing; depth is exact only with 0, segmentation needs 0."""

    def __post_init__(self) -> None:
        super(Camera, self).__post_init__()
        if self.far <= self.near:
            raise self.fault(f"far is {self.far:g}; must be a number > {self.near:g}, which is near", "far")
        for key in ("noise", "depth_noise"):
            self._check_noise(key, 0)
        for key, names in (("focal", LENS[:2]), ("principal", LENS[2:4]), ("distortion", LENS[4:])):
            given = getattr(self, key)
            right = len(given) <= len(names) if key == "distortion" else len(given) in (0, len(names))
            if not right or not all(math.isfinite(v) for v in given) or (key == "focal" and min(given, default=1) <= 0):
                positive = " > 0" if key == "focal" else ""
                count = "up to five" if key == "distortion" else "two"
                raise self.fault(
                    f"{key} is {tuple(given)}; must be {count} finite numbers{positive}: {', '.join(names)}", key
                )
        if self.segmentation and self.samples:
            raise self.fault(
                f"samples is {self.samples} and segmentation is true; one of them must be off, as samples mix the "
                "numbers of two objects",
                "samples",
            )
        if self.exposure_time and not self.color:
            raise self.fault(
                f"exposure_time is {self.exposure_time:g} s and color is false; only colours are averaged",
                "exposure_time",
            )
        pixel = 3 * self.color + 4 * self.depth + 8 * self.segmentation
        held = (1.0 + self.latency * self.rate) * self.width * self.height * pixel
        if held > MAX_DELAYED_BYTES:
            raise self.fault(
                f"latency is {self.latency:g} s: {held / 2**30:.1f} GiB of images would be on their way; must be at "
                f"most {MAX_DELAYED_BYTES / 2**30:g} GiB, with fewer, smaller or younger images",
                "latency",
            )
        if not (self.color or self.depth or self.segmentation):
            raise self.fault("color, depth and segmentation are false; one of them must be true", "color")

    def _check_place(self) -> None:
        given = [key for key in ("camera", "site", "body") if getattr(self, key)]
        if len(given) != 1:
            found = " and ".join(f"{key} {getattr(self, key)!r}" for key in given) or "no place"
            raise self.fault(f"it has {found}; must be one of camera, site, body", "camera")

    @property
    def frame_id(self) -> str:
        """The frame_id of its messages: the optical frame."""
        return self.frame or f"{self.name}_optical_frame"

    @property
    def lens(self) -> dict[str, float]:
        """The fields of `pliant.base.camera.CameraParameters` that it sets; the others come from the model's camera."""
        names = ((LENS[:2], self.focal), (LENS[2:4], self.principal), (LENS[4:], self.distortion))
        return {key: float(value) for keys, values in names for key, value in zip(keys, values, strict=False)}

    @property
    def model_camera(self) -> str:
        """Name of MuJoCo's camera that it renders."""
        return self.camera or f"{self.name}/camera"

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Add a camera to a model, where it names none of the model's.

        Raises:
            ModelError: the camera, site or body that it names does not exist.
        """
        if self.camera:
            self._find(spec.cameras, "camera", self.camera)
            return
        if any(camera.name == self.model_camera for camera in spec.cameras):
            return
        if self.site:
            site = self._find(spec.sites, "site", self.site)
            if site.alt.type != mujoco.mjtOrientation.mjORIENTATION_QUAT:
                raise self.fault(
                    f"site {self.site!r} has its orientation as angles; must be a site with a quaternion, or a body",
                    "site",
                )
            body, pos, quat = site.parent, site.pos, tuple(map(float, site.quat))
        else:
            body, pos, quat = self._find(spec.bodies, "body", self.body), self.pos, self.quat
        body.add_camera(
            name=self.model_camera, pos=pos, quat=quaternion_product(quat, HALF_TURN), fovy=float(self.fovy)
        )


def reference_of(sensor: mujoco.MjsSensor) -> str:
    """Return what a sensor measures against; attaching a model prefixes the name even where there is none."""
    return sensor.refname if sensor.reftype != mujoco.mjtObj.mjOBJ_UNKNOWN else ""

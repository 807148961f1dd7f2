"""A continuum parallel robot: the topics, services and parameters of the Gazebo simulator, and what draws the robot.

The simulator's names stand at the root of the graph, as in the original (Gotelli et al. 2022, its packages for spatial
and for planar robots); pliant's own stand in the robot's name space.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from operator import itemgetter

import numpy as np

from pliant.base.errors import BridgeError, DeviceError
from pliant.devices.base import Sample, SampleSource
from pliant.devices.fields import Values
from pliant.parallel.device.parallel import ParallelRobotDevice
from pliant.parallel.device.plate_controller import PlateController
from pliant.rods.description import Round
from pliant.ros.bridge.joint_state import joint_state
from pliant.ros.bridge.publication import Publication, picked
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.bridge.trajectory import JointPoints, MotionState
from pliant.ros.bridge.trajectory_controller import Limb
from pliant.ros.bridge.trajectory_topics import serve_controller
from pliant.ros.wire import Template
from pliant.ros.wire.message import Message, MessageView
from pliant.simulation.answers import answered
from pliant.simulation.rate_timer import RateTimer

LINE_RATE = 30.0
"""How often the rods are drawn [Hz]."""
LINE_POINTS = 101
"""Points of a rod's centre line, as many as the original draws."""
LINE_WIDTH = 4e-3
"""Least width of a drawn rod [m]: one of 1 mm radius is hard to see."""
LINE_COLOUR = {"r": 0.93, "g": 0.55, "b": 0.14, "a": 1.0}
WORLD = "world"
LIMB_PREFIX = "limb"
"""The original's launch files name limb i ``limb<i>``."""
PLATE_LINKS = ("distal_plate::distal_plate", "distal_plate", "plate")
"""Names under which Gazebo's clients, and pliant's, know the plate."""
FRAMES = ("", "world", "map", "/map")
"""Frame names that Gazebo takes for the world."""
ROD_STEP = 0.005
"""``/rod/ds`` of the original's robots: its step along a rod. pliant chooses its own."""
MAX_VECTOR_LENGTH = 10_000
"""Most numbers of a parameters vector that are looked at."""
PERIOD_NS = 10_000_000
"""Time between two commands [ns]: each is a solution of the statics, and the device moves straight in between."""

MESSAGES = {
    False: {
        "dgm": ("cpr_messages/DGMParams", "distal_plate_wrench"),
        "igm": ("cpr_messages/IGMParams", "distal_plate_pose", "distal_plate_wrench"),
        "guess": "cpr_messages/GuessVectorHandling",
    },
    True: {
        "dgm": ("cpr_planar_messages/DGMParameters", "wrench"),
        "igm": ("cpr_planar_messages/IGMParameters", "pose", "wrench"),
        "guess": "cpr_planar_messages/GuessVectorHandling",
    },
}
"""Planar -> the types, with the names of their fields."""


def _size(device: SampleSource, field: str) -> int:
    info = device.samples.get(field)
    return 0 if info is None else info.size


def serve_parallel(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve the original's topics and services, ``/joint_states``, the plate's pose, and the rods' centre lines.

    A recorded robot only speaks.
    """
    planar = _size(device, "pose") == 3
    present = Present()
    for publication in _publications(topics, device, planar, present):
        publication.serve(topics, name)
    if not isinstance(device, ParallelRobotDevice):
        return
    _listen(topics, device, planar, serve_trajectories(topics, name, device))
    _draw(topics, device, present)
    _serve_services(topics, name, device, planar, present)
    _set_parameters(topics, device)
    device.listeners.append(topics.refuse)


class Present:
    """Whether the robot is there: a client may take it away."""

    __slots__ = ("gone",)

    def __init__(self) -> None:
        self.gone = False

    def __call__(self, _: Values) -> bool:
        """Return whether the robot is there."""
        return not self.gone


# ---------------------------------------------------------------------- out
def _publications(topics: RosTopics, device: SampleSource, planar: bool, present: Present) -> list[Publication]:
    """Return what is sent of each sample, live or recorded, while the robot is there."""
    n = _size(device, "joint_values")
    names = list(device.joints) or [f"{LIMB_PREFIX}{i + 1}/base_joint" for i in range(n)]
    # Efforts are not measured: an empty array says so.
    moving = _size(device, "joint_velocities") == n
    fields = ("joint_values", "joint_velocities") if moving else ("joint_values",)
    return [
        # What the original sends at every update, without a layout, as it does.
        Publication(
            topic="/joint_values",
            type="std_msgs/Float32MultiArray",
            paths=["data"],
            numbers=picked("joint_values"),
            values={"data": [0.0] * n},
            stamp="none",
            when=present,
        ),
        joint_state(
            "/joint_states",
            names,
            fields,
            size=n,
            every=topics.every("joint_states", topics.options.joint_states, device),
            when=present,
            whole=True,
        ),
        Publication(
            topic=topics.name("plate_pose"),
            type="geometry_msgs/PoseStamped",
            paths=[f"pose.position.{axis}" for axis in "xyz"] + [f"pose.orientation.{axis}" for axis in "xyzw"],
            numbers=lambda v: _pose_numbers(np.asarray(v["pose"]), planar),
            values={"header": {"frame_id": WORLD}},
            when=present,
        ),
    ]


def _pose_numbers(pose: np.ndarray, planar: bool) -> list[float]:
    """Return position and quaternion (x, y, z, w) of a sampled pose."""
    if not planar:
        return pose.tolist()
    x, y, angle = pose.tolist()
    return [x, y, 0.0, 0.0, 0.0, float(np.sin(0.5 * angle)), float(np.cos(0.5 * angle))]


def _draw(topics: RosTopics, device: ParallelRobotDevice, present: Present) -> None:
    """Send a line strip for each rod, 30 times a second; take them all away with the robot."""
    handle = topics.advertise(topics.name("rods"), "visualization_msgs/MarkerArray")
    lines = Lines(topics, _diameters(device))
    every = RateTimer(LINE_RATE)
    shown = False

    def write(stamp_ns: int) -> None:
        nonlocal shown
        if not every.due(stamp_ns) or not handle.active:
            return
        if not present.gone:
            handle.send(lines.fill(stamp_ns, device.centre_lines()))
            shown = True
        elif shown:
            handle.send(lines.erase())
            shown = False

    topics.ticks.append(write)


def _diameters(device: ParallelRobotDevice) -> list[float]:
    out = []
    for limb in device.robot.description.limbs:
        section = limb.rod.section
        out.append(max(2.0 * section.radius, LINE_WIDTH) if isinstance(section, Round) else LINE_WIDTH)
    return out


class Lines:
    """The markers of all rods in one message that is filled in place.

    Args:
        topics: the topics of the bridge.
        widths: width of each rod's line [m].
    """

    STRIP, ADD, ERASE_ALL = 4, 0, 3

    def __init__(self, topics: RosTopics, widths: Sequence[float]) -> None:
        self._codec = topics.node.codec
        numbered = self._codec.version == 1
        markers = [
            {
                "header": {"frame_id": WORLD},
                "ns": "rods",
                "id": i,
                "type": self.STRIP,
                "action": self.ADD,
                "pose": {"orientation": {"w": 1.0}},
                "scale": {"x": width},
                "color": LINE_COLOUR,
                "points": [{}] * LINE_POINTS,
            }
            for i, width in enumerate(widths)
        ]
        stamps = [f"markers[{i}].header.{part}" for i in range(len(widths)) for part in self._heads(numbered)]
        values, places = {"markers": markers}, {}
        self._template = Template(self._codec, "visualization_msgs/MarkerArray", values, stamps)
        self._codec.encode("visualization_msgs/MarkerArray", values, places)
        # The points of a strip are plain doubles one after the other: they are written at once.
        self._at = [places[f"markers[{i}].points[0].x"][0] for i in range(len(widths))]
        for i, start in enumerate(self._at):
            last = places[f"markers[{i}].points[{LINE_POINTS - 1}].z"][0]
            assert last == start + 8 * (3 * LINE_POINTS - 1)
        self._numbered, self._count, self._rods = numbered, 0, len(widths)

    @staticmethod
    def _heads(numbered: bool) -> tuple[str, ...]:
        return ("seq", "stamp") if numbered else ("stamp",)

    def fill(self, stamp_ns: int, points: np.ndarray) -> bytes:
        """Return the message with the points of each rod, shape (rods, 101, 3) [m]."""
        one = (self._count, stamp_ns) if self._numbered else (stamp_ns,)
        data = bytearray(self._template.fill(*(one * self._rods)))
        for start, line in zip(self._at, np.ascontiguousarray(points, dtype="<f8")):
            data[start : start + line.nbytes] = line.tobytes()
        self._count = (self._count + 1) & 0xFFFFFFFF
        return bytes(data)

    def erase(self) -> bytes:
        """Return the message that takes all lines away."""
        marker = {"header": {"frame_id": WORLD}, "action": self.ERASE_ALL, "pose": {"orientation": {"w": 1.0}}}
        return self._codec.encode("visualization_msgs/MarkerArray", {"markers": [marker]})


# ---------------------------------------------------------------------- in
def _listen(topics: RosTopics, device: ParallelRobotDevice, planar: bool, limb: ParallelLimb) -> None:
    messages = MESSAGES[planar]
    dgm, load = messages["dgm"]
    igm, pose, igm_load = messages["igm"]
    controller = _controller_of(topics, device)

    def there() -> None:
        if device.removed:
            raise DeviceError("the robot was removed; a reset brings it back (/gazebo/reset_simulation)")

    def direct(message: MessageView) -> None:
        there()
        limb.interrupt("/dgm_parameters")
        values = {"joints_values": _joints(message["joints_values"], device), "wrench": _wrench(message[load], planar)}
        device.inbox.put(values, mode="dgm_parameters")

    def inverse(message: MessageView) -> None:
        there()
        limb.interrupt("/igm_parameters")
        place = _place(message[pose], planar)
        if controller is not None:
            controller.inbox.put({"pose": place}, mode="igm_parameters")
        device.inbox.put({"pose": place, "wrench": _wrench(message[igm_load], planar)}, mode="igm_parameters")

    topics.listen("/dgm_parameters", dgm, direct)
    topics.listen("/igm_parameters", igm, inverse)
    if planar or controller is not None:  # the planar original has no controller; pliant's own needs no topic
        return

    def push(message: MessageView) -> None:
        there()
        device.wrenches.put({"wrench": _wrench(message, planar)})

    topics.listen("/controller_wrench", "geometry_msgs/Wrench", push)


def _controller_of(topics: RosTopics, device: ParallelRobotDevice) -> PlateController | None:
    """Return the controller that moves this robot, None where there is none."""
    controllers = (d for d in topics.devices.values() if isinstance(d, PlateController))
    return next((d for d in controllers if d.robot is device), None)


def _joints(values: Sequence[float], device: ParallelRobotDevice) -> Sequence[float]:
    n = _size(device, "joint_values")
    if len(values) != n:
        raise DeviceError(
            f"joints_values has {len(values)} numbers; must be {n}, one for each of {', '.join(device.joints)}",
            field="joints_values",
        )
    return values


def _wrench(message: MessageView, planar: bool) -> list[float]:
    if planar:
        # A controller of the whole plate may speak to a planar robot too.
        return [message["fx"], message["fy"], message["mz"]]
    return [message[part][axis] for part in ("force", "torque") for axis in "xyz"]


def _place(message: MessageView, planar: bool) -> list[float]:
    if planar:
        return [message["x"], message["y"], message["theta"]]
    return [*(message["position"][axis] for axis in "xyz"), *(message["orientation"][axis] for axis in "xyzw")]


# ---------------------------------------------------------------------- services
def _serve_services(topics: RosTopics, name: str, device: ParallelRobotDevice, planar: bool, present: Present) -> None:
    serve = topics.serve
    vector = MESSAGES[planar]["guess"]

    def guess(request: MessageView) -> Message:
        given = request["given_guess"]
        if len(given) > MAX_VECTOR_LENGTH:
            raise BridgeError(f"given_guess has {len(given)} numbers; must have at most {MAX_VECTOR_LENGTH}")
        if len(given) and device.removed:
            raise DeviceError("the robot was removed; a reset brings it back (/gazebo/reset_simulation)")
        found = answered(device.request("parameters_vector", given=[float(v) for v in given]))
        if isinstance(found, Future):  # a thread of its own solves
            found = answered(found)
        return {"actual_guess": found}

    serve("/parameters_vector_services", vector, guess)
    serve(
        "/gazebo/get_link_state", "gazebo_msgs/GetLinkState", lambda request: _link_state(topics, name, device, request)
    )

    def remove(_: MessageView) -> Message:
        answered(device.request("remove"))
        present.gone = True
        return {}

    def back() -> None:
        present.gone = False

    topics.rewinds.append(back)
    # The planar original has no such service, though its window calls it.
    serve("/remove_robot", "std_srvs/Empty", remove)


def _link_state(topics: RosTopics, name: str, device: ParallelRobotDevice, request: MessageView) -> Message:
    """Answer as gazebo_ros does: what is wrong stands in the answer."""
    link, frame = request["link_name"], request["reference_frame"]
    state = {"link_name": link, "reference_frame": frame, "pose": {"orientation": {"w": 1.0}}}
    text = ""
    if link not in PLATE_LINKS:
        text = f"there is no link {link[:80]!r}; valid names: {', '.join(PLATE_LINKS)}"
    elif frame not in FRAMES:
        text = f"there is no reference frame {frame[:80]!r}; must be world"
    sample = topics.latest.get(name)
    if not text and device.removed:
        text = "the robot was removed"
    if not text and sample is None:
        text = "the simulation has not made a step yet"
    if text or sample is None:
        return {"link_state": state, "success": False, "status_message": text}
    planar = len(sample.values["pose"]) == 3
    numbers = _pose_numbers(sample.values["pose"], planar)
    twist = sample.values["twist"].tolist()
    if planar:
        twist = [twist[0], twist[1], 0.0, 0.0, 0.0, twist[2]]
    state["pose"] = {
        "position": dict(zip("xyz", numbers[:3], strict=True)),
        "orientation": dict(zip("xyzw", numbers[3:], strict=True)),
    }
    state["twist"] = {
        "linear": dict(zip("xyz", twist[:3], strict=True)),
        "angular": dict(zip("xyz", twist[3:], strict=True)),
    }
    return {"link_state": state, "success": True, "status_message": "GetLinkState: got state"}


# ---------------------------------------------------------------------- parameters
def _set_parameters(topics: RosTopics, device: ParallelRobotDevice) -> None:
    """Set what the original's launch files and robot_config.yaml set."""
    put = topics.node.set_param
    d = device.robot.description
    put("/robot_name", d.name)
    put("/limb_name_prefix", LIMB_PREFIX)
    put("/number_of_limbs", len(d.limbs))
    freedoms = d.freedoms
    held = freedoms if d.controlled is None else d.controlled
    put("/underactuation_vector", [float(freedom in held) for freedom in freedoms])
    # The original adds the plate's pose itself, from where the plate was spawned.
    vector = device.parameters_vector()
    put("/initial_guess", [float(v) for v in vector[: len(vector) - len(freedoms)]])  # pyright: ignore[reportIndexIssue]
    rod = d.limbs[0].rod
    if isinstance(rod.section, Round):
        for key, value in (
            ("E", rod.young_modulus),
            ("G", rod.shear_modulus),
            ("radius", rod.section.radius),
            ("L", rod.length),
            ("ds", ROD_STEP),
        ):
            put(f"/rod/{key}", float(value))
    for i, limb in enumerate(d.limbs):
        put(f"/{LIMB_PREFIX}{i + 1}/is_extendible", any(joint.kind == "extension" for joint in limb.joints))


# ---------------------------------------------------------------------- the controller
def serve_plate_controller(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Serve what the original's controller node does: its wrench, its goal and where the plate is, the time."""
    # The original is silent until its first goal.
    Publication(
        topic="/controller_wrench",
        type="geometry_msgs/Wrench",
        paths=[f"{part}.{axis}" for part in ("force", "torque") for axis in "xyz"],
        numbers=lambda v: np.asarray(v["wrench"]).tolist(),
        stamp="none",
        when=itemgetter("active"),
    ).serve(topics, name)
    for topic, field in (("/desired_values", "desired"), ("/current_values", "current")):
        Publication(
            topic=topic,
            type="cpr_messages/SE3Pose",
            paths=["x", "y", "z", "roll", "pitch", "yaw"],
            numbers=lambda v, field=field: np.asarray(v[field]).tolist(),
            stamp="none",
            when=itemgetter("active"),
        ).serve(topics, name)
    time_out = topics.advertise("/time", "std_msgs/Float32")
    fill = topics.template("std_msgs/Float32", {}, ["data"])

    def write(sample: Sample) -> None:
        if time_out.active:
            time_out.send(fill(sample.stamp_ns * 1e-9))

    topics.writers[name].append(write)
    if isinstance(device, PlateController):
        topics.listen("/desired_value", "std_msgs/Float32", lambda m: device.heights.put({"height": m["data"]}))


# ---------------------------------------------------------------------- trajectories
class ParallelLimb(Limb):
    """The actuated joints of one parallel robot; the wrench on its plate stays.

    Args:
        topics: the topics of the bridge.
        name: name of the device.
        device: the robot.
    """

    def __init__(self, topics: RosTopics, name: str, device: ParallelRobotDevice) -> None:
        self.owned = list(device.joints)
        self.joints = [topics.names.joint(joint) for joint in self.owned]
        self._device, self._name, self._latest = device, name, topics.latest
        self._still = np.zeros(len(self.joints))
        self._wrench = device.held("wrench")
        self._last: np.ndarray | None = None
        self._next_ns = self._refused = 0
        self._taken = ""

    def interrupt(self, topic: str) -> None:
        """End a trajectory, because a command came on another topic; any thread may call this."""
        self._taken = topic

    def check(self, points: JointPoints | None) -> None:
        """Refuse a trajectory while the robot is away, or a controller moves its plate."""
        if self._device.removed:
            raise DeviceError("the robot was removed; a reset brings it back", field="motion")
        if self._device.driven:
            raise DeviceError("a controller of the plate moves the joints (robot.controller)", field="motion")

    def actual(self) -> MotionState | None:
        """Return the measured motion."""
        sample = self._latest.get(self._name)
        if sample is None:
            return None
        v = sample.values
        return MotionState(np.asarray(v["joint_values"]), np.asarray(v["joint_velocities"]), self._still)

    def standing(self) -> MotionState | None:
        """Return the joint values of the last command."""
        return MotionState(self._device.held("joints_values"), self._still, self._still)

    def begin(self) -> None:
        """Keep the wrench of the beginning."""
        self._wrench = self._device.held("wrench")
        self._refused, self._taken, self._last, self._next_ns = self._device.refused, "", None, 0

    def put(self, desired: MotionState, stamp_ns: int) -> None:
        """Command joint values, every 10 ms and where the trajectory stands still."""
        self.check(None)
        if self._taken:
            raise DeviceError(f"a command on {self._taken} took its place", field="motion")
        if self._device.refused > self._refused:
            raise DeviceError(f"the robot did not follow: {self._device.last_reason}", field="motion")
        arrives = not desired.velocity.any() and not np.array_equal(desired.position, self._last)
        if stamp_ns >= self._next_ns or arrives:
            self._last, self._next_ns = desired.position, stamp_ns + PERIOD_NS
            values = {"joints_values": desired.position, "wrench": self._wrench}
            self._device.inbox.put(values, mode="dgm_parameters")


def serve_trajectories(topics: RosTopics, name: str, device: ParallelRobotDevice) -> ParallelLimb:
    """Serve the trajectory controller of a parallel robot; return its joints."""
    limb = ParallelLimb(topics, name, device)
    serve_controller(topics, topics.name("joint_trajectory_controller"), limb)
    return limb

"""The state of an arm as the vendor's topics: FrankaState of ROS 1, FrankaRobotState and single topics of ROS 2."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.base.spatial import quaternion_from_rotation
from pliant.devices.base import Sample
from pliant.devices.fields import Values
from pliant.franka.device.parameters import Payload
from pliant.franka.wire.fci import ERRORS
from pliant.franka_ros.definitions import ERROR_NAMES, STATE_FIELDS
from pliant.franka_ros.names import ArmNames
from pliant.ros.bridge.joint_state import joint_state
from pliant.ros.bridge.publication import Publication
from pliant.ros.bridge.topics import RosTopics
from pliant.simulation.rate_timer import RateTimer

RATES = {1: 30.0, 2: 100.0}
"""How often states are sent [Hz]: ``publish_rate`` of franka_ros; of franka_ros2 a tenth of the usual rate of its
controller manager, which Python does not reach beside a controller."""
HAND_RATE = 30.0
"""How often the joints of the hand are sent [Hz], the vendor's default."""

Column = Callable[[Values], Sequence[Any]]
Parts = Callable[[Values], tuple[Any, Any, Any]]
Part = tuple[Sequence[str], Column]
"""Places in a message, and what returns their contents."""
_AXES = "xyz"
_NUMBER = {name.lower(): i for i, name in enumerate(ERRORS)}


def serve_states(topics: RosTopics, name: str, names: ArmNames, *, hand: bool) -> None:
    """Send the state of an arm on the topics of the node's generation, and the joints on ``/joint_states``."""
    version = topics.node.codec.version
    every = RATES[version]
    if version == 1:
        _serve_first(topics, name, names, every)
    else:
        _serve_second(topics, name, names, every)
    if hand:
        joint_state(
            f"{names.space}/franka_gripper/joint_states",
            names.fingers,
            ("position", "velocity", "effort"),
            size=2,
            numbers=lambda v: (np.full(2, 0.5 * float(v["gripper_width"])), np.zeros(2), np.zeros(2)),
            every=RateTimer(HAND_RATE),
        ).serve(topics, name)
    _serve_joints(topics, name, names, hand=hand)


def _serve_joints(topics: RosTopics, name: str, names: ArmNames, *, hand: bool) -> None:
    """Send all joints on ``joint_states``, as joint_state_publisher and joint_state_broadcaster do."""
    joints = names.joints + (names.fingers if hand else [])

    def numbers(v: Values) -> tuple[np.ndarray, ...]:
        if not hand:
            return np.asarray(v["q"]), np.asarray(v["dq"]), np.asarray(v["tau_J"])
        width = 0.5 * float(v["gripper_width"])
        return np.append(v["q"], [width, width]), np.append(v["dq"], [0.0, 0.0]), np.append(v["tau_J"], [0.0, 0.0])

    joint_state(
        f"{names.space}/joint_states",
        joints,
        ("position", "velocity", "effort"),
        size=len(joints),
        numbers=numbers,
        every=RateTimer(topics.options.joint_states or RATES[1]),
        whole=True,
    ).serve(topics, name)


def _joints(topic: str, names: ArmNames, fields: tuple[str, str, str], rate: float) -> Publication:
    return joint_state(topic, names.joints, fields, size=7, every=RateTimer(rate))


# ---------------------------------------------------------------------- ROS 1
def _serve_first(topics: RosTopics, name: str, names: ArmNames, rate: float) -> None:
    node = f"{names.space}/franka_state_controller"
    parts: list[Part] = [((field,), _field(field)) for field, _ in STATE_FIELDS if "total" not in field]
    parts += [(("m_total", "F_x_Ctotal", "I_total"), _total), *_rest(1)]
    Publication(
        topic=f"{node}/franka_states",
        type="franka_msgs/FrankaState",
        paths=_paths(parts),
        numbers=_numbers(parts),
        every=RateTimer(rate),
    ).serve(topics, name)
    _joints(f"{node}/joint_states", names, ("q", "dq", "tau_J"), rate).serve(topics, name)
    _joints(f"{node}/joint_states_desired", names, ("q_d", "dq_d", "tau_J_d"), rate).serve(topics, name)
    _single(f"{node}/F_ext", "Wrench", f"{names.arm_id}_K", _wrench("wrench", "K_F_ext_hat_K"), rate).serve(
        topics, name
    )
    if topics.options.tf:
        _serve_frames(topics, name, names, rate)


def _serve_frames(topics: RosTopics, name: str, names: ArmNames, rate: float) -> None:
    """Send the frames that the vendor's state controller sends: nominal end effector, end effector, stiffness frame."""
    frames = [names.link(8), *(f"{names.arm_id}_{frame}" for frame in ("NE", "EE", "K"))]
    links = [{"header": {"frame_id": parent}, "child_frame_id": child} for parent, child in itertools.pairwise(frames)]
    parts: list[Part] = []
    for i, field in enumerate(("F_T_NE", "NE_T_EE", "EE_T_K")):
        paths, numbers = _pose(f"transforms[{i}].transform", field)
        parts.append(
            (
                [path.replace(".position.", ".translation.").replace(".orientation.", ".rotation.") for path in paths],
                numbers,
            )
        )
    heads = [f"transforms[{i}].header.{field}" for i in range(3) for field in ("seq", "stamp")]
    handle = topics.advertise("/tf", "tf2_msgs/TFMessage")
    fill = topics.template("tf2_msgs/TFMessage", {"transforms": links}, [*heads, *_paths(parts)])
    numbers, every = _numbers(parts), RateTimer(rate)
    count = 0

    def write(sample: Sample) -> None:
        nonlocal count
        if every.due(sample.stamp_ns) and handle.active:
            handle.send(fill(*[count, sample.stamp_ns] * 3, *numbers(sample.values)))
            count = (count + 1) & 0xFFFFFFFF

    topics.writers[name].append(write)


# ---------------------------------------------------------------------- ROS 2
def _serve_second(topics: RosTopics, name: str, names: ArmNames, rate: float) -> None:
    node = f"{names.space}/franka_robot_state_broadcaster"
    base = names.link(0)
    for publication in (
        _single(f"{node}/current_pose", "Pose", base, _pose("pose", "O_T_EE"), rate),
        _single(f"{node}/last_desired_pose", "Pose", base, _pose("pose", "O_T_EE_d"), rate),
        _single(f"{node}/desired_end_effector_twist", "Twist", base, _motion("twist", "O_dP_EE_d"), rate),
        _single(
            f"{node}/external_wrench_in_stiffness_frame", "Wrench", names.tool, _wrench("wrench", "K_F_ext_hat_K"), rate
        ),
        _single(f"{node}/external_wrench_in_base_frame", "Wrench", base, _wrench("wrench", "O_F_ext_hat_K"), rate),
        _joints(f"{node}/measured_joint_states", names, ("q", "dq", "tau_J"), rate),
        _joints(f"{node}/desired_joint_states", names, ("q_d", "dq_d", "tau_J_d"), rate),
        Publication(
            topic=f"{node}/external_joint_torques",
            type="sensor_msgs/JointState",
            paths=["effort"],
            values={"name": names.joints, "effort": [0.0] * 7},
            numbers=lambda v: (v["tau_ext_hat_filtered"],),
            every=RateTimer(rate),
        ),
    ):
        # since franka_ros2 2.4; the whole state is reliable (doc/index.rst of franka_robot_state_broadcaster)
        dataclasses.replace(publication, reliable=False).serve(topics, name)
    _serve_robot_state(topics, name, names, f"{node}/robot_state", rate)


_HEADED = (
    "measured_joint_state", "desired_joint_state", "measured_joint_motor_state", "tau_ext_hat_filtered",
    "k_f_ext_hat_k", "o_f_ext_hat_k", "inertia_ee", "inertia_load", "inertia_total", "o_t_ee", "o_t_ee_d", "o_t_ee_c",
    "f_t_ee", "ee_t_k", "o_dp_ee_d", "o_dp_ee_c", "o_ddp_ee_c",
)  # fmt: skip
"""Parts of FrankaRobotState with a header of their own."""


def _serve_robot_state(topics: RosTopics, name: str, names: ArmNames, topic: str, rate: float) -> None:
    kind = "franka_msgs/FrankaRobotState"
    parts = _robot_state_parts()
    flange, tool = (
        {"f_t_ee": names.link(8)},
        dict.fromkeys(("k_f_ext_hat_k", "ee_t_k", "inertia_ee", "inertia_total"), names.tool),
    )
    frames = {**dict.fromkeys(_HEADED, names.link(0)), **flange, **tool, "inertia_load": names.link(8)}
    values: dict[str, Any] = {part: {"header": {"frame_id": frame}} for part, frame in frames.items()}
    values["header"] = {"frame_id": names.link(0)}
    for part, filled in (
        ("measured_joint_state", ("position", "velocity", "effort")),
        ("desired_joint_state", ("position", "velocity", "effort")),
        ("measured_joint_motor_state", ("position", "velocity")),
        ("tau_ext_hat_filtered", ("effort",)),
    ):
        values[part] |= {"name": names.joints, **{field: [0.0] * 7 for field in filled}}
    stamps = ["header.stamp", *(f"{part}.header.stamp" for part in _HEADED)]
    handle = topics.advertise(topic, kind)
    fill = topics.template(kind, values, [*stamps, *_paths(parts)])
    numbers, every = _numbers(parts), RateTimer(rate)

    def write(sample: Sample) -> None:
        if every.due(sample.stamp_ns) and handle.active:
            handle.send(fill(*[sample.stamp_ns] * len(stamps), *numbers(sample.values)))

    topics.writers[name].append(write)


def _robot_state_parts() -> list[Part]:
    parts: list[Part] = []
    for part, fields in (
        ("measured_joint_state", ("q", "dq", "tau_J")),
        ("desired_joint_state", ("q_d", "dq_d", "tau_J_d")),
        ("measured_joint_motor_state", ("theta", "dtheta")),
    ):
        parts += [((f"{part}.{to}",), _field(field)) for to, field in zip(("position", "velocity", "effort"), fields)]
    parts += [(("tau_ext_hat_filtered.effort",), _field("tau_ext_hat_filtered"))]
    parts += [(("ddq_d",), _field("ddq_d")), (("dtau_j",), _field("dtau_J"))]
    for to, field in (
        ("position", "elbow"), ("desired_position", "elbow_d"), ("commanded_position", "elbow_c"),
        ("commanded_velocity", "delbow_c"), ("commanded_acceleration", "ddelbow_c"),
    ):  # fmt: skip
        parts.append(((f"elbow.{to}",), _field(field)))
    for what in ("collision", "contact"):
        at = [f"collision_indicators.is_cartesian_{part}_{what}" for part in ("linear", "angular")]
        parts.append(([f"{place}.{axis}" for place in at for axis in _AXES], _list(f"cartesian_{what}")))
        parts.append(((f"collision_indicators.is_joint_{what}",), _field(f"joint_{what}")))
    parts += [_wrench("k_f_ext_hat_k.wrench", "K_F_ext_hat_K"), _wrench("o_f_ext_hat_k.wrench", "O_F_ext_hat_K")]
    parts += [_inertia("ee", _payload("ee")), _inertia("load", _payload("load")), _inertia("total", _total)]
    for to, field in (
        ("o_t_ee", "O_T_EE"), ("o_t_ee_d", "O_T_EE_d"), ("o_t_ee_c", "O_T_EE_c"), ("f_t_ee", "F_T_EE"),
        ("ee_t_k", "EE_T_K"),
    ):  # fmt: skip
        parts.append(_pose(f"{to}.pose", field))
    parts += [_motion("o_dp_ee_d.twist", "O_dP_EE_d"), _motion("o_dp_ee_c.twist", "O_dP_EE_c")]
    parts += [_motion("o_ddp_ee_c.accel", "O_ddP_EE_c"), *_rest(2)]
    return parts


# ---------------------------------------------------------------------- parts
def _paths(parts: Sequence[Part]) -> list[str]:
    return [path for paths, _ in parts for path in paths]


def _numbers(parts: Sequence[Part]) -> Callable[[Values], list[Any]]:
    getters = [get for _, get in parts]
    return lambda v: [number for get in getters for number in get(v)]


def _single(topic: str, kind: str, frame: str, part: Part, rate: float) -> Publication:
    """Return the publication of a stamped pose, twist or wrench."""
    return Publication(
        topic=topic,
        type=f"geometry_msgs/{kind}Stamped",
        paths=part[0],
        numbers=part[1],
        values={"header": {"frame_id": frame}},
        every=RateTimer(rate),
    )


def _field(name: str) -> Column:
    return lambda v: (v[name],)


def _list(name: str) -> Column:
    return lambda v: np.asarray(v[name]).tolist()


def _wrench(at: str, field: str) -> Part:
    return [f"{at}.{part}.{axis}" for part in ("force", "torque") for axis in _AXES], _list(field)


def _motion(at: str, field: str) -> Part:
    return [f"{at}.{part}.{axis}" for part in ("linear", "angular") for axis in _AXES], _list(field)


def _pose(at: str, field: str) -> Part:
    def numbers(v: Values) -> list[float]:
        T = np.asarray(v[field]).reshape(4, 4).T  # column-major
        w, x, y, z = np.asarray(quaternion_from_rotation(T[:3, :3])).tolist()
        return [*T[:3, 3].tolist(), x, y, z, w]

    paths = [f"{at}.position.{axis}" for axis in _AXES] + [f"{at}.orientation.{axis}" for axis in "xyzw"]
    return paths, numbers


def _payload(kind: str) -> Parts:
    return lambda v: (v[f"m_{kind}"], v[f"F_x_C{kind}"], v[f"I_{kind}"])


def _total(v: Values) -> tuple[Any, Any, Any]:
    """Return mass, centre of mass and inertia of end effector and load together, as the client library adds them."""
    ee, load = (
        Payload(
            mass=float(m), center_of_mass=tuple(np.asarray(c).tolist()), inertia=tuple(np.asarray(i).ravel().tolist())
        )
        for m, c, i in (_payload("ee")(v), _payload("load")(v))
    )
    both = ee.combined(load)
    return both.mass, np.asarray(both.center_of_mass), np.asarray(both.inertia)


def _inertia(name: str, get: Parts) -> Part:
    at = f"inertia_{name}.inertia"

    def numbers(v: Values) -> list[float]:
        mass, center, inertia = get(v)
        i = np.asarray(inertia).ravel().tolist()
        return [float(mass), *np.asarray(center).tolist(), i[0], i[1], i[2], i[4], i[5], i[8]]

    paths = [f"{at}.m", *(f"{at}.com.{axis}" for axis in _AXES)]
    return [*paths, *(f"{at}.i{pair}" for pair in ("xx", "xy", "xz", "yy", "yz", "zz"))], numbers


def _rest(version: int) -> list[Part]:
    """Return time, success rate, mode and errors, with which both messages end."""
    order = np.array([_NUMBER[name] for name in ERROR_NAMES[version]])
    parts: list[Part] = [
        (("time",), lambda v: (1e-3 * float(v["message_id"]),)),
        (("control_command_success_rate",), lambda v: (v["success_rate"],)),
        (("robot_mode",), lambda v: (int(v["robot_mode"]),)),
    ]
    for to, field in (("current_errors", "errors"), ("last_motion_errors", "reflex_reason")):

        def flags(v: Values, field: str = field) -> list[bool]:
            return (np.asarray(v[field])[order] != 0.0).tolist()

        parts.append(([f"{to}.{name}" for name in ERROR_NAMES[version]], flags))
    return parts

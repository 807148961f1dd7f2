"""The topic of poses in a recording: positions of all joints of the model, where no device tells some of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array
from pliant.recording.sample_message import CDR_LITTLE_ENDIAN, SEPARATOR

if TYPE_CHECKING:
    import mujoco

    from pliant.devices.base import FieldInfo

POSE = "pose"
"""Value that marks the topic of poses in its metadata."""
POSE_TOPIC = "/pliant/pose"
POSE_TYPE = "std_msgs/msg/Float64MultiArray"
POSE_TEXT = (
    f"std_msgs/MultiArrayLayout layout\nfloat64[] data\n{SEPARATOR}\nMSG: std_msgs/MultiArrayLayout\n"
    f"std_msgs/MultiArrayDimension[] dim\nuint32 data_offset\n{SEPARATOR}\nMSG: std_msgs/MultiArrayDimension\n"
    "string label\nuint32 size\nuint32 stride\n"
)
POSE_HEAD = struct.Struct("<4sIII4x")
"""CDR encapsulation, number of dimensions, offset, number of values, padding."""


class Recorded(Protocol):
    """Description of the joints that a device measures."""

    samples: Mapping[str, FieldInfo]
    """Field -> description."""
    joints: tuple[str, ...]
    """Names of the joints that the elements of array fields belong to."""


def told_joints(model: mujoco.MjModel, devices: Mapping[str, Recorded]) -> dict[int, tuple[str, int]]:
    """Return the joints of a model whose positions devices tell: number of the joint -> (device, element).

    Args:
        model: the compiled robot.
        devices: name -> device.
    """
    import mujoco

    kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    told: dict[int, tuple[str, int]] = {}
    for name, device in devices.items():
        info = device.samples.get("position")
        if info is None or len(device.joints) != info.size:
            continue
        for column, joint in enumerate(device.joints):
            i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
            if i >= 0 and i not in told and int(model.jnt_type[i]) in kinds:
                told[i] = name, column
    return told


def decode_poses(times: Iterable[int], bodies: Iterable[bytes]) -> tuple[NDArray[np.int64], Array]:
    """Return log times [ns] and positions, shape (t, nq), of the messages of poses; of equal length as the first.

    A message of another length, or of another kind, is left out.
    """
    rows, kept = [], []
    for log_ns, body in zip(times, bodies, strict=True):
        if len(body) < POSE_HEAD.size:
            continue
        encoding, dimensions, _, count = POSE_HEAD.unpack_from(body)
        if encoding != CDR_LITTLE_ENDIAN or dimensions or len(body) != POSE_HEAD.size + 8 * count:
            continue
        row = np.frombuffer(body, "<f8", offset=POSE_HEAD.size)
        if np.isfinite(row).all() and (not rows or len(row) == len(rows[0])):
            rows.append(row)
            kept.append(log_ns)
    return np.array(kept, dtype=np.int64), np.array(rows, dtype=float).reshape(len(rows), len(rows[0]) if rows else 0)

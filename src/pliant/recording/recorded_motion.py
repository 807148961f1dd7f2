"""The robot that was recorded, and its motion: its poses, and what acted on it."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import PliantError, RecordingError
from pliant.base.figures import INK
from pliant.base.numerics import Array
from pliant.recording.motion import Acting, Motion
from pliant.recording.poses import told_joints
from pliant.recording.recording import Recording

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPoses:
    """The poses of a robot in a recording."""

    time: Array
    """Times on the axis of the recording, from its begin on [s], shape (t,)."""
    qpos: Array
    """Positions, shape (t, nq)."""
    missing: tuple[str, ...]
    """Joints of the model that were not recorded: they stay in their first pose."""


def recorded_poses(recording: Recording, model: mujoco.MjModel, period: float) -> RecordedPoses:
    """Return the poses of a model at equal times, from the poses and joint positions of a recording.

    Args:
        recording: the recording.
        model: the compiled robot that was recorded.
        period: time between two poses [s].

    Raises:
        RecordingError: no position of a joint of this model was recorded.
    """
    import mujoco

    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    count = int(recording.duration / period + 1e-9) + 1
    time = np.asarray(recording.begin_ns * 1e-9 + np.arange(count) * period, dtype=np.float64)
    log_ns, poses = recording.poses
    stamps = np.asarray(log_ns * 1e-9, dtype=np.float64)
    whole = len(stamps) > 0 and poses.shape[1] == model.nq
    qpos = _between(model, time, stamps, poses) if whole else np.tile(data.qpos, (len(time), 1))
    sampled = {name: device for name, device in recording.devices.items() if len(recording[f"{name}/time"])}
    told = told_joints(model, sampled)
    for i, (name, column) in told.items():
        values = recording[f"{name}/position"]
        qpos[:, model.jnt_qposadr[i]] = np.interp(
            time, recording[f"{name}/time"], values.reshape(len(values), -1)[:, column]
        )
    if not told and not whole:
        raise RecordingError(
            "the recording has no positions of joints of this robot, so there is nothing to show; was another robot "
            "recorded?",
            file=recording.path,
            field="video",
        )
    rest = () if whole else tuple(model.joint(i).name or f"joint {i}" for i in range(model.njnt) if i not in told)
    return RecordedPoses(time=time, qpos=qpos, missing=rest)


def _between(model: mujoco.MjModel, time: Array, stamps: Array, poses: Array) -> Array:
    """Return the positions at other times: lines between two poses, and the shorter way between two orientations."""
    import mujoco

    rows = poses.copy()
    starts = {int(mujoco.mjtJoint.mjJNT_FREE): 3, int(mujoco.mjtJoint.mjJNT_BALL): 0}
    joints = zip(model.jnt_qposadr.tolist(), model.jnt_type.tolist(), strict=True)
    turns = [first + starts[kind] for first, kind in joints if kind in starts]
    for first in turns:
        part = rows[:, first : first + 4]
        flips = np.where((part[1:] * part[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
        part[1:] *= np.cumprod(flips)[:, None]
    out = np.column_stack([np.interp(time, stamps, rows[:, k]) for k in range(model.nq)])
    for first in turns:
        part = out[:, first : first + 4]
        part /= np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-12)
    return out


def recorded_actions(recording: Recording, model: mujoco.MjModel) -> Callable[[float], Acting]:
    """Return a function that returns the recorded payloads, forces from outside and contact forces at a time.

    Args:
        recording: the recording; what another program wrote differently is left out.
        model: the compiled robot that was recorded.
    """
    import mujoco

    def acting(time: float) -> Acting:
        loads, wrenches, contacts = {}, np.zeros((model.nbody, 6)), np.zeros((0, 6))
        with contextlib.suppress(TypeError, ValueError, KeyError, AttributeError):  # a file of another program
            for name, load in recording.last_event("payloads", time).get("payloads", {}).items():
                mass, place = float(load["mass"]), np.array(load["offset"], dtype=float).reshape(3)
                if 0.0 < mass < np.inf and np.isfinite(place).all():
                    loads[str(name)] = mass, place
            for name, wrench in recording.last_event("forces", time).get("forces", {}).items():
                body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, str(name))
                values = np.array(wrench, dtype=float).reshape(6)
                if body > 0 and np.isfinite(values).all():
                    wrenches[body] = values
            touching = np.array(recording.last_event("contacts", time).get("contacts", []), dtype=float).reshape(-1, 6)
            contacts = touching[np.isfinite(touching).all(axis=1)]
        return loads, wrenches, contacts

    return acting


def recorded_motion(
    recording: Recording, model: mujoco.MjModel, period: float, *, title: str = "", color: str = INK
) -> tuple[Motion, tuple[str, ...]]:
    """Return the poses of a recording and what acted on the robot as a motion, and the joints that were not recorded.

    Args:
        recording: the recording.
        model: the compiled robot that was recorded.
        period: time between two poses [s].
        title: text above it in a film.
        color: colour of the title.

    Raises:
        RecordingError: no position of a joint of this model was recorded.
    """
    poses, acting = recorded_poses(recording, model, period), recorded_actions(recording, model)
    motion = Motion(model=model, time=poses.time, poses=poses.qpos, acting=acting, title=title, color=color)
    return motion, poses.missing


def recorded_robot(found: Recording, hint: str = "name it by --robot SOURCE") -> tuple[str, list[str], list[Path]]:
    """Return source, settings and package paths of the command that wrote a recording; or say what to do.

    Raises:
        PliantError: it was written neither by `pliant run` nor by `pliant view`.
    """
    try:
        words = shlex.split(found.metadata.get("command_line", ""))
    except ValueError:
        words = []
    if len(words) < 3 or words[:2] not in (["pliant", "run"], ["pliant", "view"]) or words[2].startswith("-"):
        raise PliantError(
            f"the recording does not say which robot it shows; {hint}",
            file=found.path,
            field="robot",
        )
    values: dict[str, list[str]] = {"--set": [], "--package-path": []}
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in values:
            values[name] += [value] if equals else words[i + 1 : i + 2]
    return words[2], values["--set"], [Path(folder) for folder in values["--package-path"]]

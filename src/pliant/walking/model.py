"""The kinematic tree of a MuJoCo model, for controllers that know no engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.base.numerics import Array

if TYPE_CHECKING:
    import mujoco

    from pliant.walking.control.tree import KinematicTree


def joint_inertia(model: mujoco.MjModel, joints: Sequence[str], positions: Sequence[float]) -> Array:
    """Return the inertia that the motor of each joint feels, all else free, shape (n,) [kg m^2].

    Args:
        model: a compiled model.
        joints: names of hinges.
        positions: of these joints, shape (n,) [rad].
    """
    import mujoco

    data = mujoco.MjData(model)
    for name, position in zip(joints, positions, strict=True):
        data.qpos[model.joint(name).qposadr[0]] = position
    mujoco.mj_forward(model, data)
    unit, answer = np.zeros((1, model.nv)), np.zeros((1, model.nv))
    inertia = np.zeros(len(joints))
    for i, name in enumerate(joints):
        dof = int(model.joint(name).dofadr[0])
        unit[:] = 0.0
        unit[0, dof] = 1.0
        mujoco.mj_solveM(model, data, answer, unit)
        inertia[i] = 1.0 / answer[0, dof]
    return inertia


def kinematic_tree(model: mujoco.MjModel, base: str, joints: Sequence[str]) -> KinematicTree:
    """Return the links that the joints move; bodies that no other joint of them moves are parts of their link.

    Args:
        model: a compiled model.
        base: name of the body with the free joint.
        joints: hinges that are controlled, parents before children. Other joints are fixed at the model's initial pose,
            such as those of a SoftFoot.

    Raises:
        DeviceError: a body or joint that does not exist, or a joint that is no hinge below the base.
    """
    import mujoco

    from pliant.walking.control.tree import KinematicTree

    names = [model.joint(j).name for j in range(model.njnt)]
    for name in joints:
        if name not in names:
            raise DeviceError(f"the model has no joint {name!r}; {nearest(name, names)}", field=name)
    bodies = [model.body(b).name for b in range(model.nbody)]
    if base not in bodies:
        raise DeviceError(f"the model has no body {base!r}; {nearest(base, bodies)}", field="base")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    root = model.body(base).id
    R = data.xmat[root].reshape(3, 3)
    link_of = {root: 0}
    moved = {int(model.joint(name).bodyid[0]): i for i, name in enumerate(joints, 1)}
    n = len(joints) + 1
    parent = np.full(n, -1, dtype=np.int64)
    anchor = np.zeros((n, 3))
    anchor[0] = data.xpos[root]
    axis = np.zeros((n, 3))
    mass, moment = np.zeros(n), np.zeros((n, 3))
    low, high = np.full(n - 1, -np.inf), np.full(n - 1, np.inf)
    for b in range(1, model.nbody):
        carrier = link_of.get(int(model.body_parentid[b]))
        if b != root and carrier is None:
            continue
        if b in moved:
            i = moved[b]
            joint = model.joint(joints[i - 1])
            if int(joint.type[0]) != int(mujoco.mjtJoint.mjJNT_HINGE):
                raise DeviceError(f"the joint {joints[i - 1]!r} is not a hinge; must be a hinge", field=joints[i - 1])
            if carrier is None:
                raise DeviceError(
                    f"the joint {joints[i - 1]!r} moves the body {base!r}; must be below it", field=joints[i - 1]
                )
            parent[i] = carrier
            anchor[i] = data.xanchor[joint.id]
            axis[i] = R.T @ data.xaxis[joint.id]
            if model.jnt_limited[joint.id]:
                low[i - 1], high[i - 1] = joint.range
            link_of[b] = i
        elif carrier is not None:
            link_of[b] = carrier
        i = link_of[b]
        mass[i] += model.body_mass[b]
        moment[i] += model.body_mass[b] * data.xipos[b]
    com = np.zeros((n, 3))
    loaded = mass > 0.0
    com[loaded] = moment[loaded] / mass[loaded, None] - anchor[loaded]
    offset = np.zeros((n, 3))
    offset[1:] = anchor[1:] - anchor[parent[1:]]
    missing = [joints[i - 1] for i in range(1, n) if parent[i] < 0]
    if missing:
        raise DeviceError(f"the joint {missing[0]!r} is not below the body {base!r}", field=missing[0])
    return KinematicTree(parent=parent, offset=offset @ R, axis=axis, mass=mass, com=com @ R, low=low, high=high)

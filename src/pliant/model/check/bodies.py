"""Inertia, gravity loads and stiffness of the rigid bodies of a model over some poses."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.model.description import INTEGRATORS, Description

JOINTS = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
"""Types of joints with one degree of freedom. They are plain numbers: MuJoCo's enumeration is unequal to the numbers of
a compiled model if it stands on the left, as in ``type in JOINTS``."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """Quantities of the rigid part that the checks need, over some poses."""

    model: mujoco.MjModel
    inverse: list[Array]
    """M^-1 at each pose, shape (nv, nv)."""
    gravity: Array
    """Largest magnitude of the gravity load on each dof [N m or N], shape (nv,)."""
    stiffness: Array
    """Stiffness of the model's own springs and position actuators by dof, shape (nv,)."""

    def inertia(self, dof: int) -> float:
        """Return the smallest inertia that a dof moves [kg m^2 or kg]."""
        return 1.0 / max(float(w[dof, dof]) for w in self.inverse)


def bodies_of(model: mujoco.MjModel, poses: int, seed: int) -> Bodies:
    """Return inverse inertia, gravity loads and stiffness at the initial pose and at random ``poses``.

    Raises:
        ModelError: joints move the same bodies in the same way, so that their accelerations are not determined.
    """
    data = mujoco.MjData(model)
    random = np.random.default_rng(seed)
    inverse, gravity = [], np.zeros(model.nv)
    M = np.zeros((model.nv, model.nv))
    for pose in range(1 + poses):
        mujoco.mj_resetData(model, data)
        if pose:
            for j in range(model.njnt):
                if model.jnt_type[j] in JOINTS:
                    hinge = model.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE
                    low, high = (-math.pi, math.pi) if hinge else (-0.1, 0.1)
                    if model.jnt_limited[j]:
                        low, high = model.jnt_range[j]
                    data.qpos[model.jnt_qposadr[j]] = random.uniform(low, high)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_fullM(model, data, M)
        try:
            inverse.append(np.linalg.inv(M))
        except np.linalg.LinAlgError:
            free = np.abs(np.linalg.eigh(M)[1][:, 0]) > 1e-6
            joints = dict.fromkeys(model.joint(int(j)).name for j in model.dof_jntid[free])
            raise ModelError(
                f"the joints {', '.join(map(repr, joints))} move the same bodies in the same way, and their inertia "
                "matrix is singular; remove one of them, or give it an armature",
                field=next(iter(joints)),
            ) from None
        gravity = np.maximum(gravity, np.abs(data.qfrc_bias - data.qfrc_gravcomp))
    stiffness = np.zeros(model.nv)
    for j in range(model.njnt):
        if model.jnt_type[j] in JOINTS:
            stiffness[model.jnt_dofadr[j]] += model.jnt_stiffness[j]
    for i in range(model.nactuator):
        if (
            model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT
            and model.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_AFFINE
        ):
            dof = model.jnt_dofadr[model.actuator_trnid[i, 0]]
            stiffness[dof] += max(0.0, -model.actuator_biasprm[i, 1]) * model.actuator_gear[i, 0] ** 2
    return Bodies(model, inverse, gravity, stiffness)


def link_damping_is_implicit(model: mujoco.MjModel) -> bool:
    """Return whether the integrator treats joint damping implicitly."""
    if model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_DAMPER:
        return False
    if model.opt.integrator == INTEGRATORS["euler"]:
        return not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    return model.opt.integrator != INTEGRATORS["rk4"]


def compile_bodies(robot: Description, *, surfaces: bool = True) -> mujoco.MjModel:
    """Return the compiled rigid bodies of a robot.

    Args:
        robot: the robot; it is not changed.
        surfaces: whether to compile meshes that are only seen, which take most of the time of an arm that has them.
    """
    if not surfaces:
        spec = robot.spec.copy()
        omit_surfaces(spec)
        with contextlib.suppress(ValueError, RuntimeError):  # something else names a mesh, or the robot has a fault
            return spec.compile()
    try:
        return robot.spec.copy().compile()
    except (ValueError, RuntimeError) as error:
        raise robot.compile_error(error) from error


def omit_surfaces(spec: mujoco.MjSpec) -> None:
    """Delete the meshes that are only seen: geoms without mass that collide with nothing, which stay as points."""
    geoms = [geom for geom in spec.geoms if geom.meshname]
    omitted = {geom.meshname for geom in geoms} - {geom.meshname for geom in geoms if not _is_surface(geom)}
    for geom in geoms:
        if geom.meshname in omitted:
            geom.type, geom.size, geom.meshname = mujoco.mjtGeom.mjGEOM_SPHERE, [1e-3, 0.0, 0.0], ""
    for mesh in list(spec.meshes) if omitted else ():
        if mesh.name in omitted:
            spec.delete(mesh)


def _is_surface(geom: mujoco.MjsGeom) -> bool:
    """Return whether a geom with a mesh is only seen; one of another type takes its size from the mesh."""
    return geom.type == mujoco.mjtGeom.mjGEOM_MESH and geom.mass == 0.0 and not (geom.contype or geom.conaffinity)

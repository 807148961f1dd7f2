"""Visuals that show images of other programs: a texture of their own, which a device changes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.spatial import quaternion_from_rotation, quaternion_product
from pliant.yarp.model.services import VideoTexture, YarpInterface

if TYPE_CHECKING:
    import mujoco

GRAY = 0.5
"""Gray level of a texture before the first image."""


def place_textures(spec: mujoco.MjSpec, interface: YarpInterface) -> tuple[YarpInterface, list[str]]:
    """Give the visuals of video textures textures of their own.

    Returns:
        The interface without those whose visual the model lacks, and a note for each of them.
    """
    import mujoco

    devices, notes = [], []
    for device in interface.devices:
        if isinstance(device, VideoTexture):
            geoms = _visuals(spec, device)
            if not geoms:
                what = f"visual {device.visual!r}" if device.visual else "visual"
                notes.append(f"the video texture {device.name!r} is left out: link {device.link!r} has no {what}")
                continue
            spec.add_texture(
                name=device.texture,
                type=mujoco.mjtTexture.mjTEXTURE_2D,
                builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
                width=device.width,
                height=device.height,
                nchannel=3,
                rgb1=[GRAY] * 3,
            )
            material = spec.add_material(name=device.texture)
            material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = device.texture
            for geom in geoms:
                geom.material = device.texture
                geom.rgba = [1.0, 1.0, 1.0, 1.0]
                if geom.type == mujoco.mjtGeom.mjGEOM_BOX:
                    _face(geom)
        devices.append(device)
    return dataclasses.replace(interface, devices=tuple(devices)), notes


def _visuals(spec: mujoco.MjSpec, device: VideoTexture) -> list[mujoco.MjsGeom]:
    """Return the geoms of the visual; those that collide are none."""
    body = spec.body(device.link)
    geoms = [] if body is None else [g for g in body.geoms if not g.contype and not g.conaffinity]
    return [g for g in geoms if g.name == device.visual] or ([] if device.visual else geoms)


def _face(geom: mujoco.MjsGeom) -> None:
    """Turn the axes of a box, which stays as it is, so that its third one is the thinnest: MuJoCo lays textures across
    the first two, with the image upright along the former third axis."""
    size = np.array(geom.size[:3])
    thin = int(np.argmin(size))
    if thin == 2:
        return
    # The face that the negative axis looks out of is that seen from the front of an upright screen.
    normal = -np.eye(3)[thin]
    up = np.eye(3)[2]
    axes = np.column_stack([np.cross(up, normal), up, normal])
    geom.quat = quaternion_product(np.array(geom.quat), quaternion_from_rotation(axes))
    geom.size = np.abs(axes.T @ size)

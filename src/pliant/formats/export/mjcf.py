"""A robot as MuJoCo's MJCF."""

from __future__ import annotations

from pliant.base.errors import ModelError
from pliant.model.interface import ModelPart
from pliant.model.robot import Robot

__all__ = ["describe_mjcf"]


def describe_mjcf(robot: Robot) -> str:
    """Return a robot as MJCF, with its compliant actuators as user actuators and the key frame "rest".

    Meshes and textures stay where the robot's own file has them.

    Raises:
        ModelError: MuJoCo refuses the robot, or it holds what no file can.
    """
    model, spec = robot.compile(), robot.assemble()
    for key in spec.keys:
        k = model.key(key.name).id
        key.qpos, key.qvel = model.key_qpos[k], model.key_qvel[k]
        key.act, key.ctrl = model.key_act[k], model.key_ctrl[k]
    for part in robot.devices:
        if isinstance(part, ModelPart):
            part.export(spec, model)
    try:
        return spec.to_xml()
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"MuJoCo cannot write the model: {' '.join(str(error).split())}") from error

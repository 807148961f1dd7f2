"""A robot as MuJoCo's MJCF."""

from __future__ import annotations

from pliant.base.errors import ModelError
from pliant.feet.model import ReplacedFoot
from pliant.model.robot import Robot
from pliant.rods.model.mechanism import find_mechanism

__all__ = ["describe_mjcf"]


def describe_mjcf(robot: Robot) -> str:
    """Return a robot as MJCF, with its compliant actuators as user actuators and the key frame "rest".

    Meshes and textures stay where the robot's own file has them.

    Raises:
        ModelError: MuJoCo refuses the robot, or it holds what no file can.
    """
    mechanism = find_mechanism(robot)
    if mechanism is not None and mechanism.bent:
        raise ModelError(
            "a flex is compiled straight and bent afterwards, which no MJCF file holds; set robot.variant to chain",
            field="variant",
        )
    model, spec = robot.compile(), robot.assemble()
    for key in spec.keys:
        k = model.key(key.name).id
        key.qpos, key.qvel = model.key_qpos[k], model.key_qvel[k]
        key.act, key.ctrl = model.key_act[k], model.key_ctrl[k]
    fitted = {name for part in robot.devices if isinstance(part, ReplacedFoot) for name in part.compliances}
    for equality in spec.equalities:
        if equality.name in fitted:
            equality.solref = model.equality(equality.name).solref
    try:
        return spec.to_xml()
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"MuJoCo cannot write the model: {' '.join(str(error).split())}") from error

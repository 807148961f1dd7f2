"""Talos and G1 standing on the ground, each joint with a position servo."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.robots.catalogue import CatalogueRobot
from pliant.walking.robots.humanoids.data import find_data
from pliant.walking.robots.humanoids.options import HumanoidOptions
from pliant.walking.robots.humanoids.walking import Legs

if TYPE_CHECKING:
    from pliant.model import Robot


@dataclass(frozen=True, slots=True, kw_only=True)
class _Humanoid:
    """Data of a humanoid that its file does not contain."""

    name: str
    """Name in the catalogue."""
    file: str
    """File in example-robot-data."""
    base: str
    """Body that floats."""
    stiffness: float
    """Stiffness of the servos [N m/rad].  # assumed"""
    damping: float
    """Damping of the servos [N m s/rad].  # assumed"""
    armature: float
    """Inertia of the rotors at the joints [kg m^2].  # assumed"""
    legs: Legs
    """Names of the legs."""


_TALOS = _Humanoid(
    name="talos", file="talos_data/robots/talos_reduced.urdf", base="base_link",
    stiffness=4000.0, damping=98.0, armature=0.1,
    legs=Legs(
        feet=("leg_left_6_link", "leg_right_6_link"),
        ankles=("leg_left_6_joint", "leg_right_6_joint"),
        knees=("leg_left_4_joint", "leg_right_4_joint"),
    ),
)  # fmt: skip
_G1 = _Humanoid(
    name="g1", file="g1_description/urdf/g1_29dof_rev_1_0.urdf", base="pelvis",
    stiffness=500.0, damping=20.0, armature=0.03,
    legs=Legs(
        feet=("left_ankle_roll_link", "right_ankle_roll_link"),
        ankles=("left_ankle_roll_joint", "right_ankle_roll_joint"),
        knees=("left_knee_joint", "right_knee_joint"),
    ),
)  # fmt: skip

FEET = {humanoid.name: humanoid.legs.feet for humanoid in (_TALOS, _G1)}
"""Last links of the legs, left and right, by robot: what `pliant.feet.replace_foot` takes."""


def build(humanoid: _Humanoid, options: HumanoidOptions) -> Robot:
    """Return a humanoid in its zero pose, its soles on the ground.

    Raises:
        MissingDependency: example-robot-data is not installed.
    """
    import mujoco
    import numpy as np

    from pliant.feet.model.geometry import reach
    from pliant.formats.source import Source
    from pliant.formats.urdf_robot import read_urdf
    from pliant.model.interface import Interface
    from pliant.robots.parts import add_scene, finished
    from pliant.walking.bars import add_bars
    from pliant.walking.robots.humanoids.walking import add_walking, find_stance, stand

    path = find_data(humanoid.file)

    def load(_: object) -> Robot:
        raise NotImplementedError  # a URDF names no other robot

    robot = read_urdf(Source(path=path, package_paths=(path.parents[2], path.parents[3], path.parents[4]), load=load))
    # The file's actuators are models of its drives without gains; position servos take their place.
    robot.actuators.clear()
    robot.interface = Interface()
    robot.notes.clear()
    spec = robot.spec
    spec.modelname = humanoid.name
    spec.option.timestep = options.timestep
    spec.body(humanoid.base).add_freejoint(name="base")
    add_scene(spec, extent=2.0, center=(0.0, 0.0, 0.8))
    spec.geom("floor").friction = [options.friction, 0.005, 0.0001]
    chosen = {
        name: getattr(humanoid, name) if getattr(options, name) is None else getattr(options, name)
        for name in ("stiffness", "damping", "armature")
    }
    for joint in spec.joints:
        if joint.type in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            joint.armature = chosen["armature"]
            servo = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            if options.actuation == "torque":
                servo.set_to_motor()
            else:
                servo.set_to_position(kp=chosen["stiffness"], kv=chosen["damping"])
    model = spec.copy().compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    down = np.array([0.0, 0.0, -1.0])
    shapes = [g for g in range(model.ngeom) if model.geom_contype[g] and model.geom_bodyid[g]]
    lift = max(reach(model, data, g, down) for g in shapes)
    spec.body(humanoid.base).pos += np.array([0.0, 0.0, lift])
    finished(robot)
    if options.controller == "none" and options.feet == "rigid" and options.bar_height == 0.0:
        return robot
    stance = find_stance(spec.copy().compile(), humanoid.base, humanoid.legs)
    if options.feet == "soft":
        from pliant.feet.model.foot_fit import FootFit
        from pliant.feet.model.replace import replace_foot
        from pliant.feet.softfoot import SoftFoot

        foot = SoftFoot(
            n_chains=1,
            lump=True,
            coupling="midpoint",
            tendon="fixed",
            scale=options.foot_scale,
            closure_compliance=options.foot_closure_compliance,
        )
        forward = options.foot_forward
        middle = 0.5 * (stance.sole[0] + stance.sole[1]) - 0.01
        fit = FootFit(forward_offset=middle if forward is None else forward, pitch="level")
        for body in humanoid.legs.feet:
            replace_foot(robot, body, foot, fit)
    add_bars(robot.spec, options, ankles=stance.ankles)
    if options.controller == "walking":
        stand(robot.spec, humanoid.base, stance, options.actuation == "position")
        add_walking(robot, humanoid.base, humanoid.legs, stance, options)
    return robot


_ASSUMED = ("Stiffness and damping of the servos and the inertia of the rotors.",)
_SOURCE = "the URDF of PyPI's package example-robot-data, which has to be installed"

ROBOTS = (
    CatalogueRobot(
        name="talos",
        scenarios=("push-talos",),
        summary="Humanoid of 90 kg (PAL Robotics) with position servos; needs example-robot-data.",
        options=HumanoidOptions,
        function=functools.partial(build, _TALOS),
        source=_SOURCE,
        assumed=_ASSUMED,
    ),
    CatalogueRobot(
        name="g1",
        scenarios=("push-g1",),
        summary="Humanoid of 33 kg (Unitree) with position servos; needs example-robot-data.",
        options=HumanoidOptions,
        function=functools.partial(build, _G1),
        source=_SOURCE,
        assumed=_ASSUMED,
    ),
)

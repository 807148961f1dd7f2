"""The biped in the catalogue."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pliant.model import ForceTorque, Imu, Robot
from pliant.model.inertia import set_inertia
from pliant.robots.catalogue import CatalogueRobot
from pliant.walking.bars import add_bars
from pliant.walking.robots.biped import parameters as p

if TYPE_CHECKING:
    import mujoco

    from pliant.feet.model.contact_law import ContactLaw
    from pliant.walking.device import WalkingDescription
    from pliant.walking.robots.biped.options import BipedOptions


def build(options: BipedOptions) -> Robot:
    """Return the biped standing on the ground, its ankles over x = 0."""
    import mujoco

    from pliant.formats.robot_yaml import find_block
    from pliant.robots.parts import finished, look_at, new_spec

    spec = new_spec("biped", options.timestep, extent=1.2, center=(0.4, 0.0, 0.45))
    height = p.ANKLE_HEIGHT + p.STANDING_HEIGHT + p.WAIST_TO_HIP
    waist = spec.worldbody.add_body(name="waist", pos=[p.STANDING_SHIFT, 0.0, height])
    waist.add_freejoint(name="base")
    _inertial(waist, "waist", 1.0)
    _shapes(waist, "waist", 1.0)
    body = waist
    soles: dict[str, ContactLaw] = {}
    for name in p.PARTS["torso"]:
        body = _link(body, name, name, 1.0)
    for side, sign in p.SIDES.items():
        arm, leg = body, waist
        for name in p.PARTS["left_arm" if side == "l" else "right_arm"]:
            arm = _link(arm, name, name[2:], sign)
        _link(arm, f"{side}_hand", "hand", sign)
        for name in p.PARTS["left_leg" if side == "l" else "right_leg"]:
            leg = _link(leg, name, name[2:], sign)
        foot = leg.add_body(name=f"{side}_foot")
        if options.feet in ("rigid", "padded"):
            _flat_foot(foot, padded=options.feet == "padded")
        else:
            soles |= _soft_foot(foot, options, side)
    for name, joint in p.JOINTS.items():
        _actuator(spec, name, joint, options)
    add_bars(spec, options)
    if options.feet == "soft":
        from pliant.feet.model.soles import fit_soles, hold_soles, write_soles
        from pliant.feet.softfoot import fit_closure

        for side in p.SIDES:
            fit_closure(spec, options.foot_closure_compliance, f"{side}_foot/")
        hold_soles(spec)
        model = spec.copy().compile()
        fit_soles(model, soles)
        write_soles(spec, model, soles)
    _key(spec, options)
    camera = spec.worldbody.add_camera(
        name="side", pos=[0.0, -2.2, 0.7], mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACK, fovy=34.0
    )
    look_at(camera, (0.0, -2.2, 0.7), (0.0, 0.0, 0.45))
    devices: list[Any] = [Imu(name="imu", body="waist", rate=100.0)]
    for name, body_name in (("arm", "hand"), ("ankle", "foot")):
        devices += [
            ForceTorque(name=f"{s}_{'wrist' if name == 'arm' else 'ankle'}_ft", body=f"{s}_{body_name}", rate=100.0)
            for s in p.SIDES
        ]
    if options.controller == "walking":
        devices.append(_walking(options))
    robot = Robot(spec, devices=devices)
    if options.controller == "boards":
        find_block("boards").apply(robot, _boards(options))
        find_block("external_wrench").apply(robot, True)
    if options.feet == "soft":
        from pliant.feet.model.sole import Sole

        robot.devices += [Sole(name=f"{s}_sole", body=f"{s}_foot/attachment_cube", enabled=False) for s in p.SIDES]
    return finished(robot)


def _boards(options: BipedOptions) -> dict[str, dict[str, object]]:
    """Return the fields of a control board for each part; with torque motors it has the gains of the servos."""
    boards = {}
    for part, names in p.PARTS.items():
        joints = [p.JOINTS[name] for name in names]
        gains = {
            "position_kp": tuple(options.servo_gain * joint.stiffness for joint in joints),
            "position_kd": tuple(math.sqrt(options.servo_gain) * joint.servo_damping for joint in joints),
            "position_ki": (0.0,),
            "position_max_output": tuple(joint.effort for joint in joints),
        }
        boards[part] = {
            "joints": names,
            "initial_positions": tuple(p.REST[name] for name in names),
            **(gains if options.actuation == "torque" else {}),
        }
    return boards


def _walking(options: BipedOptions) -> WalkingDescription:
    from pliant.walking.control.settings import WalkSettings
    from pliant.walking.device import WalkingDescription

    names = [field.name for field in dataclasses.fields(WalkSettings)]
    return WalkingDescription(
        base="waist",
        joints=tuple(p.JOINTS),
        rest=tuple(p.REST[name] for name in p.JOINTS),
        ankles=("l_ankle_roll", "r_ankle_roll"),
        sole=p.ANKLE_HEIGHT,
        spacing=p.HIP_SPACING,
        imu="imu",
        force_torque=("l_ankle_ft", "r_ankle_ft"),
        start=options.walk_start,
        rate_noise=options.rate_noise,
        load_noise=options.load_noise,
        settings=WalkSettings(**{name: getattr(options, name) for name in names}),
    )


def _link(parent: mujoco.MjsBody, name: str, kind: str, sign: float) -> mujoco.MjsBody:
    """Add one body with its joint, masses and shapes; return it."""
    x, y, z = p.OFFSETS[kind]
    # A body has the name of the joint that moves it, without which it would have none.
    body = parent.add_body(name=name, pos=[x, sign * y, z])
    if name in p.JOINTS:
        joint = p.JOINTS[name]
        body.add_joint(
            name=name,
            axis=list(joint.axis),
            range=[joint.low, joint.high],
            armature=joint.armature,
            damping=[joint.damping, 0.0, 0.0],
        )
    _inertial(body, kind, sign)
    _shapes(body, kind, sign)
    return body


def _inertial(body: mujoco.MjsBody, kind: str, sign: float) -> None:
    link = p.LINKS[kind]
    _box_inertia(body, link.mass, link.size, (link.center[0], sign * link.center[1], link.center[2]))


def _box_inertia(body: mujoco.MjsBody, mass: float, size: Sequence[float], center: Sequence[float]) -> None:
    a, b, c = (edge * edge for edge in size)
    set_inertia(body, mass, [mass * (b + c) / 12.0, mass * (a + c) / 12.0, mass * (a + b) / 12.0], center)


def _shapes(body: mujoco.MjsBody, kind: str, sign: float) -> None:
    """Add the pictures of a body, and the few shapes that touch the ground when the robot falls."""
    from pliant.robots.parts import box, capsule, cylinder, sphere

    if kind == "waist":
        box(body, (0.11, 0.15, 0.09), (-0.01, 0.0, 0.0), "housing")
        _touches(capsule(body, (-0.01, -0.05, -0.02), (-0.01, 0.05, -0.02), 0.055, "housing"))
        for s in p.SIDES.values():
            cylinder(body, (0.0, s * 0.05, -p.WAIST_TO_HIP), (0.0, s * 0.11, -p.WAIST_TO_HIP), 0.04, "metal")
    elif kind == "torso_yaw":
        cylinder(body, (0.0, 0.0, -0.03), (0.0, 0.0, 0.03), 0.05, "metal")
    elif kind == "torso_pitch":
        capsule(body, (0.0, 0.0, 0.0), (0.0, 0.0, 0.08), 0.045, "metal")
        box(body, (0.13, 0.20, 0.22), (0.0, 0.0, 0.17), "link")
        box(body, (0.10, 0.12, 0.03), (0.02, 0.0, 0.17), "orange")
        _touches(capsule(body, (0.0, -0.05, 0.22), (0.0, 0.05, 0.22), 0.07, "link"))
        cylinder(body, (0.0, 0.0, 0.27), (0.0, 0.0, 0.32), 0.03, "metal")
        _touches(sphere(body, (0.01, 0.0, 0.36), 0.065, "link"))
        box(body, (0.03, 0.09, 0.025), (0.06, 0.0, 0.37), "housing")
    elif kind == "shoulder_pitch":
        cylinder(body, (0.0, -sign * 0.02, 0.0), (0.0, sign * 0.03, 0.0), 0.035, "metal")
    elif kind == "shoulder_roll":
        sphere(body, (0.0, 0.0, 0.0), 0.042, "housing")
    elif kind == "shoulder_yaw":
        capsule(body, (0.0, 0.0, -0.05), (0.0, 0.0, -0.15), 0.033, "link")
    elif kind == "elbow":
        cylinder(body, (0.0, -0.03, 0.0), (0.0, 0.03, 0.0), 0.033, "metal")
        capsule(body, (0.0, 0.0, -0.03), (0.0, 0.0, -0.14), 0.028, "link")
    elif kind == "hand":
        _touches(capsule(body, (0.0, 0.0, -0.02), (0.0, 0.0, -0.06), 0.026, "housing"))
    elif kind == "hip_roll":
        sphere(body, (0.0, 0.0, 0.0), 0.045, "housing")
    elif kind == "hip_pitch":
        capsule(body, (0.0, 0.0, -0.05), (0.0, 0.0, -p.KNEE_TO_HIP + 0.05), 0.046, "link")
    elif kind == "knee":
        _touches(capsule(body, (0.0, -0.03, 0.0), (0.0, 0.03, 0.0), 0.042, "metal"))
        capsule(body, (0.0, 0.0, -0.05), (0.0, 0.0, -p.ANKLE_TO_KNEE + 0.05), 0.038, "link")
    elif kind == "ankle_pitch":
        sphere(body, (0.0, 0.0, 0.0), 0.03, "housing")


def _touches(geom: mujoco.MjsGeom) -> None:
    """Let a shape touch the ground and obstacles, and no part of the robot."""
    geom.contype, geom.conaffinity, geom.group = 1, 2, 0


def _flat_foot(foot: mujoco.MjsBody, *, padded: bool) -> None:
    """Add a flat box sole, with a pad under it or without; the height of the ankle is the same."""
    from pliant.feet.model.pad import SLICE_MASS, Pad, add_pad
    from pliant.robots.parts import box, capsule

    length, width, thickness = p.SOLE
    pad = Pad(slices=p.PAD_SLICES, armature=p.PAD_ARMATURE)
    z = 0.5 * thickness - p.ANKLE_HEIGHT + (pad.thickness if padded else 0.0)
    mass = p.FOOT_MASS - (pad.slices * SLICE_MASS if padded else 0.0)
    _box_inertia(foot, mass, p.SOLE, (p.SOLE_FORWARD, 0.0, z))
    sole = box(foot, p.SOLE, (p.SOLE_FORWARD, 0.0, z), "housing")
    sole.name = f"{foot.name}_sole"
    if padded:
        ends = (p.SOLE_FORWARD - 0.5 * length, p.SOLE_FORWARD + 0.5 * length)
        add_pad(foot, pad, x=ends, half_width=0.5 * width, bottom=-p.ANKLE_HEIGHT, prefix=f"{foot.name}_")
    else:
        _touches(sole)
    for x in (-0.6, 0.6):
        capsule(foot, (0.0, 0.0, 0.0), (x * 0.5 * length + p.SOLE_FORWARD, 0.0, z), 0.016, "metal")


def _soft_foot(foot: mujoco.MjsBody, options: BipedOptions, side: str) -> dict[str, ContactLaw]:
    """Add a SoftFoot whose sole is level with that of the rigid foot; return the laws of its soles by name."""
    from pliant.feet.model.soles import measure_soles
    from pliant.feet.softfoot import softfoot
    from pliant.feet.softfoot.parameters import ANKLE_HEIGHT

    child = softfoot(
        n_chains=options.foot_chains,
        lump=True,
        coupling=options.foot_coupling,
        tendon=options.foot_tendon,
        tendon_slack=options.foot_tendon_slack,
        scale=options.foot_scale,
        side="left" if side == "l" else "right",
        closure_compliance=max(options.foot_closure_compliance, 7.7e-6),
        timestep=options.timestep,
    )
    frame = foot.add_frame(pos=[options.foot_forward, 0.0, options.foot_scale * ANKLE_HEIGHT - p.ANKLE_HEIGHT])
    laws = measure_soles(child.copy().compile())
    frame.attach_body(child.body("attachment_cube"), prefix=f"{side}_foot/")
    return {f"{side}_foot/{name}": law for name, law in laws.items()}


def _actuator(spec: mujoco.MjSpec, name: str, joint: p.Joint, options: BipedOptions) -> None:
    import mujoco

    actuator = spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
    if options.actuation == "torque":
        actuator.set_to_motor()
        actuator.ctrllimited = True
        actuator.ctrlrange = [-joint.effort, joint.effort]
        return
    gain = options.servo_gain
    actuator.set_to_position(kp=gain * joint.stiffness, kv=math.sqrt(gain) * joint.servo_damping)
    actuator.forcelimited = True
    actuator.forcerange = [-joint.effort, joint.effort]


def _key(spec: mujoco.MjSpec, options: BipedOptions) -> None:
    """Add the key frame "rest": standing, with the servos at their references."""
    model = spec.copy().compile()
    qpos = model.qpos0.copy()
    for name, angle in p.REST.items():
        qpos[model.joint(name).qposadr[0]] = angle
    ctrl = [0.0] * model.nu
    if options.actuation == "position":
        for name, angle in p.REST.items():
            ctrl[model.actuator(name).id] = angle
    spec.add_key(name="rest", qpos=qpos.tolist(), ctrl=ctrl)


ROBOT = CatalogueRobot(
    name="biped",
    summary="Torque-controlled biped of primitive shapes, 31 kg and 0.95 m, with rigid feet or SoftFeet.",
    options="pliant.walking.robots.biped.options:BipedOptions",  # by name: listing robots loads no controller
    function=build,
    source="ours, in the class of COMAN (IIT), the robot of the YARP experiments; SoftFeet: see softfoot",
    scenarios=("push-biped",),
    view_settings=("robot.controller=walking",),
    assumed=(
        "All lengths, masses, limits, torques, reflected inertias and gains are ours; none is a number of COMAN.",
        "The rigid sole, 200 mm by 100 mm: the size of the sole that the paper compares was never published.",
        "The ground and the bars have the friction coefficient 1.",
    ),
)

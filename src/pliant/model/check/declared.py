"""Checks of names, integrator, limits, masses and parameters: the model is not compiled."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from pliant.base.errors import LawError, ModelError, nearest
from pliant.laws import CompliantActuator, DCMotor, LeverDrive, Mode
from pliant.model.check.bodies import JOINTS
from pliant.model.description import INTEGRATORS, REST_KEY, TAKES_PLACE, Description, unit_of_joint
from pliant.model.interface import DeviceSpec, ModelPart
from pliant.model.problem import Problem, Problems


def check_names(robot: Description, problems: Problems) -> list[str]:
    """Report names that lead nowhere; return the joints whose actuators can enter the model."""
    usable = []
    for joint, actuator in robot.actuators.items():
        try:
            robot.find_joint(joint)
            robot.refuse_taken_names(joint, actuator)
            usable.append(joint)
        except ModelError as error:
            problems.error(joint, error.message)
    joints = [j for j in robot.joints if j]
    for joint in robot.interface.joints:
        if joint not in joints:
            problems.error(joint, "the interface names this joint, which the model lacks", nearest(joint, joints))
        elif joint not in robot.actuators:
            problems.warning(joint, "the interface names this joint, which has no compliant actuator")
    manager = robot.interface.manager
    for joint in manager.joints if manager is not None else ():
        if joint not in joints:
            problems.error(joint, "the manager drives this joint, which the model lacks", nearest(joint, joints))
        elif joint not in robot.actuators:
            problems.error(joint, "the manager drives this joint, which has no compliant actuator")
    seen: set[str] = set()
    elements: set[str] | None = None
    for device in robot.devices:
        if isinstance(device, ModelPart):
            problems += device.check(robot.spec)
        name = device.name
        if name in seen:
            problems.error(name, "two devices have this name", "rename one")
        seen.add(name)
        if not isinstance(device, DeviceSpec):
            continue
        for joint in device.joints:
            if joint not in joints:
                problems.error(name, f"the device names the joint {joint!r}", nearest(joint, joints))
        for element in device.elements:
            if elements is None:
                spec = robot.spec
                groups = (spec.sites, spec.bodies, spec.cameras, spec.sensors, spec.geoms, spec.frames)
                elements = {e.name for group in groups for e in group if e.name}
            if element not in elements:
                problems.error(name, f"the device names the element {element!r}", nearest(element, elements))
    for joint in robot.actuators:
        for actuator in robot.own_actuators(joint):
            text = f"the model's own actuator {actuator.name!r} drives this compliant joint as well"
            problems.warning(joint, text, f"if the compliant actuator is meant to take its place: {TAKES_PLACE}")
    return usable


def check_integrator(robot: Description, problems: Problems, h: float) -> None:
    """Report an integrator that does not suit compliant actuators."""
    integrator = robot.spec.option.integrator
    stiff = [part.name for part in robot.devices if isinstance(part, ModelPart) and part.stiff]
    if stiff and integrator != INTEGRATORS["discrete"]:
        problems.warning(
            "option.integrator",
            f"the springs of {', '.join(stiff)} are too stiff for other integrators than discrete",
            "set option.integrator to discrete",
        )
    if integrator == INTEGRATORS["rk4"]:
        states = {joint: a.states(h) for joint, a in robot.actuators.items()}
        for joint, count in states.items():
            if count:
                problems.error(
                    joint,
                    f"the integrator is RK4 and this actuator has {count} states, which advance once a step",
                    "set option.integrator to implicitfast, implicit or Euler",
                )
    elif integrator == INTEGRATORS["discrete"] and robot.actuators and not stiff:
        problems.warning(
            "option.integrator",
            "the discrete integrator damps the resonances of stiff joints and does not see the actuators' springs",
            "implicitfast shows them",
        )


def check_spec(robot: Description, problems: Problems) -> None:
    """Report limits, dynamics and masses that no robot can have."""
    # A key frame "rest" of the robot's own says where it starts.
    rests = any(key.name == REST_KEY for key in robot.spec.keys)
    for joint in robot.spec.joints:
        low, high = joint.range
        limited = joint.type in JOINTS and _is_limited(joint)  # others have no lower limit
        if limited and low >= high:
            problems.error(
                joint.name,
                f"the lower limit {low:g} is not below the upper limit {high:g}",
                "exchange them, or leave them out for none",
            )
        elif limited and not low <= joint.ref <= high and not rests:
            problems.warning(joint.name, f"starts at {joint.ref:g}, outside its limits {low:g} to {high:g}")
        dynamics = {
            "damping": joint.damping[0], "stiffness": joint.stiffness[0], "armature": joint.armature,
            "frictionloss": joint.frictionloss,
        }  # fmt: skip
        for name, value in dynamics.items():
            if value < 0.0:
                problems.error(joint.name, f"{name} is {value:g}", "must be 0 or more")
    for body in robot.spec.bodies:
        if not body.explicitinertial or body.name == "world":
            continue
        if body.mass < 0.0 or np.any(np.asarray(body.inertia) < 0.0):
            problems.error(body.name, f"mass {body.mass:g} kg, inertia {list(body.inertia)}", "must be above 0")
        elif body.joints and body.mass == 0.0 and not list(body.bodies):
            problems.error(body.name, "moves and has no mass", "give it one")


def check_parameters(robot: Description, joint: str, actuator: CompliantActuator, problems: Problems) -> None:
    """Report parameters of an actuator that do not go together."""
    mode = actuator.mode
    _check_passive_spring(robot, joint, problems)
    wide = wide_play(robot, joint, actuator)
    if wide is not None:
        problems.error(joint, wide.message)
    _check_idle_blocks(joint, actuator, problems)
    if mode == Mode.LINK_PID and actuator.pid_1 is not None and actuator.pid_1.kp == actuator.pid_1.ki == 0.0:
        problems.warning(joint, "the link's controller has kp = ki = 0: it follows no reference")
    if not mode.has_motors:
        return
    q = _initial_angle(robot, joint)
    try:
        theta = actuator.law.map_references(q, float(actuator.initial_preset or 0.0))
    except LawError as error:
        problems.error(joint, error.message)
        return
    for i, (motor, pid) in enumerate(((actuator.motor_1, actuator.pid_1), (actuator.motor_2, actuator.pid_2))):
        if motor is None:
            continue
        who = f"motor_{i + 1}"
        unit = "N" if isinstance(motor, LeverDrive) else "N m"
        if isinstance(motor, DCMotor) and motor.holding_torque >= motor.stall_torque:
            problems.append(
                Problem(
                    "error" if motor.max_torque > 0.0 else "warning",
                    joint,
                    f"{who}: friction and cogging hold it with up to {motor.holding_torque:g} {unit}, and it gives at "
                    f"most {motor.stall_torque:g} {unit}: it cannot move",
                    f"raise {joint}.{who}.max_torque, or what its winding allows, or lower friction and cogging",
                )
            )
        if mode != Mode.MOTOR_TORQUES and pid is not None and pid.kp == pid.ki == 0.0:
            problems.warning(joint, f"{who}: its controller has kp = ki = 0: it follows no reference")
        start = 0.0 if actuator.start == "zero" and i == 0 else theta[i]
        if not motor.min_position <= start <= motor.max_position:
            problems.warning(
                joint,
                f"{who} starts at {start:g}, beyond its stops {motor.min_position:g} to {motor.max_position:g}",
                "it jumps to the stop in the first step",
            )
    if actuator.start == "zero" and q != 0.0:
        problems.warning(
            joint,
            f"its motors start at 0 while the joint is at {q:g}: it starts with a kick, as in the original",
            'start="pose" avoids it',
        )


def _check_idle_blocks(joint: str, actuator: CompliantActuator, problems: Problems) -> None:
    """Report blocks of what the mode does not have."""
    of_spring = [n for n in ("link_backlash", "hysteresis", "creep", "strength") if getattr(actuator, n) is not None]
    of_motors = [
        f"motor_{k + 1}.{name}"
        for k, motor in enumerate((actuator.motor_1, actuator.motor_2))
        for name in ("gear", "backlash", "tendon", "cogging", "thermal", "electrical")
        if isinstance(motor, DCMotor) and getattr(motor, name) is not None
    ]
    mode = actuator.mode
    for what, names, present in (("spring", of_spring, mode.has_spring), ("motors", of_motors, mode.has_motors)):
        if names and not present:
            problems.warning(joint, f"{', '.join(names)}: mode {mode.value} {mode.name.lower()} has no {what}")


def wide_play(robot: Description, joint: str, actuator: CompliantActuator) -> ModelError | None:
    """Return what is wrong with an actuator whose play exceeds the range of its joint, or of its lever.

    The field of the fault is the path of the width, such as ``elbow.motor_1.backlash.width``.
    """
    spec_joint = robot.find_joint(joint)
    low, high = (float(x) for x in spec_joint.range)
    of_joint = (high - low) * unit_of_joint(spec_joint) if _is_limited(spec_joint) else math.inf
    plays = [("link_backlash.width", actuator.link_backlash.width, of_joint)] if actuator.link_backlash else []
    for k, motor in enumerate((actuator.motor_1, actuator.motor_2)):
        if not isinstance(motor, DCMotor):
            continue
        way = motor.max_position - motor.min_position if isinstance(motor, LeverDrive) else of_joint
        if motor.backlash is not None:
            plays.append((f"motor_{k + 1}.backlash.width", motor.backlash.width, way))
        if motor.tendon is not None:
            plays.append((f"motor_{k + 1}.tendon.slack", motor.tendon.slack, way))
    for path, width, way in plays:
        if width >= way:
            what, unit = ("lever", "m") if way is not of_joint else ("joint", "rad")
            return ModelError(
                f"{joint}.{path} is {width:g} {unit} and the range of the {what} {way:.4g} {unit}; must be less: the "
                f"{what} would move without its motor",
                field=f"{joint}.{path}",
            )
    return None


def _check_passive_spring(robot: Description, joint: str, problems: Problems) -> None:
    """Report a passive spring that the file gives a joint with a compliant actuator."""
    spec_joint = robot.find_joint(joint)
    spring = np.asarray(spec_joint.stiffness, dtype=float)
    if np.any(spring > 0.0):
        unit = "N m/rad" if spec_joint.type == mujoco.mjtJoint.mjJNT_HINGE else "N/m"
        shown = " ".join(f"{k:g}" for k in np.trim_zeros(spring, "b"))
        problems.warning(
            joint,
            f"MuJoCo's passive spring of the joint ({shown} {unit}) acts beside its compliant actuator",
            "remove its stiffness from the file unless the joint has this second spring",
        )


def _initial_angle(robot: Description, joint: str) -> float:
    spec_joint = robot.find_joint(joint)
    return float(spec_joint.ref) * unit_of_joint(spec_joint)


def _is_limited(joint: mujoco.MjsJoint) -> bool:
    auto = joint.limited == mujoco.mjtLimited.mjLIMITED_AUTO and any(joint.range)
    return auto or joint.limited == mujoco.mjtLimited.mjLIMITED_TRUE

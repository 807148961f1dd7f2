"""Loads that a joint cannot hold, and values that no file gives."""

from __future__ import annotations

import mujoco
import numpy as np

from pliant.laws import CompliantActuator, DCMotor, LeverDrive, PreslidingFriction
from pliant.model.check.bodies import JOINTS, Bodies
from pliant.model.check.slopes import preset_reach, slopes_of
from pliant.model.description import INTEGRATORS, Description
from pliant.model.problem import Problems
from pliant.model.sensors import SensorDescription

MAX_RATE_ERROR = 0.05
"""Relative difference between the rate of a sensor and the nearest possible one that is reported; assumed."""


def check_loads(joint: str, actuator: CompliantActuator, bodies: Bodies, problems: Problems) -> None:
    """Report joints that cannot hold their own weight, and limits that cut the torque of a spring."""
    joint_id = bodies.model.joint(joint).id
    dof = int(bodies.model.jnt_dofadr[joint_id])
    weight = float(bodies.gravity[dof])
    unit = "N m" if bodies.model.jnt_type[joint_id] == mujoco.mjtJoint.mjJNT_HINGE else "N"
    limits: list[tuple[float, str]] = []
    if bodies.model.jnt_actfrclimited[joint_id]:
        limits.append((float(np.max(np.abs(bodies.model.jnt_actfrcrange[joint_id]))), "its effort limit is"))
    if actuator.mode.has_spring and actuator.law.clip == "flat":
        low, high = preset_reach(actuator)
        torque = float(np.max(slopes_of(actuator.law, np.linspace(low, high, 9) if high > low else np.zeros(1)).torque))
        if limits and limits[0][0] < torque * (1.0 - 1e-9):
            problems.warning(
                joint,
                f"its spring gives up to {torque:.4g} {unit}, of which the joint gets at most its effort limit, "
                f"{limits[0][0]:.4g} {unit}; samples and recordings have the torque of the spring",
                f"set {joint}.effort={torque:.4g}, or a weaker spring",
            )
        limits.append((torque, "its spring gives at most"))
    if actuator.mode.has_motors and actuator.law.second_input != "pressure":
        motors = [actuator.motor_1.max_torque]
        if actuator.law.second_input == "angle" and actuator.motor_2 is not None:
            motors.append(actuator.motor_2.max_torque)
        limits.append((sum(motors), "its motors give at most"))
    for torque, text in limits if weight > 0.0 else ():
        if torque < weight * (1.0 - 1e-9):
            problems.warning(
                joint,
                f"gravity asks up to {weight:.4g} {unit} of it, {text} {torque:.4g} {unit}: it cannot hold every pose",
                "lighter links, stronger springs or a larger max_deflection",
            )


def check_rates(robot: Description, dt: float, problems: Problems) -> None:
    """Report sensors whose rate is far from that of any whole number of steps."""
    for sensor in robot.devices:
        if not isinstance(sensor, SensorDescription) or not sensor.enabled or sensor.rate <= 0.0:
            continue
        rate = 1.0 / (dt * max(1, round(1.0 / (sensor.rate * dt))))
        if abs(rate / sensor.rate - 1.0) > MAX_RATE_ERROR:
            problems.warning(
                sensor.name,
                f"it samples at {rate:.4g} Hz in place of {sensor.rate:g} Hz, as samples are whole steps of {dt:g} s "
                "apart",
                f"set {sensor.name}.rate={rate:.4g}, or another option.timestep",
            )


def report_defaults(robot: Description, model: mujoco.MjModel, problems: Problems) -> None:
    """Report what nobody has written down and was therefore assumed."""
    option = robot.spec.option
    texts = {
        "timestep": f"time step {option.timestep:g} s",
        "integrator": "integrator " + next((k for k, v in INTEGRATORS.items() if v == option.integrator), "?"),
        "gravity": f"gravity ({', '.join(f'{g:g}' for g in option.gravity)}) m/s^2",
    }
    assumed = [text for name, text in texts.items() if not robot.names_option(name)]
    if assumed:
        problems.info("option", f"not named by the file: {', '.join(assumed)}", "set option.<name>")
    still = [
        model.joint(j).name
        for j in range(model.njnt)
        if model.jnt_type[j] in JOINTS
        and model.dof_damping[model.jnt_dofadr[j]] == 0.0
        and model.dof_frictionloss[model.jnt_dofadr[j]] == 0.0
    ]
    if still:
        problems.info(
            "joints",
            f"neither damping nor friction on {', '.join(still[:12])}{' ...' if len(still) > 12 else ''}",
            "MuJoCo's default is 0; set <joint>.damping",
        )
    from_shape = [
        body.name or "a body without a name"
        for body in robot.spec.bodies
        if body.name != "world"
        and not body.explicitinertial
        and any(np.isnan(geom.mass) and geom.density == 1000.0 for geom in body.geoms)
    ]
    if from_shape:
        problems.info(
            "bodies",
            f"mass of {', '.join(from_shape[:12])}{' ...' if len(from_shape) > 12 else ''} comes from its shape "
            "with MuJoCo's default density of 1000 kg/m^3",
            "give an inertia or a density",
        )
    if int(model.nkey) and not any(key.name == "rest" for key in robot.spec.keys):
        problems.info("model", "a key frame 'rest' is added to those of the file")
    template = {"damping": (DCMotor().damping, 0.0019), "friction": (PreslidingFriction().torque, 0.5)}
    for joint, actuator in robot.actuators.items():
        described = robot.interface.joints.get(joint)
        if not actuator.mode.has_motors:
            continue
        if described is not None and described.file is not None and isinstance(actuator.motor_1, DCMotor):
            values = {"damping": actuator.motor_1.damping, "friction": actuator.motor_1.friction.torque}
            for name, (code, comment) in template.items():
                if values[name] == code:
                    problems.info(
                        joint,
                        f"motor {name} is {code:g}, the default of the toolbox's code",
                        f"the comments of its templates print {comment:g}",
                    )
        if isinstance(actuator.motor_2, LeverDrive):
            drive = actuator.motor_2
            problems.info(
                joint,
                f"the lever drive of {drive.inertia:g} kg, {drive.max_torque:g} N is assumed; nothing is published",
                f"set {joint}.motor_2.inertia and its other parameters",
            )

"""Time step in relation to stiffness, damping and inertia of each element of a compliant joint."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import mujoco
import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array
from pliant.laws import PID, CompliantActuator, DCMotor, Drive, Gear, LeverDrive, Mode
from pliant.model.check.bodies import Bodies, bodies_of, compile_bodies, link_damping_is_implicit
from pliant.model.check.slopes import Slopes, preset_reach, slopes_of
from pliant.model.description import Description
from pliant.model.parameters import change_actuator
from pliant.model.wanted import check_robot

WARN_ABOVE = 0.3
"""Value of w h above which an oscillation is poorly resolved (21 steps per period)."""
REFUSE_ABOVE = 1.5
"""Stability number above which a simulation is refused; the simulation is unstable above 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSize:
    """Dynamics of one element of a compliant joint in relation to the time step."""

    joint: str
    """Name of the joint."""
    mode: Mode
    """Operation mode to which the values apply."""
    element: Literal["link", "motor_1", "motor_2"]
    """The moving element."""
    at: Literal["rest", "reach"]
    """"rest": with the initial preset (or the presets that the caller names); "reach": with any preset in reach."""
    preset: float
    """Preset with the largest stiffness in the range given by ``at`` [rad or m]."""
    stiffness: float
    """Largest stiffness K over deflections up to twice the maximum deflection [N m/rad; N/m on a lever]."""
    damping: float
    """Explicitly integrated damping D [N m s/rad; N s/m]."""
    implicit_damping: float
    """Implicitly integrated damping D_i [N m s/rad; N s/m]."""
    inertia: float
    """Smallest inertia I [kg m^2; kg]."""
    timestep: float
    """Time step h of the evaluation [s]."""
    stuck: bool = False
    """Whether the presliding stiffness of friction is included. Friction is bounded, so a value above the stability
    bound causes chatter."""
    linear: bool = False
    """Whether the element moves linearly, with K in N/m, D in N s/m and I in kg."""

    @property
    def ratio(self) -> float:
        """Return w h with w = sqrt(K / I)."""
        return self.timestep * math.sqrt(self.stiffness / self.inertia)

    @property
    def damping_ratio(self) -> float:
        """Return h D / I, the fraction of the speed that explicit damping removes in one step."""
        return self.timestep * self.damping / self.inertia

    @property
    def stability(self) -> float:
        """Return sqrt((h^2 K + 2 h D) / (I + h D_i / 2)); above 2 the step is unstable."""
        return float(stability_number(self, self.stiffness))

    @property
    def limit(self) -> float:
        """Return the largest stable time step [s]."""
        return stable_timestep(self.stiffness, self.damping - self.implicit_damping, self.inertia)

    @property
    def proposal(self) -> float:
        """Return a time step [s] with w h <= 0.3 and h D / I <= 0.3, rounded down to 1, 2 or 5 x 10^-n."""
        return propose_timestep(self.stiffness, self.damping, self.inertia)


def stability_number(row: StepSize, stiffness: Any) -> Any:
    """Return the stability number of an element with another stiffness, or with an array of them."""
    h = row.timestep
    return np.sqrt((h * h * stiffness + 2.0 * h * row.damping) / (row.inertia + 0.5 * h * row.implicit_damping))


def stable_timestep(stiffness: float, damping: float, inertia: float) -> float:
    """Return the largest stable step of semi-implicit Euler with an explicit spring and damper [s].

    This is the positive root of h^2 K + 2 h D = 4 I.

    Args:
        stiffness: K, >= 0 [N m/rad].
        damping: D [N m s/rad]; explicit minus implicit damping.
        inertia: I, > 0 [kg m^2].
    """
    root = damping + math.sqrt(damping * damping + 4.0 * stiffness * inertia)
    return 4.0 * inertia / root if root > 0.0 else math.inf


def propose_timestep(stiffness: float, damping: float, inertia: float) -> float:
    """Return the largest step 1, 2 or 5 x 10^-n with w h <= 0.3 and h D / I <= 0.3 [s]; inf if K and D are 0."""
    wanted = math.inf
    if stiffness > 0.0:
        wanted = WARN_ABOVE * math.sqrt(inertia / stiffness)
    if damping > 0.0:
        wanted = min(wanted, WARN_ABOVE * inertia / damping)
    if not math.isfinite(wanted):
        return math.inf
    power = 10.0 ** math.floor(math.log10(wanted))
    for factor in (5.0, 2.0, 1.0):
        if factor * power <= wanted * (1.0 + 1e-12):
            return factor * power
    return power


def step_sizes(
    robot: Description,
    *,
    timestep: float | None = None,
    modes: Mapping[str, Mode] | None = None,
    presets: Mapping[str, tuple[float, float]] | None = None,
    poses: int = 4,
    seed: int = 0,
) -> list[StepSize]:
    """Return the step size analysis of each compliant joint in each operation mode.

    Args:
        robot: the robot; its rigid bodies must compile.
        timestep: time step of the evaluation [s]; None uses the time step of the robot.
        modes: mode by joint; None for all seven modes of every joint.
        presets: range of presets that count as "rest", by joint [rad or m]; other joints use their initial preset.
        poses: number of random poses in addition to the initial pose.
        seed: seed of the random poses.

    Raises:
        ModelError: the rigid bodies do not compile, or a joint does not exist.
    """
    check_robot(robot, "step_sizes", compiled=False)
    model = compile_bodies(robot)
    return evaluate_steps(robot, bodies_of(model, poses, seed), timestep or robot.timestep, modes, presets or {})


def evaluate_steps(
    robot: Description,
    bodies: Bodies,
    h: float,
    modes: Mapping[str, Mode] | None,
    presets: Mapping[str, tuple[float, float]],
) -> list[StepSize]:
    """Return the step size analysis for bodies that are compiled; see `step_sizes`."""
    rows: list[StepSize] = []
    implicit = link_damping_is_implicit(bodies.model)
    for joint, actuator in robot.actuators.items():
        joint_id = mujoco.mj_name2id(bodies.model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        if joint_id < 0:
            raise ModelError(f"there is no joint {joint!r}; {nearest(joint, filter(None, robot.joints))}", field=joint)
        dof = int(bodies.model.jnt_dofadr[joint_id])
        initial = float(actuator.initial_preset or 0.0)
        ranges: dict[Literal["rest", "reach"], tuple[float, float]] = {
            "rest": presets.get(joint, (initial, initial)),
            "reach": preset_reach(actuator),
        }
        for at, (low, high) in ranges.items():
            grid = np.linspace(low, high, 9) if high > low else np.array([low])
            slopes = slopes_of(actuator.law, grid)
            for mode in Mode if modes is None else (modes[joint],):
                variant = change_actuator(actuator, {"mode": mode}, joint)
                rows.extend(_rows(joint, variant, mode, at, slopes, bodies, dof, h, implicit))
    return rows


def _of_branches(actuator: CompliantActuator) -> float:
    """Return the stiffness of hysteresis and creep beside the law [N m/rad]."""
    slip, creep = actuator.hysteresis, actuator.creep
    return (1.6 * slip.torque / slip.deflection if slip else 0.0) + (creep.stiffness if creep else 0.0)


def _rows(
    joint: str,
    actuator: CompliantActuator,
    mode: Mode,
    at: Literal["rest", "reach"],
    slopes: Slopes,
    bodies: Bodies,
    dof: int,
    h: float,
    implicit: bool,
) -> list[StepSize]:
    top = float(np.max(np.abs(slopes.presets)))
    damping = actuator.link_damping + (actuator.link_preset_damping * top if mode.has_spring else 0.0)
    joint_damping = float(bodies.model.dof_damping[dof])
    stiffness, best = float(bodies.stiffness[dof]), 0
    if mode == Mode.LINK_PID and actuator.pid_1 is not None:
        stiffness += actuator.pid_1.kp
        damping += actuator.pid_1.kd
    elif mode.has_spring:
        best = int(np.argmax(slopes.link))
        stiffness += float(slopes.link[best])
        stiffness += actuator.law.drive_stiffness(actuator, float(slopes.presets[best])) + _of_branches(actuator)
    common: dict[str, Any] = {"joint": joint, "mode": mode, "at": at, "timestep": h}
    slide = bodies.model.joint(joint).type[0] == mujoco.mjtJoint.mjJNT_SLIDE
    rows = [
        StepSize(
            element="link",
            preset=float(slopes.presets[best]),
            stiffness=stiffness,
            damping=damping + (0.0 if implicit else joint_damping),
            implicit_damping=joint_damping if implicit else 0.0,
            inertia=bodies.inertia(dof),
            linear=bool(slide),
            **common,
        )
    ]
    if not mode.has_motors:
        return rows
    motors: list[tuple[Literal["motor_1", "motor_2"], DCMotor | Drive | None, PID | None, Array]] = [
        ("motor_1", actuator.motor_1, actuator.pid_1, slopes.motor_1),
        ("motor_2", actuator.motor_2, actuator.pid_2, slopes.motor_2),
    ]
    for element, motor, pid, loads in motors:
        if not isinstance(motor, DCMotor):
            continue
        best = int(np.argmax(loads))
        stiffness, damping = float(loads[best]), motor.damping + motor.preset_damping * top
        if actuator.law.second_input == "angle":  # branches lie between the link and the mean of the motors
            stiffness += 0.25 * _of_branches(actuator)
        elif element == "motor_1":
            stiffness += _of_branches(actuator)
        of_spring = stiffness
        if mode != Mode.MOTOR_TORQUES and pid is not None:
            stiffness += pid.kp
            damping += pid.kd
        block: dict[str, Any] = {
            "element": element,
            "preset": float(slopes.presets[best]),
            "damping": damping,
            "implicit_damping": 0.0,
            "inertia": motor.inertia,
            "linear": bool(slide) or isinstance(motor, LeverDrive),
            **common,
        }
        whole = StepSize(stiffness=stiffness, **block)
        if motor.gear is not None:
            whole = max(whole, _after_gear(motor, motor.gear, of_spring, h, block), key=lambda row: row.stability)
        rows.append(whole)
        if motor.friction.torque > 0.0:
            rows.append(StepSize(stiffness=stiffness + motor.friction.stiffness, stuck=True, **block))
    return rows


def _after_gear(motor: DCMotor, gear: Gear, of_spring: float, h: float, block: dict[str, Any]) -> StepSize:
    """Return the step size of the mass I between an elastic gear and the spring K, which is explicit.

    A gear that the step does not resolve is implicit, with c = damping + h stiffness and m = 1 / J + 1 / I. The step
    then is stable for h^2 K / I < 1 + 3 a with a = 1 / (1 + h m c), which 4 K / (1 + 3 a) in place of K states.
    """
    m = 1.0 / motor.inertia + 1.0 / gear.inertia
    if h * h * m * gear.stiffness <= 1.0:
        own = {"stiffness": of_spring + gear.stiffness, "implicit_damping": gear.damping}
    else:
        a = 1.0 / (1.0 + h * m * (gear.damping + h * gear.stiffness))
        own = {"stiffness": 4.0 * of_spring / (1.0 + 3.0 * a)}
    return StepSize(**{**block, **own, "inertia": gear.inertia, "damping": 0.0})

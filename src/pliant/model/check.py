"""Checks of a robot before a run: step size, parameters, names and assumed defaults.

Step size. A spring K (N m/rad) with explicit damping D on an inertia I, advanced with semi-implicit Euler, is stable
if and only if

    h^2 K / I + 2 h D / I < 4                                                                            (1)

(undamped: w h < 2 with w = sqrt(K / I)). MuJoCo's implicit integrators and its Euler integrator treat joint damping
implicitly; with such damping D_i the condition becomes h^2 K < 4 I + 2 h (D_i - D). The square root of the left side
of (1) is reported as ``stability``, so that the bound is 2 for any damping. The product w h states how well the
oscillation is resolved.

I is the inertia seen by the torque of a single joint, 1 / (M^-1)_jj with the full mass matrix M (including armature).
It is the smallest inertia, because the other joints are free, and therefore a conservative choice. It is evaluated at
the initial pose and at several random poses. Stiff joints can oscillate faster together than each joint alone; the
largest eigenvalue of K^1/2 M^-1 K^1/2 covers this case. Equality constraints and contacts are not considered.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import LawError, ModelError, nearest
from pliant.laws import PID, CompliantActuator, DCMotor, Law, LeverDrive, Mode, PreslidingFriction
from pliant.model.description import INTEGRATORS, REST_KEY, Description
from pliant.model.interface import DeviceSpec, ModelPart, PositionControlled
from pliant.model.parameters import change_actuator
from pliant.model.problem import Problem

__all__ = [
    "REFUSE_ABOVE",
    "WARN_ABOVE",
    "StepSize",
    "check",
    "propose_timestep",
    "stable_timestep",
    "step_sizes",
]

WARN_ABOVE = 0.3
"""Value of w h above which an oscillation is poorly resolved (21 steps per period)."""
REFUSE_ABOVE = 1.5
"""Stability number above which a simulation is refused; the simulation is unstable above 2."""

Array = NDArray[np.float64]
JOINTS = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


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
        """Return sqrt(h^2 K / I + 2 h D / I); above 2 the step is unstable (without implicit damping)."""
        return math.sqrt(self.ratio**2 + 2.0 * self.damping_ratio)

    @property
    def limit(self) -> float:
        """Return the largest stable time step [s]."""
        return stable_timestep(self.stiffness, self.damping - self.implicit_damping, self.inertia)

    @property
    def proposal(self) -> float:
        """Return a time step [s] with w h <= 0.3 and h D / I <= 0.3, rounded down to 1, 2 or 5 x 10^-n."""
        return propose_timestep(self.stiffness, self.damping, self.inertia)


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


# -- what the laws are like -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Slopes:
    """Largest slopes of a law over deflection, for each of some presets."""

    presets: Array
    link: Array
    motor_1: Array
    motor_2: Array
    torque: Array


def preset_reach(actuator: CompliantActuator) -> tuple[float, float]:
    """Return the range (low, high) of presets that can be commanded [rad, or m on a lever].

    With one motor it is (0, 0). A lever is limited by its stop, other laws by their maximum deflection and their motor
    stops.
    """
    law = actuator.law
    if law.motors == 1:
        return 0.0, 0.0
    motor_2 = actuator.motor_2
    if law.second_input == "lever":
        return 0.0, motor_2.max_position if motor_2 is not None else 0.0
    top = float(getattr(law, "max_deflection", 1.0))
    if actuator.mode.has_motors and motor_2 is not None:
        top = min(top, max(0.0, 0.5 * (actuator.motor_1.max_position - motor_2.min_position)))
    return 0.0, top


def _slopes(law: Law, presets: Array) -> _Slopes:
    rows = [_slopes_at(law, float(preset)) for preset in presets]
    return _Slopes(np.asarray(presets, dtype=float), *np.maximum(np.array(rows), 0.0).T)


@functools.lru_cache(maxsize=4096)
def _slopes_at(law: Law, preset: float) -> tuple[float, float, float, float]:
    """Return the largest slope of link, motor 1 and motor 2, and the largest torque, over the deflection.

    The law's kernels run as the Python functions that they are: some hundred points are not worth a compiler.
    """
    limit = float(getattr(law, "max_deflection", 1.0))
    par = [float(x) for x in law.parameters()]
    torques, stiffness = type(law).torques, type(law).stiffness
    ref_1, ref_2 = law.map_references(0.0, preset)
    edges = [limit]
    if law.second_input == "angle":
        # Where one of two springs that stand apart reaches its clip.
        edges += [abs(limit - abs(preset)), limit + abs(preset)]
    near = [sign * e * (1.0 + tiny) for e in edges for sign in (-1.0, 1.0) for tiny in (-1e-5, 1e-9)]
    points = [float(x) for x in np.linspace(-2.0 * limit, 2.0 * limit, 65)] + near
    inside = max(edges) * (1.0 + 1e-6)
    lever = law.second_input == "lever"
    step_1, step_2 = 1e-6, 1e-7 if lever else 1e-6
    best = [0.0, 0.0, 0.0, 0.0]
    for q in points:
        best[0] = max(best[0], stiffness(q, ref_1, ref_2, par))
        slope = torques(q, ref_1 + step_1, ref_2, par)[1] - torques(q, ref_1 - step_1, ref_2, par)[1]
        best[1] = max(best[1], slope / (2.0 * step_1))
        if law.motors == 2:
            slope = torques(q, ref_1, ref_2 + step_2, par)[2] - torques(q, ref_1, ref_2 - step_2, par)[2]
            best[2] = max(best[2], slope / (2.0 * step_2))
        if abs(q) <= inside:
            best[3] = max(best[3], abs(torques(q, ref_1, ref_2, par)[0]))
    return best[0], best[1], best[2], best[3]


# -- what the bodies are like -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Bodies:
    """What is needed of the rigid part, over some poses."""

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


def _bodies(model: mujoco.MjModel, poses: int, seed: int) -> _Bodies:
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
        inverse.append(np.linalg.inv(M))
        gravity = np.maximum(gravity, np.abs(data.qfrc_bias - data.qfrc_gravcomp))
    stiffness = np.zeros(model.nv)
    for j in range(model.njnt):
        if model.jnt_type[j] in JOINTS:
            stiffness[model.jnt_dofadr[j]] += model.jnt_stiffness[j]
    for i in range(model.nu):
        if (
            model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT
            and model.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_AFFINE
        ):
            dof = model.jnt_dofadr[model.actuator_trnid[i, 0]]
            stiffness[dof] += max(0.0, -model.actuator_biasprm[i, 1]) * model.actuator_gear[i, 0] ** 2
    return _Bodies(model, inverse, gravity, stiffness)


def _link_damping_is_implicit(model: mujoco.MjModel) -> bool:
    if model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_DAMPER:
        return False
    if model.opt.integrator == INTEGRATORS["euler"]:
        return not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    return model.opt.integrator != INTEGRATORS["rk4"]


# -- step sizes -------------------------------------------------------------------------------------------


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
    model = _compile_bodies(robot)
    return _step_sizes(robot, _bodies(model, poses, seed), timestep or robot.timestep, modes, presets or {})


def _compile_bodies(robot: Description) -> mujoco.MjModel:
    try:
        return robot.spec.copy().compile()
    except (ValueError, RuntimeError) as error:
        raise robot.compile_error(error) from error


def _step_sizes(
    robot: Description,
    bodies: _Bodies,
    h: float,
    modes: Mapping[str, Mode] | None,
    presets: Mapping[str, tuple[float, float]],
) -> list[StepSize]:
    rows: list[StepSize] = []
    implicit = _link_damping_is_implicit(bodies.model)
    for joint, actuator in robot.actuators.items():
        joint_id = mujoco.mj_name2id(bodies.model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        if joint_id < 0:
            raise ModelError(f"there is no joint {joint!r}; {nearest(joint, filter(None, robot.joints))}", field=joint)
        dof = int(bodies.model.jnt_dofadr[joint_id])
        initial = float(actuator.initial_preset or 0.0)
        ranges = {"rest": presets.get(joint, (initial, initial)), "reach": preset_reach(actuator)}
        for at, (low, high) in ranges.items():
            grid = np.linspace(low, high, 9) if high > low else np.array([low])
            slopes = _slopes(actuator.law, grid)
            for mode in Mode if modes is None else (modes[joint],):
                variant = change_actuator(actuator, {"mode": mode}, joint)
                rows.extend(
                    _rows(joint, variant, mode, at, slopes, bodies, dof, h, implicit)  # type: ignore[arg-type]
                )
    return rows


def _rows(
    joint: str,
    actuator: CompliantActuator,
    mode: Mode,
    at: Literal["rest", "reach"],
    slopes: _Slopes,
    bodies: _Bodies,
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
    motors: list[tuple[Literal["motor_1", "motor_2"], DCMotor | None, PID | None, Array]] = [
        ("motor_1", actuator.motor_1, actuator.pid_1, slopes.motor_1),
        ("motor_2", actuator.motor_2, actuator.pid_2, slopes.motor_2),
    ]
    for element, motor, pid, loads in motors:
        if motor is None:
            continue
        best = int(np.argmax(loads))
        stiffness, damping = float(loads[best]), motor.damping + motor.preset_damping * top
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
        rows.append(StepSize(stiffness=stiffness, **block))
        if motor.friction.torque > 0.0:
            rows.append(StepSize(stiffness=stiffness + motor.friction.stiffness, stuck=True, **block))
    return rows


# -- the check --------------------------------------------------------------------------------------------


def check(
    robot: Description,
    *,
    timestep: float | None = None,
    presets: Mapping[str, tuple[float, float]] | None = None,
    poses: int = 4,
    seed: int = 0,
) -> list[Problem]:
    """Return all problems of a robot: errors, then warnings, then assumptions.

    Args:
        robot: the robot; it is not changed.
        timestep: time step to check [s]; None uses the time step of the robot.
        presets: (lowest, highest) preset that will be commanded, by joint [rad or m]. A preset in this range that is
            too stiff for the time step is an error, as it is for the initial preset. For joints without a range, other
            presets that are too stiff give a warning.
        poses: number of random poses, in addition to the initial pose, at which inertia and gravity are evaluated.
        seed: seed of the random poses.
    """
    problems: list[Problem] = []
    h = robot.timestep if timestep is None else float(timestep)
    if not (math.isfinite(h) and h > 0.0):
        return [Problem("error", "option.timestep", f"is {h}", "must be more than 0 s")]
    usable = _names(robot, problems)
    for extension in robot.interface.extensions.values():
        problems += extension.problems
    _integrator(robot, problems, h)
    _spec(robot, problems)
    for joint in usable:
        _parameters(robot, joint, robot.actuators[joint], problems)
    try:
        model = _compile_bodies(robot)
    except ModelError as error:
        problems.append(Problem("error", error.field or "model", error.message))
    else:
        bodies = _bodies(model, poses, seed)
        part = Description(robot.spec, {j: robot.actuators[j] for j in usable}, set_defaults=False)
        _steps(part, bodies, h, presets or {}, problems)
        for joint in usable:
            _loads(joint, robot.actuators[joint], bodies, problems)
        _position_controllers(robot, model, h, problems)
        _defaults(robot, model, problems)
    order = {"error": 0, "warning": 1, "info": 2}
    return sorted(problems, key=lambda p: order[p.severity])


def _position_controllers(robot: Description, model: mujoco.MjModel, h: float, problems: list[Problem]) -> None:
    """Report position controllers that are too stiff or too damped for the inertia of their joints and the time step.

    A controller that puts -kp q - kd v on an inertia M once a step is stable under semi-implicit Euler while
    h^2 kp + 2 h (kd + d) < 4 (M + h d), with the joint damping d, which is implicit; where it is explicit, the right
    side is 4 M. For several joints the largest eigenvalue of (M + h D / 2)^-1 (h^2 Kp + 2 h Kd) is below 4.
    """
    gain = np.zeros(model.nv)
    for device in robot.devices:
        for joint, (kp, kd) in device.position_gains().items() if isinstance(device, PositionControlled) else ():
            index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
            if index >= 0:
                gain[model.jnt_dofadr[index]] = h * h * kp + 2.0 * h * kd
    if not np.any(gain > 0.0) or not np.all(np.isfinite(gain)):
        return
    data = mujoco.MjData(model)
    keys = [k for k in range(model.nkey) if model.key(k).name == REST_KEY]
    if keys:
        mujoco.mj_resetDataKeyframe(model, data, keys[0])
    mujoco.mj_fwdPosition(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    damping = (0.5 if _link_damping_is_implicit(model) else -0.5) * h * model.dof_damping
    # The root of the gains makes it symmetric: only the controlled coordinates are left.
    root = np.sqrt(gain)
    values, vectors = np.linalg.eigh(root[:, None] * np.linalg.inv(M + np.diag(damping)) * root[None, :])
    if values[-1] < 4.0:
        return
    dof = int(np.argmax(np.abs(vectors[:, -1])))
    joint = model.joint(int(model.dof_jntid[dof])).name
    problems.append(
        Problem(
            "error",
            joint,
            f"the gains of its position controller are {values[-1] / 4.0:.3g} times what its inertia can follow at a "
            f"time step of {h:g} s",
            f"a smaller time step, smaller gains, or reflected inertia of the motor: --set {joint}.armature=0.01",
            value=float(values[-1]),
            limit=4.0,
        )
    )


def _names(robot: Description, problems: list[Problem]) -> list[str]:
    """Report names that lead nowhere; return the joints whose actuators can enter the model."""
    usable = []
    for joint, actuator in robot.actuators.items():
        try:
            robot.find_joint(joint)
            robot.refuse_taken_names(joint, actuator)
            usable.append(joint)
        except ModelError as error:
            problems.append(Problem("error", joint, error.message))
    joints = [j for j in robot.joints if j]
    for joint in robot.interface.joints:
        if joint not in joints:
            problems.append(
                Problem("error", joint, "the interface names this joint, which the model lacks", nearest(joint, joints))
            )
        elif joint not in robot.actuators:
            problems.append(
                Problem("warning", joint, "the interface names this joint, which has no compliant actuator")
            )
    manager = robot.interface.manager
    for joint in manager.joints if manager is not None else ():
        if joint not in joints:
            problems.append(
                Problem("error", joint, "the manager drives this joint, which the model lacks", nearest(joint, joints))
            )
        elif joint not in robot.actuators:
            problems.append(Problem("error", joint, "the manager drives this joint, which has no compliant actuator"))
    seen: set[str] = set()
    elements: set[str] | None = None
    for device in robot.devices:
        if isinstance(device, ModelPart):
            problems += device.check(robot.spec)
        name = device.name
        if name in seen:
            problems.append(Problem("error", name, "two devices have this name", "rename one"))
        seen.add(name)
        if not isinstance(device, DeviceSpec):
            continue
        for joint in device.joints:
            if joint not in joints:
                problems.append(Problem("error", name, f"the device names the joint {joint!r}", nearest(joint, joints)))
        for element in device.elements:
            if elements is None:
                spec = robot.spec
                groups = (spec.sites, spec.bodies, spec.cameras, spec.sensors, spec.geoms, spec.frames)
                elements = {e.name for group in groups for e in group if e.name}
            if element not in elements:
                problems.append(
                    Problem("error", name, f"the device names the element {element!r}", nearest(element, elements))
                )
    for actuator in robot.spec.actuators:
        if actuator.target in robot.actuators and actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT:
            problems.append(
                Problem(
                    "warning",
                    actuator.target,
                    f"the model's own actuator {actuator.name!r} drives this compliant joint as well",
                    "remove it from the model if the compliant actuator is meant to take its place",
                )
            )
    return usable


def _integrator(robot: Description, problems: list[Problem], h: float) -> None:
    integrator = robot.spec.option.integrator
    if integrator == INTEGRATORS["rk4"]:
        states = {joint: a.states(h) for joint, a in robot.actuators.items()}
        for joint, count in states.items():
            if count:
                problems.append(
                    Problem(
                        "error",
                        joint,
                        f"the integrator is RK4 and this actuator has {count} states, which advance once a step",
                        "set option.integrator to implicitfast, implicit or Euler",
                    )
                )
    elif integrator == INTEGRATORS["discrete"] and robot.actuators:
        problems.append(
            Problem(
                "warning",
                "option.integrator",
                "the discrete integrator damps the resonances of stiff joints and does not see the actuators' springs",
                "implicitfast shows them",
            )
        )


def _spec(robot: Description, problems: list[Problem]) -> None:
    # A key frame "rest" of the robot's own says where it starts.
    rests = any(key.name == REST_KEY for key in robot.spec.keys)
    for joint in robot.spec.joints:
        low, high = joint.range
        limited = joint.limited == mujoco.mjtLimited.mjLIMITED_TRUE or (
            joint.limited == mujoco.mjtLimited.mjLIMITED_AUTO and (low, high) != (0.0, 0.0)
        )
        if limited and low >= high:
            problems.append(
                Problem(
                    "error",
                    joint.name,
                    f"the lower limit {low:g} is not below the upper limit {high:g}",
                    "exchange them, or leave them out for none",
                )
            )
        elif limited and joint.type in JOINTS and not low <= joint.ref <= high and not rests:
            problems.append(
                Problem("warning", joint.name, f"starts at {joint.ref:g}, outside its limits {low:g} to {high:g}")
            )
        for name, value in (("damping", joint.damping[0]), ("stiffness", joint.stiffness[0])):
            if value < 0.0:
                problems.append(Problem("error", joint.name, f"{name} is {value:g}", "must be 0 or more"))
        for name, value in (("armature", joint.armature), ("frictionloss", joint.frictionloss)):
            if value < 0.0:
                problems.append(Problem("error", joint.name, f"{name} is {value:g}", "must be 0 or more"))
    for body in robot.spec.bodies:
        if not body.explicitinertial or body.name == "world":
            continue
        if body.mass < 0.0 or np.any(np.asarray(body.inertia) < 0.0):
            problems.append(
                Problem("error", body.name, f"mass {body.mass:g} kg, inertia {list(body.inertia)}", "must be above 0")
            )
        elif body.joints and body.mass == 0.0 and not list(body.bodies):
            problems.append(Problem("error", body.name, "moves and has no mass", "give it one"))


def _parameters(robot: Description, joint: str, actuator: CompliantActuator, problems: list[Problem]) -> None:
    """Report parameters of an actuator that do not go together."""
    mode = actuator.mode
    if mode == Mode.LINK_PID and actuator.pid_1 is not None and actuator.pid_1.kp == actuator.pid_1.ki == 0.0:
        problems.append(Problem("warning", joint, "the link's controller has kp = ki = 0: it follows no reference"))
    if not mode.has_motors:
        return
    q = _initial_angle(robot, joint)
    try:
        theta = actuator.law.map_references(q, float(actuator.initial_preset or 0.0))
    except LawError as error:
        problems.append(Problem("error", joint, error.message))
        return
    for i, (motor, pid) in enumerate(((actuator.motor_1, actuator.pid_1), (actuator.motor_2, actuator.pid_2))):
        if motor is None:
            continue
        who = f"motor_{i + 1}"
        unit = "N" if isinstance(motor, LeverDrive) else "N m"
        if motor.friction.torque >= motor.max_torque:
            problems.append(
                Problem(
                    "error" if motor.max_torque > 0.0 else "warning",
                    joint,
                    f"{who}: friction {motor.friction.torque:g} {unit} is not below max_torque {motor.max_torque:g} "
                    f"{unit}: it cannot move",
                    f"raise {joint}.{who}.max_torque or lower {joint}.{who}.friction.torque",
                )
            )
        if mode != Mode.MOTOR_TORQUES and pid is not None and pid.kp == pid.ki == 0.0:
            problems.append(
                Problem("warning", joint, f"{who}: its controller has kp = ki = 0: it follows no reference")
            )
        start = 0.0 if actuator.start == "zero" and i == 0 else theta[i]
        if not motor.min_position <= start <= motor.max_position:
            problems.append(
                Problem(
                    "warning",
                    joint,
                    f"{who} starts at {start:g}, beyond its stops {motor.min_position:g} to {motor.max_position:g}",
                    "it jumps to the stop in the first step",
                )
            )
    if actuator.start == "zero" and q != 0.0:
        problems.append(
            Problem(
                "warning",
                joint,
                f"its motors start at 0 while the joint is at {q:g}: it starts with a kick, as in the original",
                'start="pose" avoids it',
            )
        )


def _initial_angle(robot: Description, joint: str) -> float:
    spec_joint = robot.find_joint(joint)
    hinge = spec_joint.type == mujoco.mjtJoint.mjJNT_HINGE
    return float(spec_joint.ref) * (math.pi / 180.0 if hinge and spec_joint.compiler.degree else 1.0)


def _steps(
    robot: Description,
    bodies: _Bodies,
    h: float,
    presets: Mapping[str, tuple[float, float]],
    problems: list[Problem],
) -> None:
    modes = {joint: actuator.mode for joint, actuator in robot.actuators.items()}
    rows = _step_sizes(robot, bodies, h, modes, presets)
    for joint, actuator in robot.actuators.items():
        own = [row for row in rows if row.joint == joint]
        for element in ("link", "motor_1", "motor_2"):
            mine = [row for row in own if row.element == element]
            if mine:
                _judge(joint, actuator, mine, h, problems)
        rest = [row for row in own if row.at == "rest" and not row.stuck]
        worst = max(rest, key=lambda row: row.stability)
        limit = min(row.limit for row in rest)
        problems.append(
            Problem(
                "info",
                joint,
                f"mode {actuator.mode.value}: w dt = {_short(max(row.ratio for row in rest))} at dt = {_ms(h)}; "
                f"{worst.element} K {worst.stiffness:.4g}, D {worst.damping:.4g}, inertia {worst.inertia:.4g}; stable "
                f"up to {_ms(limit)}",
                f"step that resolves it: {_ms(min(row.proposal for row in rest))}",
            )
        )
    _coupled(robot, bodies, rows, h, problems)


def _judge(joint: str, actuator: CompliantActuator, rows: list[StepSize], h: float, problems: list[Problem]) -> None:
    """Report the most serious finding about one element: at rest, then in reach, then stuck in its friction."""
    rest = next(row for row in rows if row.at == "rest" and not row.stuck)
    reach = next(row for row in rows if row.at == "reach" and not row.stuck)
    if rest.stability > REFUSE_ABOVE:
        unstable = "unstable" if h >= rest.limit else "too near to the bound of 2"
        problems.append(
            Problem(
                "error",
                joint,
                f"{rest.element}: the time step {_ms(h)} is {unstable}: {_describe(rest)}",
                f"use option.timestep = {rest.proposal:g} (stable below {_ms(rest.limit)})",
            )
        )
        return
    if reach.stability > REFUSE_ABOVE:
        low, high = preset_reach(actuator)
        safe = _safe_preset(actuator, reach, h)
        where = f"presets up to {high:g} are in reach, and at {reach.preset:g}" if high > low else "in reach,"
        limits = f"use option.timestep = {reach.proposal:g} (stable below {_ms(reach.limit)})"
        problems.append(
            Problem(
                "warning",
                joint,
                f"{reach.element}: {where} the time step {_ms(h)} is "
                f"{'unstable' if h >= reach.limit else 'near the bound'}: {_describe(reach)}",
                limits if safe is None else f"keep the preset below {safe:.3g}, or {limits}",
            )
        )
    elif max(rest.ratio, rest.damping_ratio) > WARN_ABOVE:
        problems.append(
            Problem(
                "warning",
                joint,
                f"{rest.element}: the time step {_ms(h)} resolves it poorly: {_describe(rest)}",
                f"use option.timestep = {rest.proposal:g} for w dt and dt D/I of at most {WARN_ABOVE}",
            )
        )
    elif max(reach.ratio, reach.damping_ratio) > WARN_ABOVE:
        problems.append(
            Problem(
                "warning",
                joint,
                f"{reach.element}: at preset {reach.preset:g} the time step {_ms(h)} resolves it poorly: "
                f"{_describe(reach)}",
                f"use option.timestep = {reach.proposal:g} for w dt and dt D/I of at most {WARN_ABOVE}",
            )
        )
    stuck = max((row for row in rows if row.stuck), key=lambda row: row.stability, default=None)
    if stuck is not None and h >= stuck.limit and reach.stability <= REFUSE_ABOVE:
        problems.append(
            Problem(
                "warning",
                joint,
                f"{stuck.element}: its friction chatters at {_ms(h)} while the motor sticks: {_describe(stuck)}",
                f"use a time step below {_ms(stuck.limit)}, or a softer presliding stiffness",
            )
        )


def _safe_preset(actuator: CompliantActuator, row: StepSize, h: float) -> float | None:
    """Return the largest preset up to which an element stays within the refused stability number.

    None if there is none, because the element exceeds the number at the smallest preset already.
    """
    low, high = preset_reach(actuator)
    grid = np.linspace(low, high, 65)
    own = {"link": 0, "motor_1": 1, "motor_2": 2}[row.element]

    def slopes(presets: np.ndarray) -> np.ndarray:
        found = _slopes(actuator.law, presets)
        return np.asarray((found.link, found.motor_1, found.motor_2)[own])

    rest_of_it = max(0.0, row.stiffness - float(np.max(slopes(grid))))

    def exceeds(presets: np.ndarray) -> np.ndarray:
        s = (h * h * (slopes(presets) + rest_of_it) + 2.0 * h * row.damping) / row.inertia
        return s > REFUSE_ABOVE**2

    bad = np.flatnonzero(exceeds(grid))
    if not bad.size:
        return high
    if bad[0] == 0:
        return None
    good, wrong = float(grid[bad[0] - 1]), float(grid[bad[0]])
    for _ in range(12):
        middle = 0.5 * (good + wrong)
        good, wrong = (good, middle) if exceeds(np.array([middle]))[0] else (middle, wrong)
    # Rounded down to the three digits that are printed.
    digits = 10.0 ** (math.floor(math.log10(good)) - 2) if good > 0.0 else 1.0
    rounded = math.floor(good / digits * (1.0 + 1e-12)) * digits
    return rounded if rounded > low else None


def _coupled(robot: Description, bodies: _Bodies, rows: list[StepSize], h: float, problems: list[Problem]) -> None:
    """Report joints that are too stiff together though each alone is not."""
    links = [row for row in rows if row.element == "link" and row.at == "rest"]
    if len(links) < 2:
        return
    dofs = [int(bodies.model.jnt_dofadr[bodies.model.joint(row.joint).id]) for row in links]
    root = np.sqrt([row.stiffness for row in links])
    fastest = max(float(np.linalg.eigvalsh(root[:, None] * w[np.ix_(dofs, dofs)] * root)[-1]) for w in bodies.inverse)
    together, alone = h * math.sqrt(max(0.0, fastest)), max(row.ratio for row in links)
    proposal = propose_timestep(fastest, 0.0, 1.0)
    if together > REFUSE_ABOVE >= max(row.stability for row in links):
        problems.append(
            Problem(
                "error",
                "model",
                f"the compliant joints together have w dt = {together:.2f} at {_ms(h)} (alone at most {alone:.2f}; "
                f"unstable from 2)",
                f"use option.timestep = {proposal:g}",
            )
        )
    elif together > WARN_ABOVE >= alone:
        problems.append(
            Problem(
                "warning",
                "model",
                f"the compliant joints together have w dt = {together:.2f} at {_ms(h)} (alone at most {alone:.2f})",
                f"use option.timestep = {proposal:g} for at most {WARN_ABOVE}",
            )
        )


def _loads(joint: str, actuator: CompliantActuator, bodies: _Bodies, problems: list[Problem]) -> None:
    """Report joints that cannot hold their own weight."""
    joint_id = bodies.model.joint(joint).id
    dof = int(bodies.model.jnt_dofadr[joint_id])
    weight = float(bodies.gravity[dof])
    if weight <= 0.0:
        return
    unit = "N m" if bodies.model.jnt_type[joint_id] == mujoco.mjtJoint.mjJNT_HINGE else "N"
    limits: list[tuple[float, str]] = []
    if bodies.model.jnt_actfrclimited[joint_id]:
        limits.append((float(np.max(np.abs(bodies.model.jnt_actfrcrange[joint_id]))), "its effort limit is"))
    if actuator.mode.has_spring and actuator.law.clip == "flat":
        low, high = preset_reach(actuator)
        torque = float(np.max(_slopes(actuator.law, np.linspace(low, high, 9) if high > low else np.zeros(1)).torque))
        limits.append((torque, "its spring gives at most"))
    if actuator.mode.has_motors:
        motors = [actuator.motor_1.max_torque]
        if actuator.law.second_input == "angle" and actuator.motor_2 is not None:
            motors.append(actuator.motor_2.max_torque)
        limits.append((sum(motors), "its motors give at most"))
    for torque, text in limits:
        if torque < weight * (1.0 - 1e-9):
            problems.append(
                Problem(
                    "warning",
                    joint,
                    f"gravity asks up to {weight:.4g} {unit} of it, {text} {torque:.4g} {unit}: "
                    "it cannot hold every pose",
                    "lighter links, stronger springs or a larger max_deflection",
                )
            )


def _defaults(robot: Description, model: mujoco.MjModel, problems: list[Problem]) -> None:
    """Report what nobody has written down and was therefore assumed."""
    option = robot.spec.option
    texts = {
        "timestep": f"time step {option.timestep:g} s",
        "integrator": "integrator " + next((k for k, v in INTEGRATORS.items() if v == option.integrator), "?"),
        "gravity": f"gravity ({', '.join(f'{g:g}' for g in option.gravity)}) m/s^2",
    }
    assumed = [text for name, text in texts.items() if not robot.names_option(name)]
    if assumed:
        problems.append(Problem("info", "option", f"not named by the file: {', '.join(assumed)}", "set option.<name>"))
    still = [
        model.joint(j).name
        for j in range(model.njnt)
        if model.jnt_type[j] in JOINTS
        and model.dof_damping[model.jnt_dofadr[j]] == 0.0
        and model.dof_frictionloss[model.jnt_dofadr[j]] == 0.0
    ]
    if still:
        problems.append(
            Problem(
                "info",
                "joints",
                f"neither damping nor friction on {', '.join(still[:12])}{' ...' if len(still) > 12 else ''}",
                "MuJoCo's default is 0; set <joint>.damping",
            )
        )
    from_shape = [
        body.name or "a body without a name"
        for body in robot.spec.bodies
        if body.name != "world"
        and not body.explicitinertial
        and any(np.isnan(geom.mass) and geom.density == 1000.0 for geom in body.geoms)
    ]
    if from_shape:
        problems.append(
            Problem(
                "info",
                "bodies",
                f"mass of {', '.join(from_shape[:12])}{' ...' if len(from_shape) > 12 else ''} comes from its shape "
                "with MuJoCo's default density of 1000 kg/m^3",
                "give an inertia or a density",
            )
        )
    if int(model.nkey) and not any(key.name == "rest" for key in robot.spec.keys):
        problems.append(Problem("info", "model", "a key frame 'rest' is added to those of the file"))
    template = {"damping": (DCMotor().damping, 0.0019), "friction": (PreslidingFriction().torque, 0.5)}
    for joint, actuator in robot.actuators.items():
        described = robot.interface.joints.get(joint)
        if not actuator.mode.has_motors:
            continue
        if described is not None and described.file is not None:
            values = {"damping": actuator.motor_1.damping, "friction": actuator.motor_1.friction.torque}
            for name, (code, comment) in template.items():
                if values[name] == code:
                    problems.append(
                        Problem(
                            "info",
                            joint,
                            f"motor {name} is {code:g}, the default of the toolbox's code",
                            f"the comments of its templates print {comment:g}",
                        )
                    )
        if isinstance(actuator.motor_2, LeverDrive):
            drive = actuator.motor_2
            problems.append(
                Problem(
                    "info",
                    joint,
                    f"the lever drive of {drive.inertia:g} kg, {drive.max_torque:g} N is assumed; nothing is published",
                    f"set {joint}.motor_2.inertia and its other parameters",
                )
            )


def _describe(row: StepSize) -> str:
    units = ("N/m", "kg") if row.linear else ("N m/rad", "kg m^2")
    text = f"w dt = {_short(row.ratio)} with K {row.stiffness:.4g} {units[0]} on {row.inertia:.4g} {units[1]}"
    if row.damping > 0.0:
        text += (
            f", dt D/I = {_short(row.damping_ratio)} with D {row.damping:.4g}; stability {_short(row.stability)} of 2"
        )
    return text


def _short(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _ms(seconds: float) -> str:
    return "any" if math.isinf(seconds) else f"{seconds * 1e3:.3g} ms"

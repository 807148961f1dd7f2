"""One recipe for each error of the Franka Control Interface that a client or a guiding hand can raise.

A recipe says where the arm starts, what is asked before the motion, and which commands follow. Its commands are
numbers of the interface, so that the same recipe provokes the error on any server of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.base.numerics import Array
from pliant.franka.robots import dynamics
from pliant.franka.robots.build import Q_START
from pliant.franka.robots.parameters import FER, FRANKA_HAND
from pliant.franka.wire import fci

Command = Callable[[int, fci.RobotState, fci.RobotState], "dict[str, Any] | None"]
"""(cycle, first state, state) -> the keywords of `FciClient.command`, or None for silence."""

JOINT, CARTESIAN, TORQUE = fci.Controller
POSITION, VELOCITY, POSE, TWIST, NONE = fci.MotionGenerator
READY: tuple[float, ...] = tuple(Q_START.tolist())
STEP = 5
"""Cycle of the first wrong command, where a command is wrong at once."""
_FREE = fci.UNLIMITED_DEVIATION
_CLOSE = (1e-3, *_FREE[1:])
"""Allowed deviation of 1 mm."""


def smooth(k: int, cycles: int) -> float:
    """Return a polynomial of degree 5 that rises from 0 to 1 within some cycles, with no acceleration at its ends."""
    s = min(1.0, k / cycles)
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


def collision(torque: float, force: float) -> fci.SetCollisionBehavior:
    """Return a request for equal thresholds of all joints [N m] and of all parts of the wrench [N, N m]."""
    names = fci.SetCollisionBehavior.__dataclass_fields__
    return fci.SetCollisionBehavior(**{n: (torque,) * 7 if "torque" in n else (force,) * 6 for n in names})


LOUD = collision(1e3, 1e3)
"""Thresholds that nothing here reaches: a recipe raises its own error alone."""
_PHANTOM = fci.SetLoad(mass=2.0, F_x_Cload=(0.0, 0.0, 0.05), I_load=tuple((1e-3 * np.eye(3)).reshape(-1).tolist()))
"""A load of 2 kg that is not there: the controller lifts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How an error is provoked."""

    error: str
    """Name of the error."""
    does: str
    """What the client does."""
    controller: int = JOINT
    """A `fci.Controller`."""
    generator: int = POSITION
    """A `fci.MotionGenerator`."""
    command: Command | None = None
    """The commands; None: a hand guides the arm."""
    q: tuple[float, ...] = READY
    """Joint positions at start [rad]."""
    height: float = 0.5
    """Height of the base above the floor [m]."""
    before: tuple[fci.Request, ...] = (LOUD,)
    """Requests before the motion."""
    cure: tuple[fci.Request, ...] = ()
    """Requests before the recovery that remove the cause."""
    stays: bool = False
    """Whether the cause remains after the recovery: the next motion raises the error again."""
    path: tuple[float, ...] = _FREE
    """Allowed deviation on the path [m, rad, rad]."""
    goal: tuple[float, ...] = _FREE
    """Allowed deviation at the goal."""
    at_once: bool = False
    """Whether command `STEP` (or the first, where it is the first that is wrong) alone is inadmissible."""
    wrong: int = STEP
    """Cycle of the inadmissible command, if `at_once`."""
    silent: bool = False
    """Whether the client falls silent."""


def _step(error: str, does: str, controller: int, generator: int, what: str, change: Any, **more: Any) -> Recipe:
    """Return a recipe whose commands stay at the start until one is changed; change(values) returns the wrong one."""
    wrong = more.get("wrong", STEP)

    def command(k: int, first: fci.RobotState, state: fci.RobotState) -> dict[str, Any]:
        given: dict[str, Any] = {}
        if generator == POSITION:
            given["q"] = np.array(first.q_d)
        elif generator == VELOCITY:
            given["dq"] = np.zeros(7)
        elif generator == POSE:
            given["pose"] = np.array(first.O_T_EE_c)
        elif generator == TWIST:
            given["twist"] = np.zeros(6)
        if what == "elbow":
            given["elbow"] = np.array(first.elbow)
        if what == "tau":
            given["tau"] = np.zeros(7)
        if k >= wrong:
            given[what] = change(given[what])
        return given

    return Recipe(
        error=error, does=does, controller=controller, generator=generator, command=command, at_once=True, **more
    )


def _plus(index: int, size: float) -> Callable[[Array], Array]:
    def change(values: Array) -> Array:
        changed = values.copy()
        changed[index] += size
        return changed

    return change


def _twists(rate: Callable[[int, fci.RobotState], object], elbow: bool = False) -> Command:
    def command(k: int, first: fci.RobotState, state: fci.RobotState) -> dict[str, object]:
        given = {"twist": np.asarray(rate(k, state), dtype=float)}
        return {**given, "elbow": np.array([first.q[2], first.elbow[1]])} if elbow else given

    return command


def _torques(torque: Callable[[int], object], **others: object) -> Command:
    return lambda k, first, state: {"tau": np.asarray(torque(k), dtype=float), **others}


def _shove(q: tuple[float, ...], direction: tuple[float, ...]) -> Command:
    """Return torques that grow by at most 0.95 N m a cycle and accelerate the joints in one direction."""
    push = dynamics.mass(np.array(q), FRANKA_HAND, arm=FER) @ np.array(direction)
    push *= 0.95 / np.abs(push).max()
    return _torques(lambda k: k * push)


def _about_the_base(k: int, state: fci.RobotState) -> list[float]:
    """Return the twist of a turn about joint 1, faster than the joint may turn."""
    x, y = state.O_T_EE_c[12:14]
    w = 2.45 * smooth(k, 600)
    return [-w * y, w * x, 0.0, 0.0, 0.0, w]


_JERK = 0.7 * np.array([-0.0047, -0.0008, 0.001, -0.0012, -0.0007, 0.0008])
"""A twist that is taken back after a cycle: its accelerations are allowed, the jerk of a joint is not."""
_FOLDED = np.array([0.0, -0.785, 0.0, -3.0, 0.0, 0.6, 0.785])
"""The hand at the shoulder: 46 mm inside its capsule [rad]."""
_STRETCHED = (0.0, 0.2, 0.0, -0.35, 0.0, 1.9, 0.78)
_NEAR_STOP = (FER.limits.position_max[0] - 0.15, *READY[1:])
_HEAVY = (0.0, 1.2, -0.59, -1.48, 2.0, 0.82, 0.78)
_FAST = (0.0, -1.27, -0.83, -2.15, 1.85, 1.64, 0.78)
_UNDER_A_STOP = (0.0, -0.3, 0.0, -0.1, 0.0, 1.9, 0.78)


def _hold(k: int, first: fci.RobotState, state: fci.RobotState) -> dict[str, object]:
    return {"q": np.array(first.q_d), "finish": k > 50}


def _joint_recipes() -> list[Recipe]:
    name = "joint_motion_generator_"
    return [
        _step(
            "joint_position_motion_generator_start_pose_invalid",
            "begins 0.02 rad beside the arm",
            *(JOINT, POSITION, "q", _plus(0, 0.02)),
            wrong=0,
        ),
        Recipe(
            error=name + "position_limits_violation",
            does="drives joint 6 to its limit at 1.5 rad/s",
            generator=VELOCITY,
            command=lambda k, first, state: {"dq": [0, 0, 0, 0, 0, -1.5 * smooth(k, 400), 0]},
        ),
        _step(name + "velocity_limits_violation", "jumps by 3 mrad", JOINT, POSITION, "q", _plus(0, 0.003)),
        _step(name + "velocity_discontinuity", "jumps by 0.02 mrad", JOINT, POSITION, "q", _plus(1, 2e-5)),
        _step(name + "acceleration_discontinuity", "jumps by 0.02 mrad", JOINT, POSITION, "q", _plus(6, 2e-5)),
    ]


def _cartesian_recipes() -> list[Recipe]:
    name, pose = "cartesian_motion_generator_", (CARTESIAN, POSE)
    turned = "commands an elbow"
    return [
        _step(
            "cartesian_position_motion_generator_start_pose_invalid",
            "begins 50 mm beside the arm",
            *(*pose, "pose", _plus(12, 0.05)),
            wrong=0,
        ),
        _step(
            "cartesian_position_motion_generator_invalid_frame",
            "sends a pose whose axes are not orthonormal",
            *(*pose, "pose", _plus(0, 0.01)),
        ),
        _step(
            name + "velocity_limits_violation",
            "sends a twist of 2.5 m/s",
            *(CARTESIAN, TWIST, "twist", _plus(0, 2.5)),
        ),
        _step(name + "velocity_discontinuity", "jumps by 0.2 mm", *pose, "pose", _plus(12, 2e-4)),
        _step(name + "acceleration_discontinuity", "jumps by 12 mm/s", CARTESIAN, TWIST, "twist", _plus(1, 0.012)),
        _step(name + "elbow_limit_violation", f"{turned} beyond joint 3's limit", *pose, "elbow", _plus(0, 3.5)),
        _step(
            name + "elbow_sign_inconsistent",
            f"{turned} of the other sign",
            *(*pose, "elbow", lambda elbow: elbow * np.array([1.0, -1.0])),
        ),
        _step(
            name + "start_elbow_invalid", f"{turned} 0.1 rad beside the arm's", *pose, "elbow", _plus(0, 0.1), wrong=0
        ),
        Recipe(
            error=name + "joint_position_limits_violation",
            does="turns about the vertical at 1.6 rad/s with the elbow held until a joint is at its limit",
            generator=TWIST,
            command=_twists(lambda k, state: [0, 0, 0, 0, 0, 1.6 * smooth(k, 600)], elbow=True),
        ),
        Recipe(
            error=name + "joint_velocity_limits_violation",
            does="turns about the base faster than joint 1 may",
            controller=CARTESIAN,
            generator=TWIST,
            q=(-1.5, *READY[1:]),
            command=_twists(_about_the_base, elbow=True),
        ),
        Recipe(
            error=name + "joint_velocity_discontinuity",
            does="lifts the stretched arm at 0.3 m/s, towards its singularity",
            controller=CARTESIAN,
            generator=TWIST,
            q=_STRETCHED,
            command=_twists(lambda k, state: [0, 0, 0.3 * smooth(k, 400), 0, 0, 0]),
        ),
        Recipe(
            error=name + "joint_acceleration_discontinuity",
            does="takes a small twist back after a cycle",
            controller=CARTESIAN,
            generator=TWIST,
            command=_twists(lambda k, state: _JERK * (k == STEP)),
        ),
    ]


def _measured_recipes() -> list[Recipe]:
    return [
        Recipe(
            error="joint_position_limits_violation",
            does="pushes joint 1 beyond its limit with 2 N m",
            controller=TORQUE,
            generator=NONE,
            q=_NEAR_STOP,
            command=_torques(lambda k: [min(2.0, 0.1 * k), 0, 0, 0, 0, 0, 0]),
        ),
        Recipe(
            error="self_collision_avoidance_violation",
            does="folds the hand to the shoulder",
            command=lambda k, first, state: {"q": first.q_d + smooth(k, 2500) * (_FOLDED - first.q_d)},
            stays=True,
        ),
        Recipe(
            error="joint_velocity_violation",
            does="spins joint 7 with up to 1 N m",
            controller=TORQUE,
            generator=NONE,
            command=_torques(lambda k: [0, 0, 0, 0, 0, 0, 0.01 * min(k, 100)]),
        ),
        Recipe(
            error="cartesian_velocity_violation",
            does="spins joint 7 with up to 0.3 N m while its generator commands a twist of zero",
            controller=TORQUE,
            generator=TWIST,
            command=_torques(lambda k: [0, 0, 0, 0, 0, 0, min(0.3, 0.01 * k)], twist=np.zeros(6)),
        ),
        Recipe(
            error="joint_reflex",
            does="announces a load of 2 kg that is not there, with thresholds of 2 N m",
            before=(collision(2.0, 1e3), _PHANTOM),
            cure=(LOUD,),
            command=_hold,
        ),
        Recipe(
            error="cartesian_reflex",
            does="announces a load of 2 kg that is not there, with thresholds of 5 N",
            before=(collision(1e3, 5.0), _PHANTOM),
            cure=(LOUD,),
            command=_hold,
        ),
        Recipe(
            error="max_goal_pose_deviation_violation",
            does="allows 1 mm at the goal; a load that is not there lifts the arm farther",
            before=(LOUD, _PHANTOM),
            command=_hold,
            goal=_CLOSE,
        ),
        Recipe(
            error="max_path_pose_deviation_violation",
            does="allows 1 mm on the path; a load that is not there lifts the arm farther",
            before=(LOUD, _PHANTOM),
            command=_hold,
            path=_CLOSE,
        ),
        _step(
            "controller_torque_discontinuity",
            "jumps by 1.5 N m",
            *(TORQUE, NONE, "tau", _plus(6, 1.5)),
        ),
        Recipe(
            error="tau_J_range_violation",
            does="strikes the floor with torques that grow by 0.95 N m a cycle",
            height=0.0,
            controller=TORQUE,
            generator=NONE,
            q=_HEAVY,
            command=_shove(_HEAVY, (1.27, 0.21, 0.2, -0.56, 0.41, -0.29, -1.73)),
        ),
        Recipe(
            error="power_limit_violation",
            does="shoves all joints with torques that grow by 0.95 N m a cycle",
            controller=TORQUE,
            generator=NONE,
            q=_FAST,
            command=_shove(_FAST, (0.37, -0.26, 0.39, -0.42, -0.44, 0.48, -0.15)),
        ),
        Recipe(
            error="communication_constraints_violation",
            does="falls silent for 20 cycles",
            command=lambda k, first, state: {"q": np.array(first.q_d)} if k < STEP else None,
            silent=True,
        ),
        Recipe(
            error="joint_move_in_wrong_direction",
            does="lets a hand guide the arm, which a load that is not there lifts beyond a limit",
            before=(LOUD, _PHANTOM),
            q=_UNDER_A_STOP,
        ),
    ]


RECIPES: tuple[Recipe, ...] = (*_measured_recipes(), *_joint_recipes(), *_cartesian_recipes())
"""One recipe an error, 30 in all."""

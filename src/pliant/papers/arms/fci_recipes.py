"""One recipe for each error of the Franka Control Interface that a client or a guiding hand can raise.

A recipe says where the arm starts, what is asked before the motion, and which commands follow. Its commands are
numbers of the interface, so that the same recipe provokes the error on any server of it; `provoke` follows one.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.base.errors import BridgeError
from pliant.base.numerics import Array
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.bridge import FciBridge, FciOptions
from pliant.franka.robots import dynamics
from pliant.franka.robots.build import MOTOR_INERTIA, Q_START
from pliant.franka.robots.parameters import FER, FRANKA_HAND
from pliant.franka.testing_client import PATIENCE_S, FciClient
from pliant.franka.wire import fci
from pliant.papers.arms.franka_server import build_arm
from pliant.simulation import Simulation

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


def _twist(error: str, does: str, rate: Callable[[int, fci.RobotState], object], **more: Any) -> Recipe:
    """Return a recipe that commands twists; with ``elbow=True`` it also commands the elbow of the start."""
    elbow = more.pop("elbow", False)

    def command(k: int, first: fci.RobotState, state: fci.RobotState) -> dict[str, object]:
        given = {"twist": np.asarray(rate(k, state), dtype=float)}
        return {**given, "elbow": np.array([first.q[2], first.elbow[1]])} if elbow else given

    return Recipe(error=error, does=does, generator=TWIST, command=command, **more)


def _torques(error: str, does: str, torque: Callable[[int], object], **more: Any) -> Recipe:
    """Return a recipe that commands torques, with ``generator=TWIST`` beside a twist of zero."""
    others = {"twist": np.zeros(6)} if more.setdefault("generator", NONE) == TWIST else {}
    return Recipe(
        error=error,
        does=does,
        controller=TORQUE,
        command=lambda k, first, state: {"tau": np.asarray(torque(k), dtype=float), **others},
        **more,
    )


def _shove(q: tuple[float, ...], direction: tuple[float, ...]) -> Callable[[int], object]:
    """Return torques that grow by at most 0.95 N m a cycle and accelerate the joints in one direction."""
    push = dynamics.mass(np.array(q), FRANKA_HAND, arm=FER) @ np.array(direction)
    push *= 0.95 / np.abs(push).max()
    return lambda k: k * push


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
    name, position = "joint_motion_generator_", (JOINT, POSITION, "q")
    start = "joint_position_motion_generator_start_pose_invalid"
    return [
        _step(start, "begins 0.02 rad beside the arm", *position, _plus(0, 0.02), wrong=0),
        Recipe(
            error=name + "position_limits_violation",
            does="drives joint 6 to its limit at 1.5 rad/s",
            generator=VELOCITY,
            command=lambda k, first, state: {"dq": [0, 0, 0, 0, 0, -1.5 * smooth(k, 400), 0]},
        ),
        _step(name + "velocity_limits_violation", "jumps by 3 mrad", *position, _plus(0, 0.003)),
        _step(name + "velocity_discontinuity", "jumps by 0.02 mrad", *position, _plus(1, 2e-5)),
        _step(name + "acceleration_discontinuity", "jumps by 0.02 mrad", *position, _plus(6, 2e-5)),
    ]


def _cartesian_recipes() -> list[Recipe]:
    name, pose, twist = "cartesian_motion_generator_", (CARTESIAN, POSE), (CARTESIAN, TWIST)
    turned, other = "commands an elbow", "cartesian_position_motion_generator_"
    not_a_frame = "sends a pose whose axes are not orthonormal"
    other_sign, beside = f"{turned} of the other sign", f"{turned} 0.1 rad beside the arm's"
    return [
        _step(other + "start_pose_invalid", "begins 50 mm beside the arm", *pose, "pose", _plus(12, 0.05), wrong=0),
        _step(other + "invalid_frame", not_a_frame, *pose, "pose", _plus(0, 0.01)),
        _step(name + "velocity_limits_violation", "sends a twist of 2.5 m/s", *twist, "twist", _plus(0, 2.5)),
        _step(name + "velocity_discontinuity", "jumps by 0.2 mm", *pose, "pose", _plus(12, 2e-4)),
        _step(name + "acceleration_discontinuity", "jumps by 12 mm/s", *twist, "twist", _plus(1, 0.012)),
        _step(name + "elbow_limit_violation", f"{turned} beyond joint 3's limit", *pose, "elbow", _plus(0, 3.5)),
        _step(
            name + "elbow_sign_inconsistent", other_sign, *pose, "elbow", lambda elbow: elbow * np.array([1.0, -1.0])
        ),
        _step(name + "start_elbow_invalid", beside, *pose, "elbow", _plus(0, 0.1), wrong=0),
        _twist(
            name + "joint_position_limits_violation",
            "turns about the vertical at 1.6 rad/s with the elbow held until a joint is at its limit",
            lambda k, state: [0, 0, 0, 0, 0, 1.6 * smooth(k, 600)],
            elbow=True,
        ),
        _twist(
            name + "joint_velocity_limits_violation",
            "turns about the base faster than joint 1 may",
            _about_the_base,
            elbow=True,
            controller=CARTESIAN,
            q=(-1.5, *READY[1:]),
        ),
        _twist(
            name + "joint_velocity_discontinuity",
            "lifts the stretched arm at 0.3 m/s, towards its singularity",
            lambda k, state: [0, 0, 0.3 * smooth(k, 400), 0, 0, 0],
            controller=CARTESIAN,
            q=_STRETCHED,
        ),
        _twist(
            name + "joint_acceleration_discontinuity",
            "takes a small twist back after a cycle",
            lambda k, state: _JERK * (k == STEP),
            controller=CARTESIAN,
        ),
    ]


def _measured_recipes() -> list[Recipe]:
    lifted = "a load that is not there lifts the arm farther"
    announced = "announces a load of 2 kg that is not there, with thresholds of"
    spin, twist = "spins joint 7 with up to", "while its generator commands a twist of zero"
    return [
        _torques(
            "joint_position_limits_violation",
            "pushes joint 1 beyond its limit with 2 N m",
            lambda k: [min(2.0, 0.1 * k), 0, 0, 0, 0, 0, 0],
            q=_NEAR_STOP,
        ),
        Recipe(
            error="self_collision_avoidance_violation",
            does="folds the hand to the shoulder",
            command=lambda k, first, state: {"q": first.q_d + smooth(k, 2500) * (_FOLDED - first.q_d)},
            stays=True,
        ),
        _torques("joint_velocity_violation", f"{spin} 1 N m", lambda k: [0, 0, 0, 0, 0, 0, 0.01 * min(k, 100)]),
        _torques(
            "cartesian_velocity_violation",
            f"{spin} 0.3 N m {twist}",
            lambda k: [0, 0, 0, 0, 0, 0, min(0.3, 0.01 * k)],
            generator=TWIST,
        ),
        *(
            Recipe(
                error=f"{part}_reflex",
                does=f"{announced} {threshold}",
                before=(collision(*thresholds), _PHANTOM),
                cure=(LOUD,),
                command=_hold,
            )
            for part, threshold, thresholds in (("joint", "2 N m", (2.0, 1e3)), ("cartesian", "5 N", (1e3, 5.0)))
        ),
        *(
            Recipe(
                error=f"max_{place}_pose_deviation_violation",
                does=f"allows 1 mm {where}; {lifted}",
                before=(LOUD, _PHANTOM),
                command=_hold,
                **{place: _CLOSE},
            )
            for place, where in (("goal", "at the goal"), ("path", "on the path"))
        ),
        _step("controller_torque_discontinuity", "jumps by 1.5 N m", TORQUE, NONE, "tau", _plus(6, 1.5)),
        _torques(
            "tau_J_range_violation",
            "strikes the floor with torques that grow by 0.95 N m a cycle",
            _shove(_HEAVY, (1.27, 0.21, 0.2, -0.56, 0.41, -0.29, -1.73)),
            height=0.0,
            q=_HEAVY,
        ),
        _torques(
            "power_limit_violation",
            "shoves all joints with torques that grow by 0.95 N m a cycle",
            _shove(_FAST, (0.37, -0.26, 0.39, -0.42, -0.44, 0.48, -0.15)),
            q=_FAST,
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


SILENCE_S = 0.005
"""How long the arm waits for a command of a client that falls silent [s]; else nothing is lost, whatever the load."""
LONGEST = 4000
"""Cycles after which a recipe has failed."""
SETTLING = 200
"""Cycles within which the estimates of external torques follow a load that was announced."""
REST = 1e-3
"""Joint speed below which an arm stands still [rad/s]: ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Outcome of a recipe."""

    recipe: Recipe
    """The recipe."""
    errors: tuple[str, ...]
    """Errors of the first state that has any."""
    cycles: int
    """Cycles from the first command, or from the inadmissible one, to that state [ms]; of a guided arm from the press
    of the button."""
    ended: str
    """How the motion was answered."""
    mode: str
    """Mode of the robot with the error."""
    refused: bool
    """Whether the arm refuses a motion then."""
    speeds: Array
    """Largest joint speed in each cycle from the error until the arm stands [rad/s]."""
    recovery: str
    """How automatic error recovery was answered."""
    recovered: bool
    """Whether the robot was idle without errors afterwards."""
    moves: bool
    """Whether it took a motion afterwards."""
    recovery_ms: int
    """How long the recovery took [ms]."""

    @property
    def standing(self) -> bool:
        """Whether it came to rest."""
        return bool(self.speeds[-1] <= REST)

    @property
    def raised(self) -> bool:
        """Whether the recipe raised its error."""
        return self.recipe.error in self.errors


@contextlib.contextmanager
def serving(recipe: Recipe) -> Iterator[tuple[FciClient, Simulation]]:
    """Yield a client of an arm that this process serves, at the start of a recipe, and the simulation."""
    robot = build_arm(friction=False, motor_inertia=MOTOR_INERTIA, q=recipe.q, height=recipe.height)
    patience = SILENCE_S if recipe.silent else PATIENCE_S
    own_ports = {"port": 0, "gripper_port": 0}
    bridge = FciBridge(FciOptions(**own_ports, mode="lockstep", system_version="any", command_timeout=patience))
    with Simulation(MujocoEngine(robot, guard=False), make_devices(robot), [bridge]) as simulation:
        simulation.start()
        loop = threading.Thread(target=simulation.run, name="pliant-errors", daemon=True)
        loop.start()
        try:
            arm = bridge.arms[0]
            with FciClient(arm.host, arm.port) as client:
                yield client, simulation
        finally:
            simulation.stop()
            loop.join(PATIENCE_S)


def provoke(recipe: Recipe) -> Outcome:
    """Follow a recipe until its error, and recover from it.

    Raises:
        BridgeError: the arm refuses what comes before the motion.
    """
    with serving(recipe) as (client, simulation):
        for request in recipe.before:
            if (status := client.ask(request)) != "success":
                raise BridgeError(f"{type(request).__name__} was refused: {status}", field="before")
        for _ in range(SETTLING if len(recipe.before) > 1 else 0):
            client.state()
        if recipe.command is None:
            state, cycles, ended = _guided(client, simulation)
        else:
            state, cycles, ended = _moved(client, recipe)
        errors, mode = tuple(state.error_names()), fci.RobotMode(state.robot_mode).name.lower()
        hold = fci.Move(controller=fci.Controller.JOINT_IMPEDANCE, motion_generator=fci.MotionGenerator.JOINT_VELOCITY)
        refused = client.ask(hold) == "not_possible"
        speeds = [float(np.abs(state.dq).max())]
        while speeds[-1] > REST and len(speeds) < LONGEST and errors:
            speeds.append(float(np.abs(client.state().dq).max()))
        for request in recipe.cure:
            client.ask(request)
        recovery = client.ask(fci.AutomaticErrorRecovery())
        lasted, waited = 0, 0
        state = client.state()  # the states of the recovery wait in the socket
        while state.robot_mode != fci.RobotMode.IDLE and waited < LONGEST:
            lasted += state.robot_mode == fci.RobotMode.AUTOMATIC_ERROR_RECOVERY
            state, waited = client.state(), waited + 1
        recovered = state.robot_mode == fci.RobotMode.IDLE and not state.error_names()
        moves = recovered and _takes_a_motion(client, hold)
    return Outcome(
        recipe=recipe,
        errors=errors,
        cycles=cycles,
        ended=ended,
        mode=mode,
        refused=refused,
        speeds=np.array(speeds),
        recovery=recovery,
        recovered=recovered,
        moves=moves,
        recovery_ms=lasted,
    )


def _moved(client: FciClient, recipe: Recipe) -> tuple[fci.RobotState, int, str]:
    """Start the motion of a recipe and send its commands; return the first state with an error, cycles and answer."""
    assert recipe.command is not None
    number, state = client.begin(
        fci.Move(
            controller=recipe.controller,
            motion_generator=recipe.generator,
            maximum_path_deviation=recipe.path,
            maximum_goal_deviation=recipe.goal,
        )
    )
    first, k = state, 0
    while not state.error_names() and state.robot_mode == fci.RobotMode.MOVE and k < LONGEST:
        given = recipe.command(k, first, state)
        if given is not None:
            client.command(state, **given)
        state, k = client.state(), k + 1
    if not state.error_names() and k == LONGEST:
        client.ask(fci.StopMove())
    return state, state.message_id - first.message_id - (recipe.wrong if recipe.at_once else 0), client.answer(number)


def _takes_a_motion(client: FciClient, move: fci.Move) -> bool:
    """Return whether the arm takes a motion with velocities of zero, and ends it well."""
    try:
        number, state = client.begin(move)
    except BridgeError:  # it is in its reflex mode again
        return False
    if state.error_names():
        return False
    client.command(state, dq=np.zeros(7), finish=True)
    return client.answer(number) == "success"


def _guided(client: FciClient, simulation: Simulation) -> tuple[fci.RobotState, int, str]:
    """Press the guiding button until the arm has an error."""
    simulation.request("franka", "guide").result(PATIENCE_S)
    cycles, k = 0, 0
    state = client.state()
    while not state.error_names() and k < LONGEST:
        cycles += state.robot_mode == fci.RobotMode.GUIDING
        state, k = client.state(), k + 1
    simulation.request("franka", "guide", pressed=False).result(PATIENCE_S)
    return state, cycles, "no motion"

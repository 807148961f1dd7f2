"""The state machine of the cabinet: requests, motions, reflexes, recovery, and one cycle every millisecond.

A cycle is `observe` (measurements in, state out) followed by `control` (command in, torques out). The caller owns
time: nothing here sleeps, opens a socket or reads the wall clock, so two runs with the same inputs give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import DeviceError, ModelError
from pliant.base.numerics import Array
from pliant.franka.device import kernels
from pliant.franka.device import memory as k
from pliant.franka.device.configuration import Configuration
from pliant.franka.device.parameters import NO_PAYLOAD, Arm, Payload
from pliant.franka.device.settings import Settings
from pliant.franka.wire import fci
from pliant.franka.wire.fci import ERROR, ERRORS, RobotCommand, RobotMode, RobotState
from pliant.laws.compile import bound


def _frozen(array: NDArray[np.uint8]) -> NDArray[np.uint8]:
    array.flags.writeable = False
    return array


NO_ERRORS = _frozen(np.zeros(len(ERRORS), np.uint8))
"""The error bits of a robot without errors."""

_LIMIT = [ERROR.joint_position_limits_violation, ERROR.joint_move_in_wrong_direction]
"""Errors after which the arm can be guided."""
AT_LIMIT = 1e-6
"""A joint that stands nearer to a position limit is at it [rad]: by rounding it would be beyond the limit, or not."""
_SUCCESS_WINDOW = 100
"""Commands over which the success rate is computed."""


@dataclass(slots=True, eq=False)
class Motion:
    """A running motion."""

    command_id: int | None
    """Number of the request Move; None where nobody waits for its answer."""
    controller: int
    """A `fci.Controller`."""
    generator: int
    """A `fci.MotionGenerator`."""
    asynchronous: bool
    """Whether targets come only when they change."""
    first: bool = True
    """Whether the first command has not come yet."""
    finishing: str = ""
    """Status that the motion will end with, while it decelerates; "" before."""
    stop_id: int | None = None
    """Number of the request StopMove that waits for the end."""
    lost: int = 0
    """Missing commands in a row."""
    window: int = 0
    """The last commands, a bit each: 1 for one that came."""
    counted: int = 0
    """Cycles with a command or without one since the first."""
    holding: bool = False
    """Whether the arm still holds its old place (``q_hold``), while q_d is the measured position: until the first
    command comes."""

    @property
    def awaits_command(self) -> bool:
        """Whether the client owes a command for each state: its first one has come."""
        if self.first or self.asynchronous or self.stop_id is not None:
            return False
        return self.finishing not in ("preempted", "aborted", "emergency")

    @property
    def awaits_first_command(self) -> bool:
        """Whether the first command has not come yet."""
        return self.first and not self.finishing


class Cabinet:
    """The controller of one arm.

    Args:
        arm: the arm that it controls.
        settings: gains, thresholds, checks.
        end_effector: inertia of the end effector as configured on the robot; None: a bare flange.
        F_T_NE: pose of the nominal end effector in the flange, shape (4, 4); default the flange itself.
        gravity: in the base frame, shape (3,) [m/s^2].
        rotor_inertia: inertia of the motors at the joints that their torque loops leave, shape (7,) [kg m^2].
        q: joint positions at start, shape (7,) [rad].
        hand: whether the arm carries the hand, which counts for self collision.
        motors: the motors that `control` drives; None: the torques that it returns go nowhere else.
        sensors: what `observe` reads where it is given no measurements.

    Raises:
        DeviceError: a setting of the wrong shape.
    """

    def __init__(
        self,
        arm: Arm,
        *,
        q: ArrayLike,
        settings: Settings | None = None,
        end_effector: Payload | None = None,
        F_T_NE: ArrayLike | None = None,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        rotor_inertia: ArrayLike = (0.0,) * 7,
        hand: bool = False,
        motors: kernels.Motors | None = None,
        sensors: kernels.Sensors | None = None,
    ) -> None:
        self.arm = arm
        self.settings = settings or Settings()
        self.configuration = Configuration(
            arm,
            self.settings,
            end_effector=end_effector or NO_PAYLOAD,
            F_T_NE=np.eye(4) if F_T_NE is None else F_T_NE,
            gravity=gravity,
            rotor_inertia=rotor_inertia,
            hand=hand,
        )
        """Configuration that requests of the interface change."""
        self.state = self.configuration.state
        """The robot state, the same object in every cycle."""
        self._memory, self._set = self.configuration.memory, self.configuration.set
        self.fields = m = self.configuration.fields
        """Arrays of the kernels' record by name (views)."""
        self.answers: list[fci.Response] = []
        self.motion: Motion | None = None
        """The running motion, the same object until it ends; None without a motion."""
        self._recovery: tuple[int | None, int] | None = None
        self._locked_at: Array | None = None
        self._torque, self._rest = m["torque"], self._memory["rest"]
        self._commanded_motion, self._commanded_torque = m["motion"], m["tau"]
        self._flags, self._raised = self._memory["flags"], self._memory["raised"]
        self._given = kernels.Sensors.none()
        self._observe_given = bound(kernels.observe, self._memory, *self._given).call
        self._observe = bound(kernels.observe, self._memory, *(sensors or self._given)).call
        self._publish = bound(kernels.publish, self._memory)
        self._desired_pose = bound(kernels.desired_pose, self._memory)
        self._goal_deviates = bound(kernels.goal_deviates, self._memory)
        self._control = bound(kernels.control, self._memory, *(motors or kernels.Motors.none())).call
        self.reset(q)

    # ------------------------------------------------------------------------------------------------ set-up

    def reset(self, q: ArrayLike) -> None:
        """Return to rest at q, idle and without errors, with the settings that the cabinet was made with."""
        self.configuration.restart()
        m = self.fields
        m["q"][:] = m["q_d"][:] = q
        for name in ("dq", "dq_last", "dq_d", "ddq_d", "tau_J", "tau_J_last", "tau_c", "tau_d", "rotor_torque"):
            m[name][:] = 0.0
        self._set("observer_started", 0)
        # the first control needs the dynamics at q
        for array, value in zip(self._given, (q, 0.0, 0.0), strict=False):
            array[:] = value
        self._observe_given()
        for name in ("tau_J", "tau_J_last"):
            m[name][:] = m["g"]
        self._given.motor_torque[:] = m["g"]  # an arm at rest is held
        self._observe_given()
        for name in ("integral", "residual", "F_K", "contact", "collision", "errors"):
            m[name][:] = 0
        self._set("observer_started", 0)
        self._set("mode", k.HOLD)
        self.motion = self._recovery = self._locked_at = None
        self.answers.clear()
        self.state.message_id = 0
        self.state.robot_mode = RobotMode.IDLE
        self.state.errors = self.state.reflex_reason = NO_ERRORS
        self._idle_modes()
        self._desired_pose()

    # ------------------------------------------------------------------------------------------------- cycle

    def observe(self, measured: tuple[Array, Array, Array] | None = None) -> RobotState:
        """Take the measurements of this cycle and return the robot state; no later cycle changes it.

        Args:
            measured: joint positions [rad], joint velocities [rad/s] and the link-side torques that acted during the
                last cycle, gravity included [N m], shape (7,) each; None for those of the sensors.
        """
        if measured is None:
            self._observe()
        else:
            for array, value in zip(self._given, measured, strict=False):
                array[:] = value
            self._observe_given()
        if self._raised.item():
            self._reflex("reflex")
            self._publish()
        state = self.state
        state.message_id += 1
        motion = self.motion
        if motion is None:
            state.success_rate = 0.0
        elif motion.counted:
            state.success_rate = motion.window.bit_count() / min(motion.counted, _SUCCESS_WINDOW)
        else:
            state.success_rate = 1.0
        return state.snapshot()

    def control(self, command: RobotCommand | None = None) -> Array:
        """Advance by one millisecond, drive the motors and return their torques (a view, shape (7,) [N m]).

        Args:
            command: the client's command of this cycle, or None if none came. Before the first command of a motion,
                and with asynchronous targets, None is not counted as a loss.
        """
        motion = self.motion
        flags = 0
        if motion is not None:
            if command is not None and not motion.finishing:
                flags = k.PRESENT
                self._commanded_motion[:], self._commanded_torque[:] = command.motion, command.tau_J_d
                if command.valid_elbow:
                    flags |= k.ELBOW
                if motion.first:
                    flags |= k.FIRST
                motion.first = motion.holding = False
                motion.lost = 0
                self._count(motion, 1)
                done = command.motion_generation_finished or (
                    command.torque_command_finished and motion.controller == k.EXTERNAL
                )
                if done:
                    self._finish("success")
                    flags = 0
            elif command is None and not motion.first and not motion.finishing and not motion.asynchronous:
                motion.lost += 1
                self._count(motion, 0)
                if motion.lost >= self.settings.lost_commands:
                    if self._raise(ERROR.communication_constraints_violation):
                        motion = None
                    else:  # The check is off: stop instead of extrapolating for ever.
                        self._finish("aborted")
            if motion is not None:
                if motion.finishing:
                    flags = k.FINISH
                elif motion.asynchronous:
                    flags = (flags & k.PRESENT) | k.ASYNC
                elif motion.first:
                    # Hold, so that nothing depends on how many cycles the client takes to its first command.
                    flags = k.WAIT if motion.holding else 0 if motion.controller == k.EXTERNAL else k.FINISH
        self._flags[0] = flags
        self._control()
        raised = self._raised.item()
        if raised:
            self._reflex("input_error" if raised >= k.UNUSABLE else "reflex")
            self._flags[0] = 0
            self._control()
        motion = self.motion
        if motion is not None and motion.finishing and self._rest[0]:
            self._end(motion)
        if self._recovery is not None:
            self._recover()
        return self._torque

    def take_answers(self) -> list[fci.Response]:
        """Return the answers that are due, and remove them."""
        answers, self.answers = self.answers, []
        return answers

    @property
    def moving(self) -> bool:
        """Whether a motion runs or decelerates to its end."""
        return self.motion is not None

    @property
    def busy(self) -> bool:
        """Whether a motion or an error recovery runs, or the arm decelerates."""
        stopping = self.state.robot_mode != RobotMode.GUIDING and bool(self.fields["dq_d"].any())
        return stopping or self.motion is not None or self._recovery is not None

    def settle(self, q: ArrayLike, dq: ArrayLike) -> Array | None:
        """Return where the arm rests exactly, or None if it does not rest.

        An arm that holds within 1e-9 of its goal and of standstill is kept there, as by static friction. Rounding
        errors then do not accumulate, so that a motion does not depend on how long the arm stood before it.
        """
        m, motion = self.fields, self.motion
        if (motion is not None and not motion.first) or self.state.robot_mode == RobotMode.GUIDING:
            return None
        if self._recovery is not None or m["dq_d"].any():
            return None
        goal = m["q_hold"] if motion is not None and motion.holding else m["q_d"]
        near = np.abs(goal - q).max() < 1e-9 and np.abs(dq).max() < 1e-9 and np.abs(m["residual"]).max() < 1e-6
        if not near:
            return None
        for name in ("residual", "integral", "rotor_torque", "dq_last"):
            m[name][:] = 0.0
        return goal

    @staticmethod
    def _count(motion: Motion, received: int) -> None:
        motion.window = ((motion.window << 1) | received) & ((1 << _SUCCESS_WINDOW) - 1)
        motion.counted += 1

    def _raise(self, error: int) -> bool:
        """Stop with a reflex for an error whose check is on; return whether it is on."""
        if not self.fields["enabled"][error]:
            return False
        self.fields["errors"][error] = 1
        self._reflex("reflex")
        return True

    # -------------------------------------------------------------------------------------------- transitions

    def _idle_modes(self) -> None:
        self.state.motion_generator_mode = fci.MotionGeneratorMode.IDLE
        self.state.controller_mode = fci.ControllerMode.OTHER

    def _release(self) -> None:
        """Switch from any controller to holding, from the measured state if the arm did not follow q_d."""
        m = self.fields
        if self.motion is not None and self.motion.holding:
            m["q_d"][:] = m["q_hold"]
            self.motion.holding = False
        elif self.motion is not None and self.motion.controller != k.JOINT_IMPEDANCE:
            self._hold_here()

    def _outside(self) -> bool:
        """Whether a joint is beyond a position limit."""
        m = self.fields
        return bool((m["q"] < m["q_min"]).any() or (m["q"] > m["q_max"]).any())

    def _return_inside(self, within: float = AT_LIMIT) -> None:
        """Let each joint that is beyond a position limit, or nearer to one than `within` [rad], return inside it."""
        m, margin = self.fields, self.settings.recovery_margin
        low, high = m["q_min"] + within, m["q_max"] - within
        beyond = (m["q"] < low) | (m["q"] > high) | (m["q_d"] < low) | (m["q_d"] > high)
        inside = np.clip(m["q"], m["q_min"] + margin, m["q_max"] - margin)
        m["q_d"][beyond] = inside[beyond]
        m["dq_d"][beyond] = m["ddq_d"][beyond] = 0.0

    def _finish(self, status: str, stop_id: int | None = None) -> None:
        """Begin to end the motion: decelerate, then answer with the status."""
        motion = self.motion
        if motion is None or motion.finishing:
            return
        self._release()
        motion.finishing = status
        motion.stop_id = stop_id
        self._set("rest", 0)

    def _end(self, motion: Motion) -> None:
        status = motion.finishing
        if status == "success" and motion.controller != k.EXTERNAL:
            self._goal_deviates()
            if self._raised.item() and self._raise(ERROR.max_goal_pose_deviation_violation):
                return
        self.motion = None
        self._set("mode", k.HOLD)
        self._idle_modes()
        if self.state.robot_mode == RobotMode.MOVE:
            self.state.robot_mode = RobotMode.IDLE
        self._return_inside()
        self._say("StopMove", motion.stop_id, "success")
        self._say("Move", motion.command_id, status)

    def _reflex(self, status: str) -> None:
        m, state = self.fields, self.state
        self._release()
        if state.robot_mode == RobotMode.GUIDING:
            self._hold_here()
        self._return_inside(self.settings.recovery_margin)
        motion, self.motion = self.motion, None
        self._set("mode", k.HOLD)
        self._idle_modes()
        self._desired_pose()
        # New arrays, never changed in place: samples share them.
        state.errors = _frozen(state.errors | m["errors"])
        state.reflex_reason = _frozen(m["errors"].copy())
        m["errors"][:] = 0
        state.robot_mode = RobotMode.REFLEX
        if motion is not None:
            self._say("Move", motion.command_id, status)
            self._say("StopMove", motion.stop_id, "reflex")

    def _recover(self) -> None:
        assert self._recovery is not None
        command_id, left = self._recovery
        outside = self._outside()
        if left > 1 or (outside and left > -self.settings.recovery_timeout_ms):
            self._recovery = (command_id, left - 1)
            return
        m, state = self.fields, self.state
        self._recovery = None
        if outside:
            state.robot_mode = RobotMode.REFLEX
            self._say("AutomaticErrorRecovery", command_id, "manual_recovery")
            return
        m["collision"][:] = 0.0
        m["errors"][:] = 0
        state.errors = NO_ERRORS
        state.robot_mode = RobotMode.IDLE
        self._say("AutomaticErrorRecovery", command_id, "success")

    def abort(self) -> None:
        """Decelerate and hold; who waits for the end of the motion is answered "aborted"."""
        self._finish("aborted")

    def disconnected(self) -> None:
        """Decelerate and hold because the client has disconnected; answers that are due are discarded."""
        if self.motion is not None:
            self.abort()
            self.motion.command_id = self.motion.stop_id = None
        if self._recovery is not None:
            self._recovery = (None, self._recovery[1])
        self.answers.clear()

    def cancel(self) -> list[fci.Response]:
        """Return the answers of requests that a reset ends: who waits for them must not wait for ever."""
        self.answers.clear()
        if self.motion is not None:
            self._say("Move", self.motion.command_id, "aborted")
            self._say("StopMove", self.motion.stop_id, "success")
        if self._recovery is not None:
            self._say("AutomaticErrorRecovery", self._recovery[0], "aborted")
        return self.take_answers()

    def _say(self, command: str, command_id: int | None, status: str) -> None:
        if command_id is not None:
            self.answers.append(fci.Response(command, command_id, status))

    def user_stop(self, pressed: bool) -> None:
        """Press or release the external activation device. Pressed: the motion ends and the arm holds."""
        state = self.state
        if pressed:
            self._halt()
            state.robot_mode = RobotMode.USER_STOPPED
        elif state.robot_mode == RobotMode.USER_STOPPED:
            state.robot_mode = self._mode_at_rest()

    def _halt(self) -> None:
        """End whatever runs and hold; those who wait for an answer get "emergency"."""
        if self.motion is not None:
            motion = self.motion
            self._release()
            self.motion = None
            self._say("Move", motion.command_id, "emergency")
            self._say("StopMove", motion.stop_id, "emergency")
        if self._recovery is not None:
            self._say("AutomaticErrorRecovery", self._recovery[0], "emergency")
            self._recovery = None
        if self.state.robot_mode == RobotMode.GUIDING:
            self._hold_here()
        self._set("mode", k.HOLD)
        self._idle_modes()

    def _mode_at_rest(self) -> RobotMode:
        if self._locked_at is not None:
            return RobotMode.OTHER
        return RobotMode.REFLEX if self.state.errors.any() else RobotMode.IDLE

    def _hold_here(self) -> None:
        """Hold the measured pose; an arm that moves decelerates, and a joint beyond a limit returns inside it."""
        m = self.fields
        m["q_d"][:] = m["q"]
        m["dq_d"][:] = np.clip(m["dq"], -m["dq_max"], m["dq_max"])
        m["ddq_d"][:] = 0.0
        self._return_inside()

    @property
    def locked_at(self) -> Array | None:
        """Joint positions at which the brakes hold the arm, shape (7,) [rad]; None while they are open."""
        return self._locked_at

    def lock_brakes(self, locked: bool) -> None:
        """Lock or open the brakes. Locked: the motion ends, the arm stands where it is, and takes no motion.

        The robot's mode is then "other", as the vendor's interface reports a robot with locked joints.
        """
        m, state = self.fields, self.state
        if locked and self._locked_at is None:
            self._halt()
            self._locked_at = m["q"].copy()
            m["q_d"][:] = m["q"]
            m["dq_d"][:] = m["ddq_d"][:] = 0.0
            self._set("observer_started", 0)  # the brakes take the momentum, no external torque
            if state.robot_mode != RobotMode.USER_STOPPED:
                state.robot_mode = RobotMode.OTHER
        elif not locked and self._locked_at is not None:
            self._locked_at = None
            self._hold_here()
            for name in ("residual", "integral"):
                m[name][:] = 0.0
            if state.robot_mode == RobotMode.OTHER:
                state.robot_mode = self._mode_at_rest()

    def guide(self, pressed: bool) -> None:
        """Press or release the guiding button at the wrist.

        After a joint has passed a position limit, the arm can be guided back; once it is inside the limits and the
        button is released, the errors are cleared.

        Raises:
            DeviceError: pressed while a motion runs, in user-stopped mode, or after an error other than a passed limit.
        """
        m, state = self.fields, self.state
        if pressed:
            passed_limit = state.robot_mode == RobotMode.REFLEX and (
                self._outside() or bool(state.errors[_LIMIT].any())
            )
            if state.robot_mode != RobotMode.IDLE and not passed_limit:
                name = RobotMode(state.robot_mode).name.lower()
                raise DeviceError(
                    f"guiding starts only from idle, or after a joint has passed its limit; the robot's mode is {name}",
                    field="robot_mode",
                )
            m["X_latch"][:] = m["X"]
            m["q_latch"][:] = m["q"]
            self._set("mode", k.GUIDING)
            state.robot_mode = RobotMode.GUIDING
        elif state.robot_mode == RobotMode.GUIDING:
            self._hold_here()
            self._set("mode", k.HOLD)
            if not self._outside():
                state.errors = NO_ERRORS
                m["collision"][:] = 0.0
            state.robot_mode = self._mode_at_rest()

    # ----------------------------------------------------------------------------------------------- requests

    def request(self, request: fci.Request, command_id: int = 0) -> None:
        """Handle a request; its answers appear in `take_answers`, at once or in a later cycle.

        The server answers Connect, LoadModelLibrary and GetRobotModel itself.
        """
        name = type(request).__name__
        handle = _HANDLERS.get(type(request))
        if handle is not None:
            handle(self, request, command_id)
            return
        busy = (RobotMode.GUIDING, RobotMode.USER_STOPPED, RobotMode.OTHER)
        if not Configuration.takes(type(request)) or self.motion is not None or self.state.robot_mode in busy:
            status = "not_possible"
        else:
            try:
                if self.configuration.apply(request):
                    self._desired_pose()
                status = "success"
            except (ModelError, DeviceError):
                status = "invalid_argument"
        self.answers.append(fci.Response(name, command_id, status))

    def _move(self, r: fci.Move, command_id: int) -> None:
        m, state = self.fields, self.state
        status = None if _valid(r) else "invalid_argument"
        if status is None and (state.robot_mode not in (RobotMode.IDLE, RobotMode.MOVE) or self._recovery is not None):
            status = "not_possible"
        if status is not None:
            self.answers.append(fci.Response("Move", command_id, status))
            return
        if self.motion is not None:
            # The new motion starts from the present state of the running one.
            old = self.motion
            self._release()
            self._say("Move", old.command_id, "preempted")
            self._say("StopMove", old.stop_id, "success")
        self.motion = motion = Motion(command_id, r.controller, r.motion_generator, bool(r.use_async))
        m["deviation"][:] = (r.maximum_path_deviation, r.maximum_goal_deviation)
        if r.use_async:
            v = np.array(r.maximum_joint_velocity)
            m["target_velocity"][:] = np.where(v > 0.0, np.minimum(v, m["dq_max"]), m["dq_max"])
            m["target"][:] = m["q_d"]
        state.reflex_reason = NO_ERRORS
        m["collision"][:] = 0.0
        m["tau_c"][:] = 0.0
        if not r.use_async and not m["dq_d"].any():
            motion.holding = True
            m["q_hold"][:] = m["q_d"]
            m["q_d"][:] = m["q"]
        elif r.controller == k.EXTERNAL:
            m["q_d"][:] = m["q"]
            m["dq_d"][:] = 0.0
        if r.controller == k.EXTERNAL:
            m["tau_d"][:] = m["rotor_torque"][:] = 0.0
        m["ddq_d"][:] = 0.0
        self._set("mode", k.MOTION)
        self._set("controller", r.controller)
        self._set("generator", r.motion_generator)
        self._set("use_elbow", 0)
        self._desired_pose()
        state.robot_mode = RobotMode.MOVE
        state.motion_generator_mode = r.motion_generator + 1
        state.controller_mode = r.controller
        self.answers.append(fci.Response("Move", command_id, "started"))

    def _stop_move(self, r: fci.StopMove, command_id: int) -> None:
        mode = self.state.robot_mode
        if self.motion is not None:
            if self.motion.finishing:
                self.motion.stop_id = command_id
            else:
                self._finish("preempted", command_id)
            return
        status = {RobotMode.REFLEX: "reflex", RobotMode.USER_STOPPED: "emergency"}.get(RobotMode(mode), "success")
        self.answers.append(fci.Response("StopMove", command_id, status))

    def _automatic_error_recovery(self, r: fci.AutomaticErrorRecovery, command_id: int) -> None:
        mode = self.state.robot_mode
        status = None
        if self.motion is not None or mode in (RobotMode.GUIDING, RobotMode.OTHER) or self._recovery is not None:
            status = "not_possible"
        elif mode == RobotMode.USER_STOPPED:
            status = "emergency"
        elif mode == RobotMode.IDLE:
            status = "success"
        if status is not None:
            self.answers.append(fci.Response("AutomaticErrorRecovery", command_id, status))
            return
        self._return_inside(self.settings.recovery_margin)
        self._recovery = (command_id, self.settings.recovery_ms)
        self.state.robot_mode = RobotMode.AUTOMATIC_ERROR_RECOVERY

    def _get_cartesian_limit(self, r: fci.GetCartesianLimit, command_id: int) -> None:
        eye = tuple(np.eye(4).T.reshape(-1).tolist())
        payload = fci.cartesian_limit_payload((0.0, 0.0, 0.0), eye, False)
        self.answers.append(fci.Response("GetCartesianLimit", command_id, "success", payload))


_HANDLERS: dict[type, Callable[[Cabinet, Any, int], None]] = {
    fci.Move: Cabinet._move,
    fci.StopMove: Cabinet._stop_move,
    fci.AutomaticErrorRecovery: Cabinet._automatic_error_recovery,
    fci.GetCartesianLimit: Cabinet._get_cartesian_limit,
}
"""Type of request -> what handles it; the other requests change the configuration."""


def _valid(r: fci.Move) -> bool:
    """Return whether the numbers of a Move request make sense."""
    deviations = (*r.maximum_path_deviation, *r.maximum_goal_deviation)
    if r.controller not in (0, 1, 2) or r.motion_generator not in range(5):
        return False
    if not all(math.isfinite(v) and v >= 0.0 for v in deviations):
        return False
    if r.motion_generator == k.NONE and r.controller != k.EXTERNAL:
        return False
    if not r.use_async:
        return True
    speeds = all(math.isfinite(v) and v >= 0.0 for v in r.maximum_joint_velocity)
    return speeds and r.motion_generator == k.JOINT_POSITION and r.controller != k.EXTERNAL

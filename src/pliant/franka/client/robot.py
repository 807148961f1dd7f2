"""A Franka arm for visual servoing: one class for the simulation and for the robot.

The methods are those of ViSP's class for the Franka arm and of FrankaSim (Oliva et al. 2022), in Python naming. Only
the constructor differs between the simulation and the robot:

    robot = FrankaRobot.simulated("fer")        # MuJoCo in this process, no network
    robot = FrankaRobot.of(simulation)          # an arm of a simulation of yours
    robot = FrankaRobot.connect("172.16.0.2")   # the robot, or `pliant run fr3 --bridge fci`, through pylibfranka

Those classes run a control thread; this one runs in the caller's thread. `set_velocity` and `set_force_torque` send one
command for each millisecond of ``period`` and return with the state that answers the last one. On the simulated arm
robot time stands still between two calls, so that runs are bit-reproducible. On the robot a loop must call once a
millisecond, as with pylibfranka itself.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import DeviceError, nearest
from pliant.base.numerics import Array
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.client.backend import PERIOD, Backend, as_number, as_vector
from pliant.franka.client.model import ArmModel, Frame, RobotState, as_frame, as_pose
from pliant.franka.client.network import NetworkArm
from pliant.franka.client.position_file import read_positions, write_positions
from pliant.franka.client.simulated import MAX_CYCLES, SimulationArm
from pliant.franka.device.parameters import Arm, Payload
from pliant.franka.device.settings import Settings
from pliant.franka.robots import dynamics, kinematics
from pliant.franka.robots.arm_model import MOTOR_INERTIA
from pliant.franka.robots.build import Q_START, ArmMount, build_arms
from pliant.franka.robots.parameters import HAND
from pliant.franka.robots.parameters import arm as arm_of
from pliant.simulation import Simulation

POSITION_GAIN = 2.5 * np.array([6.0, 6.0, 6.0, 6.0, 3.5, 2.5, 2.0])
"""Gain of the position servo [1/s], from FrankaSim: v = gain (q_desired - q) - damping dq."""
POSITION_DAMPING = np.array([0.5, 0.5, 0.5, 0.5, 0.3, 0.25, 0.2])
"""Damping of the position servo, from FrankaSim."""
BRAKING = 0.5
"""Fraction of the acceleration limit that the position servo uses to brake."""  # assumed
MARGIN = 1e-3
"""Distance of commands from the limits of acceleration, jerk and torque rate, as in libfranka's limiter."""

_log = logging.getLogger("pliant.franka")


def approach(error: Array, velocity: Array, speed: Array, brake: Array) -> Array:
    """Return the velocities by which joints go to positions and stop there [rad/s], shape (7,).

    Args:
        error: distances to the positions [rad].
        velocity: velocities now [rad/s].
        speed: largest velocities [rad/s].
        brake: twice the accelerations at which the joints brake [rad/s^2].
    """
    wanted = POSITION_GAIN * error - POSITION_DAMPING * velocity
    bound = np.minimum(speed, np.sqrt(brake * np.abs(error)))
    return np.minimum(np.maximum(wanted, -bound), bound)


class FrankaRobot(ArmModel):
    """A Franka arm, simulated or real; made by `FrankaRobot.simulated`, `FrankaRobot.of` or `FrankaRobot.connect`.

    Frames: base (reference, "f"), end effector ("e"), flange ("fl"), camera ("c"). ``aMb`` is the pose of b in a,
    shape (4, 4), ``aJb`` the Jacobian of b's twist (v, omega) in the axes of a, shape (6, 7).

    Args:
        backend: the simulated or real arm.
        period: time between two commands of the caller [s], a whole number of milliseconds; 20 ms for a camera loop.

    Raises:
        DeviceError: the period is not a whole number of milliseconds.

    Example:
        >>> with FrankaRobot.simulated("fer") as robot:
        ...     robot.set_robot_state("velocity")
        ...     for _ in range(100):
        ...         robot.set_velocity("joint", [0.1, 0, 0, 0, 0, 0, 0])
        ...     robot.stop_motion()
    """

    def __init__(self, backend: Backend, *, period: float = PERIOD) -> None:
        super().__init__(backend)
        self._cycles = round(as_number(period, "period", "a whole number of milliseconds [s]") / PERIOD)
        if self._cycles < 1 or not math.isclose(self._cycles * PERIOD, period, rel_tol=1e-9):
            raise DeviceError(f"period is {period} s; must be a whole number of milliseconds", field="period")
        self.verbose = False
        """Whether changes of state are logged at level INFO instead of DEBUG, in the logger ``pliant.franka``."""
        self._percent = 20.0
        self._frame: Frame = "joint"
        self._wanted = np.zeros(7)
        self._gain = 1.0
        self._velocity, self._acceleration = np.zeros(7), np.zeros(7)
        self._filtered, self._torque = np.zeros(7), np.zeros(7)
        self._warned = False
        limits = self.arm.limits
        self._velocity_max = np.array(limits.velocity)
        self._acceleration_max = np.array(limits.acceleration) - MARGIN
        self._jerk_max = np.array(limits.jerk) - MARGIN
        self._torque_max = np.array(limits.torque)
        self._torque_step = (limits.torque_rate - MARGIN) * PERIOD
        # Load every kernel now, because a robot in motion does not wait for the first call.
        q = backend.get("q")
        for axes in ("base", "body"):
            kinematics.jacobian(q, F_T_EE=self._F_T_EE, axes=axes)
        kinematics.forward_kinematics(q, F_T_EE=self._F_T_EE)
        dynamics.mass(q, self._payload, arm=self.arm)
        dynamics.coriolis(q, q, self._payload, arm=self.arm)
        dynamics.gravity(q, self._payload, arm=self.arm)
        dynamics.friction(q, arm=self.arm)

    @classmethod
    def simulated(
        cls,
        arm: str | Arm = "fer",
        *,
        q: ArrayLike = Q_START,
        hand: bool = True,
        friction: bool = True,
        static_friction: bool = False,
        rpy: tuple[float, float, float] = (0.0, 0.0, 0.0),
        load: Payload | None = None,
        settings: Settings | None = None,
        motor_inertia: float = MOTOR_INERTIA,
        period: float = PERIOD,
    ) -> FrankaRobot:
        """Return an arm simulated in this process, with the controller of its cabinet.

        Args:
            arm: "fer", "fr3", "fp3" or "fr3v2".
            q: joint positions at start, shape (7,) [rad].
            hand: whether it carries the two-finger hand.
            friction: whether the identified joint friction acts.
            static_friction: whether joints at rest are held by static friction, as those of the catalogue's robots are;
                comparisons with the identified dynamics are exact without it.
            rpy: roll, pitch, yaw of the base in the world [rad].
            load: a body fixed to the flange beside the hand; `add_tool` tells the controller of it.
            settings: gains, thresholds and checks of the cabinet.
            motor_inertia: fraction of the motors' inertia that the torque loops of the joints leave, 0 to 1.
            period: see the class.

        Raises:
            ModelError: an arm that does not exist.
            DeviceError: positions outside of the limits.
        """
        kind = arm_of(arm)
        start = as_vector(q, 7, "q")
        _within_limits(kind, start)
        mount = ArmMount(
            arm=kind,
            hand="fingers" if hand else "none",
            rpy=rpy,
            q=tuple(start.tolist()),
            motor_inertia=motor_inertia,
        )
        described = build_arms(
            [mount],
            friction=friction,
            static_friction=static_friction,
            load=load,
            settings=settings,
        )
        simulation = Simulation(MujocoEngine(described), make_devices(described), pacer="free")
        return cls(SimulationArm(simulation, owned=True), period=period)

    @classmethod
    def of(cls, simulation: Simulation, device: str = "", *, period: float = PERIOD) -> FrankaRobot:
        """Return an arm of a simulation, which the calls of this object step.

        Args:
            simulation: a simulation with a Franka arm among its devices; it stays open when this object is closed.
            device: name of the arm; "" for the only one.
            period: see the class.

        Raises:
            DeviceError: the simulation has no such arm.
        """
        return cls(SimulationArm(simulation, device), period=period)

    @classmethod
    def connect(
        cls, address: str = "127.0.0.1", *, arm: str | Arm = "fr3", realtime: bool = False, period: float = PERIOD
    ) -> FrankaRobot:
        """Return the arm at an address, driven through pylibfranka.

        Args:
            address: of the robot, or of ``pliant run fr3 --bridge fci``.
            arm: type of the arm, "fer", "fr3", "fp3" or "fr3v2"; the interface does not tell.
            realtime: whether to require a real-time kernel, as a real robot needs.
            period: see the class.

        Raises:
            MissingDependency: pylibfranka is not installed.
            BridgeError: no robot answers at the address.
        """
        return cls(NetworkArm(address, arm=arm_of(arm), realtime=realtime), period=period)

    # ---------------------------------------------------------------------------------------------- lifetime

    def close(self) -> None:
        """End the running control and disconnect."""
        self._state = "stop"
        self._backend.close()

    def __enter__(self) -> FrankaRobot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def backend(self) -> Backend:
        """The arm; a simulated one has its simulation in ``simulation`` and its device in ``device``."""
        return self._backend

    @property
    def time(self) -> float:
        """Robot time of the last state [s]."""
        return self._backend.time

    @property
    def mode(self) -> str:
        """The mode that the robot reports: "idle", "move", "reflex", "user_stopped"."""
        self._refresh()
        return self._backend.mode

    def _say(self, text: str, *values: object) -> None:
        _log.log(logging.INFO if self.verbose else logging.DEBUG, text, *values)

    # ------------------------------------------------------------------------------------------------- state

    def get_robot_state(self) -> RobotState:
        """Return which control runs."""
        return self._state

    def set_robot_state(self, state: RobotState) -> RobotState:
        """Choose which control runs; a running motion is stopped first.

        Args:
            state: "stop", "position", "velocity" or "force_torque".

        Raises:
            DeviceError: an unknown state, or the robot refuses to start a motion (after a reflex, see
                `automatic_error_recovery`).
        """
        if state not in get_args(RobotState):
            raise DeviceError(f"no state {state!r}: {nearest(str(state), get_args(RobotState))}", field="state")
        if state == self._state:
            return state
        self.stop_motion()
        if state in ("velocity", "force_torque"):
            self._begin("torque" if state == "force_torque" else "velocity")
        self._state = state
        self._say("state %s at %.3f s", state, self.time)
        return state

    def _begin(self, motion: Literal["velocity", "torque"], *, together: bool = False) -> None:
        """Start a motion; together: other arms start before the first state is taken."""
        self._backend.refresh()
        for values in (self._velocity, self._acceleration, self._filtered, self._torque):
            values[:] = 0.0
        self._frame, self._wanted, self._warned = "joint", np.zeros(7), False
        self._backend.begin(motion)
        if not together:
            self._backend.receive()

    def begin_together(self, state: RobotState) -> None:
        """Start a motion whose first state is taken later: `FrankaGroup` starts other arms first.

        Raises:
            DeviceError: the robot refuses.
        """
        self._begin("torque" if state == "force_torque" else "velocity", together=True)
        self._state = state

    def commands_motion(self) -> bool:
        """Whether the last commanded velocity or acceleration was not zero."""
        return self._state == "velocity" and bool(self._velocity.any() or self._acceleration.any())

    def end_motion(self) -> None:
        """End the motion of an arm at rest with its last command; `FrankaGroup` then ends those of other arms."""
        last = np.zeros(7) if self._state == "velocity" else self._torque
        self._state = "stop"
        self._backend.finish(last)

    def abort(self) -> None:
        """Stop at once, whatever runs.

        Raises:
            DeviceError, BridgeError: the robot refuses, or cannot be reached.
        """
        self._state = "stop"
        self._backend.abort()

    def stop_motion(self) -> None:
        """Stop a running motion and return to the state "stop"."""
        state, self._state = self._state, "stop"
        if state == "velocity":
            self._brake()
        elif state == "force_torque":
            self._backend.finish(self._torque)
            self._backend.refresh()

    def _brake(self) -> None:
        zero = np.zeros(7)
        while self._velocity.any() or self._acceleration.any():
            self._backend.exchange(self._limited(zero))
        self._backend.finish(zero)
        self._backend.refresh()

    def automatic_error_recovery(self) -> None:
        """Clear the errors after a reflex.

        Raises:
            DeviceError: the robot cannot recover by itself.
        """
        self._state = "stop"
        self._backend.recover()

    def guide(self, pressed: bool = True) -> None:
        """Press or release the guiding button at the wrist: while it is pressed, the arm yields to a hand.

        Raises:
            DeviceError: the robot is not idle, or it is reached through its interface, which has no such request.
        """
        self._state = "stop"
        self._backend.press("guide", pressed)

    def user_stop(self, pressed: bool = True) -> None:
        """Press or release the user stop: a motion ends, and none starts until it is released.

        Raises:
            DeviceError: the robot is reached through its interface, which has no such request.
        """
        self._state = "stop"
        self._backend.press("user_stop", pressed)

    def brakes(self, locked: bool = True) -> None:
        """Lock or open the brakes of all joints.

        Raises:
            DeviceError: the robot is reached through its interface, which has no such request.
        """
        self._state = "stop"
        self._backend.press("brakes", locked)

    def wait(self, duration: float) -> None:
        """Wait in robot time; a running control repeats its last command.

        Args:
            duration: at least 0, rounded to whole milliseconds [s].

        Raises:
            DeviceError: no such duration, or a reflex.
        """
        for _ in range(round(as_number(duration, "duration", "a finite number >= 0 [s]", low=0.0) / PERIOD)):
            if self._state in ("stop", "position"):
                self._backend.idle()
            else:
                self._tick()

    def _tick(self) -> None:
        """Send one command of the running control and take the state that follows."""
        try:
            self._backend.exchange(self.next_command())
        except BaseException:
            self._state = "stop"
            raise

    def next_command(self) -> Array:
        """Return the command of this cycle as it is sent: velocities or torques within the limits, shape (7,)."""
        return self._limited(self._joint_velocity()) if self._state == "velocity" else self._joint_torque()

    # ------------------------------------------------------------------------------------------------ motion

    def get_position(self, frame: Frame = "joint") -> Array:
        """Return the position of the joints or the pose of a frame.

        Args:
            frame: "joint": positions, shape (7,) [rad]; "end_effector" or "reference": the pose fMe of the end
                effector in the base, shape (4, 4); "camera": fMc.

        Raises:
            DeviceError: an unknown frame.
        """
        self._refresh()
        q = self._backend.get("q")
        if as_frame(frame) == "joint":
            return q
        return kinematics.forward_kinematics(q, F_T_EE=self._tool(frame))

    def set_position(
        self, frame: Frame, position: ArrayLike, *, tolerance: float = 1e-4, timeout: float | None = None
    ) -> None:
        """Move to a position; return when it is reached.

        The joints are servoed by velocities, v = gain (q_desired - q) - damping dq, at most `set_positioning_velocity`
        percent of the limits and at most what can be braked. A pose becomes joint positions by inverse kinematics from
        the present position. The state becomes "position".

        Args:
            frame: "joint" with positions, shape (7,) [rad]; "end_effector" or "reference" with fMe, shape (4, 4);
                "camera" with fMc.
            position: see frame.
            tolerance: largest distance of a joint at the end, more than 0 [rad].
            timeout: of robot time, at least 0 [s]; None: four times what the distance takes, and 10 s.

        Raises:
            DeviceError: the position is outside of the limits or not reached in time, or a reflex.
            ModelError: no joint positions were found for the pose.
        """
        as_frame(frame)
        if as_number(tolerance, "tolerance", "a finite number > 0 [rad]", low=0.0) == 0.0:
            raise DeviceError("tolerance is 0; must be > 0 [rad]", field="tolerance")
        if timeout is not None:
            as_number(timeout, "timeout", "None, or a finite number >= 0 [s]", low=0.0)
        if frame == "joint":
            goal = as_vector(position, 7, "position")
        else:
            X = as_pose(position, "position")
            if frame == "camera":
                X = X @ np.linalg.inv(self._eMc)
            self._refresh()
            goal = kinematics.inverse_kinematics(X, self._backend.get("q"), F_T_EE=self._F_T_EE)
        _within_limits(self.arm, goal)
        if self._state != "position":
            self.set_robot_state("position")
        backend = self._backend
        speed = self._velocity_max * self._percent / 100.0
        brake = 2.0 * BRAKING * self._acceleration_max
        self._begin("velocity")
        try:
            error = goal - backend.get("q")
            if timeout is None:
                timeout = 10.0 + 4.0 * float((np.abs(error) / speed).max())
            for _ in range(round(timeout / PERIOD)):
                error = goal - backend.get("q")
                if np.abs(error).max() <= tolerance and np.abs(self._velocity).max() < 1e-2:
                    break
                backend.exchange(self._limited(approach(error, backend.get("dq"), speed, brake)))
            self._brake()
        except BaseException:
            self._state = "stop"
            raise
        error = goal - backend.get("q")
        if np.abs(error).max() > 10.0 * tolerance:
            joint = int(np.abs(error).argmax())
            raise DeviceError(
                f"not reached within {timeout:.1f} s: joint {joint + 1} is {error[joint]:+.3g} rad away",
                field="position",
            )
        self._say("position reached at %.3f s", self.time)

    def set_positioning_velocity(self, percent: float) -> None:
        """Set the largest velocity of `set_position` in percent of the joint limits, above 0 to 100; 20 at start.

        Raises:
            DeviceError: another number.
        """
        as_number(percent, "positioning velocity", "a number of percent, > 0 and <= 100")
        if not 0.0 < percent <= 100.0:
            raise DeviceError(f"positioning velocity is {percent} %; must be > 0 and <= 100", field="percent")
        self._percent = float(percent)

    def get_velocity(self, frame: Frame = "joint") -> Array:
        """Return the velocity of the joints or the twist of a frame.

        Args:
            frame: "joint": shape (7,) [rad/s]; else the twist (v, omega), shape (6,): of the end effector in its own
                axes ("end_effector") or the base's ("reference"), of the camera in its axes ("camera").
        """
        self._refresh()
        dq = self._backend.get("dq")
        return dq if as_frame(frame) == "joint" else self._jacobian(frame) @ dq

    def set_velocity(self, frame: Frame, velocity: ArrayLike) -> None:
        """Command a velocity for one period; it lasts until the next command, `wait` or `stop_motion`.

        A twist becomes joint velocities by the Jacobian's pseudo-inverse, updated every millisecond. If a joint would
        exceed its limit, all joints are scaled alike; changes keep the limits of acceleration and jerk.

        Args:
            frame: as in `get_velocity`.
            velocity: shape (7,) or (6,).

        Raises:
            DeviceError: the state is not "velocity", a wrong frame or shape, or a reflex.
        """
        self.want_velocity(frame, velocity)
        for _ in range(self._cycles):
            self._tick()

    def want_velocity(self, frame: Frame, velocity: ArrayLike) -> None:
        """Choose the velocity that `FrankaGroup.step` or `wait` commands from now on; see `set_velocity`.

        Raises:
            DeviceError: the state is not "velocity", a wrong frame or shape.
        """
        self._needs("velocity", "set_velocity")
        self._wanted = as_vector(velocity, 7 if as_frame(frame) == "joint" else 6, "velocity")
        self._frame = frame

    def get_force_torque(self, frame: Frame = "joint") -> Array:
        """Return measured joint torques, or the estimated external wrench.

        Args:
            frame: "joint": link-side torques with gravity, shape (7,) [N m]; "reference" or "end_effector": what the
                robot exerts on its surroundings at the stiffness frame (force, torque), shape (6,), in the axes of the
                base or of that frame.

        Raises:
            DeviceError: another frame.
        """
        names = {"joint": "tau_J", "reference": "O_F_ext_hat_K", "end_effector": "K_F_ext_hat_K"}
        if frame not in names:
            raise DeviceError(f"no force in frame {frame!r}: {nearest(str(frame), names)}", field="frame")
        self._refresh()
        return self._backend.get(names[frame])

    def set_force_torque(self, frame: Frame, force_torque: ArrayLike, filter_gain: float = 0.1) -> None:
        """Command torques for one period; gravity (and what the robot knows of friction) is added by the controller.

        A wrench becomes torques by the Jacobian's transpose, renewed every millisecond. The command passes a low-pass,
        ``y += filter_gain (x - y)`` each millisecond, and the interface's limit of 1000 N m/s. Torques beyond 87 and
        12 N m are logged as a warning and sent, as in FrankaSim; the arm may stop with a reflex.

        Args:
            frame: "joint": torques, shape (7,) [N m]; else a wrench (force, torque) at the end effector or the
                camera, shape (6,), in the axes of "end_effector", "reference" or "camera".
            force_torque: see frame.
            filter_gain: above 0 to 1, where 1 does not filter; 0.1 (17 Hz) as in ViSP.

        Raises:
            DeviceError: the state is not "force_torque", a wrong frame, shape or gain, or a reflex.
        """
        self.want_force_torque(frame, force_torque, filter_gain)
        for _ in range(self._cycles):
            self._tick()

    def want_force_torque(self, frame: Frame, force_torque: ArrayLike, filter_gain: float = 0.1) -> None:
        """Choose the torques that `FrankaGroup.step` or `wait` commands from now on; see `set_force_torque`.

        Raises:
            DeviceError: the state is not "force_torque", a wrong frame, shape or gain.
        """
        self._needs("force_torque", "set_force_torque")
        size = 7 if as_frame(frame) == "joint" else 6
        self._wanted = as_vector(force_torque, size, "force_torque")
        as_number(filter_gain, "filter_gain", "a number > 0 and <= 1")
        if not 0.0 < filter_gain <= 1.0:
            raise DeviceError(f"filter_gain is {filter_gain}; must be > 0 and <= 1", field="filter_gain")
        self._frame, self._gain = frame, float(filter_gain)

    def _needs(self, state: RobotState, method: str) -> None:
        if self._state != state:
            raise DeviceError(
                f"{method} in state {self._state!r}; call set_robot_state({state!r}) first", field="state"
            )

    def _joint_velocity(self) -> Array:
        if self._frame == "joint":
            wanted = self._wanted
        else:
            J = self._jacobian(self._frame)
            wanted = J.T @ np.linalg.solve(J @ J.T + 1e-8 * np.eye(6), self._wanted)
        excess = float((np.abs(wanted) / self._velocity_max).max())
        return wanted / excess if excess > 1.0 else wanted

    def _limited(self, wanted: Array) -> Array:
        """Return the next commanded velocity on the way to the wanted one, within velocity, acceleration and jerk.

        It starts from the velocity that the robot publishes as desired, so that a lost command causes no jump.
        """
        backend, v, a = self._backend, self._velocity, self._acceleration
        a_max, j_max = self._acceleration_max, self._jerk_max
        v[:], a[:] = backend.get("dq_d"), backend.get("ddq_d")
        if self.arm.limits.velocity_offset is not None:
            low, high = self.arm.limits.velocity_bounds(backend.get("q_d"))
            wanted = np.minimum(np.maximum(wanted, low + MARGIN), high - MARGIN)
        # The jerk limit bounds the rate of approach, so that the velocity does not overshoot.
        next_a = (j_max / a_max) * (wanted - v)
        next_a = np.minimum(np.maximum(next_a, a - j_max * PERIOD), a + j_max * PERIOD)
        next_a = np.minimum(np.maximum(next_a, -a_max), a_max)
        v += next_a * PERIOD
        a[:] = next_a
        # Rounding must not keep the deceleration from ending.
        rest = (np.abs(v) < 1e-9) & (wanted == 0.0)
        v[rest] = 0.0
        a[rest & (np.abs(a) < 1e-3)] = 0.0
        return v.copy()

    def _joint_torque(self) -> Array:
        wanted = self._wanted if self._frame == "joint" else self._jacobian(self._frame).T @ self._wanted
        self._filtered += self._gain * (wanted - self._filtered)
        self._torque[:] = self._backend.get("tau_J_d")
        step = self._filtered - self._torque
        self._torque += np.minimum(np.maximum(step, -self._torque_step), self._torque_step)
        if not self._warned and (np.abs(self._torque) > self._torque_max).any():
            self._warned = True
            joint = int((np.abs(self._torque) / self._torque_max).argmax())
            limit = self._torque_max[joint]
            _log.warning("the torque of joint %d is beyond its limit of %g N m", joint + 1, limit)
        return self._torque.copy()

    # -------------------------------------------------------------------------------------------------- hand

    def gripper_homing(self) -> None:
        """Find the largest opening of the hand."""
        self._hand("homing")

    def gripper_move(self, width: float, speed: float = HAND.max_speed) -> bool:
        """Open or close to a width [m] at a speed [m/s]; return whether it was reached."""
        return self._hand("move", _positive("width", width, "m"), _positive("speed", speed, "m/s"))

    def gripper_open(self) -> bool:
        """Open to the largest width; return whether it was reached."""
        return self.gripper_move(HAND.max_width)

    def gripper_close(self) -> bool:
        """Close; return whether the fingers met."""
        return self.gripper_move(0.0)

    def gripper_grasp(self, width: float, force: float = 60.0, *, speed: float = HAND.max_speed) -> bool:
        """Grasp an object of a width [m], 5 mm more or less, with a force [N]; return whether it is held."""
        numbers = [("width", width, "m"), ("speed", speed, "m/s"), ("force", force, "N")]
        return self._hand("grasp", *(_positive(*number) for number in numbers), 0.005, 0.005)

    def gripper_release(self) -> None:
        """Stop the hand and release the object."""
        self._hand("stop")

    def get_gripper_width(self) -> float:
        """Return the opening of the hand [m]."""
        return self._backend.hand_width()

    def gripper_begin(self, width: float, speed: float = HAND.max_speed) -> Callable[[], bool | None]:
        """Begin to open or close to a width [m] at a speed [m/s], and return at once: the arm is commanded meanwhile.

        Call the result for whether it was reached, None meanwhile; DeviceError if another request took its place.
        """
        return self._backend.begin_hand("move", _positive("width", width, "m"), _positive("speed", speed, "m/s"))

    def _hand(self, action: str, *values: float) -> bool:
        """Run an action of the hand to its end; a running control of the arm repeats its last command meanwhile."""
        result = self._backend.begin_hand(action, *values)
        for _ in range(MAX_CYCLES):
            self.wait(PERIOD)
            done = result()
            if done is not None:
                return done
        raise DeviceError(f"gripper_{action} did not end within {MAX_CYCLES * PERIOD:g} s", field=action)

    # ------------------------------------------------------------------------------------------------- files

    read_pos_file = staticmethod(read_positions)
    save_pos_file = staticmethod(write_positions)

    def move(self, path: str | Path, velocity_percentage: float = 10.0) -> None:
        """Move to the joint positions of a ViSP position file and stop there."""
        goal = self.read_pos_file(path)
        before = self._percent
        self.set_positioning_velocity(velocity_percentage)
        try:
            self.set_position("joint", goal)
        finally:
            self._percent = before
        self.set_robot_state("stop")


def _positive(name: str, value: float, unit: str) -> float:
    return as_number(value, name, f"a finite number >= 0 [{unit}]", low=0.0)


def _within_limits(arm: Arm, q: Array) -> None:
    low, high = np.array(arm.limits.position_min), np.array(arm.limits.position_max)
    outside = np.flatnonzero((q < low) | (q > high))
    if len(outside):
        i = int(outside[0])
        raise DeviceError(
            f"joint {i + 1} at {q[i]:.4f} rad; the {arm.title} goes from {low[i]:.4f} to {high[i]:.4f}",
            field="position",
        )

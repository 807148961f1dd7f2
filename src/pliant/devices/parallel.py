"""A continuum parallel robot as a device: joint values and plate pose in, joint values, plate pose and wrench out.

Modes and fields are named as the topics of the Gazebo simulator (Gotelli et al. 2022): ``dgm_parameters`` with
``joints_values`` and ``wrench``, ``igm_parameters`` with ``pose`` and ``wrench``, ``controller_wrench``; samples carry
``joint_values``. Poses are (x, y, z, qx, qy, qz, qw), the order of geometry_msgs/Pose, or (x, y, theta) for a planar
robot; wrenches are about the plate's origin in world axes, (fx, fy, mz) for a planar robot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.devices.base import Command, DeviceBase, FieldInfo, request
from pliant.engine.base import Engine
from pliant.errors import DeviceError, PliantError

if TYPE_CHECKING:
    from pliant.model.parallel import ParallelRobot
    from pliant.rods import ContinuumParallelRobot, Solution

__all__ = ["ParallelRobotDevice"]

Array = np.ndarray


class ParallelRobotDevice(DeviceBase):
    """Direct and inverse model, joint servos and plate of a parallel robot.

    With a dynamic model (`pliant.model.parallel.ParallelRobot`) commands go to its servos, as joint values or through
    the inverse model, and samples are measured. With a robot of the statics alone the device itself is the robot, as
    in the original: the pose is that of the equilibrium.

    A command without an equilibrium changes nothing; it is counted, and its reason stands in ``health``.

    Args:
        robot: a `ParallelRobot`, which the engine must simulate, or a `ContinuumParallelRobot`.
        name: unique in a simulation.
        options: of `DeviceBase`.
    """

    def __init__(self, robot: ParallelRobot | ContinuumParallelRobot, name: str = "cpr", **options: Any) -> None:
        self._dynamic: Any = robot if hasattr(robot, "solution") else None
        self._statics: ContinuumParallelRobot = self._dynamic.solution.robot if self._dynamic else robot
        n, planar = self._statics.actuator_count, self._statics.planar
        size = 3 if planar else 6
        pose_text = "(x, y, theta)" if planar else "(x, y, z, qx, qy, qz, qw)"
        wrench = FieldInfo((size,), "N, N m", "wrench on the plate about its origin, world axes")
        joints = FieldInfo((n,), "m or rad", "actuated joint values, in the order of the limbs")
        pose = FieldInfo((3 if planar else 7,), "m, rad" if planar else "m", f"plate pose {pose_text}")
        super().__init__(
            name,
            samples={
                "joint_values": joints,
                "pose": pose,
                "wrench": wrench,
                "stable": FieldInfo(description="1 where the equilibrium that was solved for last is stable, else 0"),
            },
            commands={
                "dgm_parameters": {"joints_values": joints, "wrench": wrench},
                "igm_parameters": {"pose": pose, "wrench": wrench},
                "controller_wrench": {"wrench": wrench},
            },
            **options,
        )
        self._controls: list[Array] = []
        self._positions: list[Array] = []
        self._failed = 0
        self._reason = ""
        self._update: Callable[[], None] | None = None
        self._home()

    def _home(self) -> None:
        self._solution: Solution = self._dynamic.solution if self._dynamic else self._statics.home()
        self._q = self._solution.q.copy()
        self._wrench = np.array(self._solution.wrench, dtype=float)
        self._stable = float(self._solution.stable)

    # -- the loop thread ----------------------------------------------------------------------------------------

    def _connect(self, engine: Engine) -> None:
        if self._dynamic is None:
            return
        names = self._dynamic.actuator_names
        self._controls = [engine.port(f"{joint}/control") for joint in names]
        self._positions = [engine.port(f"{joint}/position") for joint in names]
        self._load = engine.port("body/plate/wrench")
        self._place = engine.port("body/plate/position")
        self._turn = engine.port("body/plate/orientation")
        self._com = np.asarray(self._statics.description.plate.com, dtype=float)
        if self._dynamic.extensible:
            # What changes with a rod's length is the model itself, which no port carries.
            model, data = getattr(engine, "model", None), getattr(engine, "data", None)
            if model is None or data is None:
                raise DeviceError(
                    f"{self.name}: extensible limbs need MuJoCo's model and data, which {type(engine).__name__} "
                    "does not have; valid: a MujocoEngine",
                    field="engine",
                )
            robot = self._dynamic
            self._update = lambda: robot.update(model, data)

    def _restart(self, rng: np.random.Generator) -> None:
        self._failed, self._reason = 0, ""
        self._home()
        self._firmware()

    def _latch(self, command: Command) -> None:
        values = command.values
        wrench = self._full(values["wrench"]) if "wrench" in values else self._wrench
        try:
            if command.mode == "dgm_parameters":
                q = np.array(values["joints_values"]) if "joints_values" in values else self._q
                solution = self._statics.solve_dgm(q, wrench, start=self._solution, restarts=0)
            elif command.mode == "igm_parameters" and "pose" in values:
                solution = self._statics.solve_igm(
                    self._matrix(values["pose"]), wrench, start=self._solution, restarts=0
                )
            else:
                solution = self._statics.solve_dgm(self._q, wrench, start=self._solution, restarts=0)
        except PliantError as error:
            self._failed += 1
            self._reason = str(error)
            return
        self._solution = solution
        self._q, self._wrench = solution.q.copy(), np.array(wrench, dtype=float)
        self._stable = float(solution.stable)

    def _firmware(self) -> None:
        if self._dynamic is None or not self._controls:
            return
        for control, value in zip(self._controls, self._q):
            control[0] = value
        w = self._wrench
        self._load[:3] = w[:3]
        self._load[3:] = w[3:]
        if self._com.any():
            self._load[3:] -= np.cross(_rotate(self._turn, self._com), w[:3])
        if self._update is not None:
            self._update()

    def _measure(self) -> dict[str, float | Array]:
        planar = self._statics.planar
        if self._dynamic is None or not self._controls:
            q, X = self._solution.q, self._solution.plate_pose
            pose = self._solution.pose2d if planar else np.concatenate([X[:3, 3], _quaternion(X[:3, :3])])
        else:
            q = np.array([p[0] for p in self._positions])
            w, x, y, z = self._turn
            if planar:
                pose = np.array([self._place[0], self._place[1], 2.0 * np.arctan2(z, w)])
                pose[2] = (pose[2] + np.pi) % (2.0 * np.pi) - np.pi
            else:
                pose = np.array([*self._place, x, y, z, w])
        wrench = self._wrench[[0, 1, 5]] if planar else self._wrench
        return {"joint_values": q, "pose": pose, "wrench": wrench, "stable": self._stable}

    def health(self) -> Mapping[str, Any]:
        """Return the counters, with the number of commands that had no equilibrium and the last reason."""
        return {**super().health(), "without_equilibrium": self._failed, "reason": self._reason}

    @property
    def equilibrium(self) -> Solution:
        """The equilibrium of the last command."""
        return self._solution

    def drive(self, q: Array, wrench: Array, solution: Solution | None = None) -> None:
        """Command the servos and the load as they are, without asking the statics; the loop thread calls this.

        Args:
            q: actuated joint values, shape (actuators,) [m or rad].
            wrench: on the plate about its origin, world axes, shape (6,) [N, N m].
            solution: the equilibrium that belongs to them, where it is known.
        """
        self._q = np.array(q, dtype=float)
        self._wrench = np.array(wrench, dtype=float)
        if solution is not None:
            self._solution, self._stable = solution, float(solution.stable)

    # -- requests -----------------------------------------------------------------------------------------------

    @request
    def parameters_vector(self) -> list[float]:
        """Return the unknowns as the original's service does: n0 and m0 of every limb, joint values, plate pose.

        The pose is x, y, z and the Euler angles of R = Rx Ry Rz, or x, y, theta; a planar limb has n0x, n0y, m0.
        """
        s = self._solution
        X = s.plate_pose
        if self._statics.planar:
            return [*s.base_wrenches[:, [0, 1, 5]].ravel().tolist(), *s.q.tolist(), *s.pose2d.tolist()]
        R = X[:3, :3]
        middle = np.arctan2(R[0, 2], np.hypot(R[0, 0], R[0, 1]))
        angles = [np.arctan2(-R[1, 2], R[2, 2]), middle, np.arctan2(-R[0, 1], R[0, 0])]
        return [*s.base_wrenches.ravel().tolist(), *s.q.tolist(), *X[:3, 3].tolist(), *map(float, angles)]

    @request
    def margins(self) -> dict[str, float]:
        """Return stability index, smallest plate stiffness and smallest singular values of the last equilibrium."""
        s = self._solution
        return {"index": s.morse_index, "stiffness": s.smallest_stiffness, **s.singular_values()}

    @request
    def home(self) -> list[float]:
        """Go back to where the simulation started; return the joint values."""
        self._home()
        return self._q.tolist()

    # -- inside -------------------------------------------------------------------------------------------------

    def _full(self, wrench: Any) -> Array:
        w = np.asarray(wrench, dtype=float)
        return np.array([w[0], w[1], 0.0, 0.0, 0.0, w[2]]) if self._statics.planar else w

    def _matrix(self, values: Any) -> Array:
        v = np.asarray(values, dtype=float)
        if self._statics.planar:
            return v
        x, y, z, w = v[3:]
        size = float(np.sqrt(x * x + y * y + z * z + w * w))
        if abs(size - 1.0) > 1e-3:
            raise DeviceError(
                f"{self.name}: the quaternion of pose has length {size:.4g}; valid: qx, qy, qz, qw of length 1",
                field="pose",
            )
        x, y, z, w = (c / size for c in (x, y, z, w))
        X = np.eye(4)
        X[:3, 3] = v[:3]
        X[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        return X


def _rotate(q: Array, v: Array) -> Array:
    """Turn a vector by a quaternion (w, x, y, z)."""
    t = 2.0 * np.cross(q[1:], v)
    return v + q[0] * t + np.cross(q[1:], t)


def _quaternion(R: Array) -> Array:
    """Return (x, y, z, w) of a rotation matrix, w >= 0."""
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[2, 1] - R[1, 2]],
            [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1], R[0, 2] - R[2, 0]],
            [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], R[0, 0] + R[1, 1] + R[2, 2]],
        ]
    )
    q = np.linalg.eigh(K)[1][:, -1]
    return q if q[3] >= 0.0 else -q

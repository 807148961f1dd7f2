"""A robot on a wire of ROS that keeps what it is given, stepped by the test."""

from kept_node import KeptNode

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model.robot import Robot
from pliant.robots import build_robot
from pliant.ros.bridge import RosBridge, RosOptions
from pliant.simulation import Simulation

FOLLOW = "control_msgs/FollowJointTrajectory"


class RosRun:
    """A simulation of a robot, or of a robot of the catalogue, with its bridge.

    Args:
        robot: the robot, or a name of the catalogue.
        version: generation of ROS.
        built: options of the robot.
        options: options of the bridge.
    """

    def __init__(self, robot, version=2, built=None, **options):
        self.robot = robot if isinstance(robot, Robot) else build_robot(robot, built or {})
        self.wire = KeptNode(version)
        self.bridge = RosBridge(self.robot, self.wire, RosOptions(**options))
        engine = MujocoEngine(self.robot, check=False)
        self.simulation = Simulation(engine, make_devices(self.robot), [self.bridge], pacer="free")
        self.simulation.start()
        self._count = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.simulation.close()

    def controller(self, part):
        """Return the trajectory controller whose action has a text in its name."""
        (found,) = [s for name, (kind, s) in self.wire.actions.items() if kind == FOLLOW and part in name]
        return found

    def send(self, part, joints, *points, start=0, **more):
        """Send a goal; a point is (time [s], positions, further fields)."""
        rows = [
            {"positions": list(q), "velocities": [], "accelerations": [], "time_from_start": round(t * 1e9)}
            | (rest[0] if rest else {})
            for t, q, *rest in points
        ]
        trajectory = {"header": {"stamp": start}, "joint_names": list(joints), "points": rows}
        empty = {"path_tolerance": [], "goal_tolerance": [], "goal_time_tolerance": 0}
        self._count += 1
        return self.controller(part).submit(f"goal-{self._count}", {"trajectory": trajectory, **empty, **more})

    def end(self, goal, steps=20_000):
        """Step until a goal has ended; return its state and error code."""
        for _ in range(steps):
            if goal.state.ended:
                break
            self.simulation.step()
        return goal.state, goal.result.get("error_code")

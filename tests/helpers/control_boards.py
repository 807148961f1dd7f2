"""A small robot with a control board, and a clock for it."""

import mujoco
import numpy as np

from pliant.control_boards import JoinedBoard
from pliant.control_boards.description import ControlBoard
from pliant.control_boards.device import ControlBoardDevice
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Robot

DEGREE = np.pi / 180.0
ARM = """
<mujoco>
  <option timestep="0.001" gravity="0 0 {gravity}" integrator="implicitfast"/>
  <compiler angle="radian"/>
  <worldbody>
    <body name="upper"><joint name="shoulder" axis="0 1 0" range="-2 2" limited="true"/>
      <inertial pos="0 0 -.2" mass="2" diaginertia=".1 .1 .1"/>
      <body name="rail" pos="0 0 -.4"><joint name="slide" type="slide" axis="0 0 1" range="-.1 .3" limited="true"/>
        <inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>
        <body name="hand"><joint name="wrist" axis="0 0 1" range="-3 3" limited="true"/>
          <inertial pos="0 0 0" mass=".5" diaginertia=".05 .05 .05"/>
        </body>
      </body>
    </body>
  </worldbody>
  {actuators}
</mujoco>
"""
JOINTS = ("shoulder", "slide", "wrist")


class Rig:
    """A board on its robot; `step` runs firmware and physics."""

    def __init__(self, robot):
        self.robot = robot
        self.engine = MujocoEngine(robot, check=False)
        self.board = next(d for d in make_devices(robot) if isinstance(d, ControlBoardDevice))
        self.board.attach(self.engine)
        self.board.reset(np.random.default_rng(0))

    def step(self, n=1):
        for _ in range(n):
            self.board.serve()
            self.board.write()
            self.engine.step()

    def rows(self, name, steps):
        """Return one quantity of all axes after each of some firmware periods, shape (steps, axes)."""
        out = []
        for _ in range(steps):
            self.board.write()
            out.append(self.board.read_row(name))
            self.engine.step()
        return np.array(out)


def arm(*, gravity=0.0, actuators="", joints=JOINTS, **options):
    """Return the rig of an arm of two hinges and a slide between them."""
    robot = Robot(mujoco.MjSpec.from_string(ARM.format(gravity=gravity, actuators=actuators)))
    robot.devices.append(ControlBoard(name="arm", joints=joints, **options))
    return Rig(robot)


def part_of(board):
    """Return all axes of a board as the part that its clients see; a part as it is."""
    if isinstance(board, JoinedBoard):
        return board
    return JoinedBoard(board.name, [(board, i) for i in range(len(board.axes))])


class AskedPart(JoinedBoard):
    """A part that is asked as a board is: calls for axes reach their boards, calls for one axis its own board."""

    def refer(self, kind, values, axes=None):
        self.give(axes, [values], kind, lambda board, own, part: board.refer(kind, np.array(part), own))

    def set_control_mode(self, mode, axes=None):
        modes = [mode] * len(self.axes) if isinstance(mode, str) else mode
        self.give(axes, [modes], "control_mode", lambda board, own, part: board.set_control_mode(part, own))

    def read_row(self, name, axes=None):
        return np.array(self.gather(axes, lambda board, own: [board.read_row(name, own)])[0])

    def controller(self, row, loop, axes=None):
        return np.array(self.gather(axes, lambda board, own: [board.controller(row, loop, own)])[0])

    def remote_variable(self, name):
        return np.array(self.gather(None, lambda board, own: [board.remote_variable(name)[own]])[0])

    def __getattr__(self, name):
        def call(*arguments):
            ((board, own, _),) = self.split(arguments[-1])
            return getattr(board, name)(*arguments[:-1], *own)

        return call


class JoinedRig:
    """The arm again, with its hinges on one board, the wrist first, and its slide on another; `board` joins them.

    Args:
        options: those of the board of `arm`; a sequence has one value an axis.
    """

    def __init__(self, *, gravity=0.0, **options):
        robot = Robot(mujoco.MjSpec.from_string(ARM.format(gravity=gravity, actuators="")))
        for name, axes in (("hinges", (2, 0)), ("rail", (1,))):
            own = {
                key: tuple(value[a] for a in axes) if isinstance(value, tuple) and len(value) == 3 else value
                for key, value in options.items()
            }
            robot.devices.append(ControlBoard(name=name, joints=tuple(JOINTS[a] for a in axes), **own))
        self.engine = MujocoEngine(robot, check=False)
        found = {d.name: d for d in make_devices(robot) if isinstance(d, ControlBoardDevice)}
        self.boards = [found["hinges"], found["rail"]]
        self.board = AskedPart("part", [(self.boards[0], 1), (self.boards[1], 0), (self.boards[0], 0)])
        for board in self.boards:
            board.attach(self.engine)
        self.reset()

    def reset(self):
        self.engine.reset()
        for board in self.boards:
            board.reset(np.random.default_rng(0))

    def step(self, n=1):
        for _ in range(n):
            for board in self.boards:
                board.serve()
                board.write()
            self.engine.step()


DT = 1e-3
"""Time step of the arm [s]."""
_WRISTS = []


def wrist(*, speed=1.0, acceleration=1.0, trajectory="minimum_jerk"):
    """Return a rig of the wrist alone, started anew: compiling a model takes longer than most examples."""
    if not _WRISTS:
        _WRISTS.append(arm(joints=("wrist",)))
    rig = _WRISTS[0]
    rig.engine.reset()
    rig.board.reset(np.random.default_rng(0))
    rig.board.set_trajectory(trajectory)
    rig.board.set_speed(speed)
    rig.board.set_acceleration(acceleration)
    return rig

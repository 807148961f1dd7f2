"""Control boards: the motor electronics of a humanoid's parts."""

from pliant.yarp.control_board.device import ControlBoardDevice
from pliant.yarp.control_board.joined import JoinedBoard
from pliant.yarp.control_board.layout import ControlMode, InteractionMode

__all__ = ["ControlBoardDevice", "ControlMode", "InteractionMode", "JoinedBoard"]

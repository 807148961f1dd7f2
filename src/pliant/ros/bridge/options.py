"""The options that every bridge of ROS takes, as ``--bridge ros1:namespace=left,tf=false`` writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.base.errors import BridgeError
from pliant.base.options import check_values, option
from pliant.ros.bridge.graph_names import read_remaps
from pliant.ros.bridge.names import node_name

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.simulation.replayed import Replayed


@dataclass(frozen=True, kw_only=True)
class RosOptions:
    """Options of a ROS bridge: served topics, rates, and who waits for whom.

    Raises:
        BridgeError: a value is not valid; the message says which and what would be.
    """

    namespace: str = ""
    """Prefix of the toolbox's topics; "" takes the robot's."""
    node: str = ""
    """Name of the node; "" takes ``pliant_<namespace>``."""
    clock: bool = True
    """Publish ``/clock`` at every step, and set ``use_sim_time`` where there is a parameter server. Set it to
    false for a second robot in the same graph."""
    tf: bool = True
    """Publish ``/tf`` (50 Hz, moving links) and ``/tf_static`` (fixed links). Set it to false where a
    robot_state_publisher runs."""
    description: bool = True
    """Publish ``robot_description``, latched; on ROS 1 also as parameter."""
    prefix: str = ""
    """Put before the names of joints and links, as ``left_``."""
    frame_prefix: str = ""
    """Put before the names of frames on tf and in headers, as ``left/``; the frame ``world`` is shared."""
    remap: str = ""
    """Topics, services and actions under other names: ``/joint_states:/left/joint_states``, joined by ``+``. What
    stands below a name moves with it."""
    qb: bool = True
    """Serve the topics, services and actions of the qb_move packages."""
    aggregate_rate: float = option(0.0, unit="Hz", low=0.0)
    """Rate of the robot-wide topics; 0 takes the manager's T_sample where there is a manager, else all samples."""
    joint_states: float | None = option(0.0, unit="Hz", low=0.0)
    """Rate of ``/joint_states``; 0 for every sample of the board, "off" for none."""
    motor_stamps: bool = False
    """Stamp ``motor_1_state`` and ``motor_2_state`` of each joint with the time; the toolbox's stamp is 0."""
    sync: str = ""
    """Topics, joined by ``+``, that the loop waits for after each step ("lock-step"); "" for none. ``trigger`` is
    FrankaSim's trigger topic."""
    sync_rate: float = option(0.0, unit="Hz", low=0.0)
    """How often it waits, in simulation time; 0 for every step."""
    on_lost: str = option("continue", choices=("continue", "halt"))
    """Action when the connection is lost."""

    def __post_init__(self) -> None:
        check_values(self, BridgeError, names=str)
        if self.namespace and not self.namespace.strip("/ "):
            raise BridgeError(
                f"namespace is {self.namespace!r}, which contains no name; must be a name such as left, or nothing "
                "for the robot's",
                field="namespace",
            )
        for field in ("prefix", "frame_prefix"):
            text = getattr(self, field)
            if not re.fullmatch(r"([A-Za-z_][A-Za-z0-9_/-]*)?", text):
                raise BridgeError(
                    f"{field} is {text!r}; must be letters, digits, '_', '-' and '/', and begin with a letter or '_'",
                    field=field,
                )
        read_remaps(self.remap)
        if self.sync_rate and not self.sync:
            raise BridgeError("sync_rate has no effect without a topic to wait for; add sync=TOPIC", field="sync_rate")

    def node_name(self, robot: Robot | Replayed | None) -> str:
        """Return the name of the node of a robot, or of what is replayed, without a slash before it."""
        given = "" if robot is None else robot.interface.namespace
        return node_name(self.node, (self.namespace or given or "robot").strip("/"))

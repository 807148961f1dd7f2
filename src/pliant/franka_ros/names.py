"""Names of an arm in the graph of ROS: those of the vendor's description."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.devices.base import SampleSource
from pliant.franka.device.arm import FrankaArm
from pliant.ros.bridge.topics import RosTopics

FLANGE = (0.0, 0.0, 0.107)
"""Flange in link 7 [m]: the modified DH parameters of the vendor's documentation."""
TCP = (0.0, 0.0, 0.1034)
"""Point between the finger tips in the hand [m]: the vendor's description of the hand."""
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmNames:
    """Names of one arm in the graph."""

    space: str
    """Put before each of the vendor's names: "", ``/left``; behind the option ``namespace``, as in the vendor's launch
    files."""
    arm_id: str
    """Put before each joint and link: ``panda``, ``fr3``, ``fp3`` or ``fr3v2``; of several arms, the device's name."""
    tool: str
    """Frame of the end effector."""

    @property
    def joints(self) -> list[str]:
        """Names of the seven joints."""
        return [f"{self.arm_id}_joint{i}" for i in range(1, 8)]

    @property
    def fingers(self) -> list[str]:
        """Names of the joints of the fingers."""
        return [f"{self.arm_id}_finger_joint{i}" for i in (1, 2)]

    def link(self, number: int) -> str:
        """Return the name of a link; 0 is the base and 8 the flange."""
        return f"{self.arm_id}_link{number}"


def names_of(topics: RosTopics, name: str, device: FrankaArm) -> ArmNames:
    """Return the names of an arm: the vendor's for one arm alone, those of its device where there are several."""
    alone = sum(isinstance(other, FrankaArm) for other in topics.devices.values()) <= 1
    kind = device.description.arm.name
    arm_id = name if not alone else "panda" if kind == "fer" else kind
    hand = device.description.hand is not None
    space = topics.options.namespace.strip("/")
    return ArmNames(
        space=(f"/{space}" if space else "") + ("" if alone else f"/{name}"),
        arm_id=arm_id,
        tool=f"{arm_id}_hand_tcp" if hand else f"{arm_id}_link8",
    )


def name_arm(topics: RosTopics, name: str, device: SampleSource) -> None:
    """Give joints, links and further frames of an arm the names of the vendor's description."""
    if not isinstance(device, FrankaArm):
        return
    names, known = names_of(topics, name, device), topics.names
    known.joints |= {f"{name}_joint{i}": joint for i, joint in enumerate(names.joints, start=1)}
    known.links |= {f"{name}_link{i}": names.link(i) for i in range(8)}
    known.frames.append((names.link(7), names.link(8), FLANGE, UPRIGHT))
    if device.description.hand is not None:
        known.joints |= {f"{name}_finger{i}": joint for i, joint in enumerate(names.fingers, start=1)}
        known.links |= {f"{name}_hand": f"{names.arm_id}_hand"}
        known.links |= {f"{name}_finger{i}": f"{names.arm_id}_{side}finger" for i, side in ((1, "left"), (2, "right"))}
        known.frames.append((f"{names.arm_id}_hand", names.tool, TCP, UPRIGHT))

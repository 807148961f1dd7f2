"""Options of the arm for a user of LeRobot; each field is an argument ``--robot.<field>``."""

from __future__ import annotations

from dataclasses import dataclass, fields

from pliant.base.errors import DeviceError
from pliant.base.options import check_values, option


@dataclass(kw_only=True)
class ArmOptions:
    """Options of the arm. Not frozen, because LeRobot's own class of options, which is joined with it, is not."""

    arm: str = option("fr3", choices=("fer", "fr3", "fp3", "fr3v2"))
    """Type of the arm."""
    address: str = ""
    """Address of the robot, or of ``pliant run fr3 --bridge fci``; "" simulates the arm in the process of LeRobot."""
    task: str = option("push", choices=("push", "none"))
    """What stands before a simulated arm: a table with a box to push, or nothing."""
    action: str = option("joint", choices=("joint", "cartesian"))
    """What an action names: joint positions, or position and rotation of the end effector in the base."""
    stiffness: str = option("none", choices=("none", "fixed", "action"))
    """"none" servoes positions through the arm's velocity interface. "fixed" and "action" command torques of a
    Cartesian impedance; with "action" its stiffness is a dimension of the action."""
    translation_stiffness: float = option(600.0, unit="N/m", low=50.0, high=3000.0, source="assumed")
    """Stiffness along each axis with ``stiffness=fixed``, and at the start with ``stiffness=action``."""
    fps: float = option(20.0, unit="Hz", low=1.0, high=100.0)
    """Actions a second of robot time; must be that of LeRobot's ``--dataset.fps``."""
    clock: str = option("wall", choices=("wall", "robot"))
    """Time by which LeRobot's loops end episodes and wait: that of the wall, or robot time, which only the actions of a
    simulated arm advance. With "robot" an episode has the same actions on every machine, as fast as it computes."""
    views: str = option("both", choices=("none", "wrist", "table", "both"))
    """Cameras of a simulated arm."""
    width: int = option(128, low=16, high=1920)
    """Columns of their pictures."""
    height: int = option(96, low=16, high=1080)
    """Rows of their pictures."""
    scene: str = option("none", choices=("none", "state"))
    """"state" adds the place of the box before the base to the observations, which only a simulated arm knows."""
    stamps: bool = False
    """Whether observations contain robot time and the robot times of the pictures [s]."""
    joint_speed: float = option(1.0, unit="rad/s", low=0.0, above=True, source="assumed, half of the slowest limit")
    """Largest speed of the joints' reference; an action beyond it is approached."""
    speed: float = option(0.25, unit="m/s", low=0.0, above=True, high=1.7, source="reduced speed of ISO 10218-1")
    """Largest speed of the end effector's reference with ``action=cartesian``."""
    turn_speed: float = option(1.0, unit="rad/s", low=0.0, above=True, high=2.5, source="assumed")
    """The same of its rotation."""
    seed: int = option(0, low=0)
    """Of the places of the box; they differ in each episode."""
    episode: int = option(0, low=0)
    """Number of the episode whose scene `connect` prepares, for ``lerobot-replay``."""

    @classmethod
    def of(cls, config: object) -> ArmOptions:
        """Return the checked options in an object that has them as attributes.

        Raises:
            DeviceError: as `check`.
        """
        found = cls(**{f.name: getattr(config, f.name) for f in fields(ArmOptions)})
        found.check()
        return found

    def check(self) -> None:
        """Raise an error for a value outside of its range.

        Raises:
            DeviceError: with the name of the option and what is valid.
        """
        check_values(self, DeviceError, names=lambda name: f"--robot.{name}")
        if self.address and self.clock == "robot":
            raise DeviceError("only a simulated arm waits for LeRobot; must be wall with an address", field="clock")
        if self.scene == "state" and (self.address or self.task == "none"):
            raise DeviceError("only a simulated arm with task=push knows a box; must be none", field="scene")
        if self.address and self.stamps and self.views != "none":
            raise DeviceError("pictures of an arm behind its interface have no stamps; set views=none", field="views")

    @property
    def pictured(self) -> tuple[str, ...]:
        """The cameras that the session itself reads; an arm behind its interface has none of them."""
        if self.address or self.views == "none":
            return ()
        return ("wrist", "table") if self.views == "both" else (self.views,)

"""Options of a continuum parallel robot: ``--set robot.<name>=<value>`` on the command line."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import ModelError
from pliant.base.options import check_values, option

VARIANTS = ("chain", "flex")
CONTROLLER_WRENCHES = ("hold", "push", "exert")
"""Effects of a controller's wrench: see `pliant.parallel.device.parallel.ParallelRobotDevice`."""
JOINT_SPEEDS = (0.5, 1.0)
"""Largest speed of sliding and turning joints [m/s, rad/s]. 0.5 m/s is the velocity limit of the prismatic base joints
in the Gazebo simulator (cpr_description/urdf/limb_base_prismatic.xacro); its turning joints have none.  # assumed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelOptions:
    """How the rods become a MuJoCo model, and how the robot is driven.

    Raises:
        ModelError: a value is out of its range.
    """

    variant: str = option("chain", choices=VARIANTS)
    """Rods as rigid links with hinges (chain), or as MuJoCo's one-dimensional flex (flex)."""
    segments: int = option(10, low=3, high=200)
    """Number of elements of each rod."""
    damping: float = option(1e-3, unit="s", low=0.0, source="assumed")
    """Damping of the material: moment = E I (curvature + damping x its rate)."""
    stretch: bool | None = option(None)
    """Rods of a chain stretch and shear, which doubles its joints; none: where a strain exceeds 1e-3, at the start or
    as the part 3 E I / (G A L^2) that shear adds to bending. Extensible rods stretch and do not shear."""
    contact: bool = True
    """Rods and plate meet objects of contact type 1 (MuJoCo's default for a geom)."""
    rod_contact: bool = True
    """With ``contact``, the rods of different limbs of a spatial robot meet each other."""
    servo_stiffness: tuple[float, float] = option((1e6, 2e4), low=0.0, above=True, source="assumed")
    """Stiffness of the position servos of sliding [N/m] and turning [N m/rad] joints."""
    servo_mass: float = option(0.1, unit="kg", low=0.0, above=True, source="assumed")
    """Mass that a base joint moves in addition to the rod."""
    plate_mass: float = option(0.1, unit="kg", low=0.0, above=True, source="assumed")
    """Mass of a plate that the description gives none; it is weightless."""
    plate_inertia: tuple[float, float, float] | None = option(None, unit="kg m^2", low=0.0, above=True)
    """Principal inertia of the plate about its centre of mass, plate axes; none: that of a disc."""
    controller: bool = False
    """A controller of the plate's pose moves the robot; clients give it the pose."""
    controller_wrench: str | None = option(None, choices=CONTROLLER_WRENCHES)
    """What the wrench of a controller does: hold (the joints keep the plate where it is), push (it acts on the plate),
    exert (the joints let the rods exert it). None: exert with ``controller``, else push."""
    joint_speeds: tuple[float, float] = option(JOINT_SPEEDS, low=0.0, above=True)
    """Largest speeds of sliding [m/s] and turning [rad/s] joints on the way to a commanded goal."""
    ramp: float = option(0.0, unit="s", low=0.0)
    """Time over which joints and load change to those of a new command, in a straight line; 0: as fast as the joints'
    speeds allow, the load at once."""

    interpolate: bool = True
    """Without ``ramp``, a command that follows the one before within 0.1 s is approached in a straight line that takes
    as long as the time between the two, as drives do in CiA 402's interpolated position mode; else the joints jump."""

    def __post_init__(self) -> None:
        check_values(self, ModelError)

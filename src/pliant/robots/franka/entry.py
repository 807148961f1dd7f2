"""The Franka arms in the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pliant.robots.catalogue import CatalogueRobot, Option

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["ROBOTS", "build_dual", "build_fer", "build_fr3"]

_SOURCE = "Gaz et al. 2019 (RA-L), the vendor's published descriptions and interface; see the parameters' docstrings"


def _build(
    model: str,
    hand: bool,
    friction: bool,
    motor_inertia: bool,
    meshes: str,
    places: Mapping[str, tuple[tuple[float, float, float], tuple[float, float, float]]],
) -> Robot:
    """Return arms of one model; places: name -> position [m] and roll, pitch, yaw [rad] of the base."""
    from pliant.robots.franka.build import Mount, build_arms
    from pliant.robots.franka.parameters import arm

    mounts = [
        Mount(name=name, arm=arm(model), hand=hand, position=position, rpy=rpy, motor_inertia=motor_inertia)
        for name, (position, rpy) in places.items()
    ]
    return build_arms(mounts, name=model if len(mounts) == 1 else f"{model}-dual", friction=friction, meshes=meshes)


_UPRIGHT = {"franka": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))}


def build_fer(hand: bool = True, friction: bool = True, motor_inertia: bool = False, meshes: str = "") -> Robot:
    """Return the Franka Emika Robot ("Panda") on the floor."""
    return _build("fer", hand, friction, motor_inertia, meshes, _UPRIGHT)


def build_fr3(hand: bool = True, friction: bool = True, motor_inertia: bool = False, meshes: str = "") -> Robot:
    """Return the Franka Research 3 on the floor."""
    return _build("fr3", hand, friction, motor_inertia, meshes, _UPRIGHT)


def build_dual(hand: bool = True, friction: bool = True, motor_inertia: bool = False, meshes: str = "") -> Robot:
    """Return two Franka Research 3 on a torso, their bases leaning outwards by 45 degrees."""
    lean = 0.7853981633974483
    places = {"left": ((0.0, 0.1, 1.0), (-lean, 0.0, 0.0)), "right": ((0.0, -0.1, 1.0), (lean, 0.0, 0.0))}
    return _build("fr3", hand, friction, motor_inertia, meshes, places)


_OPTIONS = (
    Option(name="hand", default=True, description="Whether the arm carries the two-finger hand."),
    Option(
        name="friction",
        default=True,
        description="Whether the identified joint friction acts, and the cabinet compensates it.",
        source="Gaz et al. 2019",
    ),
    Option(
        name="motor_inertia",
        default=False,
        description="Whether the motors' reflected inertia is there: stiff, damped torque controllers need it. The "
        "identified set has no such term.",
        source="vendor's numbers for the FR3, quoted in Drake; for the FER assumed the same",
    ),
    Option(
        name="meshes",
        default="",
        description="Real meshes to look at: a folder with link0 to link7, hand and finger as .obj, .stl or .dae, or "
        '"example-robot-data" for the installed package; empty for primitive shapes.',
    ),
)

ROBOTS = (
    CatalogueRobot(
        name="franka",
        summary="Franka Emika Robot (Panda) with hand; serve it with --bridge fci",
        function=build_fer,
        source=_SOURCE,
        options=_OPTIONS,
    ),
    CatalogueRobot(
        name="fr3",
        summary="Franka Research 3 with hand; serve it with --bridge fci",
        function=build_fr3,
        source=_SOURCE,
        options=_OPTIONS,
    ),
    CatalogueRobot(
        name="franka-dual",
        summary="two Franka Research 3 on a torso, each with its own address",
        function=build_dual,
        source=_SOURCE,
        options=_OPTIONS,
        assumed=("Height, distance and lean of the two bases: 1 m, 0.2 m, 45 degrees.",),
    ),
)

"""Arms, cabinets, hands and the FCI server put together: the main job of this robot in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pliant.bridges.fci import ArmServer, FciServer, Mode, PlantArm
from pliant.errors import BridgeError
from pliant.robots.franka.build import Mount, MujocoPlant
from pliant.robots.franka.controller import Cabinet, Gripper, Settings
from pliant.robots.franka.model_library import build_library
from pliant.robots.franka.parameters import FRANKA_HAND, Arm
from pliant.robots.franka.urdf import urdf

__all__ = ["arm_server", "server"]


def _library(arm: Arm) -> Callable[[int, int], bytes]:
    return lambda architecture, system: build_library(architecture, system, arm=arm)


def arm_server(
    plant: PlantArm,
    mount: Mount,
    *,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    settings: Settings | None = None,
    host: str = "127.0.0.1",
    port: int = 1337,
    gripper_port: int = 1338,
) -> ArmServer:
    """Return the network side of one arm with a cabinet of its own.

    Args:
        plant: the arm's physics: sensors and motors.
        mount: which arm, with or without hand, and where it starts.
        gravity: in the base frame, shape (3,) [m/s^2].
        settings: of the cabinet; ``friction_compensation`` must match the plant.
        host: address to listen on.
        port: TCP port of the robot.
        gripper_port: TCP port of the hand.
    """
    cabinet = Cabinet(
        mount.arm,
        settings=settings,
        end_effector=FRANKA_HAND if mount.hand else None,
        gravity=gravity,
        q=mount.q,
    )
    width = plant.read_hand()[0]
    return ArmServer(
        cabinet,
        plant,
        gripper=Gripper(width=width) if mount.hand else None,
        host=host,
        port=port,
        gripper_port=gripper_port,
        urdf=urdf(mount.arm),
        library=_library(mount.arm),
        name=mount.name,
    )


def server(
    mounts: Sequence[Mount] = (Mount(),),
    *,
    friction: bool = True,
    settings: Settings | None = None,
    hosts: Sequence[str] | None = None,
    port: int = 1337,
    gripper_port: int = 1338,
    mode: Mode = "lockstep",
    command_timeout: float = 0.2,
    priority: int | None = None,
) -> FciServer:
    """Return a server for arms in one MuJoCo world; ``start()`` or ``run()`` it.

    Args:
        mounts: the arms.
        friction: whether the identified joint friction acts; the cabinets compensate it if it does.
        settings: of every cabinet.
        hosts: an address for each arm; default 127.0.0.1, 127.0.0.2, ..., since stock clients know one port only.
        port: TCP port of every robot; 0 takes free ones.
        gripper_port: TCP port of every hand; 0 takes free ones.
        mode: ``lockstep``, ``paced`` or ``wall``.
        command_timeout: see `FciServer`.
        priority: see `FciServer`.

    Raises:
        BridgeError: not one address for each arm, or a bad option.

    Example:
        >>> with server() as running:  # doctest: +SKIP
        ...     input("pylibfranka.Robot(\'127.0.0.1\') connects now; Enter ends")
    """
    if hosts is None:
        hosts = [f"127.0.0.{i}" for i in range(1, len(mounts) + 1)]
    if len(hosts) != len(mounts):
        raise BridgeError(f"{len(hosts)} addresses for {len(mounts)} arms", field="hosts")
    plant = MujocoPlant(mounts, friction=friction)
    settings = replace(settings or Settings(), friction_compensation=friction)
    arms = [
        arm_server(
            side,
            mount,
            gravity=side.gravity.tolist(),
            settings=settings,
            host=host,
            port=port,
            gripper_port=gripper_port,
        )
        for mount, side, host in zip(plant.mounts, plant.arms, hosts, strict=True)
    ]
    return FciServer(arms, plant.step, mode=mode, command_timeout=command_timeout, priority=priority)

"""Walk with a biped on SoftFeet, or on flat ones.

The action moves the references of the servos of both legs around the bent stance. The reward is the speed ahead up to
that which is asked, less what tilts the body and what the servos push.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import ModelError
from pliant.batch.distributions import Distribution
from pliant.learn.envs.task import Action, Task, World
from pliant.model import Robot

LEGS = tuple(
    f"{side}_{joint}"
    for side in "lr"
    for joint in ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
)
"""Joints that an action moves; arms and torso keep their pose."""
REACH = 0.5
"""How far an action moves the reference of a joint from the stance [rad]; assumed."""
CADENCE = 0.8
"""Frequency of the rhythm that is observed [1/s]; assumed."""


_PORTS = tuple(f"{joint}/{quantity}" for quantity in ("length", "length_rate") for joint in LEGS)
NAMES = (
    *(f"{joint}/{quantity}" for quantity in ("length", "velocity") for joint in LEGS),
    f"clock/{CADENCE:g}/sin",
    f"clock/{CADENCE:g}/cos",
)
"""Names of the observation's elements with ``sensors="joints"``, for a policy that runs on the robot."""


def robot(feet: str = "soft", bars: int = 0, bar_height: float = 0.0) -> Robot:
    """Return the biped, with sensors of the body's velocity.

    Args:
        feet: "soft" or "rigid".
        bars: number of bars across the way.
        bar_height: their height [m].
    """
    from pliant.robots import build_robot

    options = {"feet": feet, "controller": "none", "bar_count": bars, "bar_height": bar_height}
    built = build_robot("biped", options)
    built.spec.add_sensor(
        name="waist_velocity",
        type=mujoco.mjtSensor.mjSENS_FRAMELINVEL,
        objtype=mujoco.mjtObj.mjOBJ_XBODY,
        objname="waist",
    )
    built.spec.add_sensor(
        name="waist_rate",
        type=mujoco.mjtSensor.mjSENS_FRAMEANGVEL,
        objtype=mujoco.mjtObj.mjOBJ_XBODY,
        objname="waist",
    )
    return built


def upright(world: World) -> NDArray[np.float64]:
    """Return the cosine of the angle between the body's axis and the vertical."""
    _, x, y, _ = world.port("body/waist/orientation").T
    return 1.0 - 2.0 * (x**2 + y**2)


def speed(world: World) -> NDArray[np.float64]:
    """Return the speed of the body ahead [m/s]."""
    return world.port("sensor/waist_velocity")[:, 0]


def height(world: World) -> NDArray[np.float64]:
    """Return the height of the body [m]."""
    return world.port("body/waist/position")[:, 2]


def joints(world: World) -> NDArray[np.float64]:
    """Return positions [rad] and velocities [rad/s] of the legs, as their servos measure them."""
    return world.ports(_PORTS)


def body(world: World) -> NDArray[np.float64]:
    """Return height [m], orientation, velocity [m/s] and rate [rad/s] of the body."""
    parts = ("body/waist/orientation", "sensor/waist_velocity", "sensor/waist_rate")
    return np.concatenate([height(world)[:, None], *(world.port(name) for name in parts)], axis=1)


def rhythm(world: World) -> NDArray[np.float64]:
    """Return sine and cosine of a clock, which gives a policy its rhythm."""
    phase = 2.0 * np.pi * CADENCE * world.time
    return np.column_stack([np.sin(phase), np.cos(phase)])


def effort(world: World) -> NDArray[np.float64]:
    """Return the mean square torque of the servos of the legs [N^2 m^2]."""
    total = np.zeros(world.worlds)  # np.mean adds in another order for one world than for many
    for joint in LEGS:
        total += world.port(f"{joint}/force")[:, 0] ** 2
    return total / len(LEGS)


def task(
    *,
    feet: str = "soft",
    asked: float = 0.15,
    sensors: str = "all",
    bars: int = 0,
    bar_height: float = 0.0,
    randomize: dict[str, Distribution] | None = None,
) -> Task:
    """Return the task.

    Args:
        feet: "soft" or "rigid".
        asked: speed to walk at [m/s].
        sensors: "all", or "joints": without the body's height, orientation and velocity, which no sensor of the robot
            measures as they are.
        bars: number of bars across the way.
        bar_height: their height [m].
        randomize: path of a parameter -> distribution.

    Raises:
        ModelError: feet that do not exist, or a speed that is negative.
    """
    if feet not in ("soft", "rigid"):
        raise ModelError(f"feet is {feet!r}; must be 'soft' or 'rigid'", field="feet")
    if sensors not in ("all", "joints"):
        raise ModelError(f"sensors is {sensors!r}; must be 'all' or 'joints'", field="sensors")
    if not 0.0 <= asked < 10.0:
        raise ModelError(f"asked is {asked!r}; must be 0 to 10 m/s", field="asked")
    model = robot(feet, bars, bar_height).compile()
    rest = model.key_qpos[model.key("rest").id]
    stance = {joint: float(rest[model.joint(joint).qposadr[0]]) for joint in LEGS}
    high = float(rest[2])

    def fallen(world: World) -> NDArray[np.bool_]:
        return (height(world) < 0.7 * high) | (upright(world) < 0.7)

    period = 0.02
    return Task(
        robot=lambda: robot(feet, bars, bar_height),
        actions=[Action(f"{joint}/control", q - REACH, q + REACH) for joint, q in stance.items()],
        observation={"joints": joints, **({"body": body} if sensors == "all" else {}), "rhythm": rhythm},
        reward={
            "speed": lambda world: period * np.clip(speed(world), -asked, asked) / max(asked, 1e-3),
            "upright": lambda world: period * (upright(world) - 1.0),
            "effort": lambda world: -1e-4 * period * effort(world),
            "alive": lambda world: np.full(world.worlds, 0.5 * period),
        },
        terminated={"fallen": fallen},
        period=period,
        duration=10.0,
        camera="side",
        randomize=randomize or {},
    )

"""Build the bench of the SoftFoot: a vertical slide that presses the foot on three blocks with force sensors."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING

from pliant.base.errors import ModelError
from pliant.feet.softfoot import parameters as p
from pliant.feet.softfoot.build import add_carriage, add_load
from pliant.feet.softfoot.generator import disable_islands
from pliant.feet.softfoot_bench.options import SoftFootBenchOptions
from pliant.model import ForceTorque, Robot
from pliant.robots.catalogue import CatalogueRobot

if TYPE_CHECKING:
    import mujoco

BLOCKS = ("heel", "fascia", "metatarsus")
"""The blocks, from the heel to the toes; block ``heel`` is the body ``heel_block`` on the sensor ``heel_force``."""
POSITIONS = 6
"""Modules of the plantar fascia, and positions of the fascia block under them."""
START = 0.002
"""Least distance between soles and blocks at the start [m].  # assumed: the paper says that nothing touches"""


def module_position(module: int, scale: float = 1.0, pitch: float = 0.0) -> float:
    """Return the centre of a module's sole ahead of the ankle, before the foot is pressed down [m].

    Args:
        module: 1 (next to the heel) to 6 of the plantar fascia; 7 is the metatarsus.
        scale: size of the foot.
        pitch: pitch of the ankle, toes down positive [rad].

    Raises:
        ModelError: there is no such module.
    """
    if not 1 <= module <= len(p.MODULES):
        raise ModelError(f"module is {module}; must be from 1 to {len(p.MODULES)}", field="module")
    angle = 2.0 * math.atan2(p.HEEL_QUATERNION[3], p.HEEL_QUATERNION[0])
    x, y = p.CHAIN_START
    start = p.HEEL_POSITION[0] + x * math.cos(angle) - y * math.sin(angle)
    depth = p.HEEL_POSITION[1] + x * math.sin(angle) + y * math.cos(angle)
    ahead = start + sum(m.offset for m in p.MODULES[:module]) + p.MODULES[module - 1].sole[2]
    return scale * (ahead * math.cos(pitch) - depth * math.sin(pitch))


def build(options: SoftFootBenchOptions) -> Robot:
    """Return the bench.

    The force of the actuator is the option ``load`` plus its control [N]. The vertical force of the foot on a block is
    the z component of ``heel_force``, ``fascia_force`` and ``metatarsus_force``, positive where the block carries.

    Raises:
        ModelError: blocks that overlap, edges that are rounder than their block is long, an option of the foot that is
            not valid.
    """
    from pliant.feet.softfoot import add_softfoot
    from pliant.robots.parts import box, finished, look_at, new_spec

    s = options.scale
    places = block_positions(options)
    top = options.stand
    spec = new_spec("softfoot-bench", options.timestep, extent=0.3 * s, center=(0.04 * s, 0.0, top))
    disable_islands(spec)
    carriage = add_carriage(spec, 0.0, s)
    mount = carriage.add_body(
        name="mount", quat=[math.cos(0.5 * options.pitch), 0.0, math.sin(0.5 * options.pitch), 0.0]
    )
    add_softfoot(spec, mount, options)
    lengths = dict.fromkeys(BLOCKS, options.block_length) | {"fascia": options.obstacle_length}
    for name in BLOCKS:
        height = top + (options.obstacle_height if name == "fascia" else 0.0)
        body = spec.worldbody.add_body(name=f"{name}_block", pos=[places[name], 0.0, height])
        _block(body, name, lengths[name], options)
        stand = 0.6 * lengths[name]
        box(body, (stand, 0.4 * options.block_width, options.stand), (0.0, 0.0, -0.5 * options.stand), "metal")
    carriage.pos = [0.0, 0.0, top + start_height(spec, options)]
    add_load(spec, options.load, (-1000.0, 5000.0))
    eye = (0.03 * s, -0.6 * s, top + 0.07 * s)
    camera = spec.worldbody.add_camera(name="side", pos=list(eye))
    look_at(camera, eye, (0.03 * s, 0.0, top + 0.02 * s))
    camera.fovy = 32.0
    robot = Robot(spec)
    robot.devices += [
        ForceTorque(name=f"{name}_force", body=f"{name}_block", measure_direction="parent_to_child") for name in BLOCKS
    ]
    return finished(robot, namespace="softfoot_bench")


def block_positions(options: SoftFootBenchOptions) -> dict[str, float]:
    """Return the middle of each block ahead of the ankle [m].

    Raises:
        ModelError: blocks overlap.
    """
    x = {
        "heel": options.heel_block,
        "fascia": module_position(options.module, options.scale, options.pitch) + options.obstacle_shift,
        "metatarsus": options.metatarsus_block,
    }
    half = {"heel": 0.5 * options.block_length, "fascia": 0.5 * options.obstacle_length}
    half["metatarsus"] = half["heel"]
    for rear, front in itertools.pairwise(BLOCKS):
        gap = x[front] - half[front] - (x[rear] + half[rear])
        if gap < 0.0:
            raise ModelError(
                f"softfoot-bench: the {rear} block ends {x[rear] + half[rear]:.4g} m and the {front} block begins "
                f"{x[front] - half[front]:.4g} m ahead of the ankle; they must not overlap",
                field="heel_block" if rear == "heel" else "metatarsus_block",
            )
    return x


def _block(body: mujoco.MjsBody, name: str, length: float, options: SoftFootBenchOptions) -> None:
    """Add the colliding shapes of a block, its top at the origin of its body."""
    import mujoco

    radius, width = options.edge_radius, 0.5 * options.block_width
    flat = length - 2.0 * radius
    if flat < -1e-9:
        raise ModelError(
            f"softfoot-bench: edge_radius is {radius:g} m and the {name} block {length:g} m long; must be <= half of "
            "it",
            field="edge_radius",
        )
    depth = 0.012
    add = functools.partial(body.add_geom, mass=0.0, material="wood")
    kind = mujoco.mjtGeom
    if flat > 1e-9:
        pos = [0.0, 0.0, -0.5 * depth]
        size = [0.5 * flat, width, 0.5 * depth]
        add(name=f"{name}_block_top", type=kind.mjGEOM_BOX, size=size, pos=pos)
    if radius <= 0.0:
        return
    size = [0.5 * length, width, 0.5 * (depth - radius)]
    pos = [0.0, 0.0, -0.5 * (depth + radius)]
    add(name=f"{name}_block_side", type=kind.mjGEOM_BOX, size=size, pos=pos)
    for edge, x in (("rear", -0.5 * flat), ("front", 0.5 * flat)):
        line = [x, -width, -radius, x, width, -radius]
        add(name=f"{name}_block_{edge}", type=kind.mjGEOM_CAPSULE, size=[radius, 0.0, 0.0], fromto=line)
        if flat <= 1e-9:
            break


def start_height(spec: mujoco.MjSpec, options: SoftFootBenchOptions) -> float:
    """Return the height of the ankle above the fixed blocks at which the foot is just clear of all blocks [m].

    Args:
        spec: the bench.
        options: its options.
    """
    from pliant.feet.model.geometry import lowest_point

    model = spec.copy().compile()
    foot = [
        geom
        for geom in range(model.ngeom)
        if model.body_rootid[model.geom_bodyid[geom]] == model.body("carriage").id and model.geom_contype[geom]
    ]
    return max(0.0, options.obstacle_height) + START - min(0.0, lowest_point(model, foot))


ROBOT = CatalogueRobot(
    name="softfoot-bench",
    summary="SoftFoot with one chain on a slide above three force sensors, one of them movable.",
    options=SoftFootBenchOptions,
    function=build,
    source="Crotti et al. 2024, arXiv 2412.03191, section III; the foot is that of `softfoot`",
    scenarios=("press-harder",),
    assumed=(
        "The load, the heights, the shapes and the positions of the blocks, and the pitch at which the foot was fixed: "
        "these numbers are missing in the text of the paper.",
        "What is assumed of `softfoot`.",
    ),
)

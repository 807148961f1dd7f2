"""Force-limited insertion: a square peg, a hole that is not where the arm thinks, and at most 30 N.

A Franka Research 3 lowers a peg until it feels the plate, searches the hole along a spiral while it presses, and pushes
the peg in. Its stiffness across and along the hole is an action. Place, height and angle of the hole and the friction
differ in every episode. A contact force above 30 N ends the episode as a failure.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.learn.compliance.arm import DT, ImpedanceArm, arm_stiffness
from pliant.learn.compliance.task import ComplianceTask, Measure, TaskParameter

FORCE = 30.0
"""Contact force that ends an episode [N]."""
DURATION = 4.0
"""Time that an insertion may take [s]; assumed."""
HEIGHT = 0.005
"""Largest error of the plate's height [m]; assumed."""
YAW = math.radians(1.5)
"""Largest error of the hole's angle [rad]; assumed."""
FRICTION = (0.1, 0.4)
"""Range of the friction between peg and plate; steel on steel, greased to dry; assumed."""
CONTACT = 2.0
"""Force that counts as contact [N]; assumed."""
DROP = 0.003
"""Depth below the first contact from which the peg is in the hole [m]; assumed."""
RADIUS = 0.0065
"""Largest radius of the spiral [m]: the largest error of the place, sqrt(2) x 4 mm, and some reserve."""
CONTACT_TIME = 0.01
"""Time constant of contacts [s]: that of 3 kg on 3e4 N/m, fingers and fixture; assumed."""
MARGIN = 0.002
"""How far the reference of the insertion goes below the depth that counts [m]; assumed."""


def evaluate(parameters: NDArray[np.float64], seeds: Sequence[int]) -> dict[str, NDArray[np.float64]]:
    """Insert once for each controller and seed."""
    found = np.array([[_episode(row, seed) for seed in seeds] for row in parameters])
    return dict(zip(("success", "peak_force", "time", "score"), np.moveaxis(found, -1, 0), strict=True))


@functools.cache
def _world() -> tuple[ImpedanceArm, NDArray[np.float64], NDArray[np.float64]]:
    """Return the arm, and position [m] and quaternion of the plate where the arm thinks it is."""
    from pliant.learn.envs.tasks.insert import robot

    spec = robot().spec
    rest = [float(q) for q in list(spec.key("rest").qpos)[:7]]
    spec.delete(spec.key("rest"))
    for name in ("hole_x", "hole_y"):
        spec.delete(spec.joint(name))
    spec.add_key(name="rest", qpos=rest)
    for geom in spec.geoms:
        if geom.name == "peg" or geom.name.startswith("wall"):
            geom.solref = [CONTACT_TIME, 1.0]
        elif geom.name != "floor":
            geom.contype = geom.conaffinity = 0
    arm = ImpedanceArm(spec, "peg")
    plate = arm.model.body("plate")
    return arm, plate.pos.copy(), plate.quat.copy()


def _episode(parameters: NDArray[np.float64], seed: int) -> tuple[float, float, float, float]:
    """Return success, peak force [N], time [s] and the score of the training."""
    from pliant.learn.envs.tasks.insert import CLEARANCE, DEPTH, ERROR

    lateral, vertical = parameters[:3], parameters[3:6]
    approach_speed, search_speed, press, pitch, insert_speed = parameters[6:]
    arm, nominal_position, nominal_quaternion = _world()
    rng = np.random.default_rng(seed)
    offset = np.append(rng.uniform(-ERROR, ERROR, 2), rng.uniform(-HEIGHT, HEIGHT))
    yaw, friction = rng.uniform(-YAW, YAW), rng.uniform(*FRICTION)
    plate = arm.model.body("plate").id
    walls = [arm.model.geom(f"wall_{n}").id for n in range(4)] + [arm.model.geom("peg").id]

    def place(model: mujoco.MjModel, _: mujoco.MjData) -> None:
        model.body_pos[plate] = nominal_position + offset
        mujoco.mju_mulQuat(
            model.body_quat[plate], nominal_quaternion, np.array([math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)])
        )
        model.geom_friction[walls, 0] = friction

    arm.reset(place)
    top = float(nominal_position[2] + offset[2])
    center = nominal_position + offset
    reference, start = arm.position.copy(), arm.position.copy()
    phase, touched, angle, peak, depth = 0, 0.0, 0.0, 0.0, 0.0
    needed = DEPTH / 1.5
    for _ in range(round(DURATION / DT)):
        at = arm.position
        if phase == 0:
            reference[2] -= approach_speed * DT
            if arm.contact_force[2] > CONTACT:
                phase, touched = 1, float(at[2])
        if phase == 1:
            reference[2] = touched - press
            radius = min(RADIUS, pitch * angle / (2.0 * math.pi))
            angle += search_speed * DT / max(radius, 0.5 * pitch)
            reference[0] = start[0] + radius * math.cos(angle)
            reference[1] = start[1] + radius * math.sin(angle)
            if at[2] < touched - DROP:
                phase = 2
                reference[:2] = at[:2]
        if phase == 2:
            reference[2] = max(reference[2] - insert_speed * DT, touched - needed - MARGIN - press)
        arm.step(reference, np.array([lateral[phase], lateral[phase], vertical[phase]]))
        peak = max(peak, math.hypot(*arm.contact_force))
        depth = top - at[2]
        if math.hypot(at[0] - center[0], at[1] - center[1]) > 3.0 * CLEARANCE:
            depth = 0.0
        if peak > FORCE or depth > needed:
            break
    success = float(depth > needed and peak <= FORCE)
    progress = min(max(depth / needed, 0.0), 1.0)
    score = success + 0.5 * progress + 0.5 * min(1.0, FORCE / max(peak, 1e-9))
    return success, peak, float(arm.data.time) if success else DURATION, score


TASK = ComplianceTask(
    name="insertion",
    title="Insert a square peg with at most 30 N, with a Franka Research 3",
    claim=(
        "A stiffness that differs between approach, search and insertion succeeds more often than the best constant."
    ),
    primary=Measure(
        "success", unit="1", better="higher", meaning="peg inserted by 20 mm within 4 s, contact force never above 30 N"
    ),
    secondary=(
        Measure("peak_force", unit="N", better="lower", meaning="largest contact force until the end of the episode"),
        Measure("time", unit="s", better="lower", meaning="time of the insertion; 4 s for a failure"),
    ),
    training=Measure(
        "score",
        unit="1",
        better="higher",
        meaning="success, plus half the depth reached, plus half of 30 N over the peak force where that is above 30 N",
    ),
    parameters=(
        *(arm_stiffness("lateral", *item) for item in (("approach", 1000.0), ("search", 600.0), ("insertion", 200.0))),
        *(arm_stiffness("vertical", *item) for item in (("approach", 200.0), ("search", 400.0), ("insertion", 800.0))),
        TaskParameter("approach_speed", 0.005, 0.1, 0.03, unit="m/s", log=True, meaning="speed downwards"),
        TaskParameter("search_speed", 0.01, 0.15, 0.05, unit="m/s", log=True, meaning="speed along the spiral"),
        TaskParameter("press", 0.001, 0.03, 0.01, unit="m", log=True, meaning="reference below the first contact"),
        TaskParameter("pitch", 0.0005, 0.004, 0.0016, unit="m", log=True, meaning="pitch of the spiral"),
        TaskParameter("insertion_speed", 0.01, 0.2, 0.05, unit="m/s", log=True, meaning="speed into the hole"),
    ),
    evaluate=evaluate,
    code=("pliant.learn.compliance.arm", "pliant.learn.envs.tasks.insert", "pliant.franka.robots"),
)

"""Wipe a curved surface whose place, curvature and friction are unknown, with a payload that changes.

A Franka Research 3 lowers a round pad until it feels a surface, then wipes a square in three strokes of fixed duration.
The surface is a sphere of unknown radius, so that height and slope change along each stroke. The hand has a mass that
the arm does not know, which changes once while it wipes. The stiffness across and along the vertical differs between
approach, climb and descent.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.learn.compliance.arm import DT, ImpedanceArm, arm_stiffness
from pliant.learn.compliance.task import ComplianceTask, Measure, TaskParameter
from pliant.model.inertia import set_inertia

FORCE = 10.0
"""Force with which the pad shall press on the surface, along its normal [N]; ours."""
TOUCH = 2.0
"""Normal force from which a cell counts as wiped, and that ends the approach [N]; ours."""
HALF = 0.03
"""Half of the side of the square that is wiped [m]; ours."""
LINES, CELLS = 3, 6
"""Strokes along y, and cells of each stroke; ours."""
WIPING = 2.0
"""Time of the three strokes and the two ways between them [s]; ours."""
DWELL = 0.1
"""Time that the reference waits at the end of the path, for an arm that lags [s]; ours."""
SMOOTHING = 0.02
"""Time constant of the vertical velocity whose sign tells climb from descent [s]; ours."""
APPROACH = 0.8
"""Time after which the strokes begin even where no contact was felt [s]; ours."""
GAP = 0.02
"""Height of the pad over the place where the arm thinks the top of the surface is [m]; ours."""
HEIGHT = 0.01
"""Largest error of that height [m]; ours."""
PLACE = 0.03
"""Largest distance of the top from the middle of the square along x and y [m]; ours."""
RADII = (0.12, 0.6)
"""Range of the radius of the surface, drawn in its logarithm [m]; ours."""
FRICTION = (0.2, 0.6)
"""Range of the friction between pad and surface; ours."""
PAYLOADS = (0.0, 0.6)
"""Range of the unknown mass before and after its change [kg]; ours."""
CHANGE = (0.3, 1.7)
"""Range of the time of its change after the strokes begin [s]; ours."""
FOAM = (2000.0, 50.0)
"""Stiffness [N/m] and damping [N s/m] of the pad along the normal of the surface; ours."""
SLIP = 0.02
"""Velocity over which the friction changes its sign [m/s]; ours."""
_SIDE = 2.0 * HALF
_LENGTH = LINES * _SIDE + _SIDE
"""Length of the path [m]: the strokes, and the ways between them, one side together."""


def path(time: float) -> tuple[float, float]:
    """Return the place of the reference in the square, from its middle, a time after the strokes begin [m]."""
    way = min(max(time / WIPING, 0.0), 1.0) * _LENGTH
    step = _SIDE / (LINES - 1)
    line, along = divmod(way, _SIDE + step)
    line = min(int(line), LINES - 1)
    across = max(along - _SIDE, 0.0)
    y = min(along, _SIDE) - HALF
    return line * step + across - HALF, -y if line % 2 else y


def cell(x: float, y: float) -> tuple[int, int] | None:
    """Return line and number of the cell under a place in the square; None beside it."""
    line = math.floor((x + HALF) / _SIDE * (LINES - 1) + 0.5)
    number = math.floor((y + HALF) / _SIDE * CELLS)
    return (line, number) if 0 <= line < LINES and 0 <= number < CELLS else None


def evaluate(parameters: NDArray[np.float64], seeds: Sequence[int]) -> dict[str, NDArray[np.float64]]:
    """Wipe once for each controller and seed."""
    found = np.array([[_by_phases(row, seed) for seed in seeds] for row in parameters])
    return dict(zip(("force_error", "coverage", "peak_force"), np.moveaxis(found, -1, 0), strict=True))


@functools.cache
def _world() -> tuple[ImpedanceArm, mujoco.MjData]:
    """Return the arm with its payload, and data to recompute what depends on that."""
    from pliant.robots import build_robot

    spec = build_robot("fr3", {"hand": "none", "friction": False}).spec
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0  # the pad presses by the law of `surface_force`
    wrist, end = spec.body("franka_link7"), np.array(spec.site("franka_ee").pos, dtype=float)
    wrist.add_site(name="pad", pos=end)
    # As in the registered run: the mass hangs as far beyond the pad as the pad is from the flange, 107 mm.
    set_inertia(wrist.add_body(name="payload", pos=end), 1.0, 1e-3, end)
    arm = ImpedanceArm(spec, "pad")
    return arm, mujoco.MjData(arm.model)


def surface_force(
    offset: NDArray[np.float64], velocity: NDArray[np.float64], radius: float, friction: float
) -> tuple[float, NDArray[np.float64]]:
    """Return the normal force [N] and the whole force on the pad, shape (3,) [N].

    The foam is a linear spring and damper that cannot pull, N = max(k d + c d', 0) at the depth d > 0; friction is
    Coulomb's with a smooth change of sign, -mu N v / sqrt(v^2 + SLIP^2).

    Args:
        offset: place of the end of the unloaded pad, from the centre of the surface [m].
        velocity: its velocity [m/s].
        radius: radius of the surface [m].
        friction: mu.
    """
    distance = math.hypot(*offset.tolist())
    if distance >= radius:
        return 0.0, np.zeros(3)
    normal = offset / distance
    rise = float(velocity @ normal)
    force = max(FOAM[0] * (radius - distance) - FOAM[1] * rise, 0.0)
    slip = velocity - rise * normal
    return force, force * (normal - friction * slip / math.hypot(*slip.tolist(), SLIP))


def _by_phases(parameters: NDArray[np.float64], seed: int) -> tuple[float, float, float]:
    stiffness = [np.array([parameters[k], parameters[k], parameters[3 + k]]) for k in range(3)]
    approach_speed, press, gain = parameters[6:]
    return episode(seed, press, lambda phase, *_: (stiffness[phase], gain if phase else approach_speed))


def episode(
    seed: int, press: float, command: Callable[[int, float, float, float], tuple[NDArray[np.float64], float]]
) -> tuple[float, float, float]:
    """Wipe once.

    Args:
        seed: of the surface and of the payload.
        press: distance of the reference below the first contact [m].
        command: function of the phase (0 approach, 1 climb, 2 descent), the time since the strokes began (-inf in the
            approach) [s], the felt vertical force [N] and the smoothed vertical velocity [m/s], called in every step,
            that returns the stiffness along the axes, shape (3,) [N/m], and the speed downwards in the approach [m/s]
            or else the rate of the reference per force [m/(N s)].

    Returns:
        Force error [N], coverage and peak force [N].
    """
    arm, scratch = _world()
    model, data, rng = arm.model, arm.data, np.random.default_rng(seed)
    radius = math.exp(rng.uniform(*np.log(RADII)))
    top = np.append(rng.uniform(-PLACE, PLACE, 2), rng.uniform(-HEIGHT, HEIGHT) - GAP)
    friction, payloads, change = rng.uniform(*FRICTION), rng.uniform(*PAYLOADS, 2), rng.uniform(*CHANGE)
    payload, wrist = model.body("payload").id, model.body("franka_link7").id

    def load(mass: float) -> None:
        # A point mass, nearly: its weight is in the bias, and `arm.step` takes it away again.
        model.body_mass[payload], model.body_inertia[payload] = mass, 1e-4 * mass
        mujoco.mj_setConst(model, scratch)

    arm.reset(lambda *_: load(payloads[0]))
    middle, reference, no_torque = arm.position.copy(), arm.position.copy(), np.zeros(3)
    mid_x, mid_y, height = middle.tolist()
    center = middle + top - (0.0, 0.0, radius)
    errors, counts, wiped = (np.zeros((LINES, CELLS)) for _ in range(3))
    began, mass, felt, peak, phase, climb = math.inf, payloads[0], 0.0, 0.0, 0, 0.0
    for k in range(round((APPROACH + WIPING + DWELL) / DT)):
        time = k * DT
        approaching = began == math.inf
        if approaching and (felt > TOUCH or time >= APPROACH):
            began, height, phase = time, float(arm.position[2]) - press, 1
        elif time >= began + WIPING + DWELL:
            break
        elif not approaching:
            if mass != payloads[1] and time >= began + change:
                mass = payloads[1]
                load(mass)
            phase = 1 if climb >= 0.0 else 2
        stiffness, rate = command(phase, time - began, felt, climb)
        if phase == 0:
            height -= rate * DT
        elif not approaching:
            height += rate * (felt - FORCE) * DT
        before = arm.position.copy()
        x, y = path(time - began)
        reference[:] = mid_x + x, mid_y + y, height
        arm.step(reference, stiffness, mass)
        velocity = (arm.position - before) / DT
        climb += (float(velocity[2]) - climb) * DT / SMOOTHING
        force, total = surface_force(arm.position - center, velocity, radius, friction)
        data.qfrc_applied[:] = 0.0
        mujoco.mj_applyFT(model, data, total, no_torque, arm.position, wrist, data.qfrc_applied)
        felt, peak = float(total[2]), max(peak, force)
        if phase and (at := cell(arm.position[0] - mid_x, arm.position[1] - mid_y)) is not None:
            errors[at] += abs(force - FORCE)
            counts[at] += 1.0
            wiped[at] = max(wiped[at], force >= TOUCH)
    error = np.where(wiped > 0.0, errors / np.maximum(counts, 1.0), FORCE)
    return float(error.mean()), float(wiped.mean()), peak


TASK = ComplianceTask(
    name="wipe",
    title="Wipe an unknown curved surface with 10 N while the payload changes, with a Franka Research 3",
    claim="A stiffness that differs between approach, climb and descent wipes a curved surface with a smaller force "
    "error than the best constant one.",
    primary=Measure(
        "force_error",
        unit="N",
        better="lower",
        meaning="mean over the cells of the square of the mean distance of the normal force from 10 N while the pad "
        "was in the cell; 10 N for a cell that was not wiped",
    ),
    secondary=(
        Measure("coverage", unit="1", better="higher", meaning="cells in which the normal force reached 2 N"),
        Measure("peak_force", unit="N", better="lower", meaning="largest normal force, that of the impact included"),
    ),
    parameters=(
        *(arm_stiffness("lateral", *item) for item in (("approach", 1000.0), ("climb", 1500.0), ("descent", 1500.0))),
        *(arm_stiffness("vertical", *item) for item in (("approach", 200.0), ("climb", 150.0), ("descent", 300.0))),
        TaskParameter("approach_speed", 0.02, 0.2, 0.05, unit="m/s", log=True, meaning="speed downwards"),
        TaskParameter("press", 0.001, 0.1, 0.03, unit="m", log=True, meaning="reference below the first contact"),
        TaskParameter("gain", 0.0001, 0.03, 0.003, unit="m/(N s)", log=True, meaning="rate of the reference per force"),
    ),
    evaluate=evaluate,
    code=("pliant.learn.compliance.arm", "pliant.franka.robots"),
)

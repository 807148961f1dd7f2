"""Judge the time step: the elements of each joint, joints together, and position controllers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import mujoco
import numpy as np

from pliant.laws import CompliantActuator
from pliant.model.check.bodies import Bodies, link_damping_is_implicit
from pliant.model.check.slopes import preset_reach, slopes_of
from pliant.model.check.step_sizes import (
    REFUSE_ABOVE,
    WARN_ABOVE,
    StepSize,
    evaluate_steps,
    propose_timestep,
    stability_number,
)
from pliant.model.description import REST_KEY, Description
from pliant.model.interface import PositionControlled
from pliant.model.problem import Problems


def check_steps(
    robot: Description,
    bodies: Bodies,
    h: float,
    presets: Mapping[str, tuple[float, float]],
    problems: Problems,
) -> None:
    """Report compliant joints whose time step is unstable or resolves them poorly."""
    modes = {joint: actuator.mode for joint, actuator in robot.actuators.items()}
    rows = evaluate_steps(robot, bodies, h, modes, presets)
    for joint, actuator in robot.actuators.items():
        own = [row for row in rows if row.joint == joint]
        for element in ("link", "motor_1", "motor_2"):
            mine = [row for row in own if row.element == element]
            if mine:
                _judge(joint, actuator, mine, h, problems)
        rest = [row for row in own if row.at == "rest" and not row.stuck]
        worst = max(rest, key=lambda row: row.stability)
        limit = min(row.limit for row in rest)
        problems.info(
            joint,
            f"mode {actuator.mode.value}: w dt = {_short(max(row.ratio for row in rest))} at dt = {_ms(h)}; "
            f"{worst.element} K {worst.stiffness:.4g}, D {worst.damping:.4g}, inertia {worst.inertia:.4g}; stable "
            f"up to {_ms(limit)}",
            f"step that resolves it: {_ms(min(row.proposal for row in rest))}",
        )
    _coupled(bodies, rows, h, problems)


def _judge(joint: str, actuator: CompliantActuator, rows: list[StepSize], h: float, problems: Problems) -> None:
    """Report the most serious finding about one element: at rest, then in reach, then stuck in its friction."""
    rest = next(row for row in rows if row.at == "rest" and not row.stuck)
    reach = next(row for row in rows if row.at == "reach" and not row.stuck)
    unit = {"lever": "m", "pressure": "Pa"}.get(actuator.law.second_input, "rad")
    if rest.stability > REFUSE_ABOVE:
        unstable = "unstable" if h >= rest.limit else "too near to the bound of 2"
        problems.error(
            joint,
            f"{rest.element}: the time step {_ms(h)} is {unstable}: {_describe(rest)}",
            f"use option.timestep = {rest.proposal:g} (stable below {_ms(rest.limit)})",
        )
        return
    if reach.stability > REFUSE_ABOVE:
        low, high = preset_reach(actuator)
        safe = _safe_preset(actuator, reach)
        where = "in reach,"
        if high > low:
            where = f"presets up to {high:g} {unit} are in reach, and at {reach.preset:g} {unit}"
        limits = f"use option.timestep = {reach.proposal:g} (stable below {_ms(reach.limit)})"
        problems.warning(
            joint,
            f"{reach.element}: {where} the time step {_ms(h)} is "
            f"{'unstable' if h >= reach.limit else 'near the bound'}: {_describe(reach)}",
            limits if safe is None else f"keep the preset below {safe:.3g} {unit}, or {limits}",
        )
    else:
        for row, where in ((rest, ""), (reach, f"at preset {reach.preset:g} {unit} ")):
            if max(row.ratio, row.damping_ratio) > WARN_ABOVE:
                problems.warning(
                    joint,
                    f"{row.element}: {where}the time step {_ms(h)} resolves it poorly: {_describe(row)}",
                    f"use option.timestep = {row.proposal:g} for w dt and dt D/I of at most {WARN_ABOVE}",
                )
                break
    stuck = max((row for row in rows if row.stuck), key=lambda row: row.stability, default=None)
    if stuck is not None and h >= stuck.limit and reach.stability <= REFUSE_ABOVE:
        problems.warning(
            joint,
            f"{stuck.element}: its friction chatters at {_ms(h)} while the motor sticks: {_describe(stuck)}",
            f"use a time step below {_ms(stuck.limit)}, or a softer presliding stiffness",
        )


def _safe_preset(actuator: CompliantActuator, row: StepSize) -> float | None:
    """Return the largest preset up to which an element stays within the refused stability number.

    None if there is none, because the element exceeds the number at the smallest preset already.
    """
    low, high = preset_reach(actuator)
    grid = np.linspace(low, high, 65)
    own = {"link": 0, "motor_1": 1, "motor_2": 2}[row.element]

    def slopes(presets: np.ndarray) -> np.ndarray:
        found = slopes_of(actuator.law, presets)
        return np.asarray((found.link, found.motor_1, found.motor_2)[own])

    rest_of_it = max(0.0, row.stiffness - float(np.max(slopes(grid))))

    def exceeds(presets: np.ndarray) -> np.ndarray:
        return np.asarray(stability_number(row, slopes(presets) + rest_of_it) > REFUSE_ABOVE)

    bad = np.flatnonzero(exceeds(grid))
    if not bad.size:
        return high
    if bad[0] == 0:
        return None
    good, wrong = float(grid[bad[0] - 1]), float(grid[bad[0]])
    for _ in range(12):
        middle = 0.5 * (good + wrong)
        good, wrong = (good, middle) if exceeds(np.array([middle]))[0] else (middle, wrong)
    # Rounded down to the three digits that are printed.
    digits = 10.0 ** (math.floor(math.log10(good)) - 2) if good > 0.0 else 1.0
    rounded = math.floor(good / digits * (1.0 + 1e-12)) * digits
    return rounded if rounded > low else None


def _coupled(bodies: Bodies, rows: list[StepSize], h: float, problems: Problems) -> None:
    """Report joints that are too stiff together though each alone is not."""
    links = [row for row in rows if row.element == "link" and row.at == "rest"]
    if len(links) < 2:
        return
    dofs = [int(bodies.model.jnt_dofadr[bodies.model.joint(row.joint).id]) for row in links]
    root = np.sqrt([row.stiffness for row in links])
    damping = np.zeros(bodies.model.nv)
    damping[dofs] = [0.5 * h * row.implicit_damping for row in links]

    def largest(inverses: Iterable[np.ndarray]) -> float:
        found = (np.linalg.eigvalsh(root[:, None] * w[np.ix_(dofs, dofs)] * root)[-1] for w in inverses)
        return max(0.0, *map(float, found))

    def is_unstable() -> bool:  # with the implicit damping, which only makes it slower
        damped = largest(np.linalg.inv(np.linalg.inv(w) + np.diag(damping)) for w in bodies.inverse)
        return h * math.sqrt(damped) > REFUSE_ABOVE

    fastest = largest(bodies.inverse)
    together, alone = h * math.sqrt(fastest), max(row.ratio for row in links)
    proposal = propose_timestep(fastest, 0.0, 1.0)
    if together > REFUSE_ABOVE >= max(row.stability for row in links) and is_unstable():
        problems.error(
            "model",
            f"the compliant joints together have w dt = {together:.2f} at {_ms(h)} (alone at most {alone:.2f}; "
            f"unstable from 2)",
            f"use option.timestep = {proposal:g}",
        )
    elif together > WARN_ABOVE >= alone:
        problems.warning(
            "model",
            f"the compliant joints together have w dt = {together:.2f} at {_ms(h)} (alone at most {alone:.2f})",
            f"use option.timestep = {proposal:g} for at most {WARN_ABOVE}",
        )


def check_position_controllers(robot: Description, model: mujoco.MjModel, h: float, problems: Problems) -> None:
    """Report position controllers that are too stiff or too damped for the inertia of their joints and the time step.

    A controller that puts -kp q - kd v on an inertia M once a step is stable under semi-implicit Euler while
    h^2 kp + 2 h (kd + d) < 4 (M + h d), with the joint damping d, which is implicit; where it is explicit, the right
    side is 4 M. For several joints the largest eigenvalue of (M + h D / 2)^-1 (h^2 Kp + 2 h Kd) is below 4.
    """
    gain = np.zeros(model.nv)
    for device in robot.devices:
        for joint, (kp, kd) in device.position_gains().items() if isinstance(device, PositionControlled) else ():
            index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
            if index >= 0:
                gain[model.jnt_dofadr[index]] = h * h * kp + 2.0 * h * kd
    if not np.any(gain > 0.0) or not np.all(np.isfinite(gain)):
        return
    data = mujoco.MjData(model)
    keys = [k for k in range(model.nkey) if model.key(k).name == REST_KEY]
    if keys:
        mujoco.mj_resetDataKeyframe(model, data, keys[0])
    mujoco.mj_fwdPosition(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    damping = (0.5 if link_damping_is_implicit(model) else -0.5) * h * model.dof_damping
    # The root of the gains makes it symmetric: only the controlled coordinates are left.
    root = np.sqrt(gain)
    values, vectors = np.linalg.eigh(root[:, None] * np.linalg.inv(M + np.diag(damping)) * root[None, :])
    if values[-1] < 4.0:
        return
    dof = int(np.argmax(np.abs(vectors[:, -1])))
    joint = model.joint(int(model.dof_jntid[dof])).name
    problems.error(
        joint,
        f"the gains of its position controller are {values[-1] / 4.0:.3g} times what its inertia can follow at a "
        f"time step of {h:g} s",
        f"a smaller time step, smaller gains, or reflected inertia of the motor: --set {joint}.armature=0.01",
        value=float(values[-1]),
        limit=4.0,
    )


def _describe(row: StepSize) -> str:
    units = ("N/m", "kg") if row.linear else ("N m/rad", "kg m^2")
    text = f"w dt = {_short(row.ratio)} with K {row.stiffness:.4g} {units[0]} on {row.inertia:.4g} {units[1]}"
    if row.damping > 0.0:
        text += (
            f", dt D/I = {_short(row.damping_ratio)} with D {row.damping:.4g}; stability {_short(row.stability)} of 2"
        )
    return text


def _short(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _ms(seconds: float) -> str:
    return "any" if math.isinf(seconds) else f"{float(f'{seconds * 1e3:.3g}'):g} ms"

"""The check of a robot: every finding of every subject."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pliant.base.errors import ModelError
from pliant.model.check.assumptions import check_loads, check_rates, report_defaults
from pliant.model.check.bodies import bodies_of, compile_bodies
from pliant.model.check.declared import check_integrator, check_names, check_parameters, check_spec
from pliant.model.check.plausible import check_plausible
from pliant.model.check.stability import check_position_controllers, check_steps
from pliant.model.description import Description
from pliant.model.problem import Problem, Problems
from pliant.model.wanted import check_robot


def check(
    robot: Description,
    *,
    timestep: float | None = None,
    presets: Mapping[str, tuple[float, float]] | None = None,
    poses: int = 4,
    seed: int = 0,
    surfaces: bool = True,
) -> list[Problem]:
    """Return all problems of a robot: errors, then warnings, then assumptions.

    Args:
        robot: the robot; it is not changed.
        timestep: time step to check [s]; None uses the time step of the robot.
        presets: (lowest, highest) preset that will be commanded, by joint [rad or m]. A preset in this range that is
            too stiff for the time step is an error, as it is for the initial preset. For joints without a range, other
            presets that are too stiff give a warning.
        poses: number of random poses, in addition to the initial pose, at which inertia and gravity are evaluated.
        seed: seed of the random poses.
        surfaces: whether to report faults of meshes that are only seen; whoever compiles the robot need not ask twice.
    """
    check_robot(robot, "check", compiled=False)
    problems = Problems()
    h = robot.timestep if timestep is None else float(timestep)
    if not (math.isfinite(h) and h > 0.0):
        return [Problem("error", "option.timestep", f"is {h}", "must be more than 0 s")]
    usable = check_names(robot, problems)
    for extension in robot.interface.extensions.values():
        problems += extension.problems
    check_integrator(robot, problems, h)
    check_spec(robot, problems)
    check_rates(robot, h, problems)
    for joint in usable:
        check_parameters(robot, joint, robot.actuators[joint], problems)
        check_plausible(joint, robot.actuators[joint], problems)
    try:
        model = compile_bodies(robot, surfaces=surfaces)
        # Only compliant joints ask for the inertia, whose inverse takes minutes for thousands of free bodies.
        bodies = bodies_of(model, poses, seed) if usable else None
    except ModelError as error:
        problems.error(error.field or "model", error.message)
    else:
        if bodies is not None:
            part = Description(robot.spec, {j: robot.actuators[j] for j in usable}, set_defaults=False)
            check_steps(part, bodies, h, presets or {}, problems)
            for joint in usable:
                check_loads(joint, robot.actuators[joint], bodies, problems)
        check_position_controllers(robot, model, h, problems)
        report_defaults(robot, model, problems)
    order = {"error": 0, "warning": 1, "info": 2}
    return sorted(problems, key=lambda p: order[p.severity])

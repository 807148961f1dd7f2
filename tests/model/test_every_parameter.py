"""A value by name changes the compiled model, or is refused: fields of joints, bodies and geoms of every robot."""

import mujoco
import numpy as np
import pytest
from catalogue import robot_or_skip
from daily import SIBLINGS, by_day

from pliant.base.errors import PliantError
from pliant.model.check.bodies import omit_surfaces
from pliant.model.robot import _FIELDS
from pliant.robots import build_robot, list_robots

LIMITS = {"lower": -0.777, "upper": 0.913}


def differ(a, b):
    """Return whether two models differ in any array of numbers."""
    return any(
        isinstance(one := getattr(a, field), np.ndarray)
        and not np.array_equal(one, getattr(b, field), equal_nan=one.dtype.kind == "f")
        for field in dir(a)
        if not field.startswith("_")
    )


def parts(spec):
    """Return kind and name of the first, the middle and the last joint, body and geom of a spec that have names."""
    one_axis = (mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE)
    every = {"joint": [j for j in spec.joints if j.type in one_axis], "body": spec.bodies[1:], "geom": spec.geoms}
    for kind, things in every.items():
        names = [thing.name for thing in things if thing.name]
        yield from ((kind, names[k]) for k in sorted({0, len(names) // 2, len(names) - 1}) if names)


NIGHTLY = {*SIBLINGS, "franka-dual"}
"""Robots of which others have the same kinds of part: of `franka-dual`, fr3."""


@pytest.mark.parametrize("name", by_day((robot.name for robot in list_robots()), lambda name: name not in NIGHTLY))
def test_a_parameter_by_name_changes_the_compiled_model_or_is_refused(name):
    robot = robot_or_skip(name)
    omit_surfaces(robot.spec)  # they have no names, and each compilation of an arm would take ten times as long
    before, silent, changed = robot.compile(), [], 0
    for kind, part in parts(robot.spec):
        for field, (attribute, length) in _FIELDS[kind].items():
            old = np.nan_to_num(np.ravel(getattr(getattr(robot.spec, kind)(part), attribute)).astype(float))
            value = (
                old[0] * 1.5 + 0.111 if length == 1 else (old[:length] * [1.1, 1.2, 1.3, 1.4][:length] + 0.003).tolist()
            )
            try:
                after = robot.copy().update({f"{part}.{field}": LIMITS.get(field, value)}).compile()
            except PliantError:
                continue
            changed += 1
            if not differ(before, after):
                silent.append(f"{part}.{field}")
    assert silent == []
    assert changed > 5


def test_a_value_of_a_geom_without_effect_is_refused_with_what_has_one():
    robot = build_robot("qbmove-5dof")
    for path, words in (
        ("floor.mass", "fixed in the world"),
        ("tip.density", r"inertia of its body is given; set link_5\.mass"),
        ("box.density", "mass of the geom is given"),
    ):
        with pytest.raises(PliantError, match=f"{path} would have no effect: .*{words}"):
            robot.update({path: 0.2})
    with pytest.raises(PliantError, match="two ends of the geom are given"):
        build_robot("softfoot").update({"frontal_arch_right_collision.quat": [0.9, 0.1, 0.1, 0.1]})
    assert build_robot("tdcr").update({"disk5.mass": 0.25}).compile().body("disk5").mass[0] == 0.25


def test_the_damping_of_a_joint_of_a_rod_stays_where_it_is_set_by_name():
    robot, joint = build_robot("tdcr"), "backbone1/bend1"
    own = robot.compile().joint("backbone1/bend2").damping[0]
    model = robot.update({f"{joint}.damping": 0.5}).compile()
    assert model.joint(joint).damping[0] == 0.5
    assert model.joint("backbone1/bend2").damping[0] == own > 0.0

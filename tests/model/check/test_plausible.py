"""Numbers that no joint has: `check` names each one, and no robot of the catalogue has any."""

import dataclasses
import itertools
import math

import pytest
from catalogue import robot_or_skip
from daily import by_day, robots_by_day

from pliant import load
from pliant.base.errors import DivergedError, LawError, PliantError
from pliant.base.options import describe
from pliant.engine import MujocoEngine
from pliant.laws import Creep, Hysteresis, Thermal
from pliant.model.check import step_sizes
from pliant.model.check.plausible import FREE, UNLIMITED
from pliant.robots import list_robots

WITHOUT_LIMIT = FREE | {"max_deflection", "reference_slew_1", "reference_slew_2", "max_current_rate"}
"""Fields whose largest values switch them off."""
ROBOTS = {"sea-1dof": True, "qbmove-1dof": True, "awas2-1dof": True, "bavs-1dof": True, "pam-1dof": False}
"""Robot -> whether it has the blocks of ``realistic=true``."""


def robot_of(name):
    return load(name, options={"realistic": True} if ROBOTS[name] else {})


def numbers(part, prefix=""):
    """Yield the path of every number of an actuator."""
    for info in describe(type(part)):
        if isinstance(getattr(part, info.name), float):
            yield prefix + info.name
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if dataclasses.is_dataclass(value):
            yield from numbers(value, prefix if field.name == "law" else f"{prefix}{field.name}.")


def warned(robot):
    return {p.message for p in robot.check() if p.severity != "info"}


@pytest.mark.parametrize("name", ROBOTS)
def test_every_number_that_is_not_one_is_refused_and_every_huge_one_is_refused_or_named(name):
    as_it_is = robot_of(name)
    usual, silent = warned(as_it_is), []
    for path in dict.fromkeys(numbers(as_it_is.actuators["joint"])):
        robot = as_it_is.copy()
        for value in (math.nan, -1e9) if path.rpartition(".")[2] not in FREE else (math.nan,):
            with pytest.raises(PliantError):
                robot.set(f"joint.{path}", value)
        try:
            robot.set(f"joint.{path}", 1e9)
        except PliantError:
            continue
        if path.rpartition(".")[2] not in WITHOUT_LIMIT and not warned(robot) - usual:
            silent.append(path)
    assert silent == []


@pytest.mark.parametrize(
    ("factor", "name"),
    by_day(
        itertools.product((0.0, 1e-3, 57.3, 1e3), ROBOTS),
        lambda case: case[0] == 57.3 or case[1] in ("qbmove-1dof", "pam-1dof"),
    ),
)
def test_a_number_in_another_unit_never_diverges_without_a_warning(name, factor):
    as_it_is = robot_of(name)
    usual = warned(as_it_is)
    for path in dict.fromkeys(numbers(as_it_is.actuators["joint"])):
        robot = as_it_is.copy()
        part = robot.actuators["joint"]
        for step in path.split("."):
            part = getattr(part, step) if hasattr(part, step) else getattr(part.law, step)
        value = part if math.isfinite(part) and part != 0.0 else 1.0
        try:
            robot.set(f"joint.{path}", factor * value)
        except PliantError:
            continue
        if warned(robot) - usual:
            continue
        engine = MujocoEngine(robot, check=False)
        engine.data.ctrl[0] += 0.1
        try:
            engine.step(200)
        except DivergedError:
            pytest.fail(f"{path} = {factor * value:g}")


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("max_deflection", 45.8, "max_deflection is 45.8 rad, more than a turn; is it in degrees?"),
        ("motor_1.backlash.width", 17.0, "motor_1.backlash.width is 17 rad, more than a turn; is it in degrees?"),
        ("motor_1.inertia", 1e5, "motor_1.inertia is 100000 kg m^2, above 10000, the largest of any joint"),
        ("motor_1.inertia", 1e-12, "motor_1.inertia is 1e-12 kg m^2, below 1e-10, the smallest of any joint"),
        ("motor_1.friction.load_coefficient", 3.0, "friction above the load holds whatever the load"),
    ],
)
def test_the_warning_names_path_value_and_what_it_may_be(path, value, says):
    robot = robot_of("sea-1dof")
    robot.set(f"joint.{path}", value)
    assert any(says in message for message in warned(robot))


def test_a_spring_without_limit_is_not_taken_for_degrees():
    robot = robot_of("sea-1dof")
    robot.set("joint.max_deflection", 2.0 * UNLIMITED)
    assert not any("degrees" in message for message in warned(robot))


@pytest.mark.parametrize("name", robots_by_day(robot.name for robot in list_robots()))
def test_no_robot_of_the_catalogue_has_an_implausible_number(name):
    robot = robot_or_skip(name)
    assert not [m for m in warned(robot) if "of any joint" in m or "in degrees?" in m]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"ambient": 500.0}, "ambient"),
        ({"ambient": 25.0}, "ambient"),
        ({"temperature_coefficient": 0.393}, "temperature_coefficient"),
        ({"derating_temperature": 100.0, "max_temperature": 403.0}, "derating_temperature"),
        ({"derating_temperature": -math.inf}, "derating_temperature"),
        ({"max_temperature": 130.0}, "max_temperature"),
        ({"max_temperature": 403150.0}, "max_temperature"),
    ],
)
def test_temperatures_that_no_winding_has_are_refused(values, field):
    with pytest.raises(LawError) as caught:
        Thermal(**values)
    assert caught.value.field == field


@pytest.mark.parametrize("name", ["sea-1dof", "qbmove-1dof", "awas2-1dof"])
def test_the_stiffness_of_hysteresis_and_creep_counts_in_the_time_step(name):
    def stiffness(block, value):
        robot = load(name)
        robot.set("joint.mode", 6)
        if block:
            robot.set(f"joint.{block}", value)
        rows = step_sizes(robot, modes={"joint": robot.actuators["joint"].mode})
        return {r.element: r.stiffness for r in rows if r.at == "rest" and not r.stuck}

    plain = stiffness("", None)
    share = {"sea-1dof": (1.0, 0.0), "qbmove-1dof": (0.25, 0.25), "awas2-1dof": (1.0, 0.0)}[name]
    for block, value, added in (
        ("hysteresis", Hysteresis(torque=2.0, deflection=0.1), 32.0),
        ("creep", Creep(stiffness=7.0), 7.0),
    ):
        found = stiffness(block, value)
        assert found["link"] - plain["link"] == pytest.approx(added)
        assert found["motor_1"] - plain["motor_1"] == pytest.approx(share[0] * added)
        assert found.get("motor_2", 0.0) - plain.get("motor_2", 0.0) == pytest.approx(share[1] * added)

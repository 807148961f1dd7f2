"""The tables of `pliant run`."""

import pytest

from pliant import load
from pliant.cli.run import _state_table
from pliant.engine import MujocoEngine
from pliant.laws import COMMANDS


def units_of(robot):
    """Return the units of the columns of the last state, and its cells by joint."""
    engine = MujocoEngine(robot, check=False)
    names = ("position", "velocity", "torque", "stiffness", "energy", "equilibrium", "preset")
    states = {joint: {name: float(engine.port(f"{joint}/{name}")[0]) for name in names} for joint in robot.actuators}
    table = _state_table(states, robot)
    heads = {column.header.split("\n")[0]: column.header.split("\n")[-1] for column in table.columns}
    presets = dict(zip(states, table.columns[-1].cells, strict=True))
    return heads, presets


@pytest.mark.parametrize(("law", "unit"), [("qbmove", "rad"), ("bavs", "rad"), ("awas_ii", "m")])
def test_the_table_of_a_run_shows_the_unit_of_the_preset(law, unit):
    robot = load("qbmove-2dof").set("actuator.law", law)
    heads, presets = units_of(robot)
    assert heads["preset"] == unit
    assert all(heads[name] for name in ("position", "velocity", "torque", "stiffness", "energy", "equilibrium"))
    second = {COMMANDS[a.mode][1].unit_of(a.law.second_input) for a in robot.actuators.values()}
    assert second == {unit}  # as the command has it
    assert all(float(cell) >= 0.0 for cell in presets.values())


def test_joints_with_presets_of_different_units_have_them_in_the_cells():
    heads, presets = units_of(load("qbmove-2dof").set("joint_1.law", "awas_ii"))
    assert heads["preset"] == ""
    assert presets["joint_1"].endswith(" m")
    assert presets["joint_2"].endswith(" rad")

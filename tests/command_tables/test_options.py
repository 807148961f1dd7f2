"""`--command`: a table plays from the start of a run."""

import pytest

from pliant.base.errors import DeviceError
from pliant.command_tables.options import TableOptions
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots import build_robot
from pliant.simulation import Simulation


def test_without_the_option_nothing_is_added():
    assert TableOptions().make() is None


def test_a_table_begins_with_the_run_and_has_nothing_to_say(tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text("time,joint/equilibrium_position\n0,0.5\n")
    robot = build_robot("qbmove-1dof")
    with Simulation(MujocoEngine(robot), make_devices(robot)) as simulation:
        assert [*TableOptions(command=path).make().begin(simulation)] == []
        simulation.run(0.5)
        assert simulation.sample("joint").values["position"] > 0.1


def test_a_file_that_is_missing_is_refused_before_a_robot_is_loaded(tmp_path):
    with pytest.raises(DeviceError, match=r"nowhere\.csv: there is no such file"):
        TableOptions(command=tmp_path / "nowhere.csv").make()

"""Commands out of bags."""

import bag_files as bags
import numpy as np
import pytest
from fake_engine import SpringJoint, SpringMassEngine

from pliant.base.errors import DeviceError, RecordingError
from pliant.command_tables import read_commands
from pliant.simulation import Simulation

F64, MULTI, CLOCK = "std_msgs/msg/Float64", "std_msgs/msg/Float64MultiArray", "rosgraph_msgs/msg/Clock"


def commands(store):
    for k in range(3):
        yield "/arm/elbow/equilibrium_position", F64, k * 10_000_000, bags.number(store, 0.1 * k)
        yield "/arm/reference_2", MULTI, k * 10_000_000 + 5_000_000, bags.numbers(store, [k, 2 * k])
    yield "/arm/elbow/torque_el1_state", F64, 40_000_000, bags.number(store, 9.0)


@pytest.mark.parametrize("kind", bags.KINDS)
def test_the_commands_of_a_bag_are_a_table(kind, tmp_path):
    table = read_commands(bags.write_any(tmp_path, commands, kind))
    assert table.time == pytest.approx([0, 0.005, 0.01, 0.015, 0.02, 0.025])
    assert set(table.columns) == {"elbow/equilibrium_position", "board/reference_2"}
    assert table.columns["elbow/equilibrium_position"][::2] == pytest.approx([0, 0.1, 0.2])
    assert np.isnan(table.columns["elbow/equilibrium_position"][1::2]).all()
    assert table.columns["board/reference_2"][1::2].tolist() == [[0, 0], [1, 2], [2, 4]]
    assert table.topics == {
        "elbow/equilibrium_position": "/arm/elbow/equilibrium_position",
        "board/reference_2": "/arm/reference_2",
    }
    assert table.unused == ("/arm/elbow/torque_el1_state (std_msgs/Float64)",)


@pytest.mark.parametrize("kind", ["bag", "mcap"])
def test_a_recorded_clock_moves_the_commands_to_simulation_time(kind, tmp_path):
    def rows(store):
        for k in range(11):  # the simulation ran at a quarter of real time, from 3 s on
            yield "/clock", CLOCK, k * 400_000_000, bags.clock(store, 3_000_000_000 + k * 100_000_000)
            if k in (2, 7):
                yield "/arm/elbow/reference_1", F64, k * 400_000_000 + 200_000_000, bags.number(store, k)

    table = read_commands(bags.write_any(tmp_path, rows, kind))
    assert table.time == pytest.approx([0.25, 0.75])
    assert table.columns["elbow/reference_1"].tolist() == [2, 7]
    assert table.unused == ()


def test_commands_outside_the_clock_go_on_as_fast_as_it_did(tmp_path):
    def rows(store):
        yield "/arm/elbow/reference_1", F64, 0, bags.number(store, 1)
        for k in range(3):
            yield "/clock", CLOCK, 1_000_000_000 + k * 1_000_000_000, bags.clock(store, (5 + 2 * k) * 1_000_000_000)
        yield "/arm/elbow/reference_1", F64, 4_000_000_000, bags.number(store, 2)

    table = read_commands(bags.write_any(tmp_path, rows, "bag"))
    assert table.time == pytest.approx([0.0, 8.0])


def test_a_clock_that_goes_back_is_refused_with_the_place(tmp_path):
    def rows(store):
        for at, ns in ((0, 5), (1, 6), (2, 1)):
            yield "/clock", CLOCK, at * 1_000_000_000, bags.clock(store, ns * 1_000_000_000)
        yield "/arm/elbow/reference_1", F64, 500, bags.number(store, 1)

    with pytest.raises(RecordingError, match=r"/clock goes back from 6 to 1 s, 2 s after the bag's beginning"):
        read_commands(bags.write_any(tmp_path, rows, "mcap"))


def test_columns_that_fit_no_device_are_left_out_and_told(tmp_path):
    def rows(store):
        yield "/arm/elbow/reference", F64, 0, bags.number(store, 0.25)
        yield "/arm/elbow/external_torque", F64, 10, bags.number(store, 0.5)
        yield "/arm/ankle/external_torque", F64, 0, bags.number(store, 0.5)

    path = bags.write_any(tmp_path, rows, "bag")
    table = read_commands(path)
    # The fake joint's reference is no command of the toolbox.
    assert table.unused == ("/arm/elbow/reference (std_msgs/Float64)",)
    with Simulation(SpringMassEngine(), [SpringJoint(0, "elbow")]) as run:
        player = run.play(table)
        assert player.left_out == ["ankle/external_torque"]
    with (
        Simulation(SpringMassEngine(), [SpringJoint(0, "knee")]) as run,
        pytest.raises(DeviceError, match=r"run\.bag: column 'elbow/external_torque' is no command of these devices"),
    ):
        run.play(table)


def test_a_bag_without_commands_says_what_it_has(tmp_path):
    def rows(store):
        yield "/chatter", "std_msgs/msg/String", 0, store.types["std_msgs/msg/String"](data="hello")

    with pytest.raises(DeviceError, match=r"no command; .* Its topics: /chatter \(std_msgs/String\)"):
        read_commands(bags.write_1(tmp_path / "run.bag", rows))


def test_what_cannot_be_a_column_is_refused(tmp_path):
    def two_robots(store):
        for space in ("left", "right"):
            yield f"/{space}/elbow/reference_1", F64, 0, bags.number(store, 0.0)

    def ragged(store):
        yield "/arm/reference_1", MULTI, 0, bags.numbers(store, [1, 2])
        yield "/arm/reference_1", MULTI, 1, bags.numbers(store, [1, 2, 3])

    def infinite(store):
        yield "/arm/elbow/reference_1", F64, 0, bags.number(store, np.inf)

    for name, rows, message in (
        ("two", two_robots, "topics /left/elbow/reference_1 and /right/elbow/reference_1 are both the column"),
        ("ragged", ragged, "/arm/reference_1 has arrays of 2 and of 3 numbers"),
        ("infinite", infinite, r"/arm/elbow/reference_1: message 0 is inf; must be finite numbers"),
    ):
        with pytest.raises(DeviceError, match=message):
            read_commands(bags.write_1(tmp_path / f"{name}.bag", rows))

"""Command files: references over time, from CSV, NPZ, YAML and JSON."""

import json

import numpy as np
import pytest
from fake_engine import Board, SpringJoint, SpringMassEngine
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.errors import DeviceError
from pliant.command_tables import CommandTable, read_commands
from pliant.simulation import Simulation

pytestmark = pytest.mark.quick

CSV = """\
# a step, then back
time, joint_0/reference, joint_0/external_torque

0.000, 0.1, 0.0
0.002, 0.2,
0.004, , 0.5
"""


def write(tmp_path, text, name="commands.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def play(table, steps, devices=None, port="joint_0/reference", **options):
    """Step and return what the engine's port held during each step."""
    engine = SpringMassEngine(3)
    simulation = Simulation(engine, devices or [SpringJoint()])
    simulation.play(table, **options)
    seen = []
    for _ in range(steps):
        simulation.step()
        seen.append(engine.port(port).item())
    return seen


def test_csv_is_held_between_its_rows_and_empty_cells_keep_the_value(tmp_path):
    table = read_commands(write(tmp_path, CSV))
    assert table.interpolation == "hold"
    assert play(table, 8) == [0.1, 0.1, *[0.2] * 6]
    assert play(table, 8, port="joint_0/external_torque") == [0.0] * 4 + [0.5] * 4


def test_linear_goes_straight_between_the_values_of_each_column(tmp_path):
    text = "time,joint_0/reference,joint_0/external_torque\n0.002,0.1,1\n0.004,,2\n0.006,0.5,\n"
    table = read_commands(write(tmp_path, text), interpolation="linear")
    assert play(table, 9) == pytest.approx([0, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5])
    assert play(table, 9, port="joint_0/external_torque") == pytest.approx([0, 0, 1, 1.5, 2, 2, 2, 2, 2])


def test_all_formats_give_the_same_table(tmp_path):
    time, values, board = [0.0, 0.1], [0.5, 0.25], [[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]]
    data = {"time": time, "joint_0/reference": values, "board/references": board}
    header = "time,joint_0/reference," + ",".join(f"board/references[{i}]" for i in range(3))
    rows = [",".join(map(str, [t, v, *b])) for t, v, b in zip(time, values, board, strict=True)]
    files = [
        write(tmp_path, "\n".join([header, *rows])),
        write(tmp_path, json.dumps(data), "commands.json"),
        write(tmp_path, "interpolation: hold\n" + "".join(f"{k}: {v}\n" for k, v in data.items()), "commands.yaml"),
        tmp_path / "commands.npz",
    ]
    np.savez(files[-1], **{name: np.array(value) for name, value in data.items()})
    results = []
    for path in files:
        engine = SpringMassEngine(3)
        simulation = Simulation(engine, [SpringJoint(2, "joint_0"), Board(3)])
        simulation.play(read_commands(path))
        boxes = [device.inbox for device in simulation.devices.values()]
        for steps in (1, 100):
            simulation.step(steps)
            results.append([{k: np.asarray(v).tolist() for k, v in box.peek().values.items()} for box in boxes])
    assert results[:2] == results[2:4] == results[4:6] == results[6:8]
    assert results[0] == [{"reference": 0.5}, {"references": [0.1, 0.2, 0.3]}]
    assert results[1] == [{"reference": 0.25}, {"references": [1.0, 2.0, 3.0]}]


def test_a_table_may_start_later_and_say_its_interpolation(tmp_path):
    text = "interpolation: linear\ntime: [0, 2e-3]\njoint_0/reference: [0, 0.2]\n"
    table = read_commands(write(tmp_path, text, "commands.yml"))
    assert table.interpolation == "linear"
    assert play(table, 6, start=0.002) == pytest.approx([0, 0, 0, 0.1, 0.2, 0.2])
    assert read_commands(tmp_path / "commands.yml", interpolation="hold").interpolation == "hold"


def test_rows_closer_than_a_step_lose_no_field():
    table = CommandTable(
        time=np.array([0.0, 0.0002, 0.0004]),
        columns={
            "joint_0/reference": np.array([0.1, np.nan, 0.3]),
            "joint_0/external_torque": np.array([np.nan, 0.7, np.nan]),
        },
    )
    assert play(table, 3) == [0.1, 0.3, 0.3]
    assert play(table, 3, port="joint_0/external_torque") == [0.0, 0.7, 0.7]


def test_after_a_reset_the_table_begins_again_or_goes_on():
    table = CommandTable(time=np.array([0.0, 0.003]), columns={"joint_0/reference": np.array([0.1, 0.2])})
    for rewind, expected in ((True, [0.1, 0.1, 0.1, 0.2]), (False, [0.2] * 4)):
        engine = SpringMassEngine()
        simulation = Simulation(engine, [SpringJoint()])
        simulation.play(table)
        simulation.step(6)
        simulation.reset(rewind=rewind)
        seen = []
        for _ in range(4):
            simulation.step()
            seen.append(engine.port("joint_0/reference").item())
        assert seen == expected


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=12, unique=True).map(sorted),
    st.data(),
    st.sampled_from(["hold", "linear"]),
)
def test_playing_is_what_numpy_says(times, data, interpolation):
    values = data.draw(st.lists(st.floats(-5, 5), min_size=len(times), max_size=len(times)))
    time = np.array(times) * 1e-3
    table = CommandTable(time=time, columns={"joint_0/reference": np.array(values)}, interpolation=interpolation)
    now = np.arange(70)
    if interpolation == "linear":
        expected = np.where(now < times[0], 0.0, np.interp(now, times, values))
    else:
        row = np.searchsorted(times, now, side="right") - 1
        expected = np.where(row < 0, 0.0, np.array(values)[row])
    assert play(table, 70) == pytest.approx(expected.tolist(), abs=1e-12)


@pytest.mark.parametrize(
    ("text", "message", "line", "field"),
    [
        ('time,joint_0/reference\n0,"1.21*pow(10,-6)"\n', r"has '1\.21\*pow\(10,-6\)'", 2, "joint_0/reference"),
        ("time,joint_0/reference\n\n0,1\n1,nan\n", "has 'nan'; must be a finite number, or an empty cell", 4, None),
        ("time,joint_0/reference\n0,1\n1,inf\n", "has 'inf'", 3, None),
        ("time,joint_0/reference\n,1\n", "column 'time' has ''; must be a finite number$", 2, "time"),
        ("time,joint_0/reference\n0,1\n1,2,3\n", "the row has 3 cells; the header has 2 columns", 3, None),
        ("time,joint_0/reference\n1,1\n1,2\n", "column 'time' goes from 1 to 1 s", 3, "time"),
        ("t,joint_0/reference\n0,1\n", "no column 'time'; found: t, joint_0/reference", 1, "time"),
        ("time,a/b,a/b\n0,1,2\n", "column 'a/b' occurs twice", 1, "a/b"),
        ("time,reference\n0,1\n", "not of the form <device>/<field>", None, "reference"),
        ("time\n0\n", "no column besides 'time'", None, None),
        ("time,joint_0/reference\n-1,1\n", r"'time' has -1\.0 in row 0", None, "time"),
        ("time,joint_0/reference\n", "has no rows", None, None),
        ("", "has no rows", None, None),
    ],
)
def test_a_wrong_csv_is_refused_with_file_line_and_column(tmp_path, text, message, line, field):
    path = write(tmp_path, text)
    with pytest.raises(DeviceError, match=message) as caught:
        read_commands(path)
    assert caught.value.file == str(path)
    assert caught.value.line == line
    if field:
        assert caught.value.field == field


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("time: [0, 1]\na/b: [1, x]", "column 'a/b' has 'x' at index 1; must be a finite number", 2),
        ("time: [0, 1]\na/b:\n  - 1\n  - .nan", "has nan at index 1", 4),
        ("time: [0, 1]\na/b: [[1, 2], [3]]", r"has \[3\] at index 1; must be a list of 2 finite numbers", 2),
        ("time: [0, 1]\na/b: 3", "is 3; must be a list of numbers", 2),
        ("time: [0, 1]\na/b: [1]", r"shape \(1,\) of float64; must be 2 numbers", None),
        ("time: [0]\na/b: [true]", "has True at index 0", 2),
        ("interpolation: cubic\ntime: [0]", "interpolation is 'cubic'; must be one of hold, linear", 1),
        ("[1, 2]", "a mapping of names to lists", 1),
        ("time: [0\na/b: [", "not valid YAML", 2),
    ],
)
def test_wrong_lists_are_refused_with_file_and_line(tmp_path, text, message, line):
    path = write(tmp_path, text, "commands.yaml")
    with pytest.raises(DeviceError, match=message) as caught:
        read_commands(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_a_wrong_npz_or_name_is_refused(tmp_path):
    for content in (b"", b"no archive", b"PK\x03\x04broken"):
        (tmp_path / "commands.npz").write_bytes(content)
        with pytest.raises(DeviceError, match="not an NPZ archive"):
            read_commands(tmp_path / "commands.npz")
    np.savez(tmp_path / "objects.npz", time=np.array([0.0]), **{"a/b": np.array(["x"])})
    with pytest.raises(DeviceError, match=r"column 'a/b' has shape \(1,\) of <U1; must be 1 numbers"):
        read_commands(tmp_path / "objects.npz")
    with pytest.raises(DeviceError, match="there is no such file"):
        read_commands(tmp_path / "none.csv")
    with pytest.raises(DeviceError, match=r"ends in '\.txt'; .*must be one of .*\.csv"):
        read_commands(tmp_path / "commands.txt")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("joint_O/reference", "is no command of these devices; did you mean 'joint_0/reference'"),
        ("joint_0/refrence", "did you mean 'joint_0/reference'"),
        ("joint_0/reference[0]", "is no command of these devices"),
        ("board/references[3]", r"is no command of these devices; did you mean 'board/references\[2\]'"),
        ("board/references", r"gives one number a row; the field takes 3 numbers: use board/references\[0\] to"),
    ],
)
def test_a_column_that_fits_no_device_is_refused_with_the_nearest(tmp_path, column, message):
    table = read_commands(write(tmp_path, f"time,{column}\n0,1\n"))
    simulation = Simulation(SpringMassEngine(3), [SpringJoint(), Board(3)])
    with pytest.raises(DeviceError, match=message) as caught:
        simulation.play(table)
    assert caught.value.file == str(tmp_path / "commands.csv")
    assert caught.value.field == column


def test_an_array_that_is_given_in_part_is_refused(tmp_path):
    table = read_commands(write(tmp_path, "time,board/references[0],board/references[2]\n0,1,2\n"))
    simulation = Simulation(SpringMassEngine(3), [Board(3)])
    with pytest.raises(DeviceError, match=r"'board/references\[1\]' has no value in row 0 or before"):
        simulation.play(table)


def test_a_value_out_of_range_ends_the_run_with_its_field(tmp_path):
    table = read_commands(write(tmp_path, "time,joint_0/reference\n0,1\n0.002,11\n"))
    simulation = Simulation(SpringMassEngine(), [SpringJoint()])
    simulation.play(table)
    with pytest.raises(DeviceError, match=r"'reference' is 11\.0; must be .* from -10 to 10"):
        simulation.run(0.01)
    assert simulation.time == pytest.approx(0.002)

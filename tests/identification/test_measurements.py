import numpy as np
import pytest

from pliant.base.errors import RecordingError
from pliant.identification.measurements import Measurement, read_measurement

pytestmark = pytest.mark.quick


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_csv_with_units_comments_and_aliases_is_read_in_si(tmp_path):
    path = write(
        tmp_path / "pull.csv",
        "# pulled by hand\ntime [ms],q [deg],theta_eq,preset,tau_ext [mN m],note\n0,0,0,0.2,100,1\n10,90,0,0.2,200,2\n",
    )
    m = read_measurement(path)
    np.testing.assert_allclose(m["time"], [0.0, 0.01])
    np.testing.assert_allclose(m["link_position"], [0.0, np.pi / 2])
    np.testing.assert_allclose(m.link_torque(), [-0.1, -0.2])
    np.testing.assert_allclose(m.spring_angles()[1], 0.2)
    np.testing.assert_allclose(m.spring_angles()[2], -0.2)
    assert m.samples == 2
    assert "note" not in m


def test_columns_can_be_named_and_a_device_chosen(tmp_path):
    path = write(tmp_path / "run.csv", "time;elbow/position;elbow/torque\n0;0.1;0.5\n1;;\n2;0.2;0.6\n")
    m = read_measurement(path, device="elbow")
    np.testing.assert_allclose(m["link_position"], [0.1, 0.2])
    np.testing.assert_allclose(m["time"], [0.0, 2.0])
    named = read_measurement(path, {"link_position": "elbow/position", "torque": "elbow/torque"})
    np.testing.assert_allclose(named["torque"], [0.5, 0.6])


def test_names_may_be_written_with_spaces_and_unknown_columns_are_named_where_one_is_missing(tmp_path):
    path = write(tmp_path / "log.csv", "Time [s],Link position [deg],motor-1 position,Angle\n0,90,0.5,1\n1,0,0.4,1\n")
    found = read_measurement(path)
    assert list(found) == ["time", "link_position", "motor_1_position"]
    assert found["link_position"][0] == pytest.approx(np.pi / 2.0)
    assert found.rows(np.array([0])).ignored == ("Angle",)
    with pytest.raises(
        RecordingError, match=r"found: time, link_position, motor_1_position; not known: Angle \(--column"
    ):
        found.spring_angles("angle")


def test_an_npz_is_read_and_units_can_be_given(tmp_path):
    np.savez(tmp_path / "a.npz", phi=np.array([1.0, 2.0]), tau=np.array([0.1, 0.2]), preset=0.3)
    m = read_measurement(tmp_path / "a.npz", units={"phi": "deg"})
    np.testing.assert_allclose(m["deflection"], np.deg2rad([1.0, 2.0]))
    np.testing.assert_allclose(m["preset"], 0.3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q,torque\n1,2\n1,abc\n", r"bad\.csv:3: column 'torque' is 'abc'; must be a number"),
        ("# c\nq,torque\n1,2\n3\n", r"bad\.csv:4: the line has 1 cells, the header 2"),
        ("q,torque\n1,inf\n", r"bad\.csv:2: column 'torque' is inf; must be a finite number"),
        ("q,q\n1,2\n", "two columns are named 'q'"),
        ("q,position\n1,2\n", "two columns are 'link_position', 'q' and 'position'; --column link_position=COLUMN"),
        ("q [N m],torque\n1,2\n", r"has the unit 'N m'; must be one of rad, mrad, deg"),
        ("x,y\n1,2\n", "no column is known; found: x, y"),
        ("q,torque\n", "no header and data"),
        (
            "t,q\n0,1\n2,1\n1,1\n",
            "time does not increase at row 3: 1 s after 2 s; the rows before 3 and",
        ),
        ("t,q\n0,1\n1,1\n1,1\n", "time does not increase at row 3: 1 s after 1 s; leave out row 3"),
        ("q,torque\n1,\n,2\n", "no row has a number in every used column"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(RecordingError, match=message):
        read_measurement(write(tmp_path / "bad.csv", text))


def test_missing_files_other_formats_and_broken_archives_are_named(tmp_path):
    with pytest.raises(RecordingError, match="no such file"):
        read_measurement(tmp_path / "none.csv")
    with pytest.raises(RecordingError, match=r"ends in '\.mat'; must be \.csv"):
        read_measurement(write(tmp_path / "a.mat", "x"))
    with pytest.raises(RecordingError, match="not an NPZ archive"):
        read_measurement(write(tmp_path / "a.npz", "PK no"))
    with pytest.raises(RecordingError, match="did you mean 'torque'"):
        read_measurement(write(tmp_path / "a.csv", "q,torque\n1,2\n"), {"torque": "torqe"})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"q": [1.0, np.nan]}, "column 'q', row 2 is nan"),
        ({"q": [1.0, 2.0], "torque": [1.0, 2.0, 3.0]}, "column 'link_position' has 2 rows, 'torque' has 3"),
        ({"torqe": [1.0]}, "did you mean 'torque'"),
        ({"q": 1.0}, "no columns with samples"),
        ({"q": ["far"]}, "holds no numbers"),
    ],
)
def test_bad_arrays_are_named(columns, message):
    with pytest.raises(RecordingError, match=message):
        Measurement.of(columns)


def test_missing_torques_and_motor_positions_say_what_would_do():
    m = Measurement.of({"q": [0.0, 1.0]})
    with pytest.raises(RecordingError, match="'external_torque'"):
        m.link_torque()
    with pytest.raises(
        RecordingError, match="'motor_1_position' and 'motor_2_position', or 'equilibrium' and 'preset'"
    ):
        m.spring_angles()


HEADER = "joint/time,joint/stamp,joint/position,joint/torque,joint/motor_1_position,joint/motor_2_position,joint/seq"


def test_an_export_of_one_joint_needs_no_device_and_its_stamp_is_not_a_second_time(tmp_path):
    path = write(tmp_path / "e.csv", f"{HEADER}\n0,0.5,0.1,0.2,0.3,,0\n1,1.5,0.2,0.3,0.4,,1\n")
    m = read_measurement(path)
    assert sorted(m) == ["link_position", "motor_1_position", "time", "torque"]
    np.testing.assert_allclose(m["time"], [0.0, 1.0])
    names = HEADER.split(",")
    values = [[0.0, 1.0], [0.5, 1.5], [0.1, 0.2], [0.2, 0.3], [0.3, 0.4], [np.nan, np.nan], [0, 1]]
    np.savez(tmp_path / "e.npz", **{n: np.array(v) for n, v in zip(names, values, strict=True)})
    npz = read_measurement(tmp_path / "e.npz")
    assert {n: list(a) for n, a in npz.items()} == {n: list(a) for n, a in m.items()}


def test_an_export_of_several_joints_asks_for_one(tmp_path):
    path = write(tmp_path / "e.csv", "time,a/position,a/torque,b/position,b/torque\n0,1,2,3,4\n1,1,2,3,4\n")
    with pytest.raises(RecordingError, match=r"several joints.*a, b.*--device"):
        read_measurement(path)
    np.testing.assert_allclose(read_measurement(path, device="b")["torque"], 4.0)


def test_a_table_of_several_joints_without_torques_asks_for_one(tmp_path):
    head = "time,a/position,a/reference_1,a/motor_1_position,b/position,b/reference_1,b/motor_1_position"
    path = write(tmp_path / "e.csv", f"{head}\n0,1,2,3,4,5,6\n1,1,7,3,4,8,6\n")
    with pytest.raises(RecordingError, match=r"several joints.*a, b.*--device"):
        read_measurement(path)
    np.testing.assert_array_equal(read_measurement(path, device="b")["reference_1"], [5.0, 8.0])


def test_references_are_moved_by_a_row_in_exports_of_pliant_only(tmp_path):
    rows = "0,1,2,9\n1,1,7,9\n2,1,8,9\n"
    export = write(tmp_path / "e.csv", f"time,a/position,a/reference_1,a/reported_stiffness\n{rows}")
    np.testing.assert_array_equal(read_measurement(export)["reference_1"], [7.0, 8.0, 8.0])
    table = write(tmp_path / "t.csv", f"time,a/position,a/reference_1,a/current\n{rows}")
    np.testing.assert_array_equal(read_measurement(table)["reference_1"], [2.0, 7.0, 8.0])


def test_a_table_without_quantities_beside_the_time_is_refused(tmp_path):
    path = write(tmp_path / "t.csv", "time,x/a,x/b\n0,1,2\n1,1,2\n")
    with pytest.raises(RecordingError, match="no column is known beside the time; found: time, x/a"):
        read_measurement(path)


def test_a_named_column_adds_to_those_that_are_found(tmp_path):
    path = write(tmp_path / "p.csv", "time,deflection,preset,load cell [N mm],torque\n0,0.1,0.2,5,9\n1,0.2,0.2,6,9\n")
    m = read_measurement(path, {"torque": "load cell [N mm]"})
    assert sorted(m) == ["deflection", "preset", "time", "torque"]
    np.testing.assert_allclose(m["torque"], [5e-3, 6e-3])


@pytest.mark.parametrize("unit", ["N mm", "Nmm", "N*mm", "N·mm", "mN m", "mNm", "mN.m"])
def test_a_thousandth_of_a_newton_metre_has_many_spellings(unit):
    assert Measurement.of({"deflection": [0.0, 1.0], f"torque [{unit}]": [1.0, 2.0]})["torque"][0] == pytest.approx(
        1e-3
    )


def test_a_million_is_not_taken_for_a_thousandth():
    with pytest.raises(RecordingError, match=r"has the unit 'MN m'; must be one of"):
        Measurement.of({"deflection": [0.0, 1.0], "torque [MN m]": [1.0, 2.0]})


def test_a_unit_may_be_given_by_quantity(tmp_path):
    path = write(tmp_path / "p.csv", "q,tau\n90,1\n180,2\n")
    np.testing.assert_allclose(
        read_measurement(path, units={"link_position": "deg"})["link_position"], [np.pi / 2, np.pi]
    )


def test_a_control_character_and_an_open_quote_are_named_with_their_line(tmp_path):
    with pytest.raises(RecordingError, match=r"p.csv:3: the line has the control character '\\x07'"):
        read_measurement(write(tmp_path / "p.csv", "q,tau\n1,1\n2,\x07\n"))
    with pytest.raises(RecordingError, match=r"p.csv:2: the line is not valid CSV"):
        read_measurement(write(tmp_path / "p.csv", 'q,tau\n1,"1\n2,2\n'))


def test_long_rest_is_shortened_and_motion_is_kept():
    """Two ramps of 1 s with 3600 s of rest between them, in steps of 0.1 s."""
    time = np.r_[np.arange(0.0, 1.0, 0.1), np.arange(1.0, 3601.0, 0.1), np.arange(3601.0, 3602.0, 0.1)]
    q = np.clip(time, 0.0, 1.0) + np.clip(time - 3601.0, 0.0, 1.0)
    m = Measurement.of({"time": time, "q": q, "tau": -q}).without_rest(2.0)
    assert 3.85 <= np.ptp(m["time"]) <= 4.2
    assert np.all(np.diff(m["time"]) > 0.0)
    moving = (np.diff(q) > 1e-6).sum()
    assert (np.diff(m["link_position"]) > 1e-6).sum() == moving
    rate = np.diff(m["link_position"]) / np.diff(m["time"])
    np.testing.assert_allclose(rate[rate > 0.5], 1.0, rtol=1e-6)


def test_motion_without_rest_stays_as_it_is():
    time = np.linspace(0.0, 100.0, 2001)
    m = Measurement.of({"time": time, "q": np.sin(time), "tau": np.cos(time)})
    assert m.without_rest(5.0).samples == m.samples

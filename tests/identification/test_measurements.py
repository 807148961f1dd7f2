import numpy as np
import pytest

from pliant.errors import RecordingError
from pliant.identification.measurements import Measurement, read_measurement


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
        ("q,position\n1,2\n", "two columns are 'link_position', the second is 'position'"),
        ("q [N m],torque\n1,2\n", r"has the unit 'N m'; must be one of rad, mrad, deg"),
        ("x,y\n1,2\n", "no column is known; found: x, y"),
        ("q,torque\n", "no header and data"),
        ("t,q\n0,1\n2,1\n1,1\n", "time does not increase at row 3: 1 s after 2 s"),
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
    with pytest.raises(RecordingError, match="not an NPZ file"):
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

"""A spring table gives the monotone spline of its rows and its exact energy; a wrong table is refused with its line."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from pliant.base.errors import LawError, ModelError
from pliant.export import export_urdf
from pliant.laws import SEA, CompliantActuator
from pliant.spring_tables import TableSEA
from pliant.spring_tables.law import MAX_ROWS, monotone_slopes

UNEVEN = [(-0.3, -14.0), (-0.1, -2.5), (-0.02, 0.0), (0.05, 0.0), (0.06, 0.4), (0.2, 9.0), (0.35, 9.5)]


def table(tmp_path, rows, header="deflection,torque", name="spring.csv"):
    path = tmp_path / name
    path.write_text("\n".join([header, *(f"{x!r},{t!r}" for x, t in rows)]) + "\n")
    return path


@pytest.mark.parametrize("odd", [True, False])
def test_torque_stiffness_and_energy_are_those_of_scipys_monotone_spline(tmp_path, odd):
    rows = [(0.0, 0.0), (0.05, 2.0), (0.07, 2.1), (0.3, 15.0), (0.31, 16.0)] if odd else UNEVEN
    law = TableSEA(table=table(tmp_path, rows), odd=odd, torque_scale=1.7)
    x, torque = np.array([(-x, -t) for x, t in rows[:0:-1]] + rows if odd else rows).T
    spline = PchipInterpolator(x, torque)
    q = np.linspace(x[0], x[-1], 4001)
    found = law.evaluate(q + 0.4, 0.4)
    work = spline.antiderivative()(q)
    np.testing.assert_allclose(found.torque, -1.7 * spline(q), atol=1e-12)
    np.testing.assert_allclose(found.stiffness, 1.7 * spline.derivative()(q), atol=1e-9)
    np.testing.assert_allclose(found.energy, 1.7 * (work - work.min()), atol=1e-6)
    assert abs(found.energy.min()) < 1e-12


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.floats(1e-3, 1.0), st.floats(0.0, 50.0)), min_size=3, max_size=20))
def test_the_spline_through_any_increasing_rows_never_falls(steps):
    x, torque = np.cumsum(np.array(steps), axis=0).T
    slopes = monotone_slopes(x, torque)
    secant = np.diff(torque) / np.diff(x)
    assert (slopes >= 0.0).all()
    # The condition of Fritsch and Carlson 1980 for a monotone cubic in each interval.
    assert (slopes[:-1] <= 3.0 * secant * (1.0 + 1e-12)).all()
    assert (slopes[1:] <= 3.0 * secant * (1.0 + 1e-12)).all()


def test_a_straight_table_is_the_linear_spring(tmp_path):
    law = TableSEA(table=table(tmp_path, [(0.0, 0.0), (0.1, 4.0), (0.2, 8.0), (0.5, 20.0)]), clip="flat")
    other = SEA(k=40.0, max_deflection=0.5)
    q = np.linspace(-1.0, 1.0, 201)
    for a, b in zip(law.evaluate(q, 0.013), other.evaluate(q, 0.013)):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_beyond_the_table_the_torque_continues_stays_or_meets_a_stop(tmp_path):
    path = table(tmp_path, UNEVEN)
    x, torque = np.array(UNEVEN).T
    slopes = PchipInterpolator(x, torque).derivative()(x[[0, -1]])
    for clip, expected in (("linear", slopes), ("flat", (0.0, 0.0)), ("stop", (500.0, 500.0))):
        law = TableSEA(table=path, odd=False, clip=clip, stop_stiffness=500.0)
        for end, sign, k, t in ((x[0], -1.0, expected[0], torque[0]), (x[-1], 1.0, expected[1], torque[-1])):
            beyond = law.evaluate(end + sign * 0.1, 0.0)
            at = law.evaluate(end, 0.0)
            assert -beyond.torque == pytest.approx(t + sign * 0.1 * k)
            assert beyond.stiffness == pytest.approx(k)
            assert beyond.energy - at.energy == pytest.approx(sign * 0.1 * t + 0.5 * k * 0.01)


def test_the_default_is_a_hardening_spring_that_behaves_equally_in_both_directions():
    law = TableSEA()
    q = np.linspace(0.0, 0.6, 61)
    up, down = law.evaluate(q, 0.0), law.evaluate(-q, 0.0)
    np.testing.assert_allclose(up.torque, -down.torque, atol=1e-12)
    np.testing.assert_allclose(up.energy, down.energy, atol=1e-12)
    assert up.stiffness[0] == pytest.approx(41.0)  # 40 N m/rad and the cubic part between the first rows
    assert law.evaluate(0.4, 0.0).stiffness > 4.0 * up.stiffness[0]
    assert law.max_deflection == 0.4


def test_columns_are_found_by_name_and_comments_and_units_are_read(tmp_path):
    path = tmp_path / "measured.csv"
    path.write_text("\ufeff# bench 3\n\n Torque [N m] , deflection [rad]\n-9,-0.2\n# middle\n0,0\n+9.0,2e-1\n\n")
    assert TableSEA(table=path, odd=False).rows == ((-0.2, -9.0), (0.0, 0.0), (0.2, 9.0))


def test_a_file_that_changed_makes_another_law(tmp_path):
    path = table(tmp_path, UNEVEN)
    before = TableSEA(table=path, odd=False)
    assert before == TableSEA(table=path, odd=False)
    assert hash(before) == hash(TableSEA(table=path, odd=False))
    table(tmp_path, [(x, 2.0 * t) for x, t in UNEVEN])
    assert before != TableSEA(table=path, odd=False)


H = "deflection,torque\n"
WRONG = {
    "no file": (None, None, "there is no such file"),
    "empty": ("", None, "the file is empty"),
    "no header": ("0,0\n1,2\n2,3\n", 1, "unknown column '0'.*must be 'deflection,torque'"),
    "only comments": ("# nothing\n", None, "no header"),
    "typing error": ("deflection,torqe\n0,0\n", 1, "unknown column 'torqe'; did you mean 'torque'"),
    "degrees": ("deflection [deg],torque [N m]\n0,0\n", 1, "deflection is in 'deg'; must be in 'rad'"),
    "twice": ("torque,torque\n0,0\n", 1, "column 'torque' occurs twice"),
    "one column": ("torque\n0\n", 1, "column 'deflection' is missing"),
    "three cells": (H + "0,0\n1,2,3\n2,4\n", 3, "the row has 3 cells; must be 2"),
    "gap in a row": (
        H + "0,0\n1,\n2,4\n",
        3,
        r"torque is missing in this row; must be a number from -100000 to 100000 \[N m\]",
    ),
    "word": (H + "0,0\n1,two\n2,4\n", 3, "torque is 'two'; must be a number"),
    "nan": (H + "0,0\n1,nan\n2,4\n", 3, "torque is 'nan'; must be a number"),
    "infinite": (H + "0,0\n1,1e999\n2,4\n", 3, "torque is inf; must be a number"),
    "degrees as values": (H + "0,0\n90,1\n180,2\n", 4, r"deflection is 180; must be a number from -100 to 100 \[rad\]"),
    "unsorted": (H + "0,0\n2,4\n1,2\n", 4, "deflection goes from 2 to 1 rad; must increase from row to row"),
    "double row": (H + "0,0\n1,2\n1,2\n2,4\n", 4, "deflection goes from 1 to 1 rad"),
    "falling": (H + "0,0\n1,2\n# x\n2,1.5\n", 5, "torque goes from 2 to 1.5 N m .*must not decrease"),
    "flat": (H + "0,0\n1,0\n2,0\n", 4, "the torque is 0 N m in every row"),
    "steep": (H + "0,0\n1e-9,2\n1,3\n", 3, "the stiffness to this row is above 1e\\+06 N m/rad"),
    "too few": (H + "0,0\n1,2\n", 3, f"the table has 2 rows; must be 3 to {MAX_ROWS}"),
    "too many": (H + "".join(f"{i / 100},{i}\n" for i in range(65)), 66, "the table has 65 rows; must be 3 to 64"),
    "gap": (H + "0,0\n0.01,1\n0.02,2\n0.03,3\n0.5,4\n", 6, "a gap of 0.47 rad .*must be at most 0.2 rad"),
    "not from 0": (H + "0.1,0\n1,2\n2,4\n", 2, "the first row is 0.1, 0; must be 0, 0 with odd=true"),
    "both sides": (H + "-1,-2\n0,0\n1,2\n", 2, "the first row is -1, -2; must be 0, 0 with odd=true"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_table_is_refused_with_its_file_and_line(tmp_path, name):
    text, line, message = WRONG[name]
    path = tmp_path / "spring.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(LawError, match=message) as caught:
        TableSEA(table=path)
    assert caught.value.file == str(path)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("rows", "message"),
    [("0.1,-1\n0.2,0\n0.3,1\n", "must contain 0, the rest position"), ("-1,1\n0,2\n1,3\n", "torques from 1 to 3 N m")],
)
def test_a_table_of_both_directions_contains_the_rest_position_and_its_equilibrium(tmp_path, rows, message):
    path = tmp_path / "spring.csv"
    path.write_text(H + rows)
    with pytest.raises(LawError, match=message):
        TableSEA(table=path, odd=False)


def test_half_a_table_needs_a_file():
    with pytest.raises(LawError, match="odd=false needs a table"):
        TableSEA(odd=False)


def test_an_actuator_carries_the_table_behind_its_parameters():
    law = TableSEA()
    par = CompliantActuator(law).pack(1e-3)
    np.testing.assert_array_equal(par[: law.parameters().size][-4:], law.parameters()[-4:])
    torque, load, _ = TableSEA.torques(0.3, 0.05, 0.0, par)
    assert torque == load == law.evaluate(0.3, 0.05).torque


def test_a_robot_file_names_a_table_beside_it(tmp_path, monkeypatch):
    import pliant

    (tmp_path / "robots").mkdir()
    (tmp_path / "elsewhere").mkdir()
    table(tmp_path / "robots", UNEVEN)
    monkeypatch.chdir(tmp_path / "elsewhere")
    robot = tmp_path / "robots" / "arm.yaml"
    robot.write_text("model: sea-table-1dof\nactuators:\n  joint: {table: spring.csv, odd: false}\n")
    assert pliant.load(robot).actuators["joint"].law.rows == tuple(UNEVEN)
    table(tmp_path / "robots", [(0.0, 1.0), (1.0, 0.0), (2.0, 3.0)])
    with pytest.raises(ModelError, match=r"arm.yaml:3: .*spring.csv:3: torque goes from 1 to 0 N m"):
        pliant.load(robot)
    table(tmp_path / "robots", [(0.0, 0.0), (1.0, 1.0), (2.0, 3.0)])
    robot.write_text("model: sea-table-1dof\nset:\n  joint.table: spring.csv\n")
    assert len(pliant.load(robot).actuators["joint"].law.rows) == 3


def test_a_urdf_tag_names_a_table_beside_the_file(tmp_path):
    import pliant

    table(tmp_path, UNEVEN)
    urdf = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
<gazebo><plugin name="p" filename="libsea_table_plugin.so"><joint>j</joint><operation_mode>3</operation_mode>
<pub_eltau>true</pub_eltau><pub_state>true</pub_state><sub_ext_tau>false</sub_ext_tau>
<spring_table>{}</spring_table><spring_odd>false</spring_odd><spring_scale>1.5</spring_scale></plugin></gazebo></robot>"""
    path = tmp_path / "arm.urdf"
    path.write_text(urdf.format("spring.csv"))
    law = pliant.load(path).actuators["j"].law
    assert (law.rows, law.torque_scale) == (tuple(UNEVEN), 1.5)
    (tmp_path / "elsewhere").mkdir()
    export_urdf(pliant.load(path), tmp_path / "elsewhere" / "again.urdf")
    assert pliant.load(tmp_path / "elsewhere" / "again.urdf").actuators["j"].law == law
    path.write_text(urdf.format("none.csv"))
    with pytest.raises(ModelError, match=r"arm.urdf:6: .*<spring_table>: .*none.csv: there is no such file"):
        pliant.load(path)

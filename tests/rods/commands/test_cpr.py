"""The commands that only parallel robots have, as a user types them."""

import json
from pathlib import Path

import numpy as np
import pytest
from shared_files import shared_file

from pliant.base.errors import ModelError, PliantError
from pliant.parallel.model import compare_with_statics
from pliant.robots.loading import load
from pliant.rods import NoEquilibrium, load_robot
from pliant.rods.commands import cpr


def run(*words: object):
    return cpr([str(w) for w in words], exit_on_error=False, print_error=False, result_action="return_value")


def run_json(capsys, *words: object, codes: tuple[int, ...] = (0,)) -> dict:
    assert run(*words, "--json") in codes
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["2PR", "3ER", "RERRFR", "Stewart_Gough_6PFR", "Stewart_Gough_6FFR_Till"])
def test_solve_gives_what_the_library_gives(capsys, name):
    data = run_json(capsys, "solve", name)
    home = load_robot(name).home()
    np.testing.assert_allclose(data["q"], home.q, atol=1e-9)
    np.testing.assert_allclose(data["plate_pose"], home.plate_pose, atol=1e-9)
    assert data["morse_index"] == 0
    assert data["stable"] == (not data["free_motions"])
    assert data["residual"] < 1e-8


def test_direct_and_inverse_model_agree_and_negative_numbers_are_numbers(capsys):
    pose = "-0.05,0.02,1.1,0,0.1,-0.1"
    inverse = run_json(capsys, "solve", "Stewart_Gough_6PFR", "--pose", pose, "--wrench", "-0.2,0,0,0,0,0.01")
    q = ",".join(map(str, inverse["q"]))
    direct = run_json(capsys, "solve", "Stewart_Gough_6PFR", "--q", q, "--wrench", "-0.2,0,0,0,0,0.01")
    np.testing.assert_allclose(direct["pose"], [-0.05, 0.02, 1.1, 0, 0.1, -0.1], atol=1e-6)


def test_a_path_is_followed_drawn_and_written(capsys, tmp_path):
    figure, table = tmp_path / "rods.png", tmp_path / "path.csv"
    data = run_json(
        capsys, "solve", "3RR", "--to", "0.05,0.05,-0.9", "--steps", 20, "--figure", figure, "--output", table
    )
    assert data["rows"] == 20
    assert data["largest_residual"] < 1e-8
    assert figure.read_bytes()[:4] == b"\x89PNG"
    rows = np.loadtxt(table, delimiter=",", skiprows=1)
    np.testing.assert_allclose(rows[-1, 3:], [0.05, 0.05, -0.9], atol=1e-8)
    back = tmp_path / "back.csv"
    back.write_text("q1,q2,q3\n" + "\n".join(",".join(map(str, row[:3])) for row in rows))
    again = run_json(capsys, "solve", "3RR", "--path", back, "--q-path")
    np.testing.assert_allclose(again["poses"][-1], [0.05, 0.05, -0.9], atol=1e-6)


def test_shapes_of_the_rods_are_written(capsys, tmp_path):
    file = tmp_path / "shapes.csv"
    run_json(capsys, "solve", "3PFR_spatial", "--output", file)
    rows = np.loadtxt(file, delimiter=",", skiprows=1)
    assert set(rows[:, 0]) == {1, 2, 3}
    lengths = [np.linalg.norm(np.diff(rows[rows[:, 0] == k][:, 2:5], axis=0), axis=1).sum() for k in (1, 2, 3)]
    np.testing.assert_allclose(lengths, 1.0, atol=2e-5)


@pytest.mark.shared
def test_a_file_and_a_folder_of_the_gazebo_simulator_are_solved(capsys):
    folder = shared_file("data/gazebo_cpr/CPR_spatial/cpr_physics/launch/Stewart_Gough_6PFR")
    data = run_json(capsys, "solve", folder)
    assert data["q"][0] == pytest.approx(0.00864, abs=1e-5)


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (("solve", "Stewart_Gough_6PFT"), PliantError, "did you mean 'Stewart_Gough_6PF"),
        (("solve", "2RR", "--q", "nan,1"), PliantError, "not finite"),
        (("solve", "2RR", "--q", "1,x"), PliantError, "'x' is not a number"),
        (("solve", "2RR", "--pose", "1,2"), PliantError, "must be 3"),
        (("solve", "2RR", "--q", "1,1", "--pose", "0,0.8,0"), PliantError, "exclude each other"),
        (("solve", "2RR", "--configuration", "home"), PliantError, "no configuration 'home'"),
        (("solve", "3PFR_spatial", "--controlled", "z,rx,rw", "--pose", "0,0,1.2"), ModelError, "'rw' is not a degree"),
        (("solve", "Stewart_Gough_6PFF", "--pose", "1.5,0,1.1"), NoEquilibrium, "too short by"),
        (("solve", "2RR", "--to", "0,0.7,0", "--steps", "1"), PliantError, "--steps is 1"),
    ],
)  # fmt: skip
def test_wrong_input_is_named(words, error, message):
    with pytest.raises(error, match=message):
        run(*words)


def test_a_table_with_a_fault_is_named_with_its_line(tmp_path):
    file = tmp_path / "path.csv"
    file.write_text("x,y,angle\n0,0.8,0\n0,0.8\n")
    with pytest.raises(PliantError, match=r"path.csv:3: 2 numbers"):
        run("solve", "2RR", "--path", file)
    file.write_text("x,y,angle\n")
    with pytest.raises(PliantError, match="no rows"):
        run("solve", "2RR", "--path", file)


def blocks(language: str) -> list[str]:
    import re

    text = (Path(__file__).resolve().parents[3] / "docs" / "rods" / "cpr.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_the_robot_of_the_tutorial_has_thirty_lines_and_works(capsys, tmp_path):
    (text,) = blocks("yaml")
    assert len(text.splitlines()) <= 30
    file = tmp_path / "tripod.yaml"
    file.write_text(text)
    data = run_json(capsys, "solve", file)
    assert data["stable"]
    assert data["joint_limits"] == []
    tilted = run_json(capsys, "solve", file, "--pose", "0,0,0.5,0.1,0,0")
    assert tilted["pose"][2] == pytest.approx(0.5, abs=1e-8)
    problems = [*load(file).check(), *compare_with_statics(load(file))]
    assert [p.subject for p in problems if p.severity == "error"] == []


def test_the_python_of_the_documentation_runs():
    names: dict = {}
    for text in blocks("python"):
        exec(compile(text, "docs/rods/cpr.md", "exec"), names)
    np.testing.assert_allclose(names["found"].wrench, [0, 0, -2.0, 0, 0, 0], atol=1e-3)
    assert np.all(np.isfinite(names["data"].qpos))


def test_a_workspace_is_mapped_drawn_and_written(capsys, tmp_path):
    output, figure = tmp_path / "map.csv", tmp_path / "map.png"
    data = run_json(
        capsys, "workspace", "6PFR", "--axis", "x=-0.1:3:3", "--axis", "z=1.0:1.1:2", "--output", output,
        "--figure", figure,
    )  # fmt: skip
    assert data["counts"]["stable"] == 2
    assert data["counts"]["out of reach"] == 4
    table = np.genfromtxt(output, delimiter=",", names=True)
    np.testing.assert_allclose(table["x"], [-0.1, -0.1, 1.45, 1.45, 3.0, 3.0])
    assert table["state"].tolist() == [0, 0, 4, 4, 4, 4]
    pose = load_robot("6PFR").description.home.copy()
    pose[:3, 3] = -0.1, 0.0, 1.0
    assert table["q1"][0] == pytest.approx(load_robot("6PFR").solve_igm(pose).q[0], abs=1e-8)
    assert figure.read_bytes()[:4] == b"\x89PNG"
    assert run("workspace", "3RR", "--axis", "angle=-0.1:0.1:3", "--figure", figure) == 0
    assert "stable" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (["x=1:2"], "FROM:TO:NUMBER"),
        (["x=0:1:1"], "2 to 100000"),
        (["x=0:1:2.5"], "2 to 100000"),
        (["x=0:nan:3"], "finite"),
        (["u=0:1:3"], "not a degree of freedom of the plate"),
        (["x=0:1:3", "x=0:1:3"], "given twice"),
        (["x=0:1:9999", "y=0:1:9999"], "at most 4000000"),
    ],
)
def test_an_axis_that_is_wrong_is_named(axes, message):
    with pytest.raises(PliantError, match=message):
        run("workspace", "6PFR", *(word for text in axes for word in ("--axis", text)))


def test_a_batch_gives_a_row_for_each_row_and_the_reasons_of_those_without_equilibrium(capsys, tmp_path):
    table, output = tmp_path / "poses.csv", tmp_path / "out.csv"
    table.write_text("0,0,1.1,0,0,0\n0.02,0,1.1,0,0,0.1\n3,0,1,0,0,0\n")
    data = run_json(capsys, "batch", "6PFR", table, "--output", output, codes=(3,))
    assert list(data["failed"]) == ["2"]
    assert "too short" in data["failed"]["2"]
    found = np.genfromtxt(output, delimiter=",", names=True)
    assert found["q1"][0] == pytest.approx(0.0086403, abs=1e-6)
    assert np.isnan(found["q1"][2])
    joints = tmp_path / "joints.csv"
    joints.write_text("\n".join(",".join(map(str, [*q, 0.1, 0, 0, 0, 0, 0])) for q in data["q"][:2]))
    back = run_json(capsys, "batch", "6PFR", joints, "--q")
    statics = load_robot("6PFR")
    for q, found_pose in zip(data["q"], back["poses"]):
        exact = statics.solve_dgm(q, (0.1, 0, 0, 0, 0, 0))
        np.testing.assert_allclose(found_pose, statics.pose_numbers(exact.plate_pose), atol=1e-8)


def test_parameters_are_identified_from_a_table_of_measurements(capsys, tmp_path):
    from pliant.rods import ContinuumParallelRobot
    from pliant.rods.parameters import with_parameter

    true = ContinuumParallelRobot(with_parameter(load_robot("3RR").description, "young_modulus", 190e9))
    rows = []
    for k, wrench in enumerate([(0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.0, -0.4, 0.05)]):
        q = true.home().q + 0.02 * k
        rows.append([*q, *true.pose_numbers(true.solve_dgm(q, wrench, start=true.home()).plate_pose), *wrench])
    table, output = tmp_path / "measured.csv", tmp_path / "found.csv"
    np.savetxt(table, rows, delimiter=",")
    data = run_json(capsys, "identify", "3RR", table, "--parameter", "young_modulus", "--output", output)
    assert data["values"]["young_modulus"] == pytest.approx(190e9, rel=1e-4)
    assert data["before"]["young_modulus"] == 200e9
    assert data["misfit"] < 1e-6
    assert np.genfromtxt(output, delimiter=",", names=True)["value"] == pytest.approx(190e9, rel=1e-4)
    with pytest.raises(PliantError, match="did you mean 'young_modulus'"):
        run("identify", "3RR", table, "--parameter", "young_moduls")


def test_a_path_beyond_the_joint_limits_is_warned_about(capsys):
    data = run_json(capsys, "solve", "6PFR", "--to", "0,0,1.55", "--steps", "6")
    assert len(data["joint_limits"]) == 6
    assert data["joint_limits"][0].startswith(
        "limb1 is outside -1 to 0.4 at 1 of 6 rows, first at row 5, farthest at row 5 (0.45"
    )
    assert run("solve", "6PFR", "--to", "0,0,1.55", "--steps", "6") == 0
    assert "joint limit" in capsys.readouterr().out
    assert run_json(capsys, "solve", "6PFR", "--to", "0,0,1.15", "--steps", "3")["joint_limits"] == []


def test_equilibria_say_which_joints_are_beyond_their_limits(capsys):
    words = ("equilibria", "6PFR", "--pose", "0,0,1.55,0,0,0", "--starts", "0")
    (found,) = run_json(capsys, *words)["equilibria"]
    assert len(found["joint_limits"]) == 6
    assert found["joint_limits"][0].startswith("limb1 at 0.45")
    assert found["joint_limits"][0].endswith("is outside -1 to 0.4")
    assert run(*words) == 0
    assert "joint limit row 1: limb1 at 0.45" in capsys.readouterr().out
    assert run_json(capsys, "equilibria", "6PFR", "--starts", "0")["equilibria"][0]["joint_limits"] == []


@pytest.mark.parametrize("pose", [("--pose", "0.1,0.02,-0.8"), ("--pose", "-0.1,0.05,-0.7"), ()])
def test_the_planar_robot_has_the_eight_stable_equilibria_of_the_documentation(capsys, pose):
    found = run_json(capsys, "equilibria", "3RR", *pose, "--starts", "200")["equilibria"]
    assert len(found) == 8
    assert all(one["index"] == 0 for one in found)
    text = (Path(__file__).resolve().parents[3] / "docs" / "rods" / "cpr.md").read_text(encoding="utf-8")
    assert "3RR has 8 at a typical pose" in text


@pytest.mark.parametrize("q", ["-3.8731,3.1518,-1.7866", "-3.6,3.0,-1.9", "-4.0,3.5,-1.5"])
def test_at_joint_values_near_home_it_has_one_to_five_of_which_three_at_most_are_stable(capsys, q):
    found = run_json(capsys, "equilibria", "3RR", "--q", q, "--starts", "200")["equilibria"]
    assert 1 <= len(found) <= 5
    assert 1 <= sum(one["index"] == 0 for one in found) <= 3


@pytest.mark.parametrize("words", [("equilibria", "3RR", "--starts", "2"), ("solve", "3RR", "--pose", "0,0.5,0")])
def test_a_negative_seed_is_refused(words):
    with pytest.raises(PliantError, match="seed must be an integer >= 0, found -1"):
        run(*words, "--seed", "-1")


def test_a_branch_that_is_unknown_is_refused_at_home_too():
    with pytest.raises(PliantError, match="branch 'foo' is not known"):
        run("solve", "3RR", "--branch", "foo")


def test_a_table_with_decimal_commas_is_refused_and_not_read_as_pose_and_wrench(tmp_path):
    table = tmp_path / "poses.csv"
    table.write_text("x;y;angle\n0,1;0,52;0,1\n")
    with pytest.raises(PliantError, match="a decimal comma is not read"):
        run("batch", "3RR", table)


@pytest.mark.parametrize(
    ("words", "head", "message"),
    [
        (("batch", "3RR"), "y,x,angle", "column 1 'y', which is read as 'x'; the order must be x,y,angle"),
        (("batch", "3RR"), "x;angle [rad];y", "column 2 'angle', which is read as 'y'"),
        (("batch", "3RR", "--q"), "x,y,angle", "column 1 'x', which is read as 'q1'; the order must be q1,q2,q3"),
        (("batch", "3RR"), "x,y,angle,fx,mz,fy", "column 5 'mz', which is read as 'fy'"),
        (("identify", "3RR", "--parameter", "young_modulus"), "x,y,angle,q1,q2,q3", "column 1 'x', .* 'q1'"),
        (("solve", "3RR", "--path"), "X Y Q1", "column 3 'q1', which is read as 'angle'"),
    ],
)
def test_a_header_that_names_the_columns_in_another_order_is_refused(tmp_path, words, head, message):
    table = tmp_path / "poses.csv"
    table.write_text(head + "\n0,0.52,0.1,0,0,0\n")
    with pytest.raises(PliantError, match=rf"poses.csv:1: .*{message}"):
        run(*words, table)


@pytest.mark.parametrize("head", ["x,y,angle", "x [m],y [m],angle [rad]", "right,up,turn", "X Y Angle"])
def test_a_header_in_order_or_with_other_words_is_read(capsys, tmp_path, head):
    table = tmp_path / "poses.csv"
    table.write_text(head + "\n0,0.02,0.1\n")
    assert run_json(capsys, "batch", "3RR", table)["rows"] == 1


def test_an_unstable_equilibrium_where_the_branch_from_home_ends_names_the_search_for_a_stable_one(capsys):
    words = ("solve", "3RR", "--pose", "0.1,0.02,0.1")
    data = run_json(capsys, *words)
    assert data["morse_index"] == 1
    assert data["note"].endswith("it is unstable, `--branch lowest` searches for a stable one")
    assert run_json(capsys, *words, "--branch", "lowest")["morse_index"] == 0


def test_a_batch_says_which_rows_are_neutral_or_on_another_branch(capsys, tmp_path):
    table = tmp_path / "poses.csv"
    table.write_text("0,0.8,0\n")
    assert run_json(capsys, "batch", "2RR", table)["neutral_rows"] == [0]
    table.write_text("0.1,0.02,0.1\n0.1,0.02,-0.8\n")
    data = run_json(capsys, "batch", "3RR", table)
    assert list(data["notes"]) == ["0"]
    assert "branch from home ends" in data["notes"]["0"]
    assert run("batch", "3RR", table) == 0
    assert "row 1: the branch from home ends" in capsys.readouterr().out

"""Modules of the user: a law in one file, used like the built-in ones."""

import json

import pytest

from pliant.base.errors import ModelError
from pliant.base.plugins import import_user_module
from pliant.cli import main
from pliant.laws import get_law
from pliant.robots.loading import load

pytestmark = pytest.mark.quick

LAW = """
from dataclasses import dataclass

from pliant.laws import Law, law


@law("{name}")
@dataclass(frozen=True)
class Cubic(Law):
    k1: float = 1.0
    k3: float = 50.0

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        a = q - theta_1
        b = q - theta_2
        return 0.5 * p[0] * (a * a + b * b) + 0.25 * p[1] * (a**4 + b**4)
"""


@pytest.fixture(scope="module")
def law_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("laws") / "cubic.py"
    path.write_text(LAW.format(name="cubic_of_the_user"))
    return path


def test_a_file_is_imported_once_and_registers_its_law(law_file):
    assert import_user_module(law_file) is import_user_module(law_file)
    assert get_law("cubic_of_the_user")(k3=2.0).evaluate(0.5, 0.0, 0.0).torque == pytest.approx(-(1.0 + 2 * 2 * 0.125))


def test_another_law_and_its_parameters_are_set_together(law_file):
    import_user_module(law_file)
    robot = load("qbmove-1dof")
    robot.update({"joint.k3": "20", "joint.law": "cubic_of_the_user"})
    assert robot.actuators["joint"].law.k3 == 20.0
    before = dict(robot.actuators)
    with pytest.raises(ModelError, match="k9"):
        robot.update({"joint.law": "qbmove", "joint.k9": 1})
    assert robot.actuators == before


@pytest.mark.parametrize("command", [["run", "--duration", "0.1"], ["sweep", "--vary", "joint.k3=1,10"]])
def test_a_law_of_the_user_works_on_the_command_line(law_file, capsys, command):
    with pytest.raises(SystemExit) as end:
        main([command[0], "qbmove-1dof", *command[1:], "--import", str(law_file),
              "--set", "joint.law=cubic_of_the_user", "--json"])  # fmt: skip
    assert end.value.code == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [("x = 1\ny = 1 / 0\n", 2, "ZeroDivisionError"), ("def f(:\n", 1, "SyntaxError"), (None, None, "no such file")],
)
def test_a_file_that_fails_is_named_with_its_line(tmp_path, text, line, message):
    path = tmp_path / "broken.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ModelError, match=message) as found:
        import_user_module(path)
    assert found.value.line == line


def test_a_module_that_is_not_installed_is_named():
    with pytest.raises(ModelError, match="no_such_module_here"):
        import_user_module("no_such_module_here")


ROBOT = """
from dataclasses import dataclass
from pathlib import Path

from pliant.robots.loading import load
from pliant.base.options import option
from pliant.robots import CatalogueRobot


@dataclass(frozen=True)
class Options:
    length: float = option(0.1, unit="m", low=0.0, source="assumed")
    '''Of the link.'''


def build(options: Options):
    robot = load("qbmove-1dof")
    robot.update({"joint.k1": options.length})
    return robot


ROBOT = CatalogueRobot(
    name="%s", summary="a robot of the user", function=build, source="assumed",
)
"""


@pytest.fixture
def robot_file(tmp_path, monkeypatch):
    monkeypatch.setattr("pliant.base.plugins._MODULES", {})
    path = tmp_path / "mine.py"
    path.write_text(ROBOT % "robot-of-the-user")
    return path


def run_main(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([str(a) for a in arguments])
    return int(end.value.code or 0), *capsys.readouterr()


def test_a_robot_of_the_user_is_in_the_catalogue(capsys, robot_file):
    code, out, _ = run_main(capsys, "list", "--import", robot_file, "--json")
    assert code == 0
    assert json.loads(out)["robots"]["robot-of-the-user"] == "a robot of the user"
    code, out, err = run_main(
        capsys, "run", "robot-of-the-user", "--import", robot_file, "--set", "robot.length=0.2", "--duration", "0.1",
        "--json",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["time"] == pytest.approx(0.1)
    code, _, err = run_main(capsys, "run", "robot-of-the-usr", "--import", robot_file)
    assert code == 1
    assert "did you mean 'robot-of-the-user'" in err
    code, _, err = run_main(capsys, "run", "robot-of-the-user", "--import", robot_file, "--set", "robot.length=-1")
    assert code == 1
    assert "must be a number >= 0 [m]" in err


def test_a_robot_of_the_user_can_be_swept(capsys, robot_file):
    code, out, err = run_main(
        capsys, "sweep", "robot-of-the-user", "--import", robot_file, "--vary", "joint.k1=0.01,0.02", "--duration",
        "0.05", "--json",
    )  # fmt: skip
    assert code == 0, err
    assert len(json.loads(out)["rows"]) == 2


def test_without_the_import_it_is_not_there(capsys, robot_file):
    code, _, err = run_main(capsys, "run", "robot-of-the-user", "--duration", "0.1")
    assert code == 1
    assert "no robot 'robot-of-the-user'" in err


@pytest.mark.parametrize("name", ["qbmove-2dof", "fr3"])
def test_a_name_that_the_catalogue_has_is_refused_with_the_file(capsys, robot_file, name):
    robot_file.write_text(ROBOT % name)
    for arguments in (("run", name), ("list",)):
        code, _, err = run_main(capsys, *arguments, "--import", robot_file)
        assert code == 1
        assert f"the robot '{name}' is registered twice" in err
        assert "mine.py" in err


def test_what_is_no_robot_is_refused_with_the_file(capsys, robot_file):
    robot_file.write_text("ROBOT = 3\n")
    code, _, err = run_main(capsys, "list", "--import", robot_file)
    assert code == 1
    assert "mine.py" in err
    assert "CatalogueRobot" in err


@pytest.mark.parametrize(
    "name", ["", ".", ".json", "..", "json tool", "os.path.nothing", "no_such_package_of_the_user.laws"]
)
def test_a_name_that_is_no_module_is_refused_with_what_is_valid(name):
    with pytest.raises(ModelError, match=r"no module .*; must be a \.py file, or an installed module"):
        import_user_module(name)


@pytest.mark.parametrize("form", ["file", "module", "module of a package"])
@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("x = 1\ndef (", "SyntaxError: ", 2),
        ("\nraise RuntimeError('boom')", "RuntimeError: boom", 2),
        ("import no_such_package_of_the_user", "ModuleNotFoundError: No module named 'no_such_package_of_the_user'", 1),
        ("def f():\n    return 1 / 0\nf()", "ZeroDivisionError: ", 2),
    ],
)
def test_a_module_whose_import_fails_is_named_with_file_and_line(tmp_path, monkeypatch, form, text, message, line):
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "package_of_the_user" if form == "module of a package" else tmp_path
    folder.mkdir(exist_ok=True)
    file = folder / "broken_of_the_user.py"
    file.write_text(text)
    name = {"file": str(file), "module": "broken_of_the_user"}.get(form, "package_of_the_user.broken_of_the_user")
    with pytest.raises(ModelError, match=f"the import fails: {message}") as caught:
        import_user_module(name)
    assert (caught.value.file, caught.value.line) == (str(file), line)

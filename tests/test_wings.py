"""A wing can be taken away: the core and all other wings work without it, and what it offers is gone."""

import ast
import compileall
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from control_tags import chain
from daily import by_day
from forks import forks

ROOT = Path(__file__).resolve().parents[1]
WINGS = sorted(path.parent.name for path in (ROOT / "src" / "pliant").glob("*/wing.py") if path.parent.name != "base")

SMOKE = """
import contextlib, io, json, sys
import numpy as np
import pliant
from pliant.base.wing import find_wings, wing_faults, offers
from pliant.cli import main
from pliant.cli.application import OF_WINGS, load_commands
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots import list_robots
from pliant.simulation import Simulation
from pliant.simulation.bridges import list_bridges

with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(["new", "robot", "finger"])
robot = pliant.load("finger.yaml")
with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
    simulation.devices["elbow"].inbox.put({"equilibrium_position": 0.3})
    simulation.run(0.02)
    position = float(simulation.sample("elbow").values["position"])
load_commands()
print(json.dumps({
    "faults": wing_faults(),
    "wings": sorted(find_wings()), "bridges": sorted(list_bridges()), "commands": sorted(OF_WINGS),
    "robots": {r.name: r.summary for r in list_robots()}, "position": position,
}))
"""

IMPORTS = """
import importlib, pkgutil, sys
import pliant
from pliant.base.errors import MissingDependency
skipped = tuple(sys.argv[1:])
for found in pkgutil.walk_packages(pliant.__path__, "pliant."):
    if found.name == "pliant.__main__" or any(found.name == s or found.name.startswith(s + ".") for s in skipped):
        continue
    try:
        importlib.import_module(found.name)
    except MissingDependency:
        pass
"""


FOREIGN = [
    "cyclopts",
    "matplotlib.pyplot",
    "msgspec",
    "mujoco",
    "numba",
    "numpy",
    "rich",
    "scipy.optimize",
    "viser",
    "xxhash",
    "yaml",
]
"""What pliant imports of others."""
COPY = "import os, sys\nsys.path.insert(0, os.path.abspath('src'))\n"
"""Lets code import the copy of pliant in its folder."""


def between_wings() -> set[tuple[str, str]]:
    """Return the table of tests/test_imports.py: part of a wing -> the other wing that it may import."""
    tree = ast.parse((ROOT / "tests" / "test_imports.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "BETWEEN_WINGS":
            return ast.literal_eval(node.value)
    raise AssertionError("no table")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the folder of a copy of pliant, with what Python compiles of it."""
    package = tmp_path_factory.mktemp("whole") / "pliant"
    shutil.copytree(ROOT / "src" / "pliant", package, ignore=shutil.ignore_patterns("__pycache__", "_compiled"))
    assert compileall.compile_dir(package, quiet=1)
    return package


@pytest.fixture(scope="module")
def programs():
    """Return a process that has imported `FOREIGN`, but not pliant."""
    with forks(*FOREIGN) as found:
        yield found


@pytest.fixture
def without(whole, programs, tmp_path):
    """Return a function that copies pliant without a wing, and one that runs Python on the copy."""

    def make(wing):
        package = tmp_path / "src" / "pliant"
        shutil.copytree(whole, package, copy_function=os.link)
        if wing:
            shutil.rmtree(package / wing)
        lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
        begin = lines.index('[project.entry-points."pliant.wings"]') + 1
        points = [line for line in lines[begin : lines.index("", begin)] if not line.startswith(f"{wing} =")]
        made = tmp_path / "src" / "pliant-0.0.dist-info"
        made.mkdir()
        (made / "METADATA").write_text("Metadata-Version: 2.1\nName: pliant\nVersion: 0.0\n")
        text = "\n".join(re.sub(r'^(\w+) = "(.*)"$', r"\1 = \2", line) for line in points)
        (made / "entry_points.txt").write_text(f"[pliant.wings]\n{text}\n")

        def run(code, *arguments):
            return programs.run(COPY + code, tmp_path, *arguments)

        return run

    return make


@pytest.mark.parametrize("wing", ["", *WINGS])
def test_the_core_and_the_other_wings_work_without_a_wing(wing, without):
    from pliant.base.wing import find_wings
    from pliant.cli.application import OF_WINGS

    run = without(wing)
    seen = json.loads(run(SMOKE).splitlines()[-1])
    others = {name: declared for name, declared in find_wings().items() if name != wing}
    above: dict[str, str] = {}  # wing that is left out -> the missing wing that it builds on
    while found := {
        name: other
        for name, declared in others.items()
        for other in declared.builds_on
        if name not in above and other in (wing, *above)
    }:
        above.update(found)
    assert [fault.split(",")[0] for fault in seen["faults"]] == [
        f"the wing {name!r} builds on the wing {other!r}" for name, other in above.items()
    ]
    others = {name: declared for name, declared in others.items() if name not in above}
    assert seen["wings"] == sorted(others)
    assert seen["bridges"] == sorted(name for declared in others.values() for name in declared.bridges)
    assert seen["commands"] == sorted(name for name, offer in OF_WINGS.items() if offer.wing.name in others)
    assert set(seen["robots"]) == {name for declared in others.values() for name in declared.robots}
    assert "cannot be loaded" not in seen["robots"].values()
    assert 0.0 < seen["position"] < 1.0


DAILY = ("batch", "films", "rods", "ros")
"""Wings that others import or build on, of each kind one; test_imports reads the imports of all in their text."""


@pytest.mark.parametrize("wing", ["", *by_day(WINGS, DAILY.__contains__)])
def test_every_module_that_is_left_without_a_wing_can_be_imported(wing, without):
    tied, missing = set(), [wing]
    while missing:
        parts = {part for part, other in between_wings() if other in missing} - tied
        tied |= parts
        missing = [part for part in parts if "." not in part]  # whole wings
    without(wing)(IMPORTS, *sorted(f"pliant.{part}" for part in tied), *(["pliant.papers"] if wing else []))


TAGGED = """
import sys, pliant
robot = pliant.load(sys.argv[1])
print(list(robot.actuators), robot.compile().njnt)
"""


@pytest.mark.parametrize(("wing", "seen"), [("", "['shoulder', 'elbow'] 2"), ("ros2_control", "[] 2")])
def test_a_robot_whose_tags_a_wing_reads_loads_without_it(wing, seen, without, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(chain({"shoulder": ("position",), "elbow": ("effort",)}))
    assert without(wing)(TAGGED, str(path)).splitlines()[-1] == seen


COMMAND_LINE = """
import contextlib, io
from pliant.cli import main

for words in (
    "new robot finger",
    "run finger.yaml --duration 0.02 --record a.mcap",
    "replay a.mcap",
    "run --help",
    "run finger.yaml --video a.avi",
    "run finger.yaml --plot a.avi",
    "run finger.yaml --objects 1 --duration 0.02",
):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main(words.split())
        except SystemExit as end:
            code = end.code
    words = ("--video", "Draw the recorded", "--objects", "OUTPUTS", "FIGURES", "ADDITIONS")
    print(code, *(word in out.getvalue() for word in words))
"""


@pytest.mark.parametrize(
    ("wing", "seen"),
    [
        ("", ["0 True True True", "1 True False False", "1 False False False", "0 False False False"]),
        ("films", ["0 False True True", "2 True False False", "1 False False False", "0 False False False"]),
        ("plots", ["0 True False True", "1 True False False", "2 False False False", "0 False False False"]),
        ("objects", ["0 True True False", "1 True False False", "1 False False False", "2 False False True"]),
    ],
)
def test_options_of_a_wing_leave_the_command_line_with_it(wing, seen, without):
    lines = [line for line in without(wing)(COMMAND_LINE).splitlines() if not line.startswith("warning: the wing")]
    assert lines == [f"{line} False False False" for line in [*["0 False False False"] * 3, *seen]]


BALANCE = """
import contextlib, io, json
from pliant.cli import main

out = io.StringIO()
for words in (
    "new robot finger",
    "run finger.yaml --duration 0.1 -r elbow/equilibrium_position=0.3",
    "run finger.yaml --duration 0.1 -r elbow/equilibrium_position=0.3 --json",
):
    said, out = out.getvalue(), io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            main(words.split())
        except SystemExit as end:
            code = end.code
print(code, "energy balance error" in said, "energy" in json.loads(out.getvalue()))
"""


@pytest.mark.parametrize(("wing", "seen"), [("", "0 True True"), ("energy", "0 False False")])
def test_a_run_prints_no_balance_without_the_wing_that_adds_it_up(wing, seen, without):
    assert without(wing)(BALANCE).splitlines()[-1] == seen

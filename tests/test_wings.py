"""A wing can be taken away: the core and all other wings work without it, and what it offers is gone."""

import ast
import compileall
import json
import os
import re
import shutil
from pathlib import Path
from string import Template

import pytest
from control_tags import chain
from daily import by_day
from forks import forks

ROOT = Path(__file__).resolve().parents[1]
WINGS = sorted(path.parent.name for path in (ROOT / "src" / "pliant").glob("*/wing.py") if path.parent.name != "base")
TEMPLATES = ROOT / "src" / "pliant" / "templates" / "templates"
"""Files of ``pliant new``; the robot is the one that runs without a wing."""

SMOKE = """
import json
import pliant
from pliant.base.wing import find_wings, wing_faults
from pliant.cli.application import OF_WINGS, load_commands
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots import list_robots
from pliant.simulation import Simulation
from pliant.simulation.bridges import list_bridges

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
CORE = """
from pathlib import Path
import pliant.simulation.bridges
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.simulation import Simulation

path = Path(__file__).parent / "finger"
path.mkdir()
(path / "arm.xml").write_text('''<mujoco><worldbody><body><joint name="elbow"/>
<geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01"/></body></worldbody></mujoco>''')
(path / "arm.yaml").write_text("model: arm.xml\\nactuators:\\n  elbow: {law: qbmove, mode: 6}\\n")
robot = pliant.load(path / "arm.yaml")
with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
    simulation.run(0.01)
"""
"""Module that uses the core where no wing is, before the forks do where all but one are."""
FRESH = """
import importlib, sys
importlib.invalidate_caches()
sys.path.append("")  # wings that have come into the folder are looked for anew: what is found is kept for a path
"""


def between_wings() -> set[tuple[str, str]]:
    """Return the table of tests/test_imports.py: part of a wing -> the other wing that it may import."""
    tree = ast.parse((ROOT / "tests" / "test_imports.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "BETWEEN_WINGS":
            return ast.literal_eval(node.value)
    raise AssertionError("no table")


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """Return folders of a copy of pliant and of its wings, and a process that has imported the core without a wing."""
    source, wings = tmp_path_factory.mktemp("src"), tmp_path_factory.mktemp("wings")
    shutil.copytree(ROOT / "src" / "pliant", source / "pliant", ignore=shutil.ignore_patterns("_compiled"))
    assert compileall.compile_dir(source / "pliant", quiet=1)
    for wing in WINGS:
        (source / "pliant" / wing).rename(wings / wing)
    (source / "core_alone.py").write_text(CORE)
    with forks(*FOREIGN, "core_alone", environment={**os.environ, "PYTHONPATH": str(source)}) as programs:
        assert Path(programs.run("import pliant; print(pliant.__file__)", source).strip()).is_relative_to(source)
        yield source, wings, programs


@pytest.fixture
def without(core, tmp_path):
    """Return a function that makes pliant without a wing, and one that runs Python on it."""
    source, wings, programs = core

    def make(wing):
        for name in ("finger.xml", "finger.yaml"):
            text = (TEMPLATES / f"robot{Path(name).suffix}.txt").read_text(encoding="utf-8")
            (tmp_path / name).write_text(Template(text).substitute(name="finger", module="finger", Class="Finger"))
        for other in WINGS:
            if other != wing:
                (wings / other).rename(source / "pliant" / other)
        lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
        begin = lines.index('[project.entry-points."pliant.wings"]') + 1
        points = [line for line in lines[begin : lines.index("", begin)] if not line.startswith(f"{wing} =")]
        made = source / "pliant-0.0.dist-info"
        made.mkdir()
        (made / "METADATA").write_text("Metadata-Version: 2.1\nName: pliant\nVersion: 0.0\n")
        text = "\n".join(re.sub(r'^(\w+) = "(.*)"$', r"\1 = \2", line) for line in points)
        (made / "entry_points.txt").write_text(f"[pliant.wings]\n{text}\n")

        def run(code, *arguments):
            return programs.run(FRESH + code, tmp_path, *arguments)

        return run

    yield make
    shutil.rmtree(source / "pliant-0.0.dist-info", ignore_errors=True)
    for wing in WINGS:
        if (source / "pliant" / wing).is_dir():
            (source / "pliant" / wing).rename(wings / wing)


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


NOTED = """
import sys, pliant
for path in sys.argv[1:]:
    robot = pliant.load(path)
    print(list(robot.actuators), [device.name for device in robot.devices], robot.compile().njnt)
    print([note for note in robot.notes if "not understood" in note])
"""
SENSED = """<sdf version="1.7"><model name="cart">
<link name="base"><sensor name="imu" type="imu"/></link></model></sdf>"""


def test_plugins_and_sensors_whose_wing_is_missing_are_noted_with_their_lines(without, urdf, plugin, tmp_path):
    sensor = '<gazebo reference="link">\n<sensor name="eye" type="camera"/></gazebo>'
    path = urdf(plugin("sea", name="spring") + "\n" + sensor)
    lines = path.read_text().splitlines()
    spring, eye = (next(i for i, line in enumerate(lines, 1) if word in line) for word in ('"spring"', '"eye"'))
    cart = tmp_path / "cart.sdf"
    cart.write_text(SENSED)
    assert without("gazebo")(NOTED, str(path), str(cart)).splitlines()[-4:] == [
        "[] [] 1",
        repr(
            [
                f"{path}:{spring}: plugin 'spring' (libsea_plugin.so) is not understood and left out",
                f"{path}:{eye}: sensor 'eye' (camera) is not understood and left out",
            ]
        ),
        "[] [] 0",
        repr([f"{cart}:2: sensor 'imu' (imu) is not understood and left out"]),
    ]


WRITTEN = """
import sys, pliant
from pliant.export import export_urdf
from pliant.laws import SEA, CompliantActuator
robot = pliant.load(sys.argv[1])
robot.add_actuator("joint", CompliantActuator(SEA(k=123.0), link_damping=0.3))
export_urdf(robot, sys.argv[2])
print(pliant.load(sys.argv[2]).actuators == robot.actuators, "libsea_plugin.so" in open(sys.argv[2]).read())
"""


@pytest.mark.parametrize(("wing", "seen"), [("", "True True"), ("gazebo", "True False")])
def test_an_export_without_the_plugins_of_a_wing_keeps_the_actuators(wing, seen, without, urdf, tmp_path):
    assert without(wing)(WRITTEN, str(urdf()), str(tmp_path / "two.urdf")).splitlines()[-1] == seen


COMMAND_LINE = """
import contextlib, io
from pliant.cli import main

for words in (
    "run finger.yaml --duration 0.02 --record a.mcap",
    "replay a.mcap",
    "run --help",
    "run finger.yaml --video a.avi",
    "run finger.yaml --plot a.avi",
    "run finger.yaml --objects 1 --duration 0.02",
    "run finger.yaml --scenario push.yaml --duration 0.02",
    "run finger.yaml --command swing.csv --duration 0.02",
):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main(words.split())
        except SystemExit as end:
            code = end.code
    names = ("--video", "Draw the recorded", "--objects", "--scenario", "--command", "OUTPUTS", "FIGURES", "ADDITIONS")
    print(code, *(name.strip("-") for name in names if name in out.getvalue()))
"""


@pytest.mark.parametrize(
    ("wing", "seen"),
    [
        ("", ["0 video Draw the recorded objects scenario command", "1 video", "1", "0", "0", "0"]),
        ("films", ["0 Draw the recorded objects scenario command", "2 video", "1", "0", "0", "0"]),
        ("plots", ["0 video objects scenario command", "1 video", "2", "0", "0", "0"]),
        ("objects", ["0 video Draw the recorded scenario command", "1 video", "1", "2 objects", "0", "0"]),
        ("events", ["0 video Draw the recorded objects command", "1 video", "1", "0", "2 scenario command", "0"]),
        ("command_tables", ["0 video Draw the recorded objects scenario", "1 video", "1", "0", "0", "2 command"]),
    ],
)
def test_options_of_a_wing_leave_the_command_line_with_it(wing, seen, without, tmp_path):
    (tmp_path / "swing.csv").write_text("time,elbow/equilibrium_position\n0,0.3\n")
    (tmp_path / "push.yaml").write_text("events: [{event: stop, at: 0.01}]")
    lines = [line for line in without(wing)(COMMAND_LINE).splitlines() if not line.startswith("warning: the wing")]
    assert lines == ["0", "0", *seen]


BALANCE = """
import contextlib, io, json
from pliant.cli import main

out = io.StringIO()
for words in (
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

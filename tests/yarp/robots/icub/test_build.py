"""The iCub of the catalogue: found where it is installed, standing on its feet under its own gains.

A small stand-in with the layout of icub-models is in tests/data/yarp; the tests of the real package are skipped where
it is not installed.
"""

import importlib.util
import os
import re
import shutil
from pathlib import Path

import mujoco
import numpy as np
import pytest

import pliant
from pliant.base.errors import MissingDependency, ModelError
from pliant.control_boards.description import ControlBoard
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.objects import World
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge
from pliant.yarp.bridge.nameserver import NameServer
from pliant.yarp.robots.icub import build as icub

ROOT = Path(__file__).parents[4]
DATA = ROOT / "tests" / "data" / "yarp"
REAL = importlib.util.find_spec("icub_models") is not None or bool(os.environ.get(icub.FOLDER_VARIABLE))
needs_icub = pytest.mark.skipif(not REAL, reason="icub-models is not installed: pip install icub-models")
SIMULATED = ("iCubGazeboV2_5", "iCubGazeboV2_5_KIT_007", "iCubGazeboV2_6", "iCubGazeboV2_7")
OF_REAL_ROBOTS = (
    "iCubDarmstadt01", "iCubErzelli02", "iCubGenova01", "iCubGenova02", "iCubGenova04", "iCubGenova11",
    "iCubWaterloo01",
)  # fmt: skip
WITHOUT_PLUGINS = ("iCubGenova03", "iCubLisboa01", "iCubNancy01")
PARTS = ["torso", "head", "left_arm", "right_arm", "right_leg", "left_leg"]


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """A folder like share/iCub with one robot."""
    shutil.copytree(DATA, tmp_path / "yarp")
    folder = tmp_path / "yarp" / "robots" / "iCubGazeboV0"
    folder.mkdir()
    shutil.copy(DATA / "robots" / "hopper.urdf", folder / "model.urdf")
    monkeypatch.setenv(icub.FOLDER_VARIABLE, str(tmp_path / "yarp"))
    return {"variant": "iCubGazeboV0"}


def start(robot):
    """Return model and data at the start."""
    model = robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    mujoco.mj_forward(model, data)
    return model, data


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.delenv(icub.FOLDER_VARIABLE, raising=False)
    monkeypatch.setitem(__import__("sys").modules, "icub_models", None)
    with pytest.raises(MissingDependency, match="Type: pip install icub-models"):
        pliant.load("icub")


def test_a_folder_without_robots_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv(icub.FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(ModelError, match=r"ICUB_MODELS_PATH is .*must be the folder share/iCub"):
        pliant.load("icub")


def test_an_unknown_variant_is_refused_with_the_nearest(stand_in):
    with pytest.raises(ModelError, match="variant is 'iCubGazebo0'; did you mean 'iCubGazeboV0'"):
        pliant.load("icub", options={"variant": "iCubGazebo0"})


def test_a_floating_base_starts_with_the_feet_on_the_ground(stand_in):
    _, data = start(pliant.load("icub", options=stand_in))
    assert data.qpos[7:] == pytest.approx([0.3, 0.05])
    lowest = data.body("foot").xpos + data.body("foot").xmat.reshape(3, 3) @ [0.05, 0.0, -0.01]
    assert lowest[2] == pytest.approx(0.0, abs=1e-12)  # the corner of the tilted foot


def test_the_clearance_and_a_fixed_base_can_be_chosen(stand_in):
    _, high = start(pliant.load("icub", options={**stand_in, "height": 0.1}))
    _, low = start(pliant.load("icub", options=stand_in))
    assert high.qpos[2] - low.qpos[2] == pytest.approx(0.1)
    model, data = start(pliant.load("icub", options={**stand_in, "base": "fixed"}))
    assert model.nv == 2
    assert data.body("root_link").xpos[2] == pytest.approx(low.qpos[2] + 0.5)


def test_reflected_inertia_is_added_to_every_joint(stand_in):
    model, _ = start(pliant.load("icub", options={**stand_in, "armature": 0.02}))
    assert list(model.dof_armature) == [0.0] * 6 + [0.02] * 2


# -- the real package ----------------------------------------------------------------------------------------


@needs_icub
@pytest.mark.parametrize("variant", ["iCubGazeboV2_5", "iCubGenova11"])
def test_an_icub_of_the_package_has_its_parts_sensors_and_servers(variant):
    robot = pliant.load("icub", options={"variant": variant})
    boards = [d for d in robot.devices if isinstance(d, ControlBoard)]
    assert [b.name for b in boards] == PARTS
    assert sum(len(b.axis_names) for b in boards) == 32
    ports = {server.port for server in robot.interface.extensions["yarp"].servers}
    assert {f"/icubSim/{part}" for part in PARTS} <= ports
    force = {f"/icubSim/{limb}/FT" for limb in ("left_arm", "right_arm", "left_leg", "right_leg")}
    assert force | {"/icubSim/head/inertials", "/icubSim/alljoints/inertials"} <= ports
    assert not [p for p in robot.check() if p.severity != "info"]


@needs_icub
@pytest.mark.parametrize("variant", [*SIMULATED, *OF_REAL_ROBOTS, *WITHOUT_PLUGINS, "left_hand_mk3", "left_wrist_mk2"])
def test_every_robot_of_the_package_loads(variant):
    robot = pliant.load("icub", options={"variant": variant})
    model, _ = start(robot)
    free = 6 + 6 * sum(device.objects for device in robot.devices if isinstance(device, World))  # base, spare objects
    assert model.nu == model.nv - free or variant == "left_hand_mk3"


@needs_icub
def test_boxes_replace_the_meshes_of_the_feet():
    model, data = start(pliant.load("icub", options={"variant": "iCubGenova03", "feet": "box"}))
    for name in ("l_foot", "r_foot"):
        touching = [
            g for g in range(model.ngeom) if model.geom_bodyid[g] == model.body(name).id and model.geom_contype[g]
        ]
        assert {int(model.geom_type[g]) for g in touching} == {int(mujoco.mjtGeom.mjGEOM_BOX)}
    assert data.qpos[2] > 0.5


@needs_icub
@pytest.mark.parametrize("variant", ["iCubGazeboV2_5", "iCubGenova04"])
def test_an_icub_stands_for_five_seconds_under_its_own_gains(variant):
    robot = pliant.load("icub", options={"variant": variant})
    engine = MujocoEngine(robot)
    devices = make_devices(robot)
    with Simulation(engine, devices, pacer="free") as simulation:
        simulation.start()
        before = engine.data.qpos.copy()
        simulation.run(5.0)
        change = engine.data.qpos - before
    assert abs(change[2]) < 0.005  # 5 mm of the 0.63 m that its root stands high
    assert np.abs(change[7:]).max() < 0.1
    feet = {d.name: d for d in devices if d.name in ("l_foot_ft", "r_foot_ft")}
    model = engine.model
    soles = sum(model.body_subtreemass[model.body(f"{side}_foot").id] for side in "lr")
    weight = 9.81 * (model.body_subtreemass[model.body("root_link").id] - soles)
    forces = [np.linalg.norm(d._measure()["force"]) for d in feet.values()]
    assert sum(forces) == pytest.approx(weight, rel=0.05)


@needs_icub
def test_an_icub_without_torque_falls_and_comes_to_rest():
    robot = pliant.load("icub")
    engine = MujocoEngine(robot)
    devices = make_devices(robot)
    with Simulation(engine, devices, pacer="free") as simulation:
        simulation.start()
        for device in devices:
            if device.name in PARTS:
                device.set_control_mode("torque")
        simulation.run(5.0)
        assert np.isfinite(engine.data.qpos).all()
        assert engine.data.qpos[2] < 0.3
        assert np.abs(engine.data.qvel).max() < 2.0


@needs_icub
@pytest.mark.network
@pytest.mark.parametrize("variant", ["iCubGazeboV2_5", "iCubGazeboV2_7", "iCubLisboa01", "left_wrist_mk2"])
def test_a_robot_has_as_many_ports_as_its_documentation_says(variant):
    text = (ROOT / "docs" / "yarp" / "from-gazebo-yarp.md").read_text()
    (row,) = re.findall(rf"^\| {variant}(?:, \w+)* \| (\d+) \|", text, re.MULTILINE)
    robot = pliant.load("icub", options={"variant": variant})
    with NameServer(0, "127.0.0.1") as names:
        bridge = make_bridge(f"yarp:server={names.address}", robot)
        with Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer="free") as simulation:
            simulation.start()
            assert len(bridge.served.ports) == int(row)

"""Every port for calls says what it can be asked, and programs can push the links of humanoids."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest
from fuzz import until
from robot_data import needs_data
from yarp_simulation import bench, served

import pliant
from pliant.base.wing import offers
from pliant.model import ForceTorque, Imu, Laser
from pliant.model.sensors import Camera
from pliant.robots import build_robot, list_robots
from pliant.yarp.model.services import ExternalWrench
from pliant.yarp.robots.icub import build as icub
from pliant.yarp.wire import Vocab, bottle

pytestmark = pytest.mark.network
DATA = Path(__file__).parents[2] / "data" / "yarp"
REAL_ICUB = importlib.util.find_spec("icub_models") is not None or bool(os.environ.get(icub.FOLDER_VARIABLE))


def stand_in(folder):
    """Return the iCub builder's robot of a small folder with the layout of icub-models."""
    shutil.copytree(DATA, folder / "yarp")
    model = folder / "yarp" / "robots" / "iCubGazeboV0"
    model.mkdir()
    shutil.copy(DATA / "robots" / "hopper.urdf", model / "model.urdf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(icub.FOLDER_VARIABLE, str(folder / "yarp"))
        return build_robot("icub", {"variant": "iCubGazeboV0"})


def every_device():
    """Return a bench with a device of each kind that has a port for calls."""
    robot = bench()
    robot.devices += [
        Imu(name="imu", body="upper"),
        ForceTorque(name="ft", body="lower"),
        Laser(name="scan", body="upper", rays=3, min_angle=0.0, max_angle=1.0, rate=100.0),
        Camera(name="eye", body="upper", width=16, height=12, rate=5.0),
        Camera(name="rgbd", body="upper", width=16, height=12, rate=5.0, depth=True),
        ExternalWrench(name="external_wrench"),
    ]
    return robot


def measured(run, device):
    """Return what a device measures, between two steps."""
    return run.simulation.submit(lambda: device.read(run.simulation.time_ns).values).result(10.0)


def check_help(run):
    ports = [port.name for port, _, _ in run.bridge.served.ports if port.is_rpc]
    for name in ports:
        for word in ("help", Vocab.of("help")):
            reply = run.yarp.rpc(name, bottle(word))
            told = [item for item in flat(reply) if isinstance(item, str)]
            assert reply[0] == Vocab.of("many"), (name, reply)
            assert told, (name, reply)
    assert run.bridge.health()["rejected"] == 0
    return ports


def flat(reply):
    return [inner for item in reply.items for inner in (flat(item) if hasattr(item, "items") else [item])]


def test_every_port_for_calls_of_every_kind_of_device_answers_help():
    with served(every_device()) as run:
        ports = check_help(run)
    for part in ("/clock/rpc", "arm/rpc:i", "arm/nws/rpc:i", "imu/rpc:o", "ft/rpc:o", "scan", "eye", "rgbd", "Wrench"):
        assert any(part in port for port in ports), (part, ports)


@pytest.mark.parametrize("name", ["biped", "stand-in", "icub"])
def test_a_humanoid_answers_help_everywhere_and_can_be_pushed(name, tmp_path):
    if name == "icub" and not REAL_ICUB:
        pytest.skip("icub-models is not installed: pip install icub-models")
    robot = stand_in(tmp_path) if name == "stand-in" else pliant.load(name)
    link = {"biped": "waist", "stand-in": "shank", "icub": "root_link"}[name]
    with served(robot) as run:
        ports = check_help(run)
        served_as = run.bridge.served.name
        push = f"/{served_as}/applyExternalWrench/rpc:i"
        assert push in ports
        reply = run.yarp.rpc(push, bottle(link, 0.0, 0.0, 7.0, 0.0, 0.0, 0.0, 1000.0))
        assert reply[0] == f"[ACK] {link}"
        device = run.simulation.devices["external_wrench"]
        found = []
        until(lambda: found.append(measured(run, device)) or found[-1]["pushes"] == 1.0, "the push is under way")
        assert list(found[-1]["pushed_force"]) == [0.0, 0.0, 7.0]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", [robot.name for robot in list_robots() if robot.name not in ("biped", "icub")])
def test_every_robot_of_the_catalogue_answers_help_everywhere(name):
    needs_data(name)
    with served(pliant.load(name)) as run:
        assert "/clock/rpc" in check_help(run)


def test_a_robot_file_can_ask_for_the_port_of_pushes_once(tmp_path):
    assert "external_wrench" in [offer.key for offer in offers("blocks")]
    for value, count in (("true", 1), ("false", 0)):
        (tmp_path / "robot.yaml").write_text(f"model: qbmove-1dof\nexternal_wrench: {value}\n")
        robot = pliant.load(tmp_path / "robot.yaml")
        assert sum(isinstance(device, ExternalWrench) for device in robot.devices) == count
    (tmp_path / "robot.yaml").write_text("model: biped\nexternal_wrench: true\n")
    assert sum(isinstance(device, ExternalWrench) for device in pliant.load(tmp_path / "robot.yaml").devices) == 1

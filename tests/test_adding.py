"""A law, a robot of the catalogue, a kind of sensor and a bridge, each added by one file of a user's."""

import json

import numpy as np
import pytest

from pliant.base.errors import BridgeError, DeviceError, ModelError
from pliant.base.plugins import import_user_module
from pliant.cli import main
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.recording import read_recording
from pliant.robots.loading import load
from pliant.ros.bridge import RosBridge, RosOptions
from pliant.simulation import Bridge, Simulation
from pliant.simulation.bridges import make_bridge

LAW = """
from dataclasses import dataclass

from pliant.laws import Law, law


@law("quartic_of_a_user")
@dataclass(frozen=True)
class Quartic(Law):
    k1: float = 1.0
    k3: float = 50.0

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        a = q - theta_1
        b = q - theta_2
        return 0.5 * p[0] * (a * a + b * b) + 0.25 * p[1] * (a**4 + b**4)
"""

ROBOT = """
import mujoco

from pliant.laws import SEA, CompliantActuator
from pliant.model import Robot
from pliant.robots import CatalogueRobot


def build():
    spec = mujoco.MjSpec()
    link = spec.worldbody.add_body(name="link")
    link.add_joint(name="knee", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
    link.add_geom(size=[0.02, 0, 0], fromto=[0, 0, 0, 0, 0, -0.3], type=mujoco.mjtGeom.mjGEOM_CAPSULE)
    robot = Robot(spec)
    robot.actuators["knee"] = CompliantActuator(SEA(k=200.0))
    return robot


ROBOTS = [CatalogueRobot(name="leg-of-a-user", summary="a pendulum with one SEA", function=build, source="assumed")]
"""

SENSOR = '''
from dataclasses import dataclass

import numpy as np

from pliant.devices import FieldInfo, SensorDevice, device_for
from pliant.model import Noise, SensorDescription, sensor_kind


@sensor_kind("thermometer_of_a_user")
@dataclass(frozen=True, slots=True, kw_only=True)
class Thermometer(SensorDescription):
    """Temperature of a motor, which warms up with its losses."""

    ambient: float = 293.0
    """Temperature of the surroundings [K]."""

    def install(self, spec, original):
        """Nothing: the engine has what it needs."""


@device_for(Thermometer)
class ThermometerDevice(SensorDevice):
    """What a thermometer measures."""

    def __init__(self, description, robot, **options):
        fields = {
            "temperature": FieldInfo(unit="K", description="temperature of the winding"),
            "gradient": FieldInfo((3,), "", "its direction, world axes"),
        }
        super().__init__(description, fields, {"temperature": Noise()}, dt=robot.timestep, **options)

    def _measure(self):
        return {"temperature": self.description.ambient + 1e-9 * self._engine.time_ns, "gradient": np.zeros(3)}
'''

BRIDGE = '''
from pathlib import Path

from pliant.simulation.bridges import register_bridge
from pliant.simulation import BridgeBase


class Printer(BridgeBase):
    """Writes the name of every sample's device into a file."""

    paced = False

    def __init__(self, path):
        self.path, self.lines = path, []

    def publish(self, sample):
        self.lines.append(sample.device)

    def stop(self):
        if self.path:
            Path(self.path).write_text(chr(10).join(self.lines))


@register_bridge("printer_of_a_user", "Writes the devices of all samples")
def make(robot, path: str = ""):
    return Printer(path)
'''


@pytest.fixture(scope="session")  # registered once in a process, whatever runs between these tests
def package(tmp_path_factory):
    """Four files, each of which adds one thing."""
    folder = tmp_path_factory.mktemp("package")
    for name, text in (("law", LAW), ("robot", ROBOT), ("sensor", SENSOR), ("bridge", BRIDGE)):
        (folder / f"{name}_of_a_user.py").write_text(text)
    return {name: folder / f"{name}_of_a_user.py" for name in ("law", "robot", "sensor", "bridge")}


def run(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main([*map(str, words), "--json"])
    out = capsys.readouterr()
    assert end.value.code == 0, out.err
    return json.loads(out.out)


def test_a_law_of_one_file_drives_a_joint(package, capsys):
    done = run(capsys, "run", "qbmove-1dof", "--duration", "0.05", "--import", package["law"],
               "--set", "joint.law=quartic_of_a_user")  # fmt: skip
    assert done["steps"] > 0
    from law_cases import registered

    assert "quartic_of_a_user" in registered()


def test_a_robot_of_one_file_is_in_the_catalogue(package, capsys):
    done = run(capsys, "run", "leg-of-a-user", "--duration", "0.05", "--import", package["robot"])
    assert set(done["joints"]) == {"knee"}


@pytest.fixture
def warm(package, tmp_path):
    """A robot file with the new sensor."""
    import_user_module(package["sensor"])
    path = tmp_path / "warm.yaml"
    path.write_text(
        "model: warm.xml\nsensors:\n  winding: {kind: thermometer_of_a_user, body: link, rate: 100, ambient: 300}\n"
    )
    (tmp_path / "warm.xml").write_text(
        '<mujoco><option timestep="0.001"/><worldbody><body name="link"><joint name="knee"/><geom size=".1"/></body>'
        "</worldbody></mujoco>"
    )
    return path


def test_a_kind_of_sensor_of_one_file_is_described_in_yaml_and_recorded(package, warm, capsys, tmp_path):
    record = tmp_path / "run.mcap"
    run(capsys, "run", warm, "--duration", "0.05", "--record", record, "--import", package["sensor"])
    recording = read_recording(record)
    assert recording["winding/temperature"][-1] == pytest.approx(300.0 + 0.05, abs=0.011)
    assert recording["winding/gradient"].shape == (len(recording["winding/time"]), 3)


@pytest.mark.parametrize("version", [1, 2])
def test_a_bridge_of_ros_serves_a_kind_it_does_not_know_by_its_fields(warm, version, tmp_path):
    from pliant.bags import open_bag
    from pliant.bags.node import BagNode
    from pliant.bags.writing import BagWriter

    robot = load(warm)
    output = tmp_path / ("out.bag" if version == 1 else "out.mcap")
    with BagWriter(output) as writer:
        node = BagNode(writer)
        bridge = RosBridge(robot, node, RosOptions(namespace="warm", tf=False))
        with Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer="free") as simulation:
            simulation.run(0.05)
    with open_bag(output) as bag:
        found = {m.topic.name: m.decode() for m in bag.messages() if m.topic.name.startswith("/warm/winding")}
    assert set(found) == {"/warm/winding/temperature", "/warm/winding/gradient"}
    assert found["/warm/winding/temperature"]["data"] >= 300.0
    assert np.array_equal(found["/warm/winding/gradient"]["data"], np.zeros(3))
    assert found["/warm/winding/gradient"]["layout"]["dim"][0]["size"] == 3


def test_a_bridge_of_one_file_serves_a_run_of_the_command_line(package, capsys, tmp_path):
    path = tmp_path / "lines.txt"
    run(capsys, "run", "qbmove-1dof", "--duration", "0.05", "--bridge", f"printer_of_a_user:path={path}",
        "--import", package["bridge"])  # fmt: skip
    assert {"joint", "board"} <= set(path.read_text().split("\n"))
    assert isinstance(make_bridge("printer_of_a_user", None), Bridge)


# ------------------------------------------------------------------------------------------------ declared wrongly
def declared(tmp_path, text, name="other.py"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_kind_of_sensor_that_exists_is_refused_with_both_places(tmp_path):
    path = declared(tmp_path, SENSOR.replace("thermometer_of_a_user", "imu"))
    with pytest.raises(ModelError, match=r"'imu' is registered twice, at .*sensors\.py:\d+ and .*other\.py:"):
        import_user_module(path)


def test_a_second_device_of_a_description_is_refused_with_both_places(tmp_path):
    text = (
        SENSOR.replace("thermometer_of_a_user", "thermometer_of_another")
        + """

@device_for(Thermometer)
class Second(ThermometerDevice):
    pass
"""
    )
    with pytest.raises(DeviceError, match=r"two devices are registered for Thermometer, at .*:\d+ and .*:\d+"):
        import_user_module(declared(tmp_path, text))


def test_a_bridge_that_exists_is_refused_with_both_places(package, tmp_path):
    with pytest.raises(BridgeError, match=r"'ros1' is registered twice, at .*ros1:make and .*other\.py:"):
        import_user_module(declared(tmp_path, BRIDGE.replace("printer_of_a_user", "ros1")))
    import_user_module(package["bridge"])
    with pytest.raises(BridgeError, match=r"registered twice, at .*bridge_of_a_user\.py:\d+ and .*third\.py:\d+"):
        import_user_module(declared(tmp_path, BRIDGE, "third.py"))


def test_a_field_of_an_unknown_type_is_refused_where_it_stands(tmp_path):
    text = SENSOR.replace("thermometer_of_a_user", "thermometer_by_dict")
    text = text.replace("ambient: float = 293.0", "ambient: dict = None")
    with pytest.raises(ModelError, match=r"other\.py:\d+: the field 'ambient' of Thermometer has the type"):
        import_user_module(declared(tmp_path, text))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('unit="K"', 'unit="degC"', "the unit of the field 'temperature' is 'degC'"),
        ('unit="K"', 'unit="K", dtype="int7"', "'temperature' of its samples has the type 'int7'"),
        ('unit="K"', 'unit="K", low=2.0, high=1.0', "the limits 2 to 1; must be low <= high"),
    ],
)
def test_a_field_table_that_is_wrong_is_refused_with_its_place(tmp_path, old, new, message):
    name = f"wrong_{abs(hash(new))}"
    text = SENSOR.replace("thermometer_of_a_user", name).replace(old, new)
    module = import_user_module(declared(tmp_path, text))

    with pytest.raises(DeviceError, match=rf"other\.py:\d+: t: .*{message}"):
        module.ThermometerDevice(module.Thermometer(name="t", body="link"), load("qbmove-1dof"))


def test_a_description_without_a_device_is_refused(tmp_path):
    text = SENSOR.replace("thermometer_of_a_user", "thermometer_alone").replace("@device_for(Thermometer)\n", "")
    module = import_user_module(declared(tmp_path, text))
    robot = load("qbmove-1dof")
    robot.devices.append(module.Thermometer(name="t", body="world"))
    with pytest.raises(DeviceError, match=r"no device is registered for Thermometer \(.*other\.py:\d+\)"):
        make_devices(robot)

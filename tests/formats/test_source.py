"""Tags of a wing of another package: a plugin that is an actuator, sensors, and the plugin in an export."""

import xml.etree.ElementTree as ET

import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.base.wing import Wing, declare, withdraw
from pliant.export import describe_urdf
from pliant.formats.source import TagReader
from pliant.laws import CompliantActuator, Mode
from pliant.model import Imu, JointInterface
from pliant.tendons.cable import Cable

pytestmark = pytest.mark.quick

PLUGIN = '<gazebo><plugin name="pull" filename="libpull.so"><at>joint</at><k>{k}</k></plugin></gazebo>'
BUMP = "<gazebo><plugin name='seen' filename='libbump.so'/><bump link='link'/></gazebo>"


def read_cable(element, joints, file, notes):
    joint = element.findtext("at")
    notes.append(f"{joint} is {joints[joint]}")
    actuator = CompliantActuator(Cable(k=float(element.findtext("k"))), mode=Mode.PID_REFS)
    return actuator, JointInterface(joint=joint, plugin=element.get("name"), line=element.line)


def write_cable(actuator, described):
    if not isinstance(actuator.law, Cable):
        return None
    element = ET.Element("plugin", name=described.plugin, filename="libpull.so")
    ET.SubElement(element, "at").text = described.joint
    ET.SubElement(element, "k").text = repr(actuator.law.k)
    return element, {"law.k", "mode"}


def read_bumps(root, taken, file, notes):
    notes.append(f"taken: {', '.join(taken)}")
    name = "bump_2" if "bump" in taken else "bump"
    return [Imu(name=name, body=element.get("link")) for element in root.iter("bump")]


CABLES = TagReader(
    name="cables", title="cables", owns=lambda f: f == "libpull.so", actuator=read_cable, write=write_cable
)
BUMPS = TagReader(name="bumps", title="bumps", owns=lambda f: f == "libbump.so", sensors=read_bumps)


@pytest.fixture(autouse=True)
def wing():
    declare(Wing(name="guest_tags", summary="tags", tags=(f"{__name__}:CABLES", f"{__name__}:BUMPS")))
    yield
    withdraw("guest_tags")


def test_a_plugin_of_a_wing_is_the_actuator_of_a_joint(urdf):
    robot = pliant.load(urdf(PLUGIN.format(k=7.5)))
    assert robot.actuators == {"joint": CompliantActuator(Cable(k=7.5), mode=Mode.PID_REFS)}
    assert robot.interface.joints["joint"].velocity_limit == 100.0
    assert robot.notes[0] == "joint is revolute"
    assert robot.compile().nu == 1


def test_a_plugin_of_a_wing_stands_in_an_export_which_is_read_as_the_same_robot(urdf, tmp_path):
    robot = pliant.load(urdf(PLUGIN.format(k=7.5)))
    robot.set("joint.link_damping", 0.3)
    root = ET.fromstring(describe_urdf(robot).text)
    assert ET.canonicalize(ET.tostring(root.find("gazebo/plugin")), strip_text=True) == ET.canonicalize(
        PLUGIN.format(k=7.5).removeprefix("<gazebo>").removesuffix("</gazebo>")
    )
    (described,) = root.iterfind("ros2_control/joint")
    assert {p.get("name") for p in described.findall("param")} == {"link_damping"}
    path = tmp_path / "again.urdf"
    path.write_bytes(ET.tostring(root))
    assert pliant.load(path).actuators == robot.actuators


def test_two_plugins_of_one_joint_are_refused_whichever_wings_read_them(urdf, plugin):
    path = urdf("\n" + PLUGIN.format(k=1) + "\n" + plugin("sea", name="spring"))
    with pytest.raises(ModelError, match="plugin 'spring': joint 'joint' has a compliant actuator already") as caught:
        pliant.load(path)
    assert "from the plugin 'pull' in line 17; one per joint" in str(caught.value)
    assert caught.value.line == 19


def test_sensors_of_several_wings_have_names_of_their_own(urdf):
    robot = pliant.load(urdf(BUMP + "<gazebo reference='link'><sensor name='bump' type='imu'/></gazebo>"))
    assert [(device.name, device.body) for device in robot.devices] == [("bump", "link"), ("bump_2", "link")]
    assert "taken: joint, bump" in robot.notes
    assert not [note for note in robot.notes if "not understood" in note]


def test_a_plugin_that_no_wing_reads_is_noted_in_the_order_of_the_file(urdf):
    unknown = '<gazebo><plugin name="{0}" filename="lib{0}.so"/></gazebo>\n'
    robot = pliant.load(urdf(unknown.format("a") + PLUGIN.format(k=1) + "\n" + unknown.format("b")))
    assert [note.partition(": ")[2] or note for note in robot.notes[:3]] == [
        "plugin 'a' (liba.so) is not understood and left out",
        "joint is revolute",
        "plugin 'b' (libb.so) is not understood and left out",
    ]

"""Robot interfaces: devices, parameters, actions and includes, and an error with file and line for all else."""

from pathlib import Path

import pytest

from pliant.base.errors import ModelError
from pliant.gazebo_yarp.robot_interface import read_robot_interface

HOPPER = Path(__file__).parents[1] / "data" / "yarp" / "conf" / "hopper.xml"
NAMESPACE = 'xmlns:xi="http://www.w3.org/2001/XInclude"'
ROBOT = f'<robot name="r" portprefix="/r" {NAMESPACE}>{{}}</robot>'
ATTACH = '<action phase="startup" level="5" type="attach">{}</action>'


def read(folder, inside, **files):
    for name, text in files.items():
        (folder / f"{name}.xml").write_text(text)
    path = folder / "main.xml"
    path.write_text(ROBOT.format(inside))
    return read_robot_interface(path)


def test_the_devices_of_a_robot_are_read_with_those_of_its_includes():
    robot = read_robot_interface(HOPPER, enabled=["with_imu"])
    assert (robot.name, robot.port_prefix) == ("hopper", "/hopperSim")
    assert [d.name for d in robot.devices] == ["leg_nws", "leg_remapper", "foot_nws", "foot_remapper", "waist_nws"]
    leg = robot.devices[0]
    assert leg.params.text("name") == "/hopperSim/leg"
    assert leg.params.number("period") == 0.005
    assert (leg.file, leg.line) == (HOPPER.parent / "wrappers" / "leg.xml", 3)
    assert leg.targets() == [("", "leg_remapper")]
    assert robot.devices[1].params.numbers("leg_joints") == (0.0, 1.0, 0.0, 1.0)
    assert robot.devices[1].targets() == [("leg_joints", "leg_device")]


def test_tags_enable_and_disable_devices():
    names = [d.name for d in read_robot_interface(HOPPER).devices]
    assert "waist_nws" not in names
    assert "leg_ros" in names
    for tags in ({"enabled": ["with_imu"]}, {"disabled": ["with_imu"]}):
        assert "leg_ros" not in [d.name for d in read_robot_interface(HOPPER, **tags).devices]


def test_the_prefix_of_ports_can_be_another():
    robot = read_robot_interface(HOPPER, port_prefix="/second")
    assert robot.devices[0].params.text("name") == "/second/leg"


def test_parameters_groups_and_lists_are_keys_with_values(tmp_path):
    robot = read(
        tmp_path,
        """<params><param name="speed">1.5</param></params>
        <devices><device name="d" type="t">
          <params><param name="list">(a, b)</param></params>
          <param name="given" extern-name="other">3</param>
          <group name="G"><param name="x">1 2</param><group name="H"><param name="y">2</param></group></group>
          <paramlist name="parts"><elem name="left"> (0 1 0 1) </elem><elem name="right">word</elem></paramlist>
          <actions>
            <action phase="shutdown" level="2" type="detach"/>
            <action phase="startup" level="7" type="configure"><param name="p">q</param></action>
          </actions>
        </device></devices>""",
    )
    device = robot.devices[0]
    assert robot.params.number("speed") == 1.5
    assert device.params.words("list") == ("a", "b")
    assert device.params.number("given") == 3.0
    assert device.params.groups["G"].numbers("x") == (1.0, 2.0)
    assert device.params.groups["G"].groups["H"].number("y") == 2.0
    assert device.params.words("parts") == ("left", "right")
    assert device.params.numbers("left") == (0.0, 1.0, 0.0, 1.0)
    found = [(a.phase, a.level, a.type) for a in device.actions]
    assert found == [("startup", 7, "configure"), ("shutdown", 2, "detach")]
    assert device.actions[0].params.text("p") == "q"
    assert device.attachment() is None
    assert device.targets() == []


def test_all_networks_can_have_one_device(tmp_path):
    networks = '<paramlist name="networks"><elem name="a">0</elem><elem name="b">1</elem></paramlist>'
    attach = ATTACH.format('<param name="all">board</param>')
    robot = read(tmp_path, f'<device name="d" type="t">{networks}{attach}</device>')
    assert robot.devices[0].targets() == [("a", "board"), ("b", "board")]


def test_a_missing_include_is_named_with_its_chain_and_the_nearest_file(tmp_path):
    with pytest.raises(ModelError) as caught:
        read(
            tmp_path,
            '<xi:include href="a.xml"/>',
            a=f'<devices {NAMESPACE}>\n<xi:include href="lef.xml"/></devices>',
            left="<devices/>",
        )
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'a.xml'}:2: ")
    assert f"included from {tmp_path / 'main.xml'}:1" in message
    assert "did you mean 'left.xml'" in message
    assert caught.value.field == "href"


def test_a_missing_include_with_a_fallback_takes_it(tmp_path):
    inside = '<xi:include href="no.xml"><xi:fallback><device name="d" type="t"/></xi:fallback></xi:include>'
    assert [d.name for d in read(tmp_path, inside).devices] == ["d"]


def test_a_fault_in_an_included_file_names_the_chain(tmp_path):
    with pytest.raises(ModelError, match=r"a.xml:1: not well-formed.*included from .*main.xml:1"):
        read(tmp_path, '<xi:include href="a.xml"/>', a="<device>")


def test_files_that_include_each_other_are_refused(tmp_path):
    back = f'<devices {NAMESPACE}><xi:include href="main.xml"/></devices>'
    with pytest.raises(ModelError, match=r"a.xml:1: the file includes itself"):
        read(tmp_path, '<xi:include href="a.xml"/>', a=back)


D = '<device name="d" type="t">{}</device>'


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<device type="t"/>', "main.xml:1: a device has no name"),
        ('<device name="d"/>', "device 'd' has no type"),
        (D + D, "two devices are called 'd'"),
        (D.format('<parm name="x">1</parm>'), "<parm> has no place here; did you mean 'param'"),
        (D.format("<param>1</param>"), "a <param> has no name"),
        (D.format('<param name="x">(1</param>'), "is not closed"),
        (D.format('<param name="x">${no}</param>'), r"\$\{no\} is not defined"),
        (D.format('<paramlist name="x"><param name="y"/></paramlist>'), "must be <elem>"),
        (D.format('<action phase="start" level="1" type="attach"/>'), "the phase of an action is 'start'"),
        (D.format('<action phase="startup" level="1" type="atach"/>'), "the type of an action is 'atach'"),
        (D.format('<action phase="startup" level="-1" type="attach"/>'), "whole number >= 0"),
        (D.format('<action phase="startup" level="1"/>'), "an action has no type"),
        ("<xi:include/>", "<xi:include> has no href"),
        ('<xi:include href="a.xml" parse="text"/>', "must be a whole XML file"),
        ('<xi:include href="a.xml" xpointer="x"/>', "must be a whole XML file"),
        ("<elephant/>", "<elephant> has no place here"),
    ],
)
def test_a_wrong_element_is_refused_with_its_place(inside, message, tmp_path):
    with pytest.raises(ModelError, match=message):
        read(tmp_path, inside.replace("{}", ""))


def test_an_attach_action_that_names_nothing_is_refused(tmp_path):
    robot = read(tmp_path, D.format(ATTACH.format("")))
    with pytest.raises(ModelError, match="the attach action names nothing"):
        robot.devices[0].targets()


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE robot [<!ENTITY a "b">]><robot name="r"/>',
        '<!DOCTYPE robot SYSTEM "x"><robot name="r">&a;</robot>',
    ],
)
def test_entities_are_refused_though_a_document_type_is_named(text, tmp_path):
    path = tmp_path / "main.xml"
    path.write_text(text)
    with pytest.raises(ModelError, match=r"main.xml:1: .*(document type|entity)"):
        read_robot_interface(path)


def test_another_root_is_refused(tmp_path):
    path = tmp_path / "main.xml"
    path.write_text("<devices/>")
    with pytest.raises(ModelError, match="the root element is <devices>; must be <robot>"):
        read_robot_interface(path)

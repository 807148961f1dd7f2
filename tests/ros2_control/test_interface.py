"""What ros2_control's tags say of a robot stays with it where robots are joined."""

from control_tags import chain

from pliant.model.interface import Interface
from pliant.robots.loading import load
from pliant.ros2_control.interface import ControlInterface, ControlSystem, control_of

EFFORT = '<command_interface name="effort"/>'


def test_a_robot_that_is_attached_under_a_prefix_brings_its_hardware_and_limits(tmp_path):
    path = tmp_path / "arm.urdf"
    limited = EFFORT.replace("/>", '><param name="max">2</param></command_interface>')
    path.write_text(chain({"a": ("position",), "b": ("effort",)}).replace(EFFORT, limited))
    whole, arm = load(path), load(path)
    whole.attach(arm, body="link_1", prefix="left_")
    found = control_of(whole.interface)
    assert [system.name for system in found.systems] == ["arm", "left_arm"]
    assert found.systems[1].commands == {"left_a": ("position",), "left_b": ("effort",)}
    assert {joint: limits["effort"][1] for joint, limits in found.limits.items()} == {"b": 2.0, "left_b": 2.0}


def test_a_robot_without_such_tags_has_no_hardware():
    assert control_of(Interface()) == ControlInterface()
    assert ControlInterface().merged(ControlInterface(systems=(ControlSystem(name="s"),))).systems[0].name == "s"

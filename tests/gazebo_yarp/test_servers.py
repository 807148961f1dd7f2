"""Servers of a robot interface: every chain of attachments ends at axes and sensors, or is refused with its place."""

import pytest

from pliant.base.errors import ModelError
from pliant.control_boards.description import ControlBoard
from pliant.gazebo_yarp.control_board import BoardConfiguration
from pliant.gazebo_yarp.robot_interface import read_robot_interface
from pliant.gazebo_yarp.servers import Hardware, Servers
from pliant.yarp.model.services import (
    AxisReference,
    BaseState,
    ContactLoadCells,
    ForceTorqueSensor,
    InertialSensor,
    JointAngles,
)


def hardware():
    arm = ControlBoard(name="arm", joints=("s", "e", "w"))
    hand = ControlBoard(name="hand", joints=("f",))
    return Hardware(
        boards={
            "arm_dev": BoardConfiguration(arm, {0: 0, 1: 1, 2: 2}),
            "hand_dev": BoardConfiguration(hand, {1: 0}),  # a coupling left its first axis out
        },
        devices={
            "ft": ForceTorqueSensor(name="ft", sensor="ft", sensor_name="arm_ft"),
            "imu": InertialSensor(name="imu", sensor="imu", sensor_name="chest"),
            "base": BaseState(name="base", link="root"),
            "cells": ContactLoadCells(name="cells", link="foot", cells=("a",), positions=((0.0, 0.0, 0.0),)),
            "mais": JointAngles(name="mais", joints=("f",), sensor_name="hand_angles"),
        },
    )


def attach(*pairs, level=10):
    inside = "".join(f'<elem name="{network}">{device}</elem>' for network, device in pairs)
    networks = f'<paramlist name="networks">{inside}</paramlist>'
    return f'<action phase="startup" level="{level}" type="attach">{networks}</action>'


def device(name, kind, inside, *pairs, level=10):
    return f'<device name="{name}" type="{kind}">{inside}{attach(*pairs, level=level)}</device>'


def server(kind, *pairs, inside="", port="/r/p"):
    return device("srv", kind, f'<param name="name">{port}</param>{inside}', *pairs)


def networks(**numbers):
    return '<paramlist name="networks">' + "".join(
        f'<elem name="{name}">{value}</elem>' for name, value in numbers.items()
    ) + "</paramlist>"  # fmt: skip


def remapper(inside, *pairs, name="map", level=5):
    return device(name, "controlboardremapper", inside, *pairs, level=level)


def sensors(inside, *pairs):
    return device("map", "multipleanalogsensorsremapper", inside, *pairs, level=5)


P = server("controlBoard_nws_yarp", ("x", "map"))
F = server("multipleanalogsensorsserver", ("x", "map"))


def resolve(tmp_path, text):
    path = tmp_path / "r.xml"
    path.write_text(f'<robot name="r" portprefix="/r">{text}</robot>')
    found = Servers(hardware())
    found.add_interface(read_robot_interface(path))
    return found


def axes(tmp_path, text):
    return [(a.board, a.index) for a in resolve(tmp_path, text).found[0].axes]


def test_a_remapper_joins_boards_in_the_order_of_its_networks(tmp_path):
    mapped = remapper(networks(h="0 0 1 1", a="1 2 1 2"), ("h", "hand_dev"), ("a", "arm_dev"))
    assert axes(tmp_path, P + mapped) == [("hand", 0), ("arm", 1), ("arm", 2)]


def test_a_remapper_joins_axes_by_their_names(tmp_path):
    mapped = remapper('<param name="axesNames">(f, s)</param>', ("a", "arm_dev"), ("h", "hand_dev"))
    assert axes(tmp_path, P + mapped) == [("hand", 0), ("arm", 0)]


def test_remappers_stand_behind_remappers(tmp_path):
    inner = remapper(networks(a="0 1 1 2"), ("a", "arm_dev"), name="inner", level=3)
    outer = remapper(networks(b="0 0 1 1"), ("b", "inner"))
    assert axes(tmp_path, P + outer + inner) == [("arm", 2)]


def test_a_server_shows_a_board_without_a_remapper(tmp_path):
    found = resolve(tmp_path, server("controlBoard_nws_yarp", ("x", "arm_dev"))).found[0]
    assert found.axes == tuple(AxisReference("arm", i) for i in range(3))
    assert found.period == 0.02


def test_sensors_of_several_devices_are_listed_by_group(tmp_path):
    text = server("multipleanalogsensorsserver", ("a", "ft"), ("b", "imu"), ("c", "cells"))
    found = resolve(tmp_path, text).found[0]
    assert list(found.groups) == [
        "gyroscopes", "linear_accelerometers", "magnetometers", "orientations", "temperatures",
        "six_axis_force_torques",
        "contact_load_cells",
    ]  # fmt: skip


def test_a_sensor_remapper_shows_what_it_names(tmp_path):
    names = '<param name="ThreeAxisGyroscopesNames">(chest)</param>'
    found = resolve(tmp_path, F + sensors(names, ("a", "imu"))).found[0]
    assert {g: [s.sensor_name for s in sensors] for g, sensors in found.groups.items()} == {"gyroscopes": ["chest"]}


def test_joint_angles_are_an_encoder_array(tmp_path):
    (found,) = resolve(tmp_path, server("multipleanalogsensorsserver", ("x", "mais"))).found
    assert {g: [s.sensor_name for s in sensors] for g, sensors in found.groups.items()} == {
        "encoder_arrays": ["hand_angles"]
    }


def test_servers_of_ros_and_unknown_ones_are_reported(tmp_path):
    found = resolve(tmp_path, device("a", "controlBoard_nws_ros2", "", ("x", "map")) + '<device name="b" type="skin"/>')
    assert [(p.subject, p.severity) for p in found.problems] == [("a", "info"), ("b", "warning")]
    assert all("r.xml:1: " in p.message for p in found.problems)


def test_a_device_that_is_missing_is_reported_with_the_nearest(tmp_path):
    found = resolve(tmp_path, server("controlBoard_nws_yarp", ("x", "arm_dew")))
    assert found.found == []
    assert "there is no control board 'arm_dew'; did you mean 'arm_dev'" in found.problems[0].message


def test_a_server_attached_to_nothing_is_reported(tmp_path):
    found = resolve(tmp_path, '<device name="d" type="controlBoard_nws_yarp"><param name="name">/r/d</param></device>')
    assert "attached to nothing" in found.problems[0].message


def test_a_remapper_that_is_attached_too_late_is_reported(tmp_path):
    mapped = remapper(networks(a="0 2 0 2"), ("a", "arm_dev"), level=10)
    found = resolve(tmp_path, P + mapped)
    assert "attached at level 10, and the remapper 'map' behind it at level 10" in found.problems[0].message
    assert len(found.found) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (P + remapper(networks(a="0 2 0 1"), ("a", "arm_dev")), "a maps axes 0 to 2 to 0 to 1 of its device"),
        (P + remapper(networks(a="0 3 0 3"), ("a", "arm_dev")), "a ends at axis 3 of 'arm_dev', which has 3 axes"),
        (P + remapper(networks(a="0 1"), ("a", "arm_dev")), r"a is \(0 1\); must be four whole numbers"),
        (P + remapper(networks(a="0 0.5 0 0.5"), ("a", "arm_dev")), "must be four whole numbers"),
        (P + remapper(networks(a="1 2 0 1"), ("a", "arm_dev")), "the networks give axes 1 to 2; must be 0 to 1"),
        (P + remapper(networks(a="0 1 0 1", b="1 1 0 0"), ("a", "arm_dev"), ("b", "arm_dev")), "another network has"),
        (P + remapper(networks(a="0 1 0 1"), ("b", "arm_dev")), "the network 'a' has no device"),
        (
            P + remapper(networks(a="0 1 0 1") + '<param name="joints">3</param>', ("a", "arm_dev")),
            "the networks give axes 0 to 1; must be 0 to 2, as 'joints' says",
        ),
        (P + remapper('<param name="axesNames">(x)</param>', ("a", "arm_dev")), "axesNames has 'x'"),
        (P + remapper("", ("a", "arm_dev")), "the key 'networks' is missing"),
        (P + remapper(networks(a="0 0 0 0"), ("a", "map")), "the remapper 'map' is attached to itself"),
        (P + sensors("", ("a", "ft")), "must be a controlboardremapper"),
        (F + remapper("", ("a", "arm_dev")), "must be a multipleanalogsensorsremapper"),
        (F + sensors('<param name="SixAxisForceTorqueSensorsNames">(no)</param>', ("a", "ft")), "'no'; did you|'no';"),
        (F + sensors('<param name="SixAxisNames">(no)</param>', ("a", "ft")), "there are no SixAxisNames"),
        (server("controlBoard_nws_yarp", ("x", "arm_dev"), port="r"), "name is 'r'; must begin with '/'"),
        (server("controlBoard_nws_yarp", ("x", "arm_dev"), port='"/a b"'), "have no blanks"),
        (
            server("controlBoard_nws_yarp", ("x", "arm_dev"), inside='<param name="period">0</param>'),
            "period is 0 s; must be 0.0001 to 10000 s",
        ),
        (
            server("multipleanalogsensorsserver", ("x", "ft"), inside='<param name="period">0.01</param>'),
            "period is 0.01 ms; must be 0.1 to 1e\\+07 ms",
        ),
        (server("analogServer", ("x", "base"), ("y", "ft")), "it is attached to 2 devices; must be one with channels"),
        (server("grabber", ("x", "ft")), "'ft', a ForceTorqueSensor; must be a device with images"),
    ],
)  # fmt: skip
def test_a_chain_that_cannot_be_followed_is_refused_with_its_place(text, message, tmp_path):
    with pytest.raises(ModelError, match=message) as caught:
        resolve(tmp_path, text)
    assert "r.xml:1: " in str(caught.value)

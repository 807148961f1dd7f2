"""Every reader of a text file answers what is no such file with an error that names the file, and quotes it safely."""

from pathlib import Path

import pytest

import pliant
from pliant.bags import read_bag
from pliant.base.documents.yaml_tree import read_yaml
from pliant.base.errors import PliantError
from pliant.command_tables import read_commands
from pliant.events import read_scenario
from pliant.formats.manager import read_manager
from pliant.franka.client.robot import FrankaRobot
from pliant.gazebo_yarp.control_board import read_control_board
from pliant.gazebo_yarp.ini import read_ini
from pliant.gazebo_yarp.robot_interface import read_robot_interface
from pliant.identification.measurements import read_measurement
from pliant.rods.loaders import load_description
from pliant.rods.tables import read_table


def gazebo_folder(path):
    return load_description(path.parent)


def manager(path):
    return read_manager(read_yaml(path), ["elbow"], {})


def table(path):
    return read_table(path, [2])


def yarp_board(path):
    return read_control_board(read_ini(path), {}, name="board")


def bag(path):
    return read_bag(path.parent)


READERS = {
    "URDF": ("arm.urdf", pliant.load),
    "SDF": ("arm.sdf", pliant.load),
    "MJCF": ("arm.xml", pliant.load),
    "robot YAML": ("arm.yaml", pliant.load),
    "robot JSON": ("arm.json", pliant.load),
    "parallel robot YAML": ("rods.yaml", load_description),
    "Gazebo folder": ("robot_config.yaml", gazebo_folder),
    "manager": ("manager.yaml", manager),
    "YARP control board": ("board.ini", yarp_board),
    "YARP robot interface": ("robot.xml", read_robot_interface),
    "scenario": ("events.yaml", read_scenario),
    "scenario JSON": ("events.json", read_scenario),
    "command CSV": ("steps.csv", read_commands),
    "command YAML": ("steps.yaml", read_commands),
    "command JSON": ("steps.json", read_commands),
    "command NPZ": ("steps.npz", read_commands),
    "measurement CSV": ("data.csv", read_measurement),
    "measurement NPZ": ("data.npz", read_measurement),
    "table CSV": ("poses.csv", table),
    "ViSP positions": ("home.pos", FrankaRobot.read_pos_file),
    "metadata of a bag": ("metadata.yaml", bag),
}
TEXTS = {
    "control characters": b"time,\x07\x1b[2J\x00\n0,\x07\x1b[2J\x01\n",
    "control characters in a value": b"name: a\x07b\n",
    "control characters in quotes": b'"\\x07\\x1b[2J": 3\n',
    "control characters in XML": b"<robot name='a\x01b'/>",
    "20,000 brackets": b"[" * 20_000,
    "20,000 braces": b"{" * 20_000,
    "20,000 parentheses": b"a: " + b"(" * 20_000,
    "20,000 elements": b"<robot>" + b"<a>" * 20_000,
    "deep elements": b"<mujoco>" + b"<default>" * 150 + b"</default>" * 150 + b"</mujoco>",
    "Latin-1": "name: M\xfcller\n".encode("latin-1"),
    "UTF-16": "<?xml version='1.0'?><robot name='a'/>".encode("utf-16"),
    "zeros": bytes(100),
    "a long cell": b"time,a\n0," + b"9" * 200_000 + b"\n",
    "a long text": b'time,a\n0,"' + b"x" * 200_000 + b'"\n',
    "a large number": b"a: 1e999999999\nb: 0x" + b"f" * 5_000 + b"\n",
    "half a surrogate": b'{"a": "\\ud800"}',
    "an open quote": b'time,a\n0,"1\n1,2\n1,2\n',
    "an impossible date": b"a: 2020-99-99\n",
    "a list as key": b"? [a]\n: 1\n",
    "nothing": b"",
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_such_file_is_answered_with_an_error_that_names_it(reader, text, tmp_path):
    name, read = READERS[reader]
    path = tmp_path / name
    path.write_bytes(TEXTS[text])
    with pytest.raises(PliantError) as caught:
        read(path)
    message = str(caught.value)
    assert str(tmp_path) in message
    assert all(c.isprintable() or c == "\n" for c in message)
    assert max(len(line) for line in message.split("\n")) < 2_200


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_does_not_exist_is_named(reader, tmp_path):
    name, read = READERS[reader]
    with pytest.raises(PliantError) as caught:
        read(Path(tmp_path) / name)
    assert name in str(caught.value) or str(tmp_path) in str(caught.value)

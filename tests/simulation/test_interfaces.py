"""The tables of signatures by which bridges find what serves a device."""

from types import SimpleNamespace

import pytest

from pliant.ros.bridge.interfaces import INTERFACES as ROS
from pliant.ros.bridge.sensors import serve_imu
from pliant.simulation.interfaces import InterfaceTable
from pliant.yarp.bridge.interfaces import INTERFACES as YARP


def device(*signatures):
    return SimpleNamespace(signatures=signatures)


def fields(topics, name, device):
    """Serve a field table."""


def rod(topics, name, device):
    """Serve a rod."""


def test_the_first_signature_that_has_a_function_serves_and_the_field_table_all_else():
    table = InterfaceTable("ros", {"wrench": rod, "imu": "pliant.ros.bridge.sensors:serve_imu"}, fields)
    assert table.find(device("sole", "imu", "wrench")) is serve_imu
    assert table.find(device("sole", "wrench", "imu")) is rod
    assert table.find(device("sole")) is fields
    assert table.find(device()) is fields


@pytest.mark.parametrize("table", [ROS, YARP])
def test_every_function_that_a_table_names_is_there(table):
    for signature in (*table.signatures, "of no table"):
        assert callable(table.find(device(signature)))

"""Sensors at the names of the robot's own servers, several behind one prefix."""

import contextlib
import threading
from pathlib import Path

import numpy as np
import pytest
from fuzz import until
from yarp_replies import decode_measurements, decode_metadata

import pliant
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge
from pliant.yarp.client import YarpNetwork
from pliant.yarp.wire import bottle

pytestmark = pytest.mark.network

HOPPER = Path(__file__).parents[2] / "data" / "yarp" / "robots" / "hopper.urdf"


@contextlib.contextmanager
def hopper():
    """Run the hopper of the test data at the clock's pace; give a client and the names of its ports."""
    robot = pliant.load(HOPPER)
    bridge = make_bridge("yarp:server=127.0.0.1:0", robot)
    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=1.0)
    simulation.start()
    thread = threading.Thread(target=simulation.run, name="simulation")
    thread.start()
    try:
        until(lambda: simulation.time_ns > 0, "the first step; a kernel may be compiled before", 120.0)
        with YarpNetwork(str(bridge.server.address)) as yarp:
            yield yarp, {port.name for port, _, _ in bridge.served.ports}
    finally:
        simulation.stop()
        thread.join(30.0)
        simulation.close()


def read(yarp, port, own):
    """Return one message of a port."""
    reader = yarp.open_input(own, strict=False)
    yarp.connect(port, own)
    return reader.read()


def test_sensors_are_found_at_the_names_of_their_servers_alone():
    with hopper() as (yarp, names):
        expected = {"/hopperSim/leg/stateExt:o", "/hopperSim/leg/FT/measures:o", "/hopperSim/leg/FT/rpc:o"}
        expected |= {"/hopperSim/waist/inertials/measures:o", "/hopperSim/waist/measures:o"}
        assert expected <= names
        assert not [name for name in names if "foot_ft" in name or "waist_imu" in name]

        message = read(yarp, "/hopperSim/leg/FT/measures:o", "/force")
        groups = decode_measurements(message.content)
        assert {group: len(found) for group, found in groups.items() if found} == {"six_axis_force_torques": 1}
        measured = groups["six_axis_force_torques"][0]
        assert len(measured.values) == 6
        assert measured.time == pytest.approx(message.stamp.time, abs=1e-9)
        assert np.linalg.norm(measured.values[:3]) == pytest.approx(
            0.3 * 9.81, rel=0.5
        )  # the foot hangs; the leg moves
        answer = yarp.rpc("/hopperSim/leg/FT/rpc:o", bottle("getMetadata"))
        named = decode_metadata(answer)["six_axis_force_torques"][0]
        assert (named.name, named.frame) == ("foot_ft", "foot_ft")

        groups = decode_measurements(read(yarp, "/hopperSim/waist/measures:o", "/waist").content)
        assert [g for g, found in groups.items() if found] == [
            "gyroscopes", "linear_accelerometers", "magnetometers", "orientations",
        ]  # fmt: skip
        assert groups["linear_accelerometers"][0].values == pytest.approx((0.0, 0.0, 9.81), abs=1e-6)

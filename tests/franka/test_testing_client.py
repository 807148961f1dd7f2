"""The client that may send what no stock client sends, on a served arm."""

import pytest
from fci_clients import serve

from pliant.base.errors import BridgeError
from pliant.franka.testing_client import FciClient
from pliant.franka.wire import fci

pytestmark = pytest.mark.network
VELOCITIES = fci.Move(controller=fci.Controller.JOINT_IMPEDANCE, motion_generator=fci.MotionGenerator.JOINT_VELOCITY)


def connect(server, **options):
    return FciClient(server.arms[0].host, server.arms[0].port, **options)


def test_a_motion_of_its_own_commands_ends_well():
    with serve(command_timeout=60.0) as server, connect(server) as client:
        number, state = client.begin(VELOCITIES)
        client.command(state, dq=[0.0] * 7, finish=True)
        assert client.answer(number) == "success"


def test_a_velocity_beyond_the_limits_ends_the_motion_with_its_error():
    with serve(command_timeout=60.0) as server, connect(server) as client:
        number, state = client.begin(VELOCITIES)
        client.command(state, dq=[9.0] * 7)
        while not state.error_names():
            state = client.state()
        assert client.answer(number) == "reflex"
        assert "joint_motion_generator_velocity_limits_violation" in state.error_names()
        assert client.ask(VELOCITIES) == "not_possible"
        assert client.ask(fci.AutomaticErrorRecovery()) == "success"


def test_a_version_that_the_arm_does_not_speak_is_refused_by_name():
    with serve(system_version="own") as server, pytest.raises(BridgeError, match="refuses protocol version 4"):
        connect(server, version=4)

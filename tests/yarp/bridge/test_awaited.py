"""Steps that wait for commands: a request of a step cannot overtake the commands that it counts."""

import hashlib

import numpy as np
import pytest
from yarp_simulation import bench, served

from pliant.base.errors import WireError
from pliant.simulation import sync
from pliant.yarp.bridge.awaited import read_counts
from pliant.yarp.wire import Bottle, bottle, parse_bottle
from pliant.yarp.wire.joints import StreamCommand
from pliant.yarp.wire.values import FAIL

COMMANDS = "/robot/arm/command:i"


def step(clock, steps, count):
    return clock.call(bottle("stepSimulationAndWait", steps, bottle(COMMANDS, count)))


@pytest.mark.network
@pytest.mark.parametrize("carrier", ["fast_tcp", "udp", "tcp"])
def test_streams_that_a_step_counts_give_equal_states_over_every_carrier(carrier):
    def run():
        digest = hashlib.sha256()
        with (
            served(bench(), ",name=robot,lockstep=true", pacer=sync()) as world,
            world.yarp.open_rpc("/clock/rpc") as clock,
            world.yarp.open_rpc("/robot/arm/rpc:i") as board,
        ):
            board.call(parse_bottle("[set] [icmd] [cmds] ([torq] [torq])"))
            writer = world.yarp.open_output("/writer")
            world.yarp.connect("/writer", COMMANDS, carrier)
            for k in range(1, 61):
                for part in (0.5, 1.0):  # two commands a step: the last one counts
                    torques = StreamCommand(quantity="torque", values=(0.1 * k * part, -0.2))
                    writer.write_bottle(torques.encode(3))
                assert step(clock, 3, 2) == Bottle()
                assert board.call(parse_bottle("[get] [torq] [refs]"))[2].items == (0.1 * k, -0.2)
                digest.update(np.array(board.call(parse_bottle("[get] [encs]"))[2].items).tobytes())
        return digest.hexdigest()

    assert run() == run()


@pytest.mark.network
def test_a_step_whose_commands_do_not_come_fails_with_the_port_and_is_not_taken(monkeypatch):
    monkeypatch.setattr("pliant.yarp.bridge.awaited.COMMAND_TIMEOUT_S", 0.05)
    with (
        served(bench(), ",name=robot,lockstep=true", pacer=sync()) as world,
        world.yarp.open_rpc("/clock/rpc") as clock,
        world.yarp.open_rpc(COMMANDS, "/writer") as stream,
    ):
        told = []
        monkeypatch.setattr(world.bridge.served.network, "on_complaint", told.append, raising=True)
        before = clock.call(bottle("getSimulationTime"))
        stream.call(StreamCommand(quantity="torque", values=(0.0, 0.0)).encode(3))
        assert step(clock, 1, 2) == bottle(FAIL)
        assert clock.call(bottle("getSimulationTime")) == before
        # What came counts for the call that failed, not for the next one.
        assert step(clock, 1, 0) == Bottle()
        assert clock.call(bottle("stepSimulationAndWait", 1, bottle("/robot/leg/command:i", 1))) == bottle(FAIL)


@pytest.mark.parametrize("text", ["3", "(/a)", "(/a 1 2)", "(/a 1.0)", "(/a -1)", "(/a 1) (/a 1)", "(1 1)"])
def test_counts_of_another_form_are_refused(text):
    with pytest.raises(WireError, match="must be"):
        read_counts(parse_bottle(text).items)

"""Lock-step by the calls of the clock: the simulation takes the steps that clients ask for, and no others."""

import itertools
import threading

import pytest
from yarp_simulation import bench, served

from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.simulation import LockstepBridge, Simulation, sync
from pliant.simulation.bridges import make_bridge
from pliant.yarp.bridge.step_gate import StepGate
from pliant.yarp.client import YarpNetwork
from pliant.yarp.wire import Bottle, Vocab, bottle, parse_bottle
from pliant.yarp.wire.joints import StreamCommand
from pliant.yarp.wire.values import FAIL


def test_a_call_is_answered_when_its_last_step_is_done():
    gate = StepGate()
    first, second = gate.allow(2), gate.allow(1)
    done = []
    for _ in range(3):
        assert gate.wait(lambda timeout: pytest.fail("a step was asked for"))
        done.append((first.done(), second.done()))
    assert done == [(False, False), (False, False), (True, False)]
    assert gate.wait(lambda timeout: False)  # the run ends
    assert second.done()


def test_a_released_gate_cancels_calls_and_holds_nobody():
    gate = StepGate()
    waiting = gate.allow(5)
    gate.release()
    assert waiting.cancelled()
    assert gate.allow(1).cancelled()
    assert gate.wait(lambda timeout: pytest.fail("it waited"))


def test_a_time_limit_counts_from_the_first_call():
    gate = StepGate(timeout=1e-9)
    polls = itertools.count()
    assert gate.wait(lambda timeout: next(polls) < 50)
    assert next(polls) == 51
    gate.allow(1)
    assert gate.wait(lambda timeout: True)
    assert not gate.wait(lambda timeout: True)


@pytest.mark.network
def test_the_simulation_takes_the_steps_that_clients_ask_for_and_answers_calls_between_them():
    with served(bench(), ",name=robot,lockstep=true,period=0", pacer=sync()) as world:
        yarp, dt = world.yarp, world.simulation.engine.dt
        with yarp.open_rpc("/clock/rpc") as clock, yarp.open_rpc("/robot/arm/rpc:i") as board:
            for steps in (1, 1, 7, 100):
                before = clock.call(bottle("getSimulationTime"))[0]
                assert clock.call(bottle("stepSimulationAndWait", steps)) == Bottle()
                assert clock.call(bottle("getSimulationTime"))[0] == pytest.approx(before + steps * dt, abs=1e-12)
                # A call between two steps is answered, and takes none.
                assert board.call(parse_bottle("[get] [axes]"))[2] == 2
                assert clock.call(bottle("getSimulationTime"))[0] == pytest.approx(before + steps * dt, abs=1e-12)


@pytest.mark.network
def test_a_program_that_asks_for_the_steps_itself_gets_the_time_when_it_connects():
    with served(bench(), ",name=robot,lockstep=true", pacer=sync()) as world:
        world.yarp.rpc("/clock/rpc", parse_bottle("stepSimulationAndWait 5"))
        now = world.yarp.rpc("/clock/rpc", bottle("getSimulationTime"))[0]
        reader = world.yarp.open_input("/late")
        world.yarp.connect("/clock", "/late")
        seconds, nanoseconds = reader.read(timeout=20.0).content.items
        assert seconds + 1e-9 * nanoseconds == pytest.approx(now, abs=1e-12)


@pytest.mark.network
def test_a_run_in_lock_step_can_be_let_go_and_held_again():
    with served(bench(), ",name=robot,lockstep=true", pacer=sync()) as world:
        yarp = world.yarp
        reader = yarp.open_input("/reader", strict=False)
        yarp.connect("/clock", "/reader")
        with yarp.open_rpc("/clock/rpc") as clock:
            clock.call(bottle("continueSimulation"))
            stamps = [reader.read().content.items for _ in range(20)]
            assert stamps[-1] > stamps[0]
            assert clock.call(bottle("stepSimulationAndWait", 1)) == bottle(FAIL)
            assert clock.call(bottle("pauseSimulation")) == bottle(Vocab.of("done"))
            assert clock.call(bottle("stepSimulationAndWait", 3)) == Bottle()


@pytest.mark.network
def test_equal_calls_give_equal_states():
    def positions():
        with (
            served(bench(), ",name=robot,lockstep=true", pacer=sync()) as world,
            world.yarp.open_rpc("/clock/rpc") as clock,
            world.yarp.open_rpc("/robot/arm/rpc:i") as board,
        ):
            board.call(parse_bottle("[set] [icmd] [cmds] ([torq] [torq])"))
            found = []
            for k in range(20):
                board.call(parse_bottle(f"[set] [torq] [refs] ({0.1 * k} -0.2)"))
                clock.call(bottle("stepSimulationAndWait", 5))
                found.append(board.call(parse_bottle("[get] [encs]"))[2].items)
            return found

    assert positions() == positions()


@pytest.mark.network
def test_equal_streams_whose_acknowledgements_are_awaited_give_equal_states():
    def torques_and_positions():
        with (
            served(bench(), ",name=robot,lockstep=true", pacer=sync()) as world,
            world.yarp.open_rpc("/clock/rpc") as clock,
            world.yarp.open_rpc("/robot/arm/rpc:i") as board,
            world.yarp.open_rpc("/robot/arm/command:i", "/writer") as stream,
        ):
            board.call(parse_bottle("[set] [icmd] [cmds] ([torq] [torq])"))
            found = []
            for k in range(1, 41):
                torques = StreamCommand(quantity="torque", values=(0.1 * k, -0.2)).encode(3)
                assert stream.call(torques) == Bottle()  # acknowledged, and not answered
                clock.call(bottle("stepSimulationAndWait", 1))
                reference = board.call(parse_bottle("[get] [torq] [refs]"))[2].items
                assert reference == (0.1 * k, -0.2)  # the command has arrived before the step
                found.append(board.call(parse_bottle("[get] [encs]"))[2].items)
            return found

    assert torques_and_positions() == torques_and_positions()


@pytest.mark.network
def test_a_client_that_calls_no_more_ends_the_run_after_the_time_limit():
    bridge = make_bridge("yarp:server=127.0.0.1:0,lockstep=true,step_timeout=0.05", bench())
    assert isinstance(bridge, LockstepBridge)
    assert bridge.awaited == ("/clock/rpc",)
    robot = bench()
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync()) as simulation:
        simulation.start()

        def ask():
            with YarpNetwork(str(bridge.server.address)) as yarp:
                yarp.rpc("/clock/rpc", bottle("stepSimulation", 3))

        client = threading.Thread(target=ask)
        client.start()
        with pytest.raises(BridgeError, match="no answer within"):
            simulation.run()
        client.join(30.0)


def test_lock_step_needs_the_clock():
    with pytest.raises(BridgeError, match="clock"):
        make_bridge("yarp:lockstep=true,clock=", None)
